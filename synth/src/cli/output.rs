//! What a person or a program sees: progress on stderr, results on stdout.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use cellar::table::to_json;
use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use super::args::ProgressArgument;
use super::resource_list::ResourceList;
use crate::error::SynthError;

const TICK: Duration = Duration::from_millis(100);

/// Where results and progress go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    progress: ProgressMode,
}

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressMode {
    /// It moves.
    Live,
    /// A line for each step.
    Plain,
    /// A JSON object for each step.
    Json,
    /// Only what happens to resources, as JSON.
    Quiet,
}

/// Something that takes a moment.
pub(crate) struct ProgressStep {
    bar: Option<ProgressBar>,
    what: String,
    started: Instant,
    progress: ProgressMode,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        let progress = match std::io::stderr().is_terminal() {
            _ if json => ProgressMode::Quiet,
            true => ProgressMode::Live,
            false => ProgressMode::Plain,
        };
        Self { json, progress }
    }

    /// The same, with progress as it was asked for.
    pub(crate) fn with_progress(self, asked: Option<ProgressArgument>) -> Self {
        let progress = match asked {
            None => self.progress,
            Some(ProgressArgument::Live) => ProgressMode::Live,
            Some(ProgressArgument::Plain) => ProgressMode::Plain,
            Some(ProgressArgument::Json) => ProgressMode::Json,
        };
        Self { progress, ..self }
    }

    /// How progress is told.
    pub(super) fn progress(&self) -> ProgressMode {
        self.progress
    }

    /// Whether a program reads the results.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json
    }

    /// Whether results on stdout may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        !self.json && console::colors_enabled()
    }

    /// Whether what is said to people on stderr may have colours.
    pub(crate) fn has_colours_for_notes(&self) -> bool {
        !self.json && console::colors_enabled_stderr()
    }

    /// Prints a result: as JSON for programs, as text for people.
    pub(crate) fn result(&self, value: &impl Serialize, text: &str) {
        let line = match self.json {
            true => to_json(value),
            false => text.to_owned(),
        };
        print(&line);
    }

    /// Begins a step; people see it move, programs and logs see nothing or one line.
    pub(crate) fn step(&self, what: &str) -> ProgressStep {
        let bar = (self.progress == ProgressMode::Live).then(|| {
            let bar = ProgressBar::new_spinner().with_message(what.to_owned());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(TICK);
            bar
        });
        ProgressStep {
            bar,
            what: what.to_owned(),
            started: Instant::now(),
            progress: self.progress,
        }
    }

    /// A list of what happens to resources.
    pub(crate) fn resources(&self) -> ResourceList {
        ResourceList::new(*self)
    }

    /// Reports a failure.
    pub(crate) fn error(&self, error: &SynthError) {
        cellar::report::report(error, self.json);
    }

    /// Says something to a person; programs do not need it.
    pub(crate) fn note(&self, text: &str) {
        match self.progress {
            ProgressMode::Live | ProgressMode::Plain => note(text),
            ProgressMode::Json => object(&json!({ "kind": "note", "text": text })),
            ProgressMode::Quiet => {}
        }
    }
}

impl ProgressStep {
    /// Says what the step does right now: beside it on a terminal, else in a line.
    pub(crate) fn does(&self, doing: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{}: {doing}", self.what)),
            None => self.says(doing),
        }
    }

    /// Says something that a person is to see, whatever comes after it.
    pub(crate) fn says(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => match self.progress {
                ProgressMode::Live | ProgressMode::Plain => note(line),
                ProgressMode::Json => object(&json!({ "kind": "note", "text": line })),
                ProgressMode::Quiet => {}
            },
        }
    }

    /// Ends the step well.
    pub(crate) fn done(self, result: &str) {
        self.end(true, result);
    }

    /// Ends the step badly; the error follows later.
    pub(crate) fn failed(self) {
        self.end(false, "");
    }

    /// Ends the step as its result says, and hands that on; an error itself follows later.
    pub(crate) fn ended<T, E>(
        self,
        result: Result<T, E>,
        describe: impl FnOnce(&T) -> String,
    ) -> Result<T, E> {
        match &result {
            Ok(value) => self.done(&describe(value)),
            Err(_) => self.failed(),
        }
        result
    }

    fn end(self, ok: bool, result: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let took = self.started.elapsed();
        match self.progress {
            ProgressMode::Quiet => {}
            ProgressMode::Json => {
                let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                let (kind, step) = ("step", &self.what);
                object(
                    &json!({ "kind": kind, "step": step, "ok": ok, "result": result, "took_ms": took_ms }),
                );
            }
            ProgressMode::Live | ProgressMode::Plain => {
                let mark = if ok { style("✓").green() } else { style("✗").red() }.for_stderr();
                let result = if result.is_empty() { String::new() } else { format!(": {result}") };
                let took = style(format!("({:.1} s)", took.as_secs_f64())).dim().for_stderr();
                note(&format!("{mark} {}{result} {took}", self.what));
            }
        }
    }
}

/// A line on stdout; whoever stopped reading is not an error.
fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{}", line.trim_end_matches('\n'));
}

/// An object for programs on stderr, on a line.
pub(super) fn object(value: &serde_json::Value) {
    note(&to_json(value));
}

/// A line on stderr.
pub(super) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
