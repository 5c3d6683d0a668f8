//! Prints command results as text or JSON.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

pub(super) use cellar_base::count::{count, grouped};

use crate::text::to_json;

/// Separator of columns in lists.
pub(super) const COLUMN_GAP: &str = "   ";

/// Prints a command's output as text or JSON. Unlike `println!`, does not panic if stdout is
/// closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// Whether to print only JSON.
    pub(super) json: bool,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints a line to stdout. No-op with `--json`.
    pub(super) fn print_line(self, text: impl AsRef<str>) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", text.as_ref())?;
        stdout.flush()
    }

    /// Prints a note to stderr. No-op with `--json`.
    pub(super) fn print_note(self, text: impl AsRef<str>) {
        if self.json {
            return;
        }
        let dim_style = console::Style::new().dim().for_stderr();
        let styled_text = dim_style.apply_to(text.as_ref());
        // Ignore a failure, because notes are not essential.
        let _ = writeln!(io::stderr(), "{styled_text}");
    }

    /// Prints the result to stdout as JSON. No-op without `--json`.
    pub(super) fn print_json(self, result: &impl Serialize) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", to_json(result))?;
        stdout.flush()
    }

    /// Returns the terminal width in characters, or `None` if stdout is not a terminal.
    pub(super) fn terminal_width(self) -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let (_, width) = console::Term::stdout().size();
        Some(usize::from(width))
    }
}
