//! Errors as a person, or a program, reads them: one look for all of Cellar's commands.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use crate::table::to_json;

/// Columns that a report takes at least, however narrow the terminal.
const MIN_WIDTH: usize = 40;

/// Says on stderr what went wrong and what to do: as JSON for programs
/// (`{"error": {"code", "message", "help"}}`), drawn on a terminal, plain elsewhere.
pub fn report(error: &dyn Diagnostic, json: bool) {
    let mut stderr = io::stderr();
    let text = match (json, stderr.is_terminal()) {
        (true, _) => as_json(error),
        (false, true) => as_graphical(error),
        (false, false) => as_plain(error),
    };
    // There is nowhere left to say that stderr is gone.
    let _ = writeln!(stderr, "{}", text.trim_end());
}

pub(crate) fn as_json(error: &dyn Diagnostic) -> String {
    let optional = |text: Option<Box<dyn Display + '_>>| text.map(|text| text.to_string());
    to_json(&serde_json::json!({
        "error": {
            "code": optional(error.code()),
            "message": error.to_string(),
            "help": optional(error.help()),
        }
    }))
}

pub(crate) fn as_plain(error: &dyn Diagnostic) -> String {
    let help = error.help().map(|help| help.to_string().replace('\n', "\n      "));
    let help = help.map(|help| format!("\nhelp: {help}"));
    format!("error: {error}{}", help.unwrap_or_default())
}

pub(crate) fn as_graphical(error: &dyn Diagnostic) -> String {
    let theme = if console::colors_enabled_stderr() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let width = usize::from(console::Term::stderr().size().1).max(MIN_WIDTH);
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
    match handler.render_report(&mut text, error) {
        Ok(()) => text,
        Err(_) => as_plain(error),
    }
}
