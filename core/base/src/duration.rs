//! Durations with units, such as `30s` or `1h 30m`, in options and configuration.

use std::ops::RangeInclusive;
use std::time::Duration;

const MS_PER_S: u64 = 1_000;
const MS_PER_MINUTE: u64 = 60 * MS_PER_S;
const MS_PER_HOUR: u64 = 60 * MS_PER_MINUTE;
const MS_PER_DAY: u64 = 24 * MS_PER_HOUR;

/// The unit in which a program counts a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationUnit {
    /// Written as `ms`.
    Milliseconds,
    /// Written as `s`.
    Seconds,
    /// Written as `m`.
    Minutes,
    /// Written as `d`.
    Days,
}

/// Why a text is not an allowed duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationFault {
    /// The text is a number.
    #[error("`{number}` has no unit: write {number}{} for {number} {}", unit.symbol(), unit.name())]
    NoUnit {
        /// The number.
        number: String,
        /// The unit in which the program counts the duration.
        unit: DurationUnit,
    },
    /// The text is not a number with a unit.
    #[error("expected a duration such as 500ms, 30s, 5m, 2h or 30d")]
    Malformed,
    /// The duration is not a whole number of units.
    #[error("expected whole {}, such as 2{}", unit.name(), unit.symbol())]
    NotWhole {
        /// The unit in which the program counts the duration.
        unit: DurationUnit,
    },
    /// The duration is too short or too long.
    #[error("expected {min} to {max}")]
    OutOfRange {
        /// The shortest allowed duration.
        min: String,
        /// The longest allowed duration.
        max: String,
    },
}

impl DurationUnit {
    /// Returns the symbol, such as `s`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "m",
            Self::Days => "d",
        }
    }

    /// Returns the name in the plural, such as `seconds`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Days => "days",
        }
    }

    fn length_ms(self) -> u64 {
        match self {
            Self::Milliseconds => 1,
            Self::Seconds => MS_PER_S,
            Self::Minutes => MS_PER_MINUTE,
            Self::Days => MS_PER_DAY,
        }
    }
}

/// Parses a duration with a unit, and returns it as a whole number of `unit`. The text may use other
/// units: `2h` is 120 minutes.
///
/// # Errors
///
/// Returns a [`DurationFault`] if the text is not a duration with a unit, if it is not a whole number
/// of `unit`, or if this number is not in `allowed`.
pub fn parse_duration(
    text: &str,
    unit: DurationUnit,
    allowed: &RangeInclusive<u64>,
) -> Result<u64, DurationFault> {
    let duration = humantime::parse_duration(text).map_err(|_| fault_of(text, unit))?;
    let unit_length = Duration::from_millis(unit.length_ms());
    let not_whole = DurationFault::NotWhole { unit };
    if !duration.as_nanos().is_multiple_of(unit_length.as_nanos()) {
        return Err(not_whole);
    }
    let count = u64::try_from(duration.as_nanos() / unit_length.as_nanos()).unwrap_or(u64::MAX);
    if !allowed.contains(&count) {
        let [min, max] =
            [allowed.start(), allowed.end()].map(|count| format_duration(*count, unit));
        return Err(DurationFault::OutOfRange { min, max });
    }
    Ok(count)
}

fn fault_of(text: &str, unit: DurationUnit) -> DurationFault {
    let number = text.trim();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return DurationFault::NoUnit { number: number.to_owned(), unit };
    }
    DurationFault::Malformed
}

/// Writes a duration in the largest unit of which it is a whole number, such as `5m` for 300 seconds.
#[must_use]
pub fn format_duration(count: u64, unit: DurationUnit) -> String {
    let larger_units =
        [(MS_PER_DAY, "d"), (MS_PER_HOUR, "h"), (MS_PER_MINUTE, "m"), (MS_PER_S, "s")];
    let is_zero = count == 0;
    for (length_ms, symbol) in larger_units {
        let counts_per_unit = length_ms / unit.length_ms();
        if !is_zero && counts_per_unit > 0 && count.is_multiple_of(counts_per_unit) {
            return format!("{}{symbol}", count / counts_per_unit);
        }
    }
    format!("{count}{}", unit.symbol())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: RangeInclusive<u64> = 0..=u64::MAX;

    fn parse(text: &str, unit: DurationUnit) -> Result<u64, DurationFault> {
        parse_duration(text, unit, &ANY)
    }

    #[test]
    fn units_are_converted() {
        use DurationUnit::{Days, Milliseconds, Minutes, Seconds};
        for (text, unit, count) in [
            ("20ms", Milliseconds, 20),
            ("1.5s", Milliseconds, 1_500),
            ("30s", Seconds, 30),
            ("5m", Seconds, 300),
            ("2h 30s", Seconds, 7_230),
            ("2h", Minutes, 120),
            ("30d", Days, 30),
            ("30days", Days, 30),
            ("48h", Days, 2),
            ("0s", Seconds, 0),
        ] {
            assert_eq!(parse(text, unit), Ok(count), "{text}");
        }
    }

    #[test]
    fn faults_say_what_to_write() {
        let fault = |text, unit| parse(text, unit).unwrap_err().to_string();
        assert_eq!(fault("30", DurationUnit::Days), "`30` has no unit: write 30d for 30 days");
        for text in ["", "x", "-1d", "1 fortnight", "d", "99999999999999999999d"] {
            assert!(fault(text, DurationUnit::Days).starts_with("expected a duration"), "{text}");
        }
        assert_eq!(fault("36h", DurationUnit::Days), "expected whole days, such as 2d");
        assert_eq!(fault("90s", DurationUnit::Minutes), "expected whole minutes, such as 2m");
    }

    #[test]
    fn both_ends_of_the_range_are_allowed() {
        let parse = |text| parse_duration(text, DurationUnit::Seconds, &(60..=900));
        assert_eq!((parse("60s"), parse("15m")), (Ok(60), Ok(900)));
        for text in ["59s", "901s", "500000years"] {
            assert_eq!(parse(text).unwrap_err().to_string(), "expected 1m to 15m", "{text}");
        }
    }

    #[test]
    fn durations_are_written_in_the_largest_whole_unit() {
        use DurationUnit::{Days, Milliseconds, Minutes, Seconds};
        for (count, unit, text) in [
            (0, Minutes, "0m"),
            (29, Seconds, "29s"),
            (300, Seconds, "5m"),
            (90, Seconds, "90s"),
            (180, Minutes, "3h"),
            (36_525, Days, "36525d"),
            (900_000, Milliseconds, "15m"),
            (20, Milliseconds, "20ms"),
        ] {
            assert_eq!(format_duration(count, unit), text);
            assert_eq!(parse(text, unit), Ok(count));
        }
    }
}
