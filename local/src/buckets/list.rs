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

/// Returns one page of an object list. The continuation token is the last key or common prefix of
/// the previous page.
pub(super) fn list_page(bucket: &Bucket, input: ListObjectsV2Input) -> ListObjectsV2Output {
    let prefix = input.prefix.clone().unwrap_or_default();
    let max_keys = input.max_keys.unwrap_or(MAX_KEYS).clamp(0, MAX_KEYS);
    let start_after = input.continuation_token.clone().or_else(|| input.start_after.clone());
    let mut page = Page {
        delimiter: input.delimiter.clone().filter(|delimiter| !delimiter.is_empty()),
        max_names: usize::try_from(max_keys).unwrap_or_default(),
        start_after: start_after.clone().unwrap_or_default(),
        ..Page::default()
    };
    bucket.scan_prefix(&prefix, start_after.as_deref(), |record| page.try_add(&prefix, record));
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

#[derive(Default)]
struct Page {
    delimiter: Option<String>,
    /// Maximum number of objects and common prefixes on the page.
    max_names: usize,
    /// Object key or common prefix after which the page starts.
    start_after: String,
    objects: Vec<Object>,
    common_prefixes: Vec<CommonPrefix>,
    /// The object key or common prefix that was added to the page last.
    last_name: String,
    is_truncated: bool,
}

impl Page {
    fn name_count(&self) -> usize {
        self.objects.len() + self.common_prefixes.len()
    }

    /// Adds an object or its common prefix to the page. Breaks if the page is full.
    fn try_add(&mut self, prefix: &str, record: &Arc<Record>) -> ControlFlow<()> {
        let common_prefix = self.common_prefix(prefix, &record.key);
        let is_already_listed = common_prefix.as_ref().is_some_and(|common_prefix| {
            *common_prefix == self.last_name || *common_prefix == self.start_after
        });
        if is_already_listed {
            return ControlFlow::Continue(());
        }
        if self.name_count() >= self.max_names {
            // A client may request at most zero keys. The page is then empty, and S3 reports the
            // list as complete.
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

    /// Returns the key up to and including the first delimiter after `prefix`.
    fn common_prefix(&self, prefix: &str, key: &str) -> Option<String> {
        let delimiter = self.delimiter.as_deref()?;
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
