//! Formats a difference as terminal output.

use std::fmt::Write as _;

use cellar_stacks::difference::{Grant, PropertyChange, ResourceChange, Severity, printable};
use console::Style;

use super::report::{Report, is_replaced};
use super::words::{self, Direction};

/// Formats a difference as text, in colour if `colours` is set.
pub(crate) fn text(report: &Report<'_>, colours: bool) -> String {
    let mut page = Page { text: String::new(), colours };
    page.add_title(report);
    let resources = &report.difference.resources;
    let (risky, harmless): (Vec<&ResourceChange>, Vec<&ResourceChange>) =
        resources.iter().partition(|change| change.severity == Severity::Destructive);
    let (replaced, changed): (Vec<&ResourceChange>, Vec<&ResourceChange>) =
        harmless.into_iter().partition(|change| is_replaced(change));
    let permissions = &report.difference.permissions;
    page.add_resources("Data at risk", &risky);
    page.add_grants("Broadened permissions", &permissions.broadened, Direction::Broadened);
    page.add_resources("Replacements", &replaced);
    page.add_resources("Changed", &changed);
    page.add_grants("Narrowed permissions", &permissions.narrowed, Direction::Narrowed);
    page.add_sections(&report.difference.sections);
    for note in report.notes {
        page.add_line(&format!("\nNote: {}", printable(note)));
    }
    page.text
}

/// The output so far.
struct Page {
    text: String,
    colours: bool,
}

impl Page {
    fn add_title(&mut self, report: &Report<'_>) {
        let stack = self.styled(report.stack, &Style::new().bold());
        let against = words::against_text(report);
        self.add_line(&format!("{stack} {against}: {}", words::summary(report)));
    }

    fn add_resources(&mut self, heading: &str, changes: &[&ResourceChange]) {
        if changes.is_empty() {
            return;
        }
        self.add_heading(heading);
        for change in changes {
            let sign = self.coloured_sign(words::action_sign(change.action));
            let id = self.styled(&printable(&change.logical_id), &Style::new().bold());
            let resource_type = printable(&change.resource_type);
            let action = words::action_text(change.action);
            self.add_line(&format!("  {sign} {id} ({resource_type}) {action}"));
            for remark in words::remarks(change) {
                let remark = if change.risks.is_empty() {
                    remark
                } else {
                    self.styled(&remark, &Style::new().red())
                };
                self.add_line(&format!("      {remark}"));
            }
            self.add_properties(&change.properties, "      ");
        }
    }

    fn add_properties(&mut self, changes: &[PropertyChange], indent: &str) {
        for change in changes {
            let (sign, text) = words::property_text(change);
            let sign = self.coloured_sign(sign);
            self.add_line(&format!("{indent}{sign} {text}"));
        }
    }

    fn add_grants(&mut self, heading: &str, grants: &[Grant], direction: Direction) {
        if grants.is_empty() {
            return;
        }
        self.add_heading(heading);
        let sign = match direction {
            Direction::Broadened => self.styled("+", &Style::new().red()),
            Direction::Narrowed => self.styled("-", &Style::new().green()),
        };
        for grant in grants {
            self.add_line(&format!("  {sign} {}", words::grant_text(grant, direction)));
        }
    }

    fn add_sections(&mut self, changes: &[PropertyChange]) {
        if !changes.is_empty() {
            self.add_heading("Other sections");
            self.add_properties(changes, "  ");
        }
    }

    fn add_heading(&mut self, heading: &str) {
        let heading = self.styled(heading, &Style::new().bold().underlined());
        self.add_line(&format!("\n{heading}"));
    }

    fn coloured_sign(&self, sign: char) -> String {
        let colour = match sign {
            '+' => Style::new().green(),
            '-' | '!' => Style::new().red(),
            _ => Style::new().yellow(),
        };
        self.styled(&sign.to_string(), &colour)
    }

    fn styled(&self, text: &str, style: &Style) -> String {
        style.clone().force_styling(self.colours).apply_to(text).to_string()
    }

    fn add_line(&mut self, line: &str) {
        // Writing to a `String` is infallible.
        let _ = writeln!(self.text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::samples::{check_snapshot, samples};

    #[test]
    fn the_text_matches_the_snapshots() {
        for sample in samples() {
            let text = text(&sample.report(), false);
            check_snapshot(&format!("{}.txt", sample.name), &text);
        }
    }

    #[test]
    fn colours_do_not_change_the_text() {
        for sample in samples() {
            let report = sample.report();
            let (plain, coloured) = (text(&report, false), text(&report, true));
            assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
            assert_eq!(console::strip_ansi_codes(&coloured), plain);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let hostile = samples().into_iter().find(|sample| sample.name == "hostile").unwrap();
        let text = text(&hostile.report(), false);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    }
}
