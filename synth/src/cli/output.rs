//! Prints progress to stderr and results to stdout.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use cellar::text::to_json;
use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use miette::Diagnostic;
use serde::Serialize;
use serde_json::json;

use super::args::ProgressArgument;

pub(super) const SPINNER_TICK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    progress: ProgressMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressMode {
    /// Lines and spinners on a terminal, which are updated in place.
    Live,
    Plain,
    Json,
    /// JSON objects, for resource events only.
    Quiet,
}

pub(crate) struct ProgressStep {
    spinner: Option<ProgressBar>,
    title: String,
    started: Instant,
    progress: ProgressMode,
}

impl Output {
    /// If `json` is set, results are printed as JSON. Otherwise, progress is updated in place if
    /// stderr is a terminal.
    pub(crate) fn new(json: bool) -> Self {
        let progress = if json {
            ProgressMode::Quiet
        } else if std::io::stderr().is_terminal() {
            ProgressMode::Live
        } else {
            ProgressMode::Plain
        };
        Self { json, progress }
    }

    pub(crate) fn with_progress(self, argument: Option<ProgressArgument>) -> Self {
        let progress = match argument {
            None => self.progress,
            Some(ProgressArgument::Live) => ProgressMode::Live,
            Some(ProgressArgument::Plain) => ProgressMode::Plain,
            Some(ProgressArgument::Json) => ProgressMode::Json,
        };
        Self { progress, ..self }
    }

    pub(super) fn progress(&self) -> ProgressMode {
        self.progress
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn has_colours(&self) -> bool {
        !self.json && console::colors_enabled()
    }

    pub(crate) fn has_colours_for_notes(&self) -> bool {
        !self.json && console::colors_enabled_stderr()
    }

    /// With `--json`, prints `value` as JSON; otherwise, prints `text`.
    pub(crate) fn print_result(&self, value: &impl Serialize, text: &str) {
        let result = if self.json { to_json(value) } else { text.to_owned() };
        // Ignore the error: writing fails only if stdout is closed, for example by `head`.
        let _ = writeln!(std::io::stdout(), "{}", result.trim_end_matches('\n'));
    }

    /// `title` is an imperative phrase such as "Upload the bundle".
    pub(crate) fn start_step(&self, title: &str) -> ProgressStep {
        let spinner = match self.progress {
            ProgressMode::Live => Some(step_spinner(title)),
            ProgressMode::Plain | ProgressMode::Json | ProgressMode::Quiet => None,
        };
        ProgressStep {
            spinner,
            title: title.to_owned(),
            started: Instant::now(),
            progress: self.progress,
        }
    }

    pub(crate) fn print_error(&self, error: &dyn Diagnostic) {
        cellar::cli::report::report(error, self.json);
    }

    /// Prints nothing in quiet mode.
    pub(crate) fn print_note(&self, text: &str) {
        print_note_in_mode(self.progress, text);
    }
}

fn step_spinner(title: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(title.to_owned());
    let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(SPINNER_TICK);
    spinner
}

impl ProgressStep {
    /// On a terminal, the activity is shown next to the step title; otherwise, it is printed as a
    /// separate line.
    pub(crate) fn update(&self, activity: &str) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(format!("{}: {activity}", self.title)),
            None => self.print(activity),
        }
    }

    /// Prints a line that stays visible after the step has ended.
    pub(crate) fn print(&self, line: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| print_line(line)),
            None => print_note_in_mode(self.progress, line),
        }
    }

    pub(crate) fn succeed(self, result: &str) {
        self.end(true, result);
    }

    /// The caller must report the error.
    pub(crate) fn fail(self) {
        self.end(false, "");
    }

    /// `describe` creates the message for a succeeded step. Returns `result` unchanged.
    pub(crate) fn finish<T, E>(
        self,
        result: Result<T, E>,
        describe: impl FnOnce(&T) -> String,
    ) -> Result<T, E> {
        match &result {
            Ok(value) => self.succeed(&describe(value)),
            Err(_) => self.fail(),
        }
        result
    }

    fn end(self, is_success: bool, result: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        let elapsed = self.started.elapsed();
        match self.progress {
            ProgressMode::Quiet => {}
            ProgressMode::Json => {
                let took_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
                print_object(&json!({
                    "kind": "step", "step": self.title, "ok": is_success, "result": result,
                    "took_ms": took_ms,
                }));
            }
            ProgressMode::Live | ProgressMode::Plain => {
                let mark = if is_success { style("✓").green() } else { style("✗").red() };
                let separator = if result.is_empty() { "" } else { ": " };
                let seconds = style(format!("({:.1} s)", elapsed.as_secs_f64())).dim().for_stderr();
                print_line(&format!(
                    "{} {}{separator}{result} {seconds}",
                    mark.for_stderr(),
                    self.title
                ));
            }
        }
    }
}

fn print_note_in_mode(progress: ProgressMode, text: &str) {
    match progress {
        ProgressMode::Live | ProgressMode::Plain => print_line(text),
        ProgressMode::Json => print_object(&json!({ "kind": "note", "text": text })),
        ProgressMode::Quiet => {}
    }
}

pub(super) fn print_object(value: &serde_json::Value) {
    print_line(&to_json(value));
}

/// Prints a line to stderr, ignoring errors from a closed stderr.
pub(super) fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
