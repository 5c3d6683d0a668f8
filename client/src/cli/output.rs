//! What a command says on standard output: for people, or JSON.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

pub(super) use cellar_base::count::{count, grouped};

use crate::table::to_json;

/// Where results go. Nothing here panics on a closed pipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// JSON, and nothing else.
    pub(super) json: bool,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Says a line to a person; JSON mode leaves it out.
    pub(super) fn say(self, text: impl AsRef<str>) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", text.as_ref())?;
        stdout.flush()
    }

    /// Says something on the side, on stderr, so that it is not taken for data.
    pub(super) fn note(self, text: impl AsRef<str>) {
        if !self.json {
            let dim = console::Style::new().dim().for_stderr();
            let text = dim.apply_to(text.as_ref());
            // A note that nobody can read is no failure.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// The result for a program; other modes leave it out.
    pub(super) fn result(self, result: &impl Serialize) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{}", to_json(result))?;
        stdout.flush()
    }

    /// The characters of a line, if a terminal shows it.
    pub(super) fn width(self) -> Option<usize> {
        let term = console::Term::stdout();
        io::stdout().is_terminal().then(|| usize::from(term.size().1))
    }
}
