//! Formats times in UTC, regardless of the local time zone.

use cellar_sheet::cell::{Value, display};

/// Spreadsheet date serial number of the Unix epoch.
const UNIX_EPOCH_SERIAL: f64 = 25_569.0;
const SECONDS_PER_DAY: u64 = 86_400;

/// Formats seconds since the Unix epoch as `YYYY-MM-DD HH:MM:SSZ`. Times after the year 9999 are
/// formatted as plain seconds.
pub(super) fn utc(unix_s: u64) -> String {
    let plain_seconds = format!("{unix_s} s");
    let (Ok(days), Ok(seconds_of_day)) =
        (u32::try_from(unix_s / SECONDS_PER_DAY), u32::try_from(unix_s % SECONDS_PER_DAY))
    else {
        return plain_seconds;
    };
    let serial = UNIX_EPOCH_SERIAL + f64::from(days) + f64::from(seconds_of_day) / 86_400.0;
    let date_and_time = display(&Value::Number(serial), "yyyy-mm-dd hh:mm:ss");
    let is_representable = date_and_time.contains(':');
    if is_representable { format!("{date_and_time}Z") } else { plain_seconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_unix_seconds_as_utc() {
        for (unix_s, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_399, "2000-02-28 23:59:59Z"),
            (1_700_000_000, "2023-11-14 22:13:20Z"),
            (253_402_300_799, "9999-12-31 23:59:59Z"),
            (253_402_300_800, "253402300800 s"),
            (u64::MAX, "18446744073709551615 s"),
        ] {
            assert_eq!(utc(unix_s), text);
        }
    }
}
