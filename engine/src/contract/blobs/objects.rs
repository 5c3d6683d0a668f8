//! Contract tests for objects: checksums, tags and key listing.

use futures_util::future::join_all;

use super::{contract_blob, contract_key, sha256, stored_bytes};
use crate::ports::{
    BlobHead, BlobInspection, BlobPage, Blobs, GetOutcome, KeepOutcome, ListedBlob, NewBlob,
    PutNewOutcome,
};
use crate::ports::{Clock as _, PortError};
use crate::system::SystemClock;

/// Maximum difference in seconds between the store's clock and the local clock.
const MAX_SKEW_S: u64 = 60;

/// A guarantee that a test store may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// A put without tags removes the tags of an existing object with the same key.
    TagsAreReplaced,
}

/// Checks that an object store provides all guarantees except those in `waived`. Before the check,
/// the store must not contain keys that start with `contract/`.
pub async fn blobs(blobs: &dyn Blobs, waived: &[Promise]) {
    objects_do_not_exist_at_first(blobs).await;
    objects_read_back(blobs).await;
    too_long_objects_are_not_read(blobs).await;
    the_store_checks_the_checksum(blobs).await;
    a_put_replaces(blobs, waived).await;
    an_object_is_created_once(blobs).await;
    the_pending_tag_is_removed_permanently(blobs).await;
    a_delete_can_be_repeated(blobs).await;
    lists_are_ascending_and_complete(blobs).await;
    concurrent_puts_do_not_mix(blobs).await;
}

async fn objects_do_not_exist_at_first(blobs: &dyn Blobs) {
    let absent = contract_key("absent");
    assert_eq!(blobs.get(&absent, 10).await, Ok(GetOutcome::Absent));
    assert_eq!(blobs.head(&absent).await, Ok(None));
    assert_eq!(blobs.pending(&absent).await, Ok(None));
    assert_eq!(blobs.inspect(&absent).await, Ok(None));
    assert_eq!(blobs.keep(&absent).await, Ok(KeepOutcome::Absent));
    assert_eq!(blobs.delete(&absent).await, Ok(()));
    assert_eq!(blobs.list("contract/", None, 10).await, Ok(BlobPage::default()));
}

async fn objects_read_back(blobs: &dyn Blobs) {
    let every_byte: Vec<u8> = (0..=u8::MAX).cycle().take(3_000_000).collect();
    for (name, bytes) in [("put/empty", vec![]), ("put/=long_name-1.bin", every_byte)] {
        let put_blob = NewBlob {
            content_type: Some("application/vnd.cellar".to_owned()),
            content_encoding: Some("zstd".to_owned()),
            ..contract_blob(name, bytes)
        };
        assert_eq!(blobs.put(put_blob.clone()).await, Ok(()));
        let head = blobs.head(&put_blob.key).await.ok().flatten();
        assert!(head.as_ref().is_some_and(|head| describes(head, &put_blob)), "{name}: {head:?}");
        let outcome = blobs.get(&put_blob.key, put_blob.bytes.len() as u64).await;
        let Ok(GetOutcome::Found { head: head_of_get, bytes }) = outcome else {
            panic!("{name} is unreadable: {outcome:?}")
        };
        assert!(bytes == put_blob.bytes, "{name}: {head_of_get:?}");
        assert!(describes(&head_of_get, &put_blob), "{name}: {head_of_get:?}");
        assert_eq!(Some(&head_of_get), head.as_ref(), "{name}");
        let inspection = head.map(|head| BlobInspection { head, pending: false });
        assert_eq!(blobs.inspect(&put_blob.key).await, Ok(inspection));
    }
}

fn describes(head: &BlobHead, blob: &NewBlob) -> bool {
    let now_s = SystemClock.now_ms() / 1_000;
    head.length == blob.bytes.len() as u64
        && head.sha256 == Some(blob.sha256)
        && head.modified_s.abs_diff(now_s) <= MAX_SKEW_S
        && head.content_type == blob.content_type
        && head.content_encoding == blob.content_encoding
}

