//! Formats a difference as text for the terminal.

use std::fmt::Write as _;

use cellar_stacks::difference::{Grant, PropertyChange, ResourceChange, Severity, printable};
use console::Style;

use super::report::{Report, is_replaced};
use super::words::{self, Direction};

pub(crate) fn format_as_text(report: &Report<'_>, with_colours: bool) -> String {
    let mut page = Page { text: String::new(), with_colours };
    page.add_title(report);
    let mut changes_with_risk = Vec::new();
    let mut replacements = Vec::new();
    let mut other_changes = Vec::new();
    for change in &report.difference.resources {
        if change.severity == Severity::Destructive {
            changes_with_risk.push(change);
        } else if is_replaced(change) {
            replacements.push(change);
        } else {
            other_changes.push(change);
        }
    }
    let permissions = &report.difference.permissions;
    page.add_resources("Data at risk", &changes_with_risk);
    page.add_grants("Broadened permissions", &permissions.broadened, Direction::Broadened);
    page.add_resources("Replacements", &replacements);
    page.add_resources("Changed", &other_changes);
    page.add_grants("Narrowed permissions", &permissions.narrowed, Direction::Narrowed);
    page.add_sections(&report.difference.sections);
    if let Some(cost) = words::describe_cost(report) {
        page.add_line(&format!("\nCost: {cost}"));
    }
    for note in report.notes {
        page.add_line(&format!("\nNote: {}", printable(note)));
    }
    page.text
}

struct Page {
    text: String,
    with_colours: bool,
}

impl Page {
    fn add_title(&mut self, report: &Report<'_>) {
        let stack_name = self.styled(report.stack, &Style::new().bold());
        let old_template = words::describe_old_template(report);
        self.add_line(&format!("{stack_name} {old_template}: {}", words::summarize(report)));
        if !report.difference.is_empty() {
            self.add_line(&format!("Severity: {}", report.difference.severity.name()));
        }
    }

    fn add_resources(&mut self, heading: &str, changes: &[&ResourceChange]) {
        if changes.is_empty() {
            return;
        }
        self.add_heading(heading);
        for change in changes {
            let sign = self.coloured_sign(words::action_sign(change.action));
            let logical_id = self.styled(&printable(&change.logical_id), &Style::new().bold());
            let resource_type = printable(&change.resource_type);
            let predicate = words::action_predicate(change.action);
            self.add_line(&format!("  {sign} {logical_id} ({resource_type}) {predicate}"));
            let remark_style =
                if change.risks.is_empty() { Style::new() } else { Style::new().red() };
            for remark in words::resource_remarks(change) {
                self.add_line(&format!("      {}", self.styled(&remark, &remark_style)));
            }
            self.add_properties(&change.properties, "      ");
        }
    }

    fn add_properties(&mut self, changes: &[PropertyChange], indent: &str) {
        for change in changes {
            let (sign, description) = words::describe_property(change);
            let coloured_sign = self.coloured_sign(sign);
            self.add_line(&format!("{indent}{coloured_sign} {description}"));
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
            self.add_line(&format!("  {sign} {}", words::describe_grant(grant, direction)));
        }
    }

    fn add_sections(&mut self, changes: &[PropertyChange]) {
        if !changes.is_empty() {
            self.add_heading("Other sections");
            self.add_properties(changes, "  ");
        }
    }

    fn add_heading(&mut self, heading: &str) {
        let styled_heading = self.styled(heading, &Style::new().bold().underlined());
        self.add_line(&format!("\n{styled_heading}"));
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
        style.clone().force_styling(self.with_colours).apply_to(text).to_string()
    }

    fn add_line(&mut self, line: &str) {
        // Writing to a `String` never fails.
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
            let text = format_as_text(&sample.report(), false);
            check_snapshot(&format!("{}.txt", sample.name), &text);
        }
    }

    #[test]
    fn colours_do_not_change_the_text() {
        for sample in samples() {
            let report = sample.report();
            let (plain, coloured) = (format_as_text(&report, false), format_as_text(&report, true));
            assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
            assert_eq!(console::strip_ansi_codes(&coloured), plain);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let hostile = samples().into_iter().find(|sample| sample.name == "hostile").unwrap();
        let text = format_as_text(&hostile.report(), false);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    }
}
