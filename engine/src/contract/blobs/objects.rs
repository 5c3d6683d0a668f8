//! Contract tests for objects: checksums, tags and key listing.

use bytes::Bytes;

use super::{blob, key, sha256, stored};
use crate::ports::{
    BlobHead, BlobInspection, BlobKey, BlobPage, Blobs, GetOutcome, KeepOutcome, NewBlob,
};
use crate::ports::{Clock as _, PortError};
use crate::system::SystemClock;

/// Maximum clock difference between the store and the local machine, in seconds.
const MAX_SKEW_S: u64 = 60;

/// A guarantee that a test store may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// A put without tags removes the replaced object's tags.
    TagsAreReplaced,
}

/// Checks an object store, except for the guarantees in `waived`. The store must not contain keys
/// that start with `contract/`.
pub async fn blobs(blobs: &dyn Blobs, waived: &[Promise]) {
    nothing_is_there_at_first(blobs).await;
    what_is_put_reads_back(blobs).await;
    reads_are_bounded(blobs).await;
    the_store_checks_the_checksum(blobs).await;
    a_put_replaces(blobs, waived).await;
    the_pending_tag_is_removed_permanently(blobs).await;
    a_delete_can_be_repeated(blobs).await;
    lists_are_ascending_and_complete(blobs).await;
    concurrent_puts_do_not_mix(blobs).await;
}

async fn nothing_is_there_at_first(blobs: &dyn Blobs) {
    let absent = key("absent");
    assert_eq!(blobs.get(&absent, 10).await, Ok(GetOutcome::Absent));
    assert_eq!(blobs.head(&absent).await, Ok(None));
    assert_eq!(blobs.pending(&absent).await, Ok(None));
    assert_eq!(blobs.inspect(&absent).await, Ok(None));
    assert_eq!(blobs.keep(&absent).await, Ok(KeepOutcome::Absent));
    assert_eq!(blobs.delete(&absent).await, Ok(()));
    assert_eq!(blobs.list("contract/", None, 10).await, Ok(BlobPage::default()));
}

async fn what_is_put_reads_back(blobs: &dyn Blobs) {
    let every_byte: Vec<u8> = (0..=u8::MAX).cycle().take(3_000_000).collect();
    for (name, bytes) in [("put/empty", vec![]), ("put/=long_name-1.bin", every_byte)] {
        let new = NewBlob {
            content_type: Some("application/vnd.cellar".to_owned()),
            content_encoding: Some("zstd".to_owned()),
            ..blob(name, bytes)
        };
        assert_eq!(blobs.put(new.clone()).await, Ok(()));
        let head = blobs.head(&new.key).await.ok().flatten();
        assert!(head.as_ref().is_some_and(|head| describes(head, &new)), "{name}: {head:?}");
        let got = blobs.get(&new.key, new.bytes.len() as u64).await;
        let Ok(GetOutcome::Found { head: read, bytes }) = got else { unread(name) };
        assert!(describes(&read, &new) && bytes == new.bytes, "{name}: {read:?}");
        assert_eq!(Some(&read), head.as_ref(), "{name}");
        let inspected = head.map(|head| BlobInspection { head, pending: false });
        assert_eq!(blobs.inspect(&new.key).await, Ok(inspected));
    }
}

fn describes(head: &BlobHead, new: &NewBlob) -> bool {
    let now_s = SystemClock.now_ms() / 1_000;
    head.length == new.bytes.len() as u64
        && head.sha256 == Some(new.sha256)
        && head.modified_s.abs_diff(now_s) <= MAX_SKEW_S
        && head.content_type == new.content_type
        && head.content_encoding == new.content_encoding
}

#[allow(clippy::panic, reason = "a contract suite fails like a test")]
fn unread(name: &str) -> ! {
    panic!("{name} is unreadable")
}

async fn reads_are_bounded(blobs: &dyn Blobs) {
    let new = blob("bounded", vec![7; 1_000]);
    assert_eq!(blobs.put(new.clone()).await, Ok(()));
    assert!(matches!(blobs.get(&new.key, 1_000).await, Ok(GetOutcome::Found { .. })));
    for max_bytes in [999, 0] {
        assert_eq!(blobs.get(&new.key, max_bytes).await, Ok(GetOutcome::TooLong { length: 1_000 }));
    }
}

async fn the_store_checks_the_checksum(blobs: &dyn Blobs) {
    let right = blob("checksum", "these bytes");
    let wrong = NewBlob { sha256: sha256(b"other bytes"), ..right.clone() };
    assert!(is_permanent(&blobs.put(wrong.clone()).await), "a wrong checksum was accepted");
    assert_eq!(blobs.head(&right.key).await, Ok(None), "nothing was stored");
    assert_eq!(blobs.put(right.clone()).await, Ok(()));
    assert!(is_permanent(&blobs.put(wrong).await));
    assert_eq!(stored(blobs, &right.key).await, Some(right.bytes), "the existing object is kept");
}

