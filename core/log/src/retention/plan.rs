//! Decision about each segment of a log.

use crate::segment::Segment;
use cellar_base::limits::{MIN_KEPT_SEGMENTS, TRIM_FENCE_S};

/// Retention policy of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Days after its end from which a segment may be offloaded and trimmed.
    pub offload_after_days: u32,
    /// Newest segments to keep, at least `MIN_KEPT_SEGMENTS`.
    pub keep_segments: u32,
}

/// Decision about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Keep it.
    Keep(Keep),
    /// Offload it, then trim it.
    OffloadAndTrim,
    /// It is already offloaded: trim the rest.
    Trim,
}

/// Reason to keep a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// One of the newest.
    Newest,
    /// Ended too recently.
    TooYoung,
    /// Already trimmed.
    TrimmedAlready,
    /// Inherited: the entries belong to the source.
    Inherited,
}

/// Decides about one segment of a log whose newest segment is `newest`. `closed_s` is the end of
/// the segment: the creation of the next one.
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
