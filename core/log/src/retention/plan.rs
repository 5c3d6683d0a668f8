//! Decides which segments of a log are offloaded and trimmed.

use crate::segment::Segment;
use cellar_base::limits::{MIN_KEPT_SEGMENTS, TRIM_FENCE_S};

/// The operator's retention policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Minimum number of days after the end of a segment before it is offloaded and trimmed.
    pub offload_after_days: u32,
    /// Number of newest segments to keep, at least `MIN_KEPT_SEGMENTS`.
    pub keep_segments: u32,
}

/// Plan for a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Keep the segment.
    Keep(Keep),
    /// Offload the segment, then trim it.
    OffloadAndTrim,
    /// Trim the segment, because it is already offloaded.
    Trim,
}

/// Reason why a segment is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The segment is one of the log's newest segments.
    Newest,
    /// The segment ended too recently.
    TooYoung,
    /// The segment is already trimmed.
    TrimmedAlready,
    /// The segment is inherited, so its entries belong to the source of the fork.
    Inherited,
}

/// Decides whether one segment of a log is offloaded, trimmed or kept. `newest` is the number of
/// the log's newest segment. `closed_s` is the time at which the segment ended, which is the
/// creation time of the next segment.
#[must_use]
pub fn plan(
    segment: &Segment,
    newest: u32,
    closed_s: u64,
    trimmed: bool,
    now_s: u64,
    policy: Policy,
) -> Plan {
    const DAY_S: u64 = 24 * 60 * 60;
    if segment.lineage.is_some() {
        return Plan::Keep(Keep::Inherited);
    }
    let kept = policy.keep_segments.max(MIN_KEPT_SEGMENTS);
    if segment.num.saturating_add(kept) > newest {
        return Plan::Keep(Keep::Newest);
    }
    let wait_s = u64::from(policy.offload_after_days).saturating_mul(DAY_S).max(TRIM_FENCE_S);
    if now_s < closed_s.saturating_add(wait_s) {
        return Plan::Keep(Keep::TooYoung);
    }
    match (&segment.offloaded, trimmed) {
        (_, true) => Plan::Keep(Keep::TrimmedAlready),
        (Some(_), false) => Plan::Trim,
        (None, false) => Plan::OffloadAndTrim,
    }
}
