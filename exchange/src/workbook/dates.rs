//! Converts ISO 8601 dates and durations to the serial numbers that spreadsheets use.

use cellar_sheet::cell::date_serial;

const SECONDS_PER_DAY: f64 = 86_400.0;
const SECONDS_PER_HOUR: f64 = 3_600.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct IsoDate {
    pub(crate) serial: f64,
    pub(crate) has_time: bool,
}

/// Parses a date such as `2026-11-21` or `2026-11-21T10:00:00.5`.
pub(crate) fn parse_iso_date(text: &str) -> Option<IsoDate> {
    let local_text = text.trim().trim_end_matches('Z');
    let (date, time) = match local_text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (local_text, None),
    };
    let date_fields: Vec<&str> = date.splitn(3, '-').collect();
    let [year, month, day] = *date_fields.as_slice() else { return None };
    let midnight = date_serial(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?, 0)?;
    match time {
        Some(time) => Some(IsoDate { serial: midnight + parse_time_of_day(time)?, has_time: true }),
        None => Some(IsoDate { serial: midnight, has_time: false }),
    }
}

/// Parses a time such as `10:00` or `10:00:00.5`. Returns a fraction of a day.
fn parse_time_of_day(time: &str) -> Option<f64> {
    let mut fields = time.splitn(3, ':').map(parse_nonnegative_number);
    let hours = fields.next()??;
    let minutes = fields.next()??;
    let seconds = fields.next().flatten().unwrap_or(0.0);
    let second_of_day = hours * SECONDS_PER_HOUR + minutes * SECONDS_PER_MINUTE + seconds;
    if second_of_day >= SECONDS_PER_DAY {
        return None;
    }
    Some(second_of_day / SECONDS_PER_DAY)
}

fn parse_nonnegative_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number| *number >= 0.0)
}

/// Parses a duration such as `PT36H30M00S` or `P1DT12H`. Returns a number of days.
pub(crate) fn parse_iso_duration_days(text: &str) -> Option<f64> {
    let (sign, unsigned_text) = match text.strip_prefix('-') {
        Some(unsigned_text) => (-1.0, unsigned_text),
        None => (1.0, text),
    };
    let (days, time) = unsigned_text.strip_prefix('P')?.split_once('T')?;
    let mut seconds = 0.0;
    if !days.is_empty() {
        seconds += days.strip_suffix('D')?.parse::<f64>().ok()? * SECONDS_PER_DAY;
    }
    let mut unparsed_time = time;
    for (unit, unit_seconds) in [('H', SECONDS_PER_HOUR), ('M', SECONDS_PER_MINUTE), ('S', 1.0)] {
        if let Some((number, after_unit)) = unparsed_time.split_once(unit) {
            seconds += number.parse::<f64>().ok()? * unit_seconds;
            unparsed_time = after_unit;
        }
    }
    let duration_days = sign * seconds / SECONDS_PER_DAY;
    if !unparsed_time.is_empty() || !duration_days.is_finite() {
        return None;
    }
    Some(duration_days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_and_durations() {
        let date_of = |text| parse_iso_date(text).map(|date| (date.serial, date.has_time));
        assert_eq!(date_of("2012-01-01"), Some((40_909.0, false)));
        assert_eq!(date_of("2012-01-01T12:00:00.000Z"), Some((40_909.5, true)));
        assert_eq!(date_of("2012-01-01T06:00"), Some((40_909.25, true)));
        for wrong in
            ["", "2012", "2012-13-01", "2012-01-01T24:00:00", "2012-01-01T-1:00", "T1:1", "é"]
        {
            assert_eq!(date_of(wrong), None, "{wrong}");
        }
        assert_eq!(parse_iso_duration_days("PT36H30M00S"), Some(1.520_833_333_333_333_3));
        assert_eq!(parse_iso_duration_days("-P1DT12H"), Some(-1.5));
        for wrong in ["", "P", "PT1X", "PTxH", "P1T1H", "PTinfH"] {
            assert_eq!(parse_iso_duration_days(wrong), None, "{wrong}");
        }
    }
}