async fn too_long_objects_are_not_read(blobs: &dyn Blobs) {
    let new_blob = contract_blob("bounded", vec![7; 1_000]);
    assert_eq!(blobs.put(new_blob.clone()).await, Ok(()));
    assert!(matches!(blobs.get(&new_blob.key, 1_000).await, Ok(GetOutcome::Found { .. })));
    for max_bytes in [999, 0] {
        assert_eq!(
            blobs.get(&new_blob.key, max_bytes).await,
            Ok(GetOutcome::TooLong { length: 1_000 })
        );
    }
}

async fn the_store_checks_the_checksum(blobs: &dyn Blobs) {
    let valid_blob = contract_blob("checksum", "these bytes");
    let blob_with_wrong_checksum = NewBlob { sha256: sha256(b"other bytes"), ..valid_blob.clone() };
    assert!(
        is_permanent(&blobs.put(blob_with_wrong_checksum.clone()).await),
        "a wrong checksum was accepted"
    );
    assert_eq!(blobs.head(&valid_blob.key).await, Ok(None), "nothing was stored");
    assert_eq!(blobs.put(valid_blob.clone()).await, Ok(()));
    assert!(is_permanent(&blobs.put(blob_with_wrong_checksum).await));
    assert_eq!(
        stored_bytes(blobs, &valid_blob.key).await,
        Some(valid_blob.bytes),
        "the existing object is kept"
    );
}

fn is_permanent(result: &Result<(), PortError>) -> bool {
    result.as_ref().is_err_and(|error| !error.temporary)
}

async fn a_put_replaces(blobs: &dyn Blobs, waived: &[Promise]) {
    let first_blob = NewBlob { pending: true, ..contract_blob("replaced", "first") };
    let second_blob = contract_blob("replaced", "the second is longer");
    for new_blob in [&first_blob, &first_blob, &second_blob] {
        assert_eq!(blobs.put(new_blob.clone()).await, Ok(()));
        assert_eq!(stored_bytes(blobs, &new_blob.key).await, Some(new_blob.bytes.clone()));
        let pending = blobs.pending(&new_blob.key).await;
        let has_put_tags = pending == Ok(Some(new_blob.pending));
        assert!(
            has_put_tags || waived.contains(&Promise::TagsAreReplaced),
            "the tags were not replaced: {pending:?}"
        );
    }
}

