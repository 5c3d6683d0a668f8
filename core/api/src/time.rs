//! Formats times in UTC.

use jiff::Timestamp;

/// Formats a Unix time in seconds as `2026-11-01T12:00:00Z`. A time that RFC 3339 cannot represent
/// is formatted as a number of seconds, such as `300000000000 s`.
#[must_use]
pub fn format_utc(unix_s: u64) -> String {
    let timestamp =
        i64::try_from(unix_s).ok().and_then(|unix_s| Timestamp::from_second(unix_s).ok());
    match timestamp {
        Some(timestamp) => timestamp.to_string(),
        None => format!("{unix_s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_unix_seconds_as_utc() {
        let last_s = u64::try_from(Timestamp::MAX.as_second()).unwrap();
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z".to_owned()),
            (951_782_399, "2000-02-28T23:59:59Z".to_owned()),
            (1_700_000_000, "2023-11-14T22:13:20Z".to_owned()),
            (last_s, "9999-12-30T22:00:00Z".to_owned()),
            (last_s + 1, format!("{} s", last_s + 1)),
            (u64::MAX, "18446744073709551615 s".to_owned()),
        ] {
            assert_eq!(format_utc(unix_s), text);
        }
    }
}
