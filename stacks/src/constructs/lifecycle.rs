//! Lifecycle rules of a bucket.

use serde_json::{Value, json};

/// A lifecycle rule of a bucket. Each variant is a separate rule, because S3 cannot abort multipart
/// uploads in a rule that selects objects by tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleRule {
    /// Deletes objects with a tag, a number of days after they were written.
    ExpireTagged {
        /// Id of the rule, unique in the bucket.
        id: String,
        /// Tag key.
        key: String,
        /// Tag value.
        value: String,
        /// Age in days.
        after_days: u32,
    },
    /// Deletes object versions a number of days after the object was replaced or deleted. Without
    /// this rule, a versioned bucket would keep all versions.
    ExpireNoncurrent {
        /// Id of the rule, unique in the bucket.
        id: String,
        /// Number of days since the version was replaced or deleted.
        after_days: u32,
    },
    /// Deletes the parts of unfinished multipart uploads.
    AbortMultipart {
        /// Id of the rule, unique in the bucket.
        id: String,
        /// Number of days since the upload was started.
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
                // Removes a delete marker after the last version of its object has expired.
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
