//! What a person or a program sees: progress on stderr, results on stdout.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::deployment::{Line, Mark};
use crate::error::SynthError;

const TICK: Duration = Duration::from_millis(100);

/// Where results and progress go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    terminal: bool,
}

/// Something that takes a moment.
pub(crate) struct Step {
    bar: Option<ProgressBar>,
    what: String,
    started: Instant,
    quiet: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, terminal: std::io::stderr().is_terminal() }
    }

    /// Whether a program reads the results.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.json
    }

    /// Whether results on stdout may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        !self.json && console::colors_enabled()
    }

    /// Prints a result: as JSON for programs, as text for people.
    pub(crate) fn result(&self, value: &impl Serialize, text: &str) {
        let line = match self.json {
            true => serde_json::to_string(value).unwrap_or_default(),
            false => text.to_owned(),
        };
        print(&line);
    }

    /// Begins a step; people see it move, programs and logs see nothing or one line.
    pub(crate) fn step(&self, what: &str) -> Step {
        let bar = (self.terminal && !self.json).then(|| {
            let bar = ProgressBar::new_spinner().with_message(what.to_owned());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(TICK);
            bar
        });
        Step { bar, what: what.to_owned(), started: Instant::now(), quiet: self.json }
    }

    /// Tells what happened to a resource: a line for people, as JSON on stderr for programs.
    pub(crate) fn line(&self, line: &Line) {
        if self.json {
            note(&serde_json::to_string(line).unwrap_or_default());
            return;
        }
        let mark = match line.mark {
            Mark::Begun => style("·").dim(),
            Mark::Done => style("✓").green(),
            Mark::Failed => style("✗").red(),
        };
        let status = line.status.to_lowercase().replace('_', " ");
        let took = line
            .took_ms
            .map(|took_ms| format!(" ({:.1} s)", Duration::from_millis(took_ms).as_secs_f64()));
        let reason = line.reason.as_deref().filter(|_| line.mark == Mark::Failed);
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let (id, kind, mark) = (&line.logical_id, &line.resource_type, mark.for_stderr());
        note(&format!("  {mark} {id} {status} ({kind}){}{reason}", took.unwrap_or_default()));
    }

    /// Reports a failure.
    pub(crate) fn error(&self, error: &SynthError) {
        cellar::report::report(error, self.json);
    }

    /// Says something to a person; programs do not need it.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            note(text);
        }
    }
}

impl Step {
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
            None if self.quiet => {}
            None => note(line),
        }
    }

    /// Ends the step well.
    pub(crate) fn done(self, result: &str) {
        self.end(&style("✓").green().for_stderr().to_string(), result);
    }

    /// Ends the step badly; the error follows later.
    pub(crate) fn failed(self) {
        self.end(&style("✗").red().for_stderr().to_string(), "");
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

    fn end(self, mark: &str, result: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.quiet {
            return;
        }
        let elapsed_s = self.started.elapsed().as_secs_f64();
        let result = if result.is_empty() { String::new() } else { format!(": {result}") };
        let took = style(format!("({elapsed_s:.1} s)")).dim().for_stderr();
        note(&format!("{mark} {}{result} {took}", self.what));
    }
}

/// A line on stdout; whoever stopped reading is not an error.
fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{}", line.trim_end_matches('\n'));
}

/// A line on stderr.
fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
