//! Moments as text.

use std::time::{Duration, UNIX_EPOCH};

/// A moment in UTC, to the second: `2026-11-01T12:00:00Z`.
pub(crate) fn utc(unix_s: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(unix_s)).to_string()
}
