//! Lists of versions: each object has one, the newest, whose name no other ever has.

use std::sync::Arc;

use s3s::dto::{
    ETag, ListObjectVersionsInput, ListObjectVersionsOutput, ObjectVersion,
    ObjectVersionStorageClass,
};
use s3s::{S3Result, s3_error};

use super::list::MAX_KEYS;
use super::record::Record;
use super::requests::{length, time};
use super::store::Bucket;

/// The name of an object's version.
pub(super) fn version(record: &Record) -> String {
    record.data.clone()
}

/// One page.
///
/// # Errors
/// For what is not implemented here.
pub(super) fn page(
    bucket: &Bucket,
    input: ListObjectVersionsInput,
) -> S3Result<ListObjectVersionsOutput> {
    if input.delimiter.as_ref().is_some_and(|delimiter| !delimiter.is_empty()) {
        return Err(s3_error!(NotImplemented, "Versions are listed without delimiters here"));
    }
    let prefix = input.prefix.clone().unwrap_or_default();
    let max_keys = input.max_keys.unwrap_or(MAX_KEYS).clamp(0, MAX_KEYS);
    let limit = usize::try_from(max_keys).unwrap_or_default();
    let (mut versions, mut is_more): (Vec<Arc<Record>>, bool) = (Vec::new(), false);
    // All versions of the marker's key were listed: there is one.
    bucket.scan_below(&prefix, input.key_marker.as_deref(), |record| {
        if versions.len() >= limit {
            is_more = limit > 0;
            return false;
        }
        versions.push(Arc::clone(record));
        true
    });
    let last = versions.last().filter(|_| is_more);
    Ok(ListObjectVersionsOutput {
        name: Some(input.bucket),
        prefix: input.prefix,
        key_marker: input.key_marker,
        version_id_marker: input.version_id_marker,
        max_keys: Some(max_keys),
        is_truncated: Some(is_more),
        next_key_marker: last.map(|record| record.key.clone()),
        next_version_id_marker: last.map(|record| version(record)),
        versions: Some(versions.iter().map(|record| listed(record)).collect()),
        ..ListObjectVersionsOutput::default()
    })
}

fn listed(record: &Record) -> ObjectVersion {
    let class = ObjectVersionStorageClass::STANDARD;
    ObjectVersion {
        key: Some(record.key.clone()),
        version_id: Some(version(record)),
        is_latest: Some(true),
        size: Some(length(record)),
        last_modified: Some(time(record)),
        e_tag: Some(ETag::Strong(record.etag.clone())),
        storage_class: Some(ObjectVersionStorageClass::from_static(class)),
        ..ObjectVersion::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::store;
    use super::*;

    #[test]
    fn pages_are_ascending_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        for key in ["b", "d/2", "d/1", "d/3", "e"] {
            store(&bucket, key, b"x", 7, &[]);
        }
        let input = |max_keys: i32, key_marker: Option<String>| ListObjectVersionsInput {
            bucket: "bucket".to_owned(),
            prefix: Some("d/".to_owned()),
            max_keys: Some(max_keys),
            key_marker,
            ..ListObjectVersionsInput::default()
        };
        for max_keys in [1, 2, 3, 1_000, i32::MAX] {
            let (mut keys, mut after) = (Vec::new(), None);
            loop {
                let page = page(&bucket, input(max_keys, after)).unwrap();
                let versions = page.versions.unwrap();
                assert!(versions.len() <= usize::try_from(max_keys).unwrap());
                keys.extend(versions.into_iter().map(|version| version.key.unwrap()));
                after = page.next_key_marker;
                assert_eq!(page.is_truncated, Some(after.is_some()));
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(keys, ["d/1", "d/2", "d/3"], "{max_keys}");
        }
        let none = page(&bucket, input(0, None)).unwrap();
        assert_eq!((none.versions.unwrap().len(), none.is_truncated), (0, Some(false)));
        let delimited =
            ListObjectVersionsInput { delimiter: Some("/".to_owned()), ..input(1, None) };
        assert!(page(&bucket, delimited).is_err());
    }
}
