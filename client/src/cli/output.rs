//! Prints command results as text or JSON.

use std::io::{self, IsTerminal as _, Write as _};

use console::{Alignment, measure_text_width, pad_str};
use serde::Serialize;

pub(super) use cellar_base::count::{count, grouped};

use crate::text::to_json;

pub(super) const COLUMN_GAP: &str = "   ";

pub(super) fn format_rows<const COLUMNS: usize>(
    alignments: [Alignment; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> Vec<String> {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = measure_text_width(text).max(*width);
        }
    }
    let format_row = |row: &[String; COLUMNS]| {
        let columns = row.iter().zip(alignments).zip(widths);
        let padded_columns: Vec<_> = columns
            .map(|((text, alignment), width)| pad_str(text, width, alignment, None))
            .collect();
        padded_columns.join(COLUMN_GAP).trim_end().to_owned()
    };
    rows.iter().map(format_row).collect()
}

/// Unlike `println!`, this type does not panic if stdout is closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// No-op with `--json`.
    pub(super) fn print_line(self, text: impl AsRef<str>) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", text.as_ref())?;
        stdout.flush()
    }

    /// No-op with `--json`.
    pub(super) fn print_lines(self, lines: Vec<String>) -> io::Result<()> {
        for line in lines {
            self.print_line(line)?;
        }
        Ok(())
    }

    /// No-op with `--json`.
    pub(super) fn print_note(self, text: impl AsRef<str>) {
        if self.json {
            return;
        }
        let dim_style = console::Style::new().dim().for_stderr();
        let styled_text = dim_style.apply_to(text.as_ref());
        // Ignore errors, because notes are not essential.
        let _ = writeln!(io::stderr(), "{styled_text}");
    }

    /// No-op without `--json`.
    pub(super) fn print_json(self, result: &impl Serialize) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", to_json(result))?;
        stdout.flush()
    }

    /// In characters. Returns `None` if stdout is not a terminal.
    pub(super) fn terminal_width(self) -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let (_, width) = console::Term::stdout().size();
        Some(usize::from(width))
    }
}
