//! Lists objects, in pages.

use std::ops::ControlFlow;
use std::sync::Arc;

use s3s::dto::{
    CommonPrefix, ETag, ListObjectsV2Input, ListObjectsV2Output, Object, ObjectStorageClass,
};

use super::record::Record;
use super::store::Bucket;

/// Maximum number of objects and common prefixes per page. Matches S3's limit.
pub(super) const MAX_KEYS: i32 = 1_000;

/// The continuation token is the last key or common prefix of the previous page.
pub(super) fn list_page(bucket: &Bucket, input: ListObjectsV2Input) -> ListObjectsV2Output {
    let max_keys = input.max_keys.unwrap_or(MAX_KEYS).clamp(0, MAX_KEYS);
    let start_after = input.continuation_token.clone().or_else(|| input.start_after.clone());
    let mut page = Page {
        prefix: input.prefix.clone().unwrap_or_default(),
        delimiter: input.delimiter.clone().filter(|delimiter| !delimiter.is_empty()),
        max_names: usize::try_from(max_keys).unwrap_or_default(),
        last_name: start_after.clone().unwrap_or_default(),
        ..Page::default()
    };
    let prefix = page.prefix.clone();
    bucket.scan_prefix(&prefix, start_after.as_deref(), |record| page.add_until_full(record));
    let next_token = if page.is_truncated { Some(page.last_name.clone()) } else { None };
    ListObjectsV2Output {
        name: Some(input.bucket),
        prefix: input.prefix,
        delimiter: input.delimiter,
        start_after: input.start_after,
        continuation_token: input.continuation_token,
        max_keys: Some(max_keys),
        key_count: i32::try_from(page.name_count()).ok(),
        is_truncated: Some(page.is_truncated),
        next_continuation_token: next_token,
        contents: Some(page.objects),
        common_prefixes: Some(page.common_prefixes),
        ..ListObjectsV2Output::default()
    }
}

/// A page of an object list, to which objects are added in key order.
#[derive(Default)]
struct Page {
    prefix: String,
    delimiter: Option<String>,
    /// Maximum number of objects and common prefixes on the page.
    max_names: usize,
    objects: Vec<Object>,
    common_prefixes: Vec<CommonPrefix>,
    /// The object key or common prefix that was added to the page last. Before the first one is
    /// added, the last one of the previous page.
    last_name: String,
    is_truncated: bool,
}

impl Page {
    fn name_count(&self) -> usize {
        self.objects.len() + self.common_prefixes.len()
    }

    /// Adds an object to the page, or its common prefix if the page does not contain it yet.
    /// Returns `Break` if the page is full.
    fn add_until_full(&mut self, record: &Arc<Record>) -> ControlFlow<()> {
        let common_prefix = self.common_prefix(&record.key);
        if common_prefix.as_ref() == Some(&self.last_name) {
            return ControlFlow::Continue(());
        }
        if self.name_count() >= self.max_names {
            // S3 allows `max-keys=0`. Its response is then an empty page that is not truncated.
            self.is_truncated = self.max_names > 0;
            return ControlFlow::Break(());
        }
        match common_prefix {
            Some(common_prefix) => {
                self.last_name.clone_from(&common_prefix);
                self.common_prefixes.push(CommonPrefix { prefix: Some(common_prefix) });
            }
            None => {
                self.last_name.clone_from(&record.key);
                self.objects.push(to_list_object(record));
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the key up to and including the first delimiter after the prefix. Returns `None` if
    /// the key contains no further delimiter.
    fn common_prefix(&self, key: &str) -> Option<String> {
        let Self { prefix, delimiter, .. } = self;
        let delimiter = delimiter.as_deref()?;
        let (folder, _) = key.strip_prefix(prefix)?.split_once(delimiter)?;
        Some(format!("{prefix}{folder}{delimiter}"))
    }
}

fn to_list_object(record: &Record) -> Object {
    Object {
        key: Some(record.key.clone()),
        size: Some(record.signed_length()),
        last_modified: Some(record.modified()),
        e_tag: Some(ETag::Strong(record.etag.clone())),
        storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
        ..Object::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::store;
    use super::*;

    fn walk(bucket: &Bucket, prefix: &str, delimiter: Option<&str>, max_keys: i32) -> Vec<String> {
        let (mut all, mut token) = (vec![], None);
        loop {
            let input = ListObjectsV2Input {
                bucket: "b".to_owned(),
                prefix: Some(prefix.to_owned()),
                delimiter: delimiter.map(str::to_owned),
                max_keys: Some(max_keys),
                continuation_token: token,
                ..ListObjectsV2Input::default()
            };
            let page = list_page(bucket, input);
            assert!(page.key_count.unwrap() <= max_keys);
            all.extend(page.contents.unwrap().into_iter().filter_map(|object| object.key));
            all.extend(page.common_prefixes.unwrap().into_iter().filter_map(|it| it.prefix));
            token = page.next_continuation_token;
            assert!(all.len() <= 8, "a page repeats objects: {all:?}");
            assert_eq!(token.is_some(), page.is_truncated.unwrap());
            if token.is_none() {
                all.sort();
                return all;
            }
        }
    }

    #[test]
    fn pages_of_any_size_list_the_same_objects() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        for key in ["a", "d/1", "d/2", "d/e/1", "d/e/2", "d/f", "e/1", "f"] {
            store(&bucket, key, b"x", 7, &[]);
        }
        for max_keys in [1, 2, 3, 1_000] {
            assert_eq!(walk(&bucket, "", Some("/"), max_keys), ["a", "d/", "e/", "f"]);
            assert_eq!(walk(&bucket, "d/", Some("/"), max_keys), ["d/1", "d/2", "d/e/", "d/f"]);
            assert_eq!(walk(&bucket, "d/e", None, max_keys), ["d/e/1", "d/e/2"]);
            assert_eq!(walk(&bucket, "", None, max_keys).len(), 8);
        }
        let none = ListObjectsV2Input { max_keys: Some(0), ..ListObjectsV2Input::default() };
        let none = list_page(&bucket, none);
        assert_eq!((none.key_count, none.is_truncated), (Some(0), Some(false)));
    }
}
