//! Selects the log segments to offload and trim.

use crate::segment::Segment;
use cellar_base::limits::{MIN_KEPT_SEGMENTS, TRIM_FENCE_S};

/// The operator's retention policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Minimum age in days, counted from the segment's end, before a segment is offloaded and
    /// trimmed.
    pub offload_after_days: u32,
    /// Number of latest segments that are kept regardless of age, at least `MIN_KEPT_SEGMENTS`.
    pub keep_segments: u32,
}

/// Plan for a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Keep the segment.
    Keep(KeepReason),
    /// Offload the segment, then trim it.
    OffloadAndTrim,
    /// Trim the segment, which is already offloaded.
    Trim,
}

/// Reason why a segment is retained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// The segment is one of the log's latest segments.
    Newest,
    /// The segment ended too recently to be trimmed.
    TooYoung,
    /// The segment is already trimmed.
    TrimmedAlready,
    /// The segment is inherited, so its entries belong to the fork's source.
    Inherited,
}

/// Decides whether to offload, trim or keep a segment. `newest_num` is the log's latest segment
/// number. `closed_s` is the segment's end time, which is the creation time of the next segment.
#[must_use]
pub fn plan_retention(
    segment: &Segment,
    newest_num: u32,
    closed_s: u64,
    is_trimmed: bool,
    now_s: u64,
    policy: Policy,
) -> Plan {
    const DAY_S: u64 = 24 * 60 * 60;
    if segment.lineage.is_some() {
        return Plan::Keep(KeepReason::Inherited);
    }
    let kept_segments = policy.keep_segments.max(MIN_KEPT_SEGMENTS);
    if segment.num.saturating_add(kept_segments) > newest_num {
        return Plan::Keep(KeepReason::Newest);
    }
    let policy_age_s = u64::from(policy.offload_after_days).saturating_mul(DAY_S);
    let min_age_s = policy_age_s.max(TRIM_FENCE_S);
    if now_s < closed_s.saturating_add(min_age_s) {
        return Plan::Keep(KeepReason::TooYoung);
    }
    if is_trimmed {
        return Plan::Keep(KeepReason::TrimmedAlready);
    }
    if segment.offloaded.is_some() { Plan::Trim } else { Plan::OffloadAndTrim }
}
