//! Retention: plans, archives and the purge, step by step.

use super::*;
use crate::entry::Entry;
use crate::identity::LogId;
use crate::limits::{MIN_KEPT_SEGMENTS, PURGE_FENCE_S};
use crate::segment::Segment;

fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))
}

#[test]
fn the_newest_and_the_youngest_segments_stay() {
    let policy = Policy { archive_after_days: 0, keep_segments: 0 };
    let planned = |num, now_s, archive: Option<&str>, purged| {
        let archive = archive.map(str::to_owned);
        let segment = Segment { log: log(), num, created_s: 0, last_snapshot: Some(1), archive };
        plan(&segment, 5, 1_000, purged, now_s, policy)
    };
    let later = 1_000 + PURGE_FENCE_S;
    assert_eq!(planned(5 - MIN_KEPT_SEGMENTS + 1, later, None, false), Plan::Keep(Keep::Newest));
    assert_eq!(planned(5 - MIN_KEPT_SEGMENTS, later, None, false), Plan::ArchiveAndPurge);
    assert_eq!(planned(0, later - 1, None, false), Plan::Keep(Keep::TooYoung));
    assert_eq!(planned(0, later, Some("a"), false), Plan::Purge);
    assert_eq!(planned(0, later, Some("a"), true), Plan::Keep(Keep::PurgedAlready));
}

#[test]
fn an_archive_reads_back_and_anything_else_is_an_error() {
    let entries = vec![Entry::first(log(), Some("alice".into()), 7)];
    let object = encode_archive(&entries).unwrap();
    let key = archive_key(log(), 0, &object);
    assert_eq!(decode_archive(&key, &object).unwrap(), entries);
    let mut changed = object.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(decode_archive(&key, &changed), Err(ArchiveFault::OtherHash));
    let other = [&[9], &object[1..]].concat();
    let other_key = archive_key(log(), 0, &other);
    assert_eq!(decode_archive(&other_key, &other), Err(ArchiveFault::UnknownVersion(9)));
}
