//! Arguments of `synth cost` that describe the usage of a stack.

use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::count::count;
use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use clap::Args;

/// Accepted range of `--since`, in seconds. CloudWatch retains hourly sums for 455 days.
const METRIC_SECONDS: RangeInclusive<u64> = 3_600..=455 * 86_400;
/// Accepted range of `--request-time`, in milliseconds. Lambda functions run for at most 15 minutes.
const REQUEST_MS: RangeInclusive<u64> = 1..=900_000;
/// Maximum accepted count.
const COUNT_MAX: u64 = 1_000_000_000_000;
/// Bytes per billed GB.
const BYTES_PER_GB: u64 = 1 << 30;
/// Maximum accepted hours per month, the hours of a month.
const HOURS_OPEN_MAX: u64 = 730;
/// Maximum accepted hours per day.
const HOURS_PER_DAY_MAX: u64 = 24;
/// Hours per month for which a person has a spreadsheet open, unless the user says otherwise: those of a
/// full-time job.
const DEFAULT_HOURS_OPEN: u64 = 160;
/// Days of a month on which people work.
const WORKING_DAYS: u64 = 22;
/// Maximum accepted size in GB.
const GB_MAX: u64 = 1_000_000;

/// Arguments of `cost`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth cost                                the cost of an idle stack\n  \
                        synth cost --edits-per-month 3M --views-per-month 500k --s3-gb 20\n  \
                        synth cost --edits-per-month 100k --people 20 --hours-open 160\n  \
                        synth cost --edits-per-month 100k --people 20 --hours-per-day 6\n  \
                        synth cost --imported-cells-per-month 10M --new-spreadsheets-per-month 200\n  \
                        synth cost --since 30d                    the cost of the measured usage\n\n\
                        Counts may end in k, M or G. Prices are on-demand prices of us-east-1, without \
                        taxes, discounts and data transfer out of AWS."
)]
pub(crate) struct CostArguments {
    /// Use CloudWatch metrics of this period, such as 24h or 30d, instead of estimates
    #[arg(long, value_name = "DURATION", value_parser = parse_metric_time,
          conflicts_with_all = USAGE_ARGUMENTS)]
    pub(crate) since: Option<Duration>,
    /// Edits per month; one edit may set up to ten cells
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count)]
    pub(crate) edits_per_month: u64,
    /// Sheets opened per month
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count)]
    pub(crate) views_per_month: u64,
    /// People who work with spreadsheets; their open spreadsheets poll for changes
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count)]
    pub(crate) people: u64,
    /// Hours per month for which each of these people has a spreadsheet open
    #[arg(long, value_name = "H", default_value_t = DEFAULT_HOURS_OPEN, requires = "people", group = "hours",
          value_parser = clap::value_parser!(u64).range(0..=HOURS_OPEN_MAX))]
    pub(crate) hours_open: u64,
    /// The same in hours per day, on 22 days of a month
    #[arg(long, value_name = "H", requires = "people", group = "hours",
          value_parser = clap::value_parser!(u64).range(0..=HOURS_PER_DAY_MAX))]
    pub(crate) hours_per_day: Option<u64>,
    /// How many of these people have the same spreadsheet open at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_count,
          requires = "people")]
    pub(crate) people_per_spreadsheet: u64,
    /// Cells imported per month
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count)]
    pub(crate) imported_cells_per_month: u64,
    /// Spreadsheets created per month
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count)]
    pub(crate) new_spreadsheets_per_month: u64,
    /// Data in S3, in GB: snapshots, imports and offloaded segments
    #[arg(long, value_name = "GB", default_value = "0", value_parser = parse_gb)]
    pub(crate) s3_gb: u64,
    /// Data in DynamoDB, in GB: entries that are not offloaded (about 0.2 GB per million edits)
    #[arg(long, value_name = "GB", default_value = "0", value_parser = parse_gb)]
    pub(crate) table_gb: u64,
    /// Average duration of an API request, such as 20ms
    #[arg(long = "request-time", value_name = "DURATION", default_value = "20ms",
          value_parser = parse_request_ms)]
    pub(crate) request_ms: u64,
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL", requires = "since")]
    pub(crate) endpoint_url: Option<String>,
}

impl CostArguments {
    /// Hours per month for which each person has a spreadsheet open.
    pub(crate) fn hours_per_month(&self) -> u64 {
        self.hours_per_day.map_or(self.hours_open, |hours| hours * WORKING_DAYS)
    }

    /// Says how long people have a spreadsheet open. Returns `None` if the estimate is without people.
    pub(crate) fn people_assumption(&self) -> Option<String> {
        let hours = match self.hours_per_day {
            Some(hours) => {
                format!("{} a day each, on {WORKING_DAYS} days", count(hours, "hour", "hours"))
            }
            None => format!("{} a month each", count(self.hours_open, "hour", "hours")),
        };
        let people = count(self.people, "person", "people");
        (self.people > 0).then(|| format!("{people}, {hours}, with a spreadsheet open"))
    }
}

/// Names of the arguments that describe the expected usage. They conflict with `--since`.
const USAGE_ARGUMENTS: [&str; 11] = [
    "edits_per_month",
    "views_per_month",
    "people",
    "hours_open",
    "hours_per_day",
    "people_per_spreadsheet",
    "imported_cells_per_month",
    "new_spreadsheets_per_month",
    "s3_gb",
    "table_gb",
    "request_ms",
];

