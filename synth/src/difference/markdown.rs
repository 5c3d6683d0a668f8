//! Formats a difference as Markdown, for a pull request comment.

use cellar_stacks::difference::{Grant, PropertyChange, ResourceChange, printable, readable};
use handlebars::Handlebars;
use serde::Serialize;

use super::report::Report;
use super::words::{self, Direction};
use crate::error::SynthError;

const COMMENT_TEMPLATE: &str = include_str!("../../../templates/diff.md.hbs");

/// GitHub counts characters. The limit is applied to bytes, which is stricter.
pub(crate) const COMMENT_BYTES_MAX: usize = 65_536;

const VALUE_CHARS_MAX: usize = 400;

/// The values are plain text, which the template escapes.
#[derive(Clone, Serialize)]
struct CommentView {
    marker: String,
    stack: String,
    against: String,
    summary: String,
    severity: &'static str,
    is_empty: bool,
    rows: Vec<ResourceRow>,
    broadened: Vec<String>,
    details: Vec<ResourceDetail>,
    narrowed: Vec<String>,
    sections: Vec<PropertyLine>,
    notes: Vec<String>,
    /// Number of shown lines and total number of lines, if the comment is truncated.
    cut: Option<Truncation>,
}

#[derive(Clone, Serialize)]
struct ResourceRow {
    logical_id: String,
    resource_type: String,
    action: &'static str,
    severity: &'static str,
    remarks: Vec<String>,
}

#[derive(Clone, Serialize)]
struct ResourceDetail {
    logical_id: String,
    lines: Vec<PropertyLine>,
}

#[derive(Clone, Serialize)]
struct PropertyLine {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

#[derive(Clone, Copy, Serialize)]
struct Truncation {
    shown: usize,
    total: usize,
}

pub(crate) fn format_as_markdown(report: &Report<'_>) -> Result<String, SynthError> {
    render_within(&CommentView::new(report), COMMENT_BYTES_MAX)
}

/// If the comment is longer, omits its least severe lines.
fn render_within(view: &CommentView, bytes_max: usize) -> Result<String, SynthError> {
    let mut templates = Handlebars::new();
    templates.register_escape_fn(escape);
    let render = |view: &CommentView| templates.render_template(COMMENT_TEMPLATE, view);
    let complete_comment = render(view)?;
    if complete_comment.len() <= bytes_max {
        return Ok(complete_comment);
    }
    // Find the maximum number of lines that fit, by binary search.
    let total_lines = view.line_count();
    let mut fitting_lines = 0;
    let mut too_many_lines = total_lines;
    while too_many_lines.saturating_sub(fitting_lines) > 1 {
        let tried_lines = fitting_lines.midpoint(too_many_lines);
        let truncation = Truncation { shown: tried_lines, total: total_lines };
        if render(&view.truncated(truncation))?.len() <= bytes_max {
            fitting_lines = tried_lines;
        } else {
            too_many_lines = tried_lines;
        }
    }
    let truncation = Truncation { shown: fitting_lines, total: total_lines };
    Ok(render(&view.truncated(truncation))?)
}

impl CommentView {
    fn new(report: &Report<'_>) -> Self {
        let difference = report.difference;
        let permissions = &difference.permissions;
        let mut details = Vec::new();
        for change in &difference.resources {
            if !change.properties.is_empty() {
                details.push(ResourceDetail {
                    logical_id: shorten(&change.logical_id),
                    lines: change.properties.iter().map(PropertyLine::new).collect(),
                });
            }
        }
        Self {
            marker: marker(report.stack),
            stack: shorten(report.stack),
            against: shorten(&words::describe_old_template(report)),
            summary: words::summarize(report),
            severity: difference.severity.name(),
            is_empty: difference.is_empty(),
            rows: difference.resources.iter().map(ResourceRow::new).collect(),
            broadened: grant_lines(&permissions.broadened, Direction::Broadened),
            details,
            narrowed: grant_lines(&permissions.narrowed, Direction::Narrowed),
            sections: difference.sections.iter().map(PropertyLine::new).collect(),
            notes: report.notes.iter().map(|note| shorten(note)).collect(),
            cut: None,
        }
    }

    fn line_count(&self) -> usize {
        let detail_lines: usize = self.details.iter().map(|detail| detail.lines.len()).sum();
        self.rows.len()
            + self.broadened.len()
            + detail_lines
            + self.narrowed.len()
            + self.sections.len()
    }

