//! Lists object versions. Each object has exactly one version, with a unique id.

use std::ops::ControlFlow;
use std::sync::Arc;

use s3s::dto::{
    ETag, ListObjectVersionsInput, ListObjectVersionsOutput, ObjectVersion,
    ObjectVersionStorageClass,
};
use s3s::{S3Result, s3_error};

use super::list::MAX_KEYS;
use super::record::Record;
use super::store::Bucket;

pub(super) fn version_id(record: &Record) -> String {
    record.data.clone()
}

/// Returns `NotImplemented` if the request has a delimiter.
pub(super) fn list_page(
    bucket: &Bucket,
    input: ListObjectVersionsInput,
) -> S3Result<ListObjectVersionsOutput> {
    if input.delimiter.as_ref().is_some_and(|delimiter| !delimiter.is_empty()) {
        return Err(s3_error!(NotImplemented, "Delimiters are not supported in lists of versions"));
    }
    let prefix = input.prefix.clone().unwrap_or_default();
    let max_keys = input.max_keys.unwrap_or(MAX_KEYS).clamp(0, MAX_KEYS);
    let max_records = usize::try_from(max_keys).unwrap_or_default();
    let mut records: Vec<Arc<Record>> = Vec::new();
    let mut is_truncated = false;
    // Continue after the marker's key. The previous page already contained this key's only version.
    bucket.scan_prefix(&prefix, input.key_marker.as_deref(), |record| {
        if records.len() >= max_records {
            // S3 allows `max-keys=0`. Its response is then an empty page that is not truncated.
            is_truncated = max_records > 0;
            return ControlFlow::Break(());
        }
        records.push(Arc::clone(record));
        ControlFlow::Continue(())
    });
    let marker_record = if is_truncated { records.last() } else { None };
    Ok(ListObjectVersionsOutput {
        name: Some(input.bucket),
        prefix: input.prefix,
        key_marker: input.key_marker,
        version_id_marker: input.version_id_marker,
        max_keys: Some(max_keys),
        is_truncated: Some(is_truncated),
        next_key_marker: marker_record.map(|record| record.key.clone()),
        next_version_id_marker: marker_record.map(|record| version_id(record)),
        versions: Some(records.iter().map(|record| to_object_version(record)).collect()),
        ..ListObjectVersionsOutput::default()
    })
}

fn to_object_version(record: &Record) -> ObjectVersion {
    let storage_class = ObjectVersionStorageClass::STANDARD;
    ObjectVersion {
        key: Some(record.key.clone()),
        version_id: Some(version_id(record)),
        is_latest: Some(true),
        size: Some(record.signed_length()),
        last_modified: Some(record.modified()),
        e_tag: Some(ETag::Strong(record.etag.clone())),
        storage_class: Some(ObjectVersionStorageClass::from_static(storage_class)),
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
                let page = list_page(&bucket, input(max_keys, after)).unwrap();
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
        let none = list_page(&bucket, input(0, None)).unwrap();
        assert_eq!((none.versions.unwrap().len(), none.is_truncated), (0, Some(false)));
        let delimited =
            ListObjectVersionsInput { delimiter: Some("/".to_owned()), ..input(1, None) };
        assert!(list_page(&bucket, delimited).is_err());
    }
}