fn parse_metric_time(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Seconds, &METRIC_SECONDS).map(Duration::from_secs)
}

fn parse_request_ms(text: &str) -> Result<u64, DurationFault> {
    parse_duration(text, DurationUnit::Milliseconds, &REQUEST_MS)
}

/// Parses a count such as `300`, `20k` or `1.5M`.
fn parse_count(text: &str) -> Result<u64, String> {
    let (number, multiplier) = split_multiplier(text);
    let count = scale_decimal(number, multiplier)
        .ok_or("expected a whole number such as 300, 20k or 1.5M")?;
    if count > COUNT_MAX {
        return Err(format!("at most {COUNT_MAX} is allowed"));
    }
    Ok(count)
}

/// Splits off a suffix such as `k` from a number, and returns the multiplier that the suffix
/// represents.
fn split_multiplier(text: &str) -> (&str, u64) {
    let suffixes = [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    for (suffix, multiplier) in suffixes {
        if let Some(number) = text.strip_suffix(suffix) {
            return (number, multiplier);
        }
    }
    (text, 1)
}

/// Parses a size in GB into bytes.
fn parse_gb(text: &str) -> Result<u64, String> {
    let thousandths =
        scale_decimal(text, 1_000).ok_or("expected a size in GB such as 20 or 0.5")?;
    if thousandths > GB_MAX * 1_000 {
        return Err(format!("at most {GB_MAX} GB are allowed"));
    }
    Ok(thousandths * BYTES_PER_GB / 1_000)
}

/// Multiplies a decimal number, such as `1.5`, by a power of ten. Returns `None` unless the product
/// is a whole number.
fn scale_decimal(number: &str, factor: u64) -> Option<u64> {
    let (whole_digits, fraction_digits) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole_digits) || !is_digits(fraction_digits) {
        return None;
    }
    let mut product = whole_digits.parse::<u64>().ok()?.checked_mul(factor)?;
    let mut place_value = factor;
    for digit_byte in fraction_digits.bytes() {
        let digit = u64::from(digit_byte - b'0');
        if digit > 0 && !place_value.is_multiple_of(10) {
            return None;
        }
        place_value /= 10;
        product = product.checked_add(digit.checked_mul(place_value)?)?;
    }
    Some(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_counts_with_and_without_units() {
        for (text, count) in [
            ("0", 0),
            ("300", 300),
            ("20k", 20_000),
            ("20K", 20_000),
            ("1.5M", 1_500_000),
            ("0.000001M", 1),
            ("2.000", 2),
            ("1G", 1_000_000_000),
            ("1000G", COUNT_MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for bad in
            ["", "k", "-1", "1.2", "1.50", "1.0001k", "1e3", "1 k", "1m", "1.", ".5M", "1001G"]
        {
            assert!(parse_count(bad).is_err(), "{bad}");
        }
        assert!(parse_count("1000000000001").is_err());
        assert!(parse_count("99999999999999999999G").is_err());
    }

    #[test]
    fn parses_gigabytes_as_bytes() {
        assert_eq!(parse_gb("0.5"), Ok(BYTES_PER_GB / 2));
        assert_eq!(parse_gb("1000000"), Ok(BYTES_PER_GB * GB_MAX));
        for bad in ["", "1000000.001", "0.0001", "-1", "x", "1GB"] {
            assert!(parse_gb(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hours_are_only_given_with_people() {
        let parse = |options: &[&str]| {
            let arguments = [&["synth", "cost"], options].concat();
            crate::dispatch::command().try_get_matches_from(arguments).map(|_| ())
        };
        let hours = |hours: u64| hours.to_string();
        assert!(parse(&["--people", "2", "--hours-open", &hours(HOURS_OPEN_MAX)]).is_ok());
        assert!(parse(&["--people", "2", "--hours-open", &hours(HOURS_OPEN_MAX + 1)]).is_err());
        assert!(parse(&["--people", "2"]).is_ok());
        assert!(parse(&["--hours-open", "8"]).is_err());
        assert!(parse(&["--people-per-spreadsheet", "2"]).is_err());
        assert!(parse(&["--people", "2", "--hours-open", "8", "--since", "30d"]).is_err());
        assert!(parse(&["--people", "2", "--hours-per-day", &hours(HOURS_PER_DAY_MAX)]).is_ok());
        assert!(
            parse(&["--people", "2", "--hours-per-day", &hours(HOURS_PER_DAY_MAX + 1)]).is_err()
        );
        assert!(parse(&["--people", "2", "--hours-open", "8", "--hours-per-day", "8"]).is_err());
    }

    #[test]
    fn times_are_bounded() {
        assert!(parse_metric_time("1h").is_ok() && parse_metric_time("59m 59s").is_err());
        assert_eq!((parse_request_ms("1ms"), parse_request_ms("15m")), (Ok(1), Ok(900_000)));
        assert!(parse_request_ms("0ms").is_err() && parse_request_ms("900001ms").is_err());
        assert!(parse_request_ms("20").is_err(), "a unit is missing");
        assert!(parse_metric_time("455d").is_ok() && parse_metric_time("455d 1s").is_err());
    }
}
