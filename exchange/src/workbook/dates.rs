//! Dates as xml has them, ISO 8601, as serial numbers.

use cellar_sheet::cell::date_serial;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// `2026-11-21` or `2026-11-21T10:00:00.5`: its serial, and whether it has a time of day.
pub(crate) fn date(text: &str) -> Option<(f64, bool)> {
    let text = text.trim().trim_end_matches('Z');
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let mut parts = day.splitn(3, '-');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let serial = date_serial(number()?, number()?, number()?, 0)?;
    let Some(time) = time else {
        return Some((serial, false));
    };
    let mut parts = time.splitn(3, ':');
    let mut number = || parts.next()?.parse::<f64>().ok().filter(|number| *number >= 0.0);
    let seconds = number()? * 3_600.0 + number()? * 60.0 + number().unwrap_or(0.0);
    (seconds < SECONDS_PER_DAY).then_some((serial + seconds / SECONDS_PER_DAY, true))
}

/// `PT36H30M00S`, in days.
pub(crate) fn duration(text: &str) -> Option<f64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (days, time) = text.strip_prefix('P')?.split_once('T')?;
    let mut seconds = match days {
        "" => 0.0,
        days => days.strip_suffix('D')?.parse::<f64>().ok()? * SECONDS_PER_DAY,
    };
    let mut rest = time;
    for (unit, factor) in [('H', 3_600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            seconds += number.parse::<f64>().ok()? * factor;
            rest = after;
        }
    }
    let days = if negative { -seconds } else { seconds } / SECONDS_PER_DAY;
    (rest.is_empty() && days.is_finite()).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_durations() {
        assert_eq!(date("2012-01-01"), Some((40_909.0, false)));
        assert_eq!(date("2012-01-01T12:00:00.000Z"), Some((40_909.5, true)));
        assert_eq!(date("2012-01-01T06:00"), Some((40_909.25, true)));
        for wrong in
            ["", "2012", "2012-13-01", "2012-01-01T24:00:00", "2012-01-01T-1:00", "T1:1", "é"]
        {
            assert_eq!(date(wrong), None, "{wrong}");
        }
        assert_eq!(duration("PT36H30M00S"), Some(1.520_833_333_333_333_3));
        assert_eq!(duration("-P1DT12H"), Some(-1.5));
        for wrong in ["", "P", "PT1X", "PTxH", "P1T1H", "PTinfH"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
