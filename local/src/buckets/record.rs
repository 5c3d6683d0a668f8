//! Object records. A record is a JSON file that contains the metadata of an object and the name of
//! the file with the object's bytes.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use s3s::crypto::{Checksum as _, Sha256};
use s3s::dto::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Object key, from which [`file_name`] derives the name of the record's file.
    pub(super) key: String,
    /// Name of the file that contains the object's bytes. No two records have the same data file.
    pub(super) data: String,
    /// Object length in bytes.
    pub(super) length: u64,
    pub(super) modified_s: u64,
    /// Entity tag: half of the hexadecimal BLAKE3 hash of the object. S3 often uses the MD5 hash, but
    /// does not promise it.
    pub(super) etag: String,
    /// Base64-encoded SHA-256 hash of the object, or `None` if the client did not send one.
    pub(super) sha256: Option<String>,
    pub(super) headers: Headers,
    pub(super) tags: BTreeMap<String, String>,
}

/// HTTP headers that S3 stores with an object and returns unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Headers {
    pub(super) content_type: Option<String>,
    pub(super) content_encoding: Option<String>,
    pub(super) content_disposition: Option<String>,
    pub(super) content_language: Option<String>,
    pub(super) cache_control: Option<String>,
    /// The `x-amz-meta-…` headers.
    pub(super) metadata: BTreeMap<String, String>,
}

impl Record {
    /// Returns the length as a signed integer, as required by the S3 API.
    pub(super) fn signed_length(&self) -> i64 {
        i64::try_from(self.length).unwrap_or(i64::MAX)
    }

    pub(super) fn modified(&self) -> Timestamp {
        Timestamp::from(UNIX_EPOCH + Duration::from_secs(self.modified_s))
    }
}
/// Returns a record's file name, which is a hash of the object key. A hash is safe for every key:
/// it cannot refer to a file outside the directory or exceed the maximum file name length. Keys
/// that differ only in case have different file names even on a case-insensitive file system.
pub(super) fn file_name(key: &str) -> String {
    format!("{}.json", hex(&Sha256::checksum(key.as_bytes())))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_unique() {
        let keys = ["a", "A", "", "../../etc/passwd", "/etc/passwd", "a/../b", "\0", "ä"];
        let long = "k".repeat(1_024);
        let names: std::collections::BTreeSet<String> =
            keys.iter().copied().chain([long.as_str()]).map(file_name).collect();
        assert_eq!(names.len(), keys.len() + 1);
        for name in names {
            let stem = name.strip_suffix(".json").unwrap();
            assert!(stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
    }
}
