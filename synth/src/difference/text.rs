//! A difference for a terminal.

use std::fmt::Write as _;

use cellar_stacks::difference::{Grant, PropertyChange, Severity, printable};
use console::{Style, style};

use super::words::{self, Change, Way};
use super::{Report, words::is_replaced};

/// The difference as text; colours only where somebody sees them.
pub(crate) fn text(report: &Report<'_>, colours: bool) -> String {
    let mut page = Page { text: String::new(), colours };
    page.head(report);
    let resources = &report.difference.resources;
    let at_risk = |change: &&Change| change.severity == Severity::Destructive;
    let (risky, others): (Vec<&Change>, Vec<&Change>) = resources.iter().partition(at_risk);
    let (replaced, others): (Vec<&Change>, Vec<&Change>) =
        others.into_iter().partition(|change| is_replaced(change));
    let permissions = &report.difference.permissions;
    page.resources("Data at risk", &risky);
    page.grants("Broadened permissions", &permissions.broadened, Way::Broadened);
    page.resources("Replacements", &replaced);
    page.resources("Changed", &others);
    page.grants("Narrowed permissions", &permissions.narrowed, Way::Narrowed);
    page.sections(&report.difference.sections);
    for note in report.notes {
        page.line(&format!("\nNote: {}", printable(note)));
    }
    page.text
}

struct Page {
    text: String,
    colours: bool,
}

impl Page {
    fn head(&mut self, report: &Report<'_>) {
        let stack = self.painted(report.stack, &Style::new().bold());
        self.line(&format!("{stack} {}: {}", words::against(report), words::summary(report)));
    }

    fn resources(&mut self, heading: &str, changes: &[&Change]) {
        if changes.is_empty() {
            return;
        }
        self.heading(heading);
        for change in changes {
            let sign = self.signed(words::sign(change.action));
            let id = self.painted(&printable(&change.logical_id), &Style::new().bold());
            let resource_type = printable(&change.resource_type);
            let action = words::action(change.action);
            self.line(&format!("  {sign} {id} ({resource_type}) {action}"));
            for remark in words::remarks(change) {
                let remark = match change.risks.is_empty() {
                    true => remark,
                    false => self.painted(&remark, &Style::new().red()),
                };
                self.line(&format!("      {remark}"));
            }
            self.properties(&change.properties, "      ");
        }
    }

    fn properties(&mut self, changes: &[PropertyChange], indent: &str) {
        for change in changes {
            let (sign, text) = words::property(change);
            let sign = self.signed(sign);
            self.line(&format!("{indent}{sign} {text}"));
        }
    }

    fn grants(&mut self, heading: &str, grants: &[Grant], way: Way) {
        if grants.is_empty() {
            return;
        }
        self.heading(heading);
        let sign = match way {
            Way::Broadened => self.painted("+", &Style::new().red()),
            Way::Narrowed => self.painted("-", &Style::new().green()),
        };
        for grant in grants {
            self.line(&format!("  {sign} {}", words::grant(grant, way)));
        }
    }

    fn sections(&mut self, changes: &[PropertyChange]) {
        if !changes.is_empty() {
            self.heading("Other sections");
            self.properties(changes, "  ");
        }
    }

    fn heading(&mut self, heading: &str) {
        let heading = self.painted(heading, &Style::new().bold().underlined());
        self.line(&format!("\n{heading}"));
    }

    fn signed(&self, sign: char) -> String {
        let colour = match sign {
            '+' => Style::new().green(),
            '-' | '!' => Style::new().red(),
            _ => Style::new().yellow(),
        };
        self.painted(&sign.to_string(), &colour)
    }

    fn painted(&self, text: &str, with: &Style) -> String {
        match self.colours {
            true => with.clone().force_styling(true).apply_to(text).to_string(),
            false => style(text).force_styling(false).to_string(),
        }
    }

    fn line(&mut self, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::samples::{check_snapshot, samples};

    #[test]
    fn each_kind_of_change_reads_as_committed() {
        for sample in samples() {
            let text = text(&sample.report(), false);
            check_snapshot(&format!("{}.txt", sample.name), &text);
        }
    }

    #[test]
    fn colours_are_for_terminals() {
        for sample in samples() {
            let report = sample.report();
            let (plain, coloured) = (text(&report, false), text(&report, true));
            assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
            assert_eq!(console::strip_ansi_codes(&coloured), plain);
        }
    }

    #[test]
    fn no_value_reaches_the_terminal_as_it_is() {
        let hostile = samples().into_iter().find(|sample| sample.name == "hostile").unwrap();
        let text = text(&hostile.report(), false);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    }
}
