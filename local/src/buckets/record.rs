//! What is recorded of an object: one file of JSON, beside the file with its bytes.

use std::collections::BTreeMap;

use s3s::crypto::{Checksum as _, Sha256};
use serde::{Deserialize, Serialize};

/// An object but for its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// Its key; the file's name is [`file_name`] of it.
    pub(super) key: String,
    /// Name of the file with its bytes; no two records ever have the same.
    pub(super) data: String,
    /// Its bytes.
    pub(super) length: u64,
    /// When it was written, Unix seconds.
    pub(super) modified_s: u64,
    /// Hexadecimal MD5, which S3 calls the entity tag.
    pub(super) etag: String,
    /// Base64, if whoever stored it sent it.
    pub(super) sha256: Option<String>,
    /// Headers that come back as they were sent.
    pub(super) headers: Headers,
    /// Its tags.
    pub(super) tags: BTreeMap<String, String>,
}

/// Headers of an object that mean nothing to the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Headers {
    pub(super) content_type: Option<String>,
    pub(super) content_encoding: Option<String>,
    pub(super) content_disposition: Option<String>,
    pub(super) content_language: Option<String>,
    pub(super) cache_control: Option<String>,
    /// `x-amz-meta-…`.
    pub(super) metadata: BTreeMap<String, String>,
}

/// The name of a record's file: a hash of the key, so that no key can name a file elsewhere, be
/// too long for a file's name, or differ from another only in capitals.
pub(super) fn file_name(key: &str) -> String {
    format!("{}.json", hex(&Sha256::checksum(key.as_bytes())))
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_apart() {
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
