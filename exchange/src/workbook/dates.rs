//! Converts ISO 8601 dates and durations to serial numbers.

use cellar_sheet::cell::date_serial;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Parses a date such as `2026-11-21` or `2026-11-21T10:00:00.5`. Returns the serial number, and
/// whether the text contains a time of day.
pub(crate) fn parse_date(text: &str) -> Option<(f64, bool)> {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut date_fields = date.splitn(3, '-').map(|field| field.parse::<i64>().ok());
    let year = date_fields.next()??;
    let month = date_fields.next()??;
    let day = date_fields.next()??;
    let serial = date_serial(year, month, day, 0)?;
    match time {
        Some(time) => Some((serial + parse_time_of_day(time)?, true)),
        None => Some((serial, false)),
    }
}

/// Parses a time such as `10:00` or `10:00:00.5` and returns it as a fraction of a day.
fn parse_time_of_day(time: &str) -> Option<f64> {
    let mut fields =
        time.splitn(3, ':').map(|field| field.parse::<f64>().ok().filter(|number| *number >= 0.0));
    let hours = fields.next()??;
    let minutes = fields.next()??;
    let seconds = fields.next().flatten().unwrap_or(0.0);
    let second_of_day = hours * 3_600.0 + minutes * 60.0 + seconds;
    if second_of_day < SECONDS_PER_DAY { Some(second_of_day / SECONDS_PER_DAY) } else { None }
}

/// Parses a duration such as `PT36H30M00S` and returns the number of days.
pub(crate) fn parse_duration(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1.0, text),
        None => (1.0, text),
    };
    let (days, time) = text.strip_prefix('P')?.split_once('T')?;
    let mut seconds = if days.is_empty() {
        0.0
    } else {
        days.strip_suffix('D')?.parse::<f64>().ok()? * SECONDS_PER_DAY
    };
    let mut rest = time;
    for (unit, unit_seconds) in [('H', 3_600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            seconds += number.parse::<f64>().ok()? * unit_seconds;
            rest = after;
        }
    }
    let days = sign * seconds / SECONDS_PER_DAY;
    if rest.is_empty() && days.is_finite() { Some(days) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_and_durations() {
        assert_eq!(parse_date("2012-01-01"), Some((40_909.0, false)));
        assert_eq!(parse_date("2012-01-01T12:00:00.000Z"), Some((40_909.5, true)));
        assert_eq!(parse_date("2012-01-01T06:00"), Some((40_909.25, true)));
        for wrong in
            ["", "2012", "2012-13-01", "2012-01-01T24:00:00", "2012-01-01T-1:00", "T1:1", "é"]
        {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
        assert_eq!(parse_duration("PT36H30M00S"), Some(1.520_833_333_333_333_3));
        assert_eq!(parse_duration("-P1DT12H"), Some(-1.5));
        for wrong in ["", "P", "PT1X", "PTxH", "P1T1H", "PTinfH"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
