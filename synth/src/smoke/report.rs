//! The report of a smoke test.

use std::time::Duration;

use handlebars::Handlebars;
use serde::Serialize;

use crate::error::SynthError;

const JUNIT_TEMPLATE: &str = include_str!("../../../templates/smoke.junit.xml.hbs");

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SmokeReport {
    pub(crate) checks: Vec<Check>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) outcome: CheckOutcome,
    pub(crate) elapsed_ms: u128,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckOutcome {
    Passed,
    Skipped(String),
    Failed(String),
}

/// A check failed and was added to the report. The checks that follow it cannot run.
#[derive(Debug)]
pub(super) struct CheckFailed;

/// Outcome of a check, or the error of a request that failed.
pub(super) type CheckResult = Result<CheckOutcome, SynthError>;

impl CheckOutcome {
    /// Returns a pass if `passed` is true. Otherwise, returns a failure with the message from
    /// `describe`.
    pub(super) fn from_condition(passed: bool, describe: impl FnOnce() -> String) -> Self {
        if passed { Self::Passed } else { Self::Failed(describe()) }
    }
}

#[derive(Serialize)]
struct JunitSuite<'a> {
    url: String,
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: String,
    cases: Vec<JunitCase<'a>>,
}

#[derive(Serialize)]
struct JunitCase<'a> {
    name: &'a str,
    seconds: String,
    failed: Option<String>,
    skipped: Option<String>,
}

fn remove_invalid_xml(text: &str) -> String {
    let is_valid = |character: &char| {
        matches!(character, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..)
            && !('\u{7f}'..='\u{9f}').contains(character)
    };
    text.chars().filter(is_valid).collect()
}

impl SmokeReport {
    pub(super) fn add_check(
        &mut self,
        name: &'static str,
        outcome: CheckOutcome,
        elapsed: Duration,
    ) -> Result<(), CheckFailed> {
        let has_failed = matches!(outcome, CheckOutcome::Failed(_));
        self.checks.push(Check { name, outcome, elapsed_ms: elapsed.as_millis() });
        if has_failed { Err(CheckFailed) } else { Ok(()) }
    }

    fn failed_count(&self) -> usize {
        self.checks.iter().filter(|check| matches!(check.outcome, CheckOutcome::Failed(_))).count()
    }

    pub(crate) fn summary(&self) -> String {
        let is_skipped = |check: &&Check| matches!(check.outcome, CheckOutcome::Skipped(_));
        let skipped_count = self.checks.iter().filter(is_skipped).count();
        let passed_count = self.checks.len() - self.failed_count() - skipped_count;
        if skipped_count == 0 {
            format!("{passed_count} checks passed")
        } else {
            format!("{passed_count} checks passed, {skipped_count} skipped")
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let lines: Vec<String> = self.checks.iter().map(Check::to_line).collect();
        lines.join("\n")
    }

    pub(crate) fn to_junit(&self, url: &str) -> Result<String, SynthError> {
        let cases: Vec<JunitCase<'_>> = self.checks.iter().map(JunitCase::new).collect();
        let suite = JunitSuite {
            url: remove_invalid_xml(url),
            tests: cases.len(),
            failures: self.failed_count(),
            skipped: cases.iter().filter(|case| case.skipped.is_some()).count(),
            seconds: format_seconds(self.checks.iter().map(|check| check.elapsed_ms).sum()),
            cases,
        };
        Ok(Handlebars::new().render_template(JUNIT_TEMPLATE, &suite)?)
    }

    /// Returns [`SynthError::Smoke`] if a check failed or no check ran.
    pub(crate) fn to_result(&self) -> Result<(), SynthError> {
        let first_failure = self.checks.iter().find_map(|check| match &check.outcome {
            CheckOutcome::Failed(reason) => Some(format!("{}: {reason}", check.name)),
            _ => None,
        });
        let advice = match first_failure {
            Some(failure) => failure,
            None if self.checks.is_empty() => "no check ran".to_owned(),
            None => return Ok(()),
        };
        Err(SynthError::Smoke { failed: self.failed_count(), checks: self.checks.len(), advice })
    }
}

impl Check {
    fn to_line(&self) -> String {
        match &self.outcome {
            CheckOutcome::Passed => format!("passed   {} ({} ms)", self.name, self.elapsed_ms),
            CheckOutcome::Skipped(reason) => format!("skipped  {}: {reason}", self.name),
            CheckOutcome::Failed(reason) => format!("FAILED   {}: {reason}", self.name),
        }
    }
}

impl<'a> JunitCase<'a> {
    fn new(check: &'a Check) -> Self {
        let (failed, skipped) = match &check.outcome {
            CheckOutcome::Passed => (None, None),
            CheckOutcome::Skipped(reason) => (None, Some(remove_invalid_xml(reason))),
            CheckOutcome::Failed(reason) => (Some(remove_invalid_xml(reason)), None),
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
        assert!(report.to_result().is_err(), "no check ran");
        let skipped = CheckOutcome::Skipped("no key".into());
        assert!(report.add_check("health", CheckOutcome::Passed, Duration::ZERO).is_ok());
        assert!(report.add_check("roles", skipped, Duration::ZERO).is_ok());
        assert!(report.to_result().is_ok());
        assert_eq!(report.summary(), "1 checks passed, 1 skipped");
        let failed = CheckOutcome::Failed("lost".into());
        assert!(report.add_check("append", failed, Duration::ZERO).is_err());
        let error = report.to_result().unwrap_err();
        assert_eq!(error.to_string(), "the smoke test failed: 1 of 3 checks");
        assert!(report.to_text().contains("FAILED   append: lost"));
    }

    #[test]
    fn the_junit_report_matches_the_snapshot() {
        let mut report = SmokeReport::default();
        let skipped = CheckOutcome::Skipped("no <key>".into());
        let failed = CheckOutcome::Failed("\u{1b}[31m\"lost\" & 'gone'".into());
        report.add_check("health", CheckOutcome::Passed, Duration::from_millis(1_005)).unwrap();
        report.add_check("roles", skipped, Duration::ZERO).unwrap();
        report.add_check("append", failed, Duration::ZERO).unwrap_err();
        let xml = report.to_junit("http://h/?a&b").unwrap();
        let expected = include_str!("../../tests/snapshots/smoke.junit.xml");
        assert_eq!(xml, expected, "{xml}");
    }
}