    fn truncated(&self, truncation: Truncation) -> Self {
        let mut line_budget = truncation.shown;
        let rows = take_from_budget(&self.rows, &mut line_budget);
        let broadened = take_from_budget(&self.broadened, &mut line_budget);
        let mut details = Vec::new();
        for detail in &self.details {
            let lines = take_from_budget(&detail.lines, &mut line_budget);
            if !lines.is_empty() {
                details.push(ResourceDetail { lines, ..detail.clone() });
            }
        }
        let narrowed = take_from_budget(&self.narrowed, &mut line_budget);
        let sections = take_from_budget(&self.sections, &mut line_budget);
        Self {
            marker: self.marker.clone(),
            stack: self.stack.clone(),
            against: self.against.clone(),
            summary: self.summary.clone(),
            severity: self.severity,
            is_empty: self.is_empty,
            rows,
            broadened,
            details,
            narrowed,
            sections,
            notes: self.notes.clone(),
            cut: Some(truncation),
        }
    }
}

fn grant_lines(grants: &[Grant], direction: Direction) -> Vec<String> {
    grants.iter().map(|grant| shorten(&words::describe_grant(grant, direction))).collect()
}

fn take_from_budget<T: Clone>(items: &[T], budget: &mut usize) -> Vec<T> {
    let first_items: Vec<T> = items.iter().take(*budget).cloned().collect();
    *budget -= first_items.len();
    first_items
}

impl ResourceRow {
    fn new(change: &ResourceChange) -> Self {
        Self {
            logical_id: shorten(&change.logical_id),
            resource_type: shorten(&change.resource_type),
            action: words::action_predicate(change.action),
            severity: change.severity.name(),
            remarks: words::resource_remarks(change).iter().map(|remark| shorten(remark)).collect(),
        }
    }
}

impl PropertyLine {
    fn new(change: &PropertyChange) -> Self {
        let short_text = |value: &Option<_>| value.as_ref().map(|value| shorten(&readable(value)));
        Self {
            path: shorten(&change.path),
            old: short_text(&change.old),
            new: short_text(&change.new),
        }
    }
}

/// By this invisible line, the workflow finds its earlier comment.
pub(crate) fn marker(stack_name: &str) -> String {
    let sanitize = |character: char| {
        if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' }
    };
    format!("<!-- cellar-diff: {} -->", stack_name.chars().map(sanitize).collect::<String>())
}

/// Replaces control characters, and truncates the text to [`VALUE_CHARS_MAX`] characters.
fn shorten(text: &str) -> String {
    let printable_text = printable(text);
    let mut characters = printable_text.chars();
    let first_characters: String = characters.by_ref().take(VALUE_CHARS_MAX).collect();
    let is_complete = characters.next().is_none();
    if is_complete { first_characters } else { format!("{first_characters}…") }
}

/// Escapes all characters except letters, digits and a few punctuation marks as numeric character
/// references. A value can therefore not be interpreted as Markdown, as HTML, as a link, as a
/// mention, or as the end of a table cell or comment.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_alphanumeric() || matches!(character, ' ' | '.' | ',' | '/' | '-' | '…') {
            escaped.push(character);
        } else {
            escaped.push_str(&format!("&#{};", u32::from(character)));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::samples::{check_snapshot, samples};

    #[test]
    fn the_markdown_matches_the_snapshots() {
        for sample in samples() {
            let text = format_as_markdown(&sample.report()).unwrap();
            check_snapshot(&format!("{}.md", sample.name), &text);
        }
    }

    /// Counts the characters that have a meaning in Markdown or HTML.
    fn mark_count(text: &str) -> usize {
        ["<", ">", "|", "`", "*", "_", "[", "@"].iter().map(|mark| text.matches(mark).count()).sum()
    }

    #[test]
    fn values_cannot_add_markup() {
        let samples = samples();
        let named = |name| samples.iter().find(|sample| sample.name == name).unwrap();
        let hostile = format_as_markdown(&named("hostile").report()).unwrap();
        let harmless = format_as_markdown(&named("harmless").report()).unwrap();
        // Both samples contain the same changes. If all markup comes from the template, they have
        // the same amount of markup.
        assert_eq!(mark_count(&hostile), mark_count(&harmless), "{hostile}");
        assert_eq!(hostile.lines().count(), harmless.lines().count(), "{hostile}");
        assert_eq!(hostile.matches("-->").count(), 1);
    }

    #[test]
    fn the_marker_is_the_first_line() {
        for sample in samples() {
            let text = format_as_markdown(&sample.report()).unwrap();
            assert_eq!(text.lines().next(), Some("<!-- cellar-diff: cellar -->"));
        }
        assert_eq!(marker("a-->b<!--"), "<!-- cellar-diff: a--_b__-- -->");
    }

    #[test]
    fn a_long_comment_is_truncated_with_a_note() {
        let samples = samples();
        let sample = samples.iter().find(|sample| sample.name == "mixed").unwrap();
        let view = CommentView::new(&sample.report());
        let whole = render_within(&view, usize::MAX).unwrap();
        assert_eq!(render_within(&view, whole.len()).unwrap(), whole);
        assert!(!whole.contains("shows the rest"));
        let mut lengths = Vec::new();
        for bytes_max in [whole.len() - 1, whole.len() - 400, 2_000, 1_200] {
            let cut = render_within(&view, bytes_max).unwrap();
            assert!(cut.len() <= bytes_max && cut.contains("shows the rest"), "{bytes_max}: {cut}");
            assert!(cut.starts_with("<!-- cellar-diff: cellar -->\n"));
            lengths.push(cut.len());
        }
        assert!(lengths.is_sorted_by(|one, other| one >= other));
        // The most severe changes come first.
        assert!(render_within(&view, 2_000).unwrap().contains("EntryTable"));
    }

    #[test]
    fn the_largest_difference_fits_into_a_comment() {
        let sample = crate::difference::samples::largest_sample();
        let text = format_as_markdown(&sample.report()).unwrap();
        assert!(text.len() <= COMMENT_BYTES_MAX, "{}", text.len());
        assert!(text.len() > COMMENT_BYTES_MAX - 4_000 && text.contains("shows the rest"));
    }

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(shorten(&"a".repeat(VALUE_CHARS_MAX)), "a".repeat(VALUE_CHARS_MAX));
        let short = shorten(&"a".repeat(VALUE_CHARS_MAX + 1));
        assert_eq!(short, format!("{}…", "a".repeat(VALUE_CHARS_MAX)));
    }
}
