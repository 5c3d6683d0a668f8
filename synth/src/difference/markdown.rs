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

/// A picture with more lines is folded.
const OPEN_PICTURE_LINES_MAX: usize = 20;

/// If the comment is too long, a picture may take this part of it, as a divisor.
const PICTURE_DIVISOR: usize = 4;

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
    cost: Option<String>,
    picture: Option<PictureView>,
    /// Why there is no picture, if there should be one.
    missing_picture: Option<String>,
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

/// The text is inserted into a code block as it is. It cannot end the block, because names in a
/// picture are escaped.
#[derive(Clone, Serialize)]
struct PictureView {
    text: String,
    is_folded: bool,
}

#[derive(Clone, Copy, Serialize)]
struct Truncation {
    shown: usize,
    total: usize,
}

pub(crate) fn format_as_markdown(report: &Report<'_>) -> Result<String, SynthError> {
    render_within(&CommentView::new(report), COMMENT_BYTES_MAX)
}

/// If the comment is longer, omits a large picture, and then the least severe lines.
fn render_within(view: &CommentView, bytes_max: usize) -> Result<String, SynthError> {
    let mut templates = Handlebars::new();
    templates.register_escape_fn(escape);
    let render = |view: &CommentView| templates.render_template(COMMENT_TEMPLATE, view);
    let complete_comment = render(view)?;
    if complete_comment.len() <= bytes_max {
        return Ok(complete_comment);
    }
    let view = &view.with_small_picture(bytes_max / PICTURE_DIVISOR);
    let complete_lines = render(view)?;
    if complete_lines.len() <= bytes_max {
        return Ok(complete_lines);
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
        let (picture, missing_picture) = match report.picture() {
            Some(Ok(text)) => (Some(PictureView::new(text)), None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
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
            cost: words::describe_cost(report),
            picture,
            missing_picture,
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
        let cut = Some(truncation);
        Self { rows, broadened, details, narrowed, sections, cut, ..self.clone() }
    }

    /// Omits the picture if it is longer than `bytes_max`.
    fn with_small_picture(&self, bytes_max: usize) -> Self {
        let mut view = self.clone();
        if view.picture.as_ref().is_some_and(|picture| picture.text.len() > bytes_max) {
            view.picture = None;
            view.missing_picture = Some("it is too large for this comment".to_owned());
        }
        view
    }
}

impl PictureView {
    fn new(text: String) -> Self {
        let is_folded = text.lines().count() > OPEN_PICTURE_LINES_MAX;
        Self { text, is_folded }
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
        let view = CommentView { picture: None, ..CommentView::new(&sample.report()) };
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
    fn the_picture_is_omitted_before_any_line_unless_it_is_small() {
        let samples = samples();
        let sample = samples.iter().find(|sample| sample.name == "mixed").unwrap();
        let view = CommentView::new(&sample.report());
        let whole = render_within(&view, usize::MAX).unwrap();
        assert_eq!(render_within(&view, whole.len()).unwrap(), whole);
        assert!(whole.contains("```mermaid\nflowchart LR\n") && !whole.contains("No picture"));
        // The picture takes more than a quarter of this comment.
        let without = render_within(&view, whole.len() - 1).unwrap();
        assert!(!without.contains("mermaid") && !without.contains("shows the rest"), "{without}");
        assert!(without.contains("No picture: it is too large for this comment"), "{without}");

        let with_lines = |lines: usize| {
            let picture = Some(PictureView::new("x\n".repeat(lines)));
            CommentView { picture, ..view.clone() }
        };
        let bytes_max = without.len();
        let quarter_lines = bytes_max / PICTURE_DIVISOR / "x\n".len();
        let small = render_within(&with_lines(quarter_lines), bytes_max).unwrap();
        assert!(small.len() <= bytes_max && small.contains("mermaid"), "{small}");
        assert!(small.contains("shows the rest"), "{small}");
        let large = render_within(&with_lines(quarter_lines + 1), bytes_max).unwrap();
        assert_eq!(large, without);
    }

    #[test]
    fn a_large_picture_is_folded() {
        let is_folded = |lines: usize| PictureView::new("x\n".repeat(lines)).is_folded;
        assert!(!is_folded(OPEN_PICTURE_LINES_MAX) && is_folded(OPEN_PICTURE_LINES_MAX + 1));
    }

    #[test]
    fn there_is_a_picture_only_if_something_changes() {
        for sample in samples() {
            let comment = format_as_markdown(&sample.report()).unwrap();
            let has_picture = !["none", "first"].contains(&sample.name);
            assert_eq!(comment.contains("```mermaid"), has_picture, "{}", sample.name);
        }
    }

    #[test]
    fn a_stack_that_cannot_be_drawn_is_explained() {
        let sample = crate::difference::samples::undrawable_sample();
        let comment = format_as_markdown(&sample.report()).unwrap();
        let reason = "No picture: the picture would have 501 arrows, but Mermaid draws at most 500";
        assert!(comment.contains(reason) && !comment.contains("```mermaid"), "{comment}");
    }

    #[test]
    fn the_cost_is_mentioned_only_if_it_changes() {
        let samples = samples();
        let comment_of = |name| {
            let sample = samples.iter().find(|sample| sample.name == name).unwrap();
            format_as_markdown(&sample.report()).unwrap()
        };
        let cost = "Cost: a million edits cost &#36;1.57 instead of &#36;1.43 ";
        assert!(comment_of("mixed").contains(cost), "the function has twice the memory");
        assert!(
            !comment_of("update").contains("Cost: ") && !comment_of("first").contains("Cost: ")
        );
    }

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(shorten(&"a".repeat(VALUE_CHARS_MAX)), "a".repeat(VALUE_CHARS_MAX));
        let short = shorten(&"a".repeat(VALUE_CHARS_MAX + 1));
        assert_eq!(short, format!("{}…", "a".repeat(VALUE_CHARS_MAX)));
    }
}
