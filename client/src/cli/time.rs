//! Formats times in UTC, regardless of the local time zone.

use std::time::{Duration, UNIX_EPOCH};

/// The last second of the year 9999, the latest time that RFC 3339 can represent.
const LAST_S: u64 = 253_402_300_799;

/// Formats a Unix time in seconds as `2026-11-01T12:00:00Z`. Times after the year 9999 are printed
/// as a number of seconds.
pub(super) fn format_utc(unix_s: u64) -> String {
    if unix_s > LAST_S {
        return format!("{unix_s} s");
    }
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(unix_s)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_unix_seconds_as_utc() {
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (253_402_300_800, "253402300800 s"),
            (u64::MAX, "18446744073709551615 s"),
        ] {
            assert_eq!(format_utc(unix_s), text);
        }
    }
}
