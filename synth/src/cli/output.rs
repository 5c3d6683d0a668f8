//! Prints the progress of a command to stderr and its results to stdout.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use cellar::table::to_json;
use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use miette::Diagnostic;
use serde::Serialize;
use serde_json::json;

use super::args::ProgressArgument;

/// Interval at which a spinner is redrawn.
pub(super) const SPINNER_TICK: Duration = Duration::from_millis(100);

/// Printer for the results and the progress of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    progress: ProgressMode,
}

/// Output mode for progress on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressMode {
    /// Prints lines and spinners, and updates them in place.
    Live,
    /// Prints one line per step.
    Plain,
    /// Prints one JSON object per step.
    Json,
    /// Prints only resource events, as JSON objects.
    Quiet,
}

/// A step in progress. Created by [`Output::step`].
pub(crate) struct ProgressStep {
    spinner: Option<ProgressBar>,
    title: String,
    started: Instant,
    progress: ProgressMode,
}

impl Output {
    /// Creates an output. If `json` is set, results are printed as JSON. Otherwise, progress is
    /// updated in place if stderr is a terminal.
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

    /// Returns an output with the progress mode of `--progress`. If `--progress` is not given, the
    /// mode does not change.
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

    /// Returns whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns whether results on stdout may be coloured.
    pub(crate) fn has_colours(&self) -> bool {
        !self.json && console::colors_enabled()
    }

    /// Returns whether notes on stderr may be coloured.
    pub(crate) fn has_colours_for_notes(&self) -> bool {
        !self.json && console::colors_enabled_stderr()
    }

    /// Prints a result to stdout: `value` as JSON with `--json`, otherwise `text`.
    pub(crate) fn print_result(&self, value: &impl Serialize, text: &str) {
        let result = if self.json { to_json(value) } else { text.to_owned() };
        // Writing fails only if stdout is closed, for example by `head`. The error is ignored.
        let _ = writeln!(std::io::stdout(), "{}", result.trim_end_matches('\n'));
    }

    /// Starts a step. `title` is an imperative phrase such as "Upload the bundle".
    pub(crate) fn step(&self, title: &str) -> ProgressStep {
        let spinner = (self.progress == ProgressMode::Live).then(|| {
            let spinner = ProgressBar::new_spinner().with_message(title.to_owned());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
            spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            spinner.enable_steady_tick(SPINNER_TICK);
            spinner
        });
        let (title, started) = (title.to_owned(), Instant::now());
        ProgressStep { spinner, title, started, progress: self.progress }
    }

    /// Prints an error and its help text to stderr.
    pub(crate) fn error(&self, error: &dyn Diagnostic) {
        cellar::report::report(error, self.json);
    }

    /// Prints a note for the user to stderr. The progress mode determines the format; the quiet
    /// mode prints nothing.
    pub(crate) fn note(&self, text: &str) {
        print_note(self.progress, text);
    }
}

impl ProgressStep {
    /// Shows the current activity of the step. On a terminal, the activity is shown next to the
    /// step's title; otherwise it is printed as a line.
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
            None => print_note(self.progress, line),
        }
    }

    /// Ends the step successfully.
    pub(crate) fn succeed(self, result: &str) {
        self.end(true, result);
    }

    /// Ends the step as failed. The caller reports the error.
    pub(crate) fn fail(self) {
        self.end(false, "");
    }

    /// Ends the step with success or failure and returns `result` unchanged.
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

    fn end(self, ok: bool, result: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        let took = self.started.elapsed();
        match self.progress {
            ProgressMode::Quiet => {}
            ProgressMode::Json => {
                let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                print_object(&json!({
                    "kind": "step", "step": self.title, "ok": ok, "result": result, "took_ms": took_ms,
                }));
            }
            ProgressMode::Live | ProgressMode::Plain => {
                let mark = if ok { style("✓").green() } else { style("✗").red() }.for_stderr();
                let result = if result.is_empty() { String::new() } else { format!(": {result}") };
                let took = style(format!("({:.1} s)", took.as_secs_f64())).dim().for_stderr();
                print_line(&format!("{mark} {}{result} {took}", self.title));
            }
        }
    }
}

fn print_note(progress: ProgressMode, text: &str) {
    match progress {
        ProgressMode::Live | ProgressMode::Plain => print_line(text),
        ProgressMode::Json => print_object(&json!({ "kind": "note", "text": text })),
        ProgressMode::Quiet => {}
    }
}

/// Prints a JSON object as one line on stderr.
pub(super) fn print_object(value: &serde_json::Value) {
    print_line(&to_json(value));
}

/// Prints a line to stderr. A closed stderr is ignored.
pub(super) fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
