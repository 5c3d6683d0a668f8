//! What a smoke test found.

use std::time::Duration;

use handlebars::Handlebars;
use serde::Serialize;

use crate::error::SynthError;

const JUNIT: &str = include_str!("../../../templates/smoke.junit.xml.hbs");

/// The checks that ran, in order.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SmokeReport {
    /// Each check.
    pub(crate) checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    /// What is checked.
    pub(crate) name: &'static str,
    /// What came of it.
    pub(crate) outcome: CheckOutcome,
    /// How long it took, milliseconds.
    pub(crate) elapsed_ms: u128,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckOutcome {
    /// As it should be.
    Passed,
    /// It could not be checked, and why.
    Skipped(String),
    /// Not as it should be.
    Failed(String),
}

/// What the template of JUnit's XML shows.
#[derive(Serialize)]
struct Suite<'a> {
    url: String,
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: String,
    cases: Vec<Case<'a>>,
}

#[derive(Serialize)]
struct Case<'a> {
    name: &'a str,
    seconds: String,
    failed: Option<String>,
    skipped: Option<String>,
}

/// Without the characters that XML has no way to write.
fn in_xml(text: &str) -> String {
    let allowed = |c: &char| {
        matches!(c, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..)
            && !('\u{7f}'..='\u{9f}').contains(c)
    };
    text.chars().filter(allowed).collect()
}

impl SmokeReport {
    pub(super) fn add(
        &mut self,
        name: &'static str,
        outcome: CheckOutcome,
        elapsed: Duration,
    ) -> bool {
        let failed = matches!(outcome, CheckOutcome::Failed(_));
        self.checks.push(Check { name, outcome, elapsed_ms: elapsed.as_millis() });
        !failed
    }

    fn failed(&self) -> usize {
        self.checks.iter().filter(|check| matches!(check.outcome, CheckOutcome::Failed(_))).count()
    }

    /// The report in a line, for progress.
    pub(crate) fn summary(&self) -> String {
        let skipped = |check: &&Check| matches!(check.outcome, CheckOutcome::Skipped(_));
        let skipped = self.checks.iter().filter(skipped).count();
        let passed = self.checks.len() - self.failed() - skipped;
        match skipped {
            0 => format!("{passed} checks passed"),
            skipped => format!("{passed} checks passed, {skipped} skipped"),
        }
    }

    /// The report for people, a line for each check.
    pub(crate) fn text(&self) -> String {
        let line = |check: &Check| match &check.outcome {
            CheckOutcome::Passed => format!("passed   {} ({} ms)", check.name, check.elapsed_ms),
            CheckOutcome::Skipped(why) => format!("skipped  {}: {why}", check.name),
            CheckOutcome::Failed(why) => format!("FAILED   {}: {why}", check.name),
        };
        self.checks.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The report as JUnit's XML, which build servers show.
    pub(crate) fn junit(&self, url: &str) -> Result<String, SynthError> {
        let seconds = |ms: u128| format!("{}.{:03}", ms / 1_000, ms % 1_000);
        let cases: Vec<Case<'_>> = self
            .checks
            .iter()
            .map(|check| Case {
                name: check.name,
                seconds: seconds(check.elapsed_ms),
                failed: match &check.outcome {
                    CheckOutcome::Failed(why) => Some(in_xml(why)),
                    _ => None,
                },
                skipped: match &check.outcome {
                    CheckOutcome::Skipped(why) => Some(in_xml(why)),
                    _ => None,
                },
            })
            .collect();
        let suite = Suite {
            url: in_xml(url),
            tests: cases.len(),
            failures: self.failed(),
            skipped: cases.iter().filter(|case| case.skipped.is_some()).count(),
            seconds: seconds(self.checks.iter().map(|check| check.elapsed_ms).sum()),
            cases,
        };
        Ok(Handlebars::new().render_template(JUNIT, &suite)?)
    }

    /// An error if a check failed.
    pub(crate) fn result(&self) -> Result<(), SynthError> {
        let failing = self.checks.iter().find_map(|check| match &check.outcome {
            CheckOutcome::Failed(why) => Some(format!("{}: {why}", check.name)),
            _ => None,
        });
        match failing {
            // A run without checks has shown nothing.
            None if self.checks.is_empty() => {
                let advice = "no check ran".to_owned();
                Err(SynthError::Smoke { failed: 0, checks: 0, advice })
            }
            None => Ok(()),
            Some(advice) => {
                let (failed, checks) = (self.failed(), self.checks.len());
                Err(SynthError::Smoke { failed, checks, advice })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_run_and_is_named() {
        let mut report = SmokeReport::default();
        assert!(report.result().is_err(), "nothing was checked");
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
    fn build_servers_read_it() {
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
