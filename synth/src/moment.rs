//! Formats times in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999, which is the latest time that can be formatted.
const LAST_S: u64 = 253_402_300_799;

/// Formats seconds since the Unix epoch as `2026-11-01T12:00:00Z`.
pub(crate) fn format_utc(unix_s: u64) -> String {
    humantime::format_rfc3339_seconds(system_time(Duration::from_secs(unix_s.min(LAST_S))))
        .to_string()
}

pub(crate) fn format_utc_ms(unix_ms: u64) -> String {
    let last_ms = LAST_S * 1_000 + 999;
    humantime::format_rfc3339_millis(system_time(Duration::from_millis(unix_ms.min(last_ms))))
        .to_string()
}

fn system_time(since_epoch: Duration) -> SystemTime {
    UNIX_EPOCH + since_epoch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_times_and_limits_them_to_the_year_9999() {
        assert_eq!(format_utc(1_793_516_645), "2026-11-01T07:04:05Z");
        assert_eq!(format_utc_ms(1_793_516_645_678), "2026-11-01T07:04:05.678Z");
        assert_eq!(format_utc(u64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(format_utc_ms(u64::MAX), "9999-12-31T23:59:59.999Z");
    }
}