fn is_permanent(result: &Result<(), PortError>) -> bool {
    result.as_ref().is_err_and(|error| !error.temporary)
}

async fn a_put_replaces(blobs: &dyn Blobs, waived: &[Promise]) {
    let first = NewBlob { pending: true, ..blob("replaced", "first") };
    let second = blob("replaced", "the second is longer");
    for new in [&first, &first, &second] {
        assert_eq!(blobs.put(new.clone()).await, Ok(()));
        assert_eq!(stored(blobs, &new.key).await, Some(new.bytes.clone()));
        let pending = blobs.pending(&new.key).await;
        let as_put = pending == Ok(Some(new.pending));
        assert!(
            as_put || waived.contains(&Promise::TagsAreReplaced),
            "the tags were not replaced: {pending:?}"
        );
    }
}

async fn the_pending_tag_is_removed_permanently(blobs: &dyn Blobs) {
    let new = NewBlob { pending: true, ..blob("pending", "an upload") };
    assert_eq!(blobs.put(new.clone()).await, Ok(()));
    let head = blobs.head(&new.key).await.ok().flatten();
    assert_eq!(blobs.pending(&new.key).await, Ok(Some(true)));
    for _ in 0..2 {
        assert_eq!(blobs.keep(&new.key).await, Ok(KeepOutcome::Kept));
        assert_eq!(blobs.pending(&new.key).await, Ok(Some(false)));
    }
    assert_eq!(blobs.head(&new.key).await, Ok(head), "nothing else changed");
    assert_eq!(stored(blobs, &new.key).await, Some(new.bytes));
}

async fn a_delete_can_be_repeated(blobs: &dyn Blobs) {
    let (gone, stays) = (blob("deleted/1", "gone"), blob("deleted/10", "stays"));
    for new in [&gone, &stays] {
        assert_eq!(blobs.put(new.clone()).await, Ok(()));
    }
    for _ in 0..2 {
        assert_eq!(blobs.delete(&gone.key).await, Ok(()));
        assert_eq!(blobs.get(&gone.key, 10).await, Ok(GetOutcome::Absent));
    }
    assert_eq!(stored(blobs, &stays.key).await, Some(stays.bytes));
    assert_eq!(blobs.put(gone.clone()).await, Ok(()), "a deleted key can be used again");
    assert_eq!(stored(blobs, &gone.key).await, Some(gone.bytes));
}

async fn lists_are_ascending_and_complete(blobs: &dyn Blobs) {
    // Keys are sorted bytewise: `-` before `/`, and upper case before lower case.
    let names = ["list-apart", "list/A", "list/a", "list/a-b", "list/a/b", "list/b", "listed"];
    for name in names.iter().rev() {
        assert_eq!(blobs.put(blob(name, (*name).to_owned())).await, Ok(()));
    }
    let expected: Vec<BlobKey> =
        names.iter().filter(|name| name.starts_with("list/")).map(|name| key(name)).collect();
    for limit in [1, 2, 5, 1_000, u16::MAX] {
        let (mut listed, mut after) = (vec![], None);
        loop {
            let page = blobs.list("contract/list/", after.as_deref(), limit).await;
            let Ok(page) = page else { unread("a list") };
            assert!(page.blobs.len() <= usize::from(limit));
            listed.extend(page.blobs);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let keys = listed.iter().map(|listed| listed.key.as_str());
        assert!(keys.eq(expected.iter().map(BlobKey::as_str)), "{limit}: {listed:?}");
        let whole = |length: u64, key: &str| length == (key.len() - "contract/".len()) as u64;
        assert!(listed.iter().all(|listed| whole(listed.length, &listed.key)), "{listed:?}");
    }
}

async fn concurrent_puts_do_not_mix(blobs: &dyn Blobs) {
    let new: Vec<NewBlob> = (0..8).map(|writer| blob("race", vec![writer; 100_000])).collect();
    let [a, b, c, d, e, f, g, h] =
        std::array::from_fn(|writer| blobs.put(written_by(&new, writer)));
    let (a, b, c, d, e, f, g, h) = tokio::join!(a, b, c, d, e, f, g, h);
    assert!([a, b, c, d, e, f, g, h].iter().all(Result::is_ok));
    let bytes = stored(blobs, &key("race")).await.unwrap_or_default();
    assert!(new.iter().any(|new| new.bytes == bytes), "the bytes of two writers are mixed");
}

fn written_by(new: &[NewBlob], writer: usize) -> NewBlob {
    new.get(writer).cloned().unwrap_or_else(|| blob("race", Bytes::new()))
}