async fn an_object_is_created_once(blobs: &dyn Blobs) {
    let first_blob = contract_blob("created", "first");
    let second_blob = contract_blob("created", "second");
    let both = join_all([blobs.put_new(first_blob.clone()), blobs.put_new(second_blob.clone())]);
    let mut created_blob = None;
    for (outcome, blob) in both.await.into_iter().zip([&first_blob, &second_blob]) {
        match outcome {
            Ok(PutNewOutcome::Stored) => {
                assert!(created_blob.is_none(), "the object was created twice");
                created_blob = Some(blob);
            }
            // S3 may also answer that the requests conflict.
            Ok(PutNewOutcome::AlreadyExists) | Err(PortError { temporary: true, .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let bytes = created_blob.map(|blob| blob.bytes.clone());
    assert!(bytes.is_some(), "no object was created");
    assert_eq!(blobs.put_new(second_blob).await, Ok(PutNewOutcome::AlreadyExists));
    assert_eq!(stored_bytes(blobs, &first_blob.key).await, bytes);
    assert_eq!(blobs.delete(&first_blob.key).await, Ok(()));
    assert_eq!(blobs.put_new(first_blob).await, Ok(PutNewOutcome::Stored), "after a deletion");
}

async fn the_pending_tag_is_removed_permanently(blobs: &dyn Blobs) {
    let new_blob = NewBlob { pending: true, ..contract_blob("pending", "an upload") };
    assert_eq!(blobs.put(new_blob.clone()).await, Ok(()));
    let head = blobs.head(&new_blob.key).await.ok().flatten();
    assert_eq!(blobs.pending(&new_blob.key).await, Ok(Some(true)));
    for _ in 0..2 {
        assert_eq!(blobs.keep(&new_blob.key).await, Ok(KeepOutcome::Kept));
        assert_eq!(blobs.pending(&new_blob.key).await, Ok(Some(false)));
    }
    assert_eq!(blobs.head(&new_blob.key).await, Ok(head), "nothing else changed");
    assert_eq!(stored_bytes(blobs, &new_blob.key).await, Some(new_blob.bytes));
}

async fn a_delete_can_be_repeated(blobs: &dyn Blobs) {
    let (deleted_blob, other_blob) =
        (contract_blob("deleted/1", "gone"), contract_blob("deleted/10", "stays"));
    for new_blob in [&deleted_blob, &other_blob] {
        assert_eq!(blobs.put(new_blob.clone()).await, Ok(()));
    }
    for _ in 0..2 {
        assert_eq!(blobs.delete(&deleted_blob.key).await, Ok(()));
        assert_eq!(blobs.get(&deleted_blob.key, 10).await, Ok(GetOutcome::Absent));
        assert_eq!(blobs.pending(&deleted_blob.key).await, Ok(None));
        assert_eq!(blobs.keep(&deleted_blob.key).await, Ok(KeepOutcome::Absent));
    }
    assert_eq!(stored_bytes(blobs, &other_blob.key).await, Some(other_blob.bytes));
    assert_eq!(blobs.put(deleted_blob.clone()).await, Ok(()), "a deleted key can be used again");
    assert_eq!(stored_bytes(blobs, &deleted_blob.key).await, Some(deleted_blob.bytes));
}

async fn lists_are_ascending_and_complete(blobs: &dyn Blobs) {
    // Keys are sorted bytewise: `-` before `/`, and uppercase before lowercase.
    let names = ["list-apart", "list/A", "list/a", "list/a-b", "list/a/b", "list/b", "listed"];
    for name in names.iter().rev() {
        let content = (*name).to_owned();
        assert_eq!(blobs.put(contract_blob(name, content)).await, Ok(()));
    }
    let mut expected_blobs = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("list/")) {
        expected_blobs.push((contract_key(name).as_str().to_owned(), name.len() as u64));
    }
    for page_limit in [1, 2, 5, 1_000, u16::MAX] {
        let listed_blobs = list_all_blobs(blobs, "contract/list/", page_limit).await;
        let keys_and_lengths: Vec<(String, u64)> =
            listed_blobs.into_iter().map(|blob| (blob.key, blob.length)).collect();
        assert_eq!(keys_and_lengths, expected_blobs, "{page_limit}");
    }
}

async fn list_all_blobs(blobs: &dyn Blobs, prefix: &str, page_limit: u16) -> Vec<ListedBlob> {
    let mut listed_blobs = vec![];
    let mut last_key = None;
    loop {
        let page = blobs.list(prefix, last_key.as_deref(), page_limit).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        assert!(page.blobs.len() <= usize::from(page_limit));
        listed_blobs.extend(page.blobs);
        last_key = page.next;
        if last_key.is_none() {
            return listed_blobs;
        }
    }
}

async fn concurrent_puts_do_not_mix(blobs: &dyn Blobs) {
    let versions: Vec<NewBlob> =
        (0..8).map(|writer| contract_blob("race", vec![writer; 100_000])).collect();
    let outcomes = join_all(versions.iter().map(|version| blobs.put(version.clone()))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    let stored_bytes = stored_bytes(blobs, &contract_key("race")).await.unwrap_or_default();
    let is_one_version = versions.iter().any(|version| version.bytes == stored_bytes);
    assert!(is_one_version, "the bytes of two writers are mixed");
}
