//! Lifecycle rules of a bucket.

use serde_json::{Value, json};

/// A lifecycle rule of a bucket. Each variant is a separate rule, because S3 does not support aborting
/// multipart uploads by tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleRule {
    /// Deletes objects with a tag, some days after they were written.
    ExpireTagged {
        /// Name of the rule, unique in the bucket.
        id: String,
        /// Tag key.
        key: String,
        /// Tag value.
        value: String,
        /// Age in days.
        after_days: u32,
    },
    /// Deletes object versions some days after they were replaced or deleted. Without this rule, a
    /// versioned bucket keeps all versions.
    ExpireNoncurrent {
        /// Name of the rule, unique in the bucket.
        id: String,
        /// Days since the version was current.
        after_days: u32,
    },
    /// Deletes the parts of unfinished multipart uploads.
    AbortMultipart {
        /// Name of the rule, unique in the bucket.
        id: String,
        /// Days since the start of the upload.
        after_days: u32,
    },
}

impl From<&LifecycleRule> for Value {
    fn from(rule: &LifecycleRule) -> Self {
        match rule {
            LifecycleRule::ExpireTagged { id, key, value, after_days } => json!({
                "Id": id,
                "Status": "Enabled",
                "TagFilters": [{ "Key": key, "Value": value }],
                "ExpirationInDays": after_days,
            }),
            LifecycleRule::ExpireNoncurrent { id, after_days } => json!({
                "Id": id,
                "Status": "Enabled",
                "NoncurrentVersionExpiration": { "NoncurrentDays": after_days },
                // Removes the delete marker of an object whose last version has expired.
                "ExpiredObjectDeleteMarker": true,
            }),
            LifecycleRule::AbortMultipart { id, after_days } => json!({
                "Id": id,
                "Status": "Enabled",
                "AbortIncompleteMultipartUpload": { "DaysAfterInitiation": after_days },
            }),
        }
    }
}
