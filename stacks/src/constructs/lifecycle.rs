//! Lifecycle rules of a bucket.

use serde_json::{Value, json};

/// One rule of a bucket's lifecycle. Each kind is a rule of its own because S3 refuses to abort
/// multipart uploads by tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleRule {
    /// Deletes objects that carry a tag, some days after they were written.
    ExpireTagged {
        /// Name of the rule, unique in its bucket.
        id: String,
        /// Key of the tag.
        key: String,
        /// Value of the tag.
        value: String,
        /// Age in days.
        after_days: u32,
    },
    /// Deletes versions some days after they were replaced or deleted. In a versioned bucket
    /// nothing disappears without it.
    ExpireNoncurrent {
        /// Name of the rule, unique in its bucket.
        id: String,
        /// Days since the version was current.
        after_days: u32,
    },
    /// Deletes the parts of uploads that were never finished.
    AbortMultipart {
        /// Name of the rule, unique in its bucket.
        id: String,
        /// Days since the upload began.
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
                // What is left of a deleted object once its last version is gone.
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
