//! Prints errors in the same format for all Cellar commands.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use crate::text::to_json;

/// Minimum width of a graphical report, in characters.
const MIN_WIDTH: usize = 40;

/// Prints an error and its help text to stderr.
///
/// If `json` is set, prints a JSON object `error` with the fields `code`, `message` and `help`.
/// Otherwise, prints a graphical report to a terminal, or plain text to any other output.
pub fn report(error: &dyn Diagnostic, json: bool) {
    let mut stderr = io::stderr();
    let report_text = if json {
        format_json(error)
    } else if stderr.is_terminal() {
        format_graphical(error)
    } else {
        format_plain(error)
    };
    // Ignore errors: if stderr is closed, there is nowhere to report them.
    let _ = writeln!(stderr, "{}", report_text.trim_end());
}

pub(crate) fn format_json(error: &dyn Diagnostic) -> String {
    let to_text = |text: Option<Box<dyn Display + '_>>| text.map(|text| text.to_string());
    to_json(&serde_json::json!({
        "error": {
            "code": to_text(error.code()),
            "message": error.to_string(),
            "help": to_text(error.help()),
        }
    }))
}

pub(crate) fn format_plain(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => {
            let help = help.to_string().replace('\n', "\n      ");
            format!("error: {error}\nhelp: {help}")
        }
        None => format!("error: {error}"),
    }
}

pub(crate) fn format_graphical(error: &dyn Diagnostic) -> String {
    let theme = if console::colors_enabled_stderr() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let width = usize::from(console::Term::stderr().size().1).max(MIN_WIDTH);
    let mut report_text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
    match handler.render_report(&mut report_text, error) {
        Ok(()) => report_text,
        Err(_) => format_plain(error),
    }
}
