//! Tests of retention plans, offloaded segments and the trim.

mod offloaded;
mod trim;

use super::*;
use crate::segment::Segment;
use cellar_base::identity::LogId;
use cellar_base::limits::{MIN_KEPT_SEGMENTS, TRIM_FENCE_S};

const DAY_S: u64 = 24 * 60 * 60;

fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))
}

fn planned(num: u32, policy: Policy, age_s: u64, offloaded: Option<&str>, trimmed: bool) -> Plan {
    let offloaded = offloaded.map(str::to_owned);
    let (last_snapshot, lineage) = (Some(1), None);
    let segment = Segment { log: log(), num, created_s: 0, last_snapshot, offloaded, lineage };
    plan_retention(&segment, 5, 1_000, trimmed, 1_000 + age_s, policy)
}

#[test]
fn keeps_the_newest_and_the_youngest_segments() {
    let policy = Policy { offload_after_days: 0, keep_segments: 0 };
    let old = TRIM_FENCE_S;
    let newest = 5 - MIN_KEPT_SEGMENTS + 1;
    assert_eq!(planned(newest, policy, old, None, false), Plan::Keep(KeepReason::Newest));
    assert_eq!(planned(newest - 1, policy, old, None, false), Plan::OffloadAndTrim);
    assert_eq!(planned(0, policy, old - 1, None, false), Plan::Keep(KeepReason::TooYoung));
    assert_eq!(planned(0, policy, old, Some("a"), false), Plan::Trim);
    assert_eq!(planned(0, policy, old, Some("a"), true), Plan::Keep(KeepReason::TrimmedAlready));
}

#[test]
fn applies_the_limits_of_the_policy_exactly() {
    let policy = Policy { offload_after_days: 30, keep_segments: 4 };
    assert_eq!(planned(0, policy, 30 * DAY_S, None, false), Plan::OffloadAndTrim);
    assert_eq!(planned(0, policy, 30 * DAY_S - 1, None, false), Plan::Keep(KeepReason::TooYoung));
    assert_eq!(planned(1, policy, 30 * DAY_S, None, false), Plan::OffloadAndTrim);
    assert_eq!(planned(2, policy, 30 * DAY_S, None, false), Plan::Keep(KeepReason::Newest));
    let everything = Policy { offload_after_days: u32::MAX, keep_segments: u32::MAX };
    assert_eq!(
        planned(0, everything, u64::MAX - 1_000, None, false),
        Plan::Keep(KeepReason::Newest)
    );
}
