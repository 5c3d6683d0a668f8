//! What is to be done with each segment of a log.

use crate::segment::Segment;
use cellar_base::limits::{MIN_KEPT_SEGMENTS, TRIM_FENCE_S};

/// What an operator wants to keep in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Days after its end from which a segment may be offloaded and trimmed.
    pub offload_after_days: u32,
    /// Newest segments that always stay; fewer than `MIN_KEPT_SEGMENTS` count as so many.
    pub keep_segments: u32,
}

/// What is to be done with a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// It stays.
    Keep(Keep),
    /// Pack it into an object, then trim it.
    OffloadAndTrim,
    /// It was packed before: trim what is left of it.
    Trim,
}

/// Why a segment stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is one of the newest.
    Newest,
    /// It ended too short a time ago.
    TooYoung,
    /// It was trimmed before.
    TrimmedAlready,
    /// It has no entries of its own: they are those of the log that was forked.
    Inherited,
}

/// Decides for one segment of a log whose newest segment is `newest`. `closed_s` is when it ended:
/// when the segment behind it was opened.
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
