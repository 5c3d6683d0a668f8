//! The report of a smoke test.

use std::time::Duration;

use handlebars::Handlebars;
use serde::Serialize;

use crate::error::SynthError;

const JUNIT: &str = include_str!("../../../templates/smoke.junit.xml.hbs");

/// The checks of a smoke test that ran, in order.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SmokeReport {
    pub(crate) checks: Vec<Check>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    /// Name of the check.
    pub(crate) name: &'static str,
    /// Outcome of the check.
    pub(crate) outcome: CheckOutcome,
    /// Duration of the check in milliseconds.
    pub(crate) elapsed_ms: u128,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckOutcome {
    /// The stack behaves as expected.
    Passed,
    /// The check was skipped, for this reason.
    Skipped(String),
    /// The stack does not behave as expected, as described by the text.
    Failed(String),
}

/// Outcome of a check, or the error of a failed request.
pub(super) type CheckResult = Result<CheckOutcome, SynthError>;

impl CheckOutcome {
    /// Returns a pass if `passed` is true, otherwise a failure with the message from `describe`.
    pub(super) fn from_condition(passed: bool, describe: impl FnOnce() -> String) -> Self {
        if passed { Self::Passed } else { Self::Failed(describe()) }
    }
}

/// Variables of the JUnit XML template.
#[derive(Serialize)]
struct Suite<'a> {
    url: String,
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: String,
    cases: Vec<Case<'a>>,
}

/// A test case in the JUnit XML template.
#[derive(Serialize)]
struct Case<'a> {
    name: &'a str,
    seconds: String,
    failed: Option<String>,
    skipped: Option<String>,
}

/// Removes characters that are invalid in XML.
fn remove_invalid_xml(text: &str) -> String {
    let is_valid = |character: &char| {
        matches!(character, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..)
            && !('\u{7f}'..='\u{9f}').contains(character)
    };
    text.chars().filter(is_valid).collect()
}

impl SmokeReport {
    /// Adds a check to the report. Returns `false` if the check failed.
    pub(super) fn add(
        &mut self,
        name: &'static str,
        outcome: CheckOutcome,
        elapsed: Duration,
    ) -> bool {
        let has_failed = matches!(outcome, CheckOutcome::Failed(_));
        self.checks.push(Check { name, outcome, elapsed_ms: elapsed.as_millis() });
        !has_failed
    }

    fn failed_count(&self) -> usize {
        self.checks.iter().filter(|check| matches!(check.outcome, CheckOutcome::Failed(_))).count()
    }

    /// Returns a one-line summary.
    pub(crate) fn summary(&self) -> String {
        let skipped = |check: &&Check| matches!(check.outcome, CheckOutcome::Skipped(_));
        let skipped = self.checks.iter().filter(skipped).count();
        let passed = self.checks.len() - self.failed_count() - skipped;
        match skipped {
            0 => format!("{passed} checks passed"),
            skipped => format!("{passed} checks passed, {skipped} skipped"),
        }
    }

    /// Returns the report as text, one line per check.
    pub(crate) fn text(&self) -> String {
        let line = |check: &Check| match &check.outcome {
            CheckOutcome::Passed => format!("passed   {} ({} ms)", check.name, check.elapsed_ms),
            CheckOutcome::Skipped(why) => format!("skipped  {}: {why}", check.name),
            CheckOutcome::Failed(why) => format!("FAILED   {}: {why}", check.name),
        };
        self.checks.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Returns the report as JUnit XML.
    pub(crate) fn junit(&self, url: &str) -> Result<String, SynthError> {
        let cases: Vec<Case<'_>> = self.checks.iter().map(Case::new).collect();
        let suite = Suite {
            url: remove_invalid_xml(url),
            tests: cases.len(),
            failures: self.failed_count(),
            skipped: cases.iter().filter(|case| case.skipped.is_some()).count(),
            seconds: format_seconds(self.checks.iter().map(|check| check.elapsed_ms).sum()),
            cases,
        };
        Ok(Handlebars::new().render_template(JUNIT, &suite)?)
    }

    /// Returns the overall result.
    ///
    /// # Errors
    /// Returns [`SynthError::Smoke`] if a check failed or no check ran.
    pub(crate) fn result(&self) -> Result<(), SynthError> {
        let failing = self.checks.iter().find_map(|check| match &check.outcome {
            CheckOutcome::Failed(why) => Some(format!("{}: {why}", check.name)),
            _ => None,
        });
        let advice = match failing {
            Some(failure) => failure,
            None if self.checks.is_empty() => "no check ran".to_owned(),
            None => return Ok(()),
        };
        let (failed, checks) = (self.failed_count(), self.checks.len());
        Err(SynthError::Smoke { failed, checks, advice })
    }
}

impl<'a> Case<'a> {
    fn new(check: &'a Check) -> Self {
        let (failed, skipped) = match &check.outcome {
            CheckOutcome::Passed => (None, None),
            CheckOutcome::Skipped(why) => (None, Some(remove_invalid_xml(why))),
            CheckOutcome::Failed(why) => (Some(remove_invalid_xml(why)), None),
        };
        Self { name: check.name, seconds: format_seconds(check.elapsed_ms), failed, skipped }
    }
}

fn format_seconds(milliseconds: u128) -> String {
    format!("{}.{:03}", milliseconds / 1_000, milliseconds % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_test() {
        let mut report = SmokeReport::default();
        assert!(report.result().is_err(), "no check ran");
        assert!(report.add("health", CheckOutcome::Passed, Duration::ZERO));
        assert!(report.add("roles", CheckOutcome::Skipped("no key".into()), Duration::ZERO));
        assert!(report.result().is_ok());
        assert_eq!(report.summary(), "1 checks passed, 1 skipped");
        assert!(!report.add("append", CheckOutcome::Failed("lost".into()), Duration::ZERO));
        let error = report.result().unwrap_err();
        assert_eq!(error.to_string(), "the smoke test failed: 1 of 3 checks");
        assert!(report.text().contains("FAILED   append: lost"));
    }

    #[test]
    fn the_junit_report_matches_the_snapshot() {
        let mut report = SmokeReport::default();
        report.add("health", CheckOutcome::Passed, Duration::from_millis(1_005));
        report.add("roles", CheckOutcome::Skipped("no <key>".into()), Duration::ZERO);
        report.add(
            "append",
            CheckOutcome::Failed("\u{1b}[31m\"lost\" & 'gone'".into()),
            Duration::ZERO,
        );
        let xml = report.junit("http://h/?a&b").unwrap();
        let expected = include_str!("../../tests/snapshots/smoke.junit.xml");
        assert_eq!(xml, expected, "{xml}");
    }
}
