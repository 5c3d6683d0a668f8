//! Lifecycle rules of a bucket.

use serde_json::{Value, json};

/// A lifecycle rule of a bucket. Expiring tagged objects and aborting multipart uploads are
/// separate variants, because S3 does not allow a rule with a tag filter to abort multipart
/// uploads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleRule {
    /// Deletes objects with a tag, the given number of days after they were written.
    ExpireTagged {
        /// Rule id, unique within the bucket.
        id: String,
        /// Tag key.
        key: String,
        /// Tag value.
        value: String,
        /// Age in days.
        after_days: u32,
    },
    /// Deletes an old version of an object, the given number of days after it was replaced or
    /// deleted. Without this rule, a versioned bucket retains all versions.
    ExpireNoncurrent {
        /// Rule id, unique within the bucket.
        id: String,
        /// The number of days after the version was replaced or deleted.
        after_days: u32,
    },
    /// Deletes the parts of multipart uploads that were not completed.
    AbortMultipart {
        /// Rule id, unique within the bucket.
        id: String,
        /// The number of days after the upload was started.
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
                // Also removes the delete marker of an object whose versions have all expired.
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
