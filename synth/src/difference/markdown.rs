//! A difference for a pull request: one comment, which the next one replaces.

use cellar_stacks::difference::{PropertyChange, printable, readable};
use handlebars::Handlebars;
use serde::Serialize;

use super::Report;
use super::words::{self, Way};
use crate::error::SynthError;

const TEMPLATE: &str = include_str!("../../../templates/diff.md.hbs");

/// Letters that GitHub takes in a comment. Bytes are counted here, which are never fewer.
pub(crate) const COMMENT_BYTES_MAX: usize = 65_536;

/// Letters of one value or name; the rest of a longer one does not help a reader.
const VALUE_CHARS_MAX: usize = 400;

/// All that the template shows. Everything in it is plain text, which the template escapes.
#[derive(Clone, Serialize)]
struct View {
    marker: String,
    stack: String,
    against: String,
    summary: String,
    severity: &'static str,
    is_empty: bool,
    rows: Vec<Row>,
    broadened: Vec<String>,
    details: Vec<Detail>,
    narrowed: Vec<String>,
    sections: Vec<Line>,
    notes: Vec<String>,
    cut: Option<Cut>,
}

#[derive(Clone, Serialize)]
struct Row {
    logical_id: String,
    resource_type: String,
    action: &'static str,
    severity: &'static str,
    remarks: Vec<String>,
}

#[derive(Clone, Serialize)]
struct Detail {
    logical_id: String,
    lines: Vec<Line>,
}

#[derive(Clone, Serialize)]
struct Line {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

#[derive(Clone, Copy, Serialize)]
struct Cut {
    shown: usize,
    total: usize,
}

/// The comment, no longer than GitHub takes it.
pub(crate) fn markdown(report: &Report<'_>) -> Result<String, SynthError> {
    within(&View::of(report), COMMENT_BYTES_MAX)
}

/// As many lines as fit, the gravest first.
fn within(view: &View, bytes_max: usize) -> Result<String, SynthError> {
    let mut templates = Handlebars::new();
    templates.register_escape_fn(escape);
    let render = |view: &View| templates.render_template(TEMPLATE, view);
    let whole = render(view)?;
    if whole.len() <= bytes_max {
        return Ok(whole);
    }
    let total = view.lines();
    let (mut fits, mut too_long) = (0, total);
    while too_long.saturating_sub(fits) > 1 {
        let middle = fits.midpoint(too_long);
        if render(&view.first(middle, total))?.len() <= bytes_max {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    Ok(render(&view.first(fits, total))?)
}

impl View {
    fn of(report: &Report<'_>) -> Self {
        let difference = report.difference;
        let grants = |grants: &[_], way| -> Vec<String> {
            grants.iter().map(|grant| shortened(&words::grant(grant, way))).collect()
        };
        let resources = difference.resources.iter();
        let details = resources.filter(|change| !change.properties.is_empty()).map(|change| {
            let lines = change.properties.iter().map(Line::of).collect();
            Detail { logical_id: shortened(&change.logical_id), lines }
        });
        Self {
            marker: marker(report.stack),
            stack: shortened(report.stack),
            against: shortened(&words::against(report)),
            summary: words::summary(report),
            severity: words::severity(difference.severity),
            is_empty: difference.is_empty(),
            rows: difference.resources.iter().map(Row::of).collect(),
            broadened: grants(&difference.permissions.broadened, Way::Broadened),
            details: details.collect(),
            narrowed: grants(&difference.permissions.narrowed, Way::Narrowed),
            sections: difference.sections.iter().map(Line::of).collect(),
            notes: report.notes.iter().map(|note| shortened(note)).collect(),
            cut: None,
        }
    }

    /// What can be left out.
    fn lines(&self) -> usize {
        let details: usize = self.details.iter().map(|detail| detail.lines.len()).sum();
        [self.rows.len(), self.broadened.len(), details, self.narrowed.len(), self.sections.len()]
            .iter()
            .sum()
    }

    /// The same with so many lines only.
    fn first(&self, shown: usize, total: usize) -> Self {
        let mut left = shown;
        let rows = taken(&self.rows, &mut left);
        let broadened = taken(&self.broadened, &mut left);
        let mut details = Vec::new();
        for detail in &self.details {
            let lines = taken(&detail.lines, &mut left);
            if !lines.is_empty() {
                details.push(Detail { lines, ..detail.clone() });
            }
        }
        Self {
            marker: self.marker.clone(),
            stack: self.stack.clone(),
            against: self.against.clone(),
            summary: self.summary.clone(),
            rows,
            broadened,
            details,
            narrowed: taken(&self.narrowed, &mut left),
            sections: taken(&self.sections, &mut left),
            notes: self.notes.clone(),
            cut: Some(Cut { shown, total }),
            ..*self
        }
    }
}

fn taken<T: Clone>(from: &[T], left: &mut usize) -> Vec<T> {
    let taken: Vec<T> = from.iter().take(*left).cloned().collect();
    *left = left.saturating_sub(taken.len());
    taken
}

impl Row {
    fn of(change: &words::Change) -> Self {
        Self {
            logical_id: shortened(&change.logical_id),
            resource_type: shortened(&change.resource_type),
            action: words::action(change.action),
            severity: words::severity(change.severity),
            remarks: words::remarks(change).iter().map(|remark| shortened(remark)).collect(),
        }
    }
}

impl Line {
    fn of(change: &PropertyChange) -> Self {
        let value = |value: &Option<_>| value.as_ref().map(|value| shortened(&readable(value)));
        Self { path: shortened(&change.path), old: value(&change.old), new: value(&change.new) }
    }
}

/// The first line of the comment of a stack, by which it is found again. Nobody sees it.
pub(crate) fn marker(stack: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("<!-- cellar-diff: {} -->", stack.chars().map(plain).collect::<String>())
}

fn shortened(text: &str) -> String {
    let text = printable(text);
    let mut letters = text.chars();
    let short: String = letters.by_ref().take(VALUE_CHARS_MAX).collect();
    if letters.next().is_none() { short } else { format!("{short}…") }
}

/// Everything but letters, digits and a few marks as a numeric reference: it is shown as it is, and
/// never read as Markdown, HTML, the end of a cell or of a comment, a link or a mention.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '/' | '-' | '…') {
            out.push(c);
        } else {
            out.push_str(&format!("&#{};", u32::from(c)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::samples::{check_snapshot, samples};

    #[test]
    fn each_kind_of_change_reads_as_committed() {
        for sample in samples() {
            let text = markdown(&sample.report()).unwrap();
            check_snapshot(&format!("{}.md", sample.name), &text);
        }
    }

    /// The comment without the tags, the signs and the lines that the template itself writes.
    fn own_marks(text: &str) -> usize {
        ["<", ">", "|", "`", "*", "_", "[", "@"].iter().map(|mark| text.matches(mark).count()).sum()
    }

    #[test]
    fn no_value_breaks_out_of_its_place() {
        let samples = samples();
        let named = |name| samples.iter().find(|sample| sample.name == name).unwrap();
        let hostile = markdown(&named("hostile").report()).unwrap();
        let harmless = markdown(&named("harmless").report()).unwrap();
        // The same change with other words: what is left is the template's own.
        assert_eq!(own_marks(&hostile), own_marks(&harmless), "{hostile}");
        assert_eq!(hostile.lines().count(), harmless.lines().count(), "{hostile}");
        assert_eq!(hostile.matches("-->").count(), 1);
    }

    #[test]
    fn the_marker_is_the_first_line_and_always_the_same() {
        for sample in samples() {
            let text = markdown(&sample.report()).unwrap();
            assert_eq!(text.lines().next(), Some("<!-- cellar-diff: cellar -->"));
        }
        assert_eq!(marker("a-->b<!--"), "<!-- cellar-diff: a--_b__-- -->");
    }

    #[test]
    fn a_comment_is_cut_where_it_is_too_long_and_says_so() {
        let samples = samples();
        let sample = samples.iter().find(|sample| sample.name == "mixed").unwrap();
        let view = View::of(&sample.report());
        let whole = within(&view, usize::MAX).unwrap();
        assert_eq!(within(&view, whole.len()).unwrap(), whole);
        assert!(!whole.contains("shows the rest"));
        let mut lengths = Vec::new();
        for bytes_max in [whole.len() - 1, whole.len() - 400, 2_000, 1_200] {
            let cut = within(&view, bytes_max).unwrap();
            assert!(cut.len() <= bytes_max && cut.contains("shows the rest"), "{bytes_max}: {cut}");
            assert!(cut.starts_with("<!-- cellar-diff: cellar -->\n"));
            lengths.push(cut.len());
        }
        assert!(lengths.is_sorted_by(|one, two| one >= two));
        // What is gravest is cut last.
        assert!(within(&view, 2_000).unwrap().contains("EntryTable"));
    }

    #[test]
    fn the_longest_difference_fits_into_a_comment() {
        let sample = crate::difference::samples::largest();
        let text = markdown(&sample.report()).unwrap();
        assert!(text.len() <= COMMENT_BYTES_MAX, "{}", text.len());
        assert!(text.len() > COMMENT_BYTES_MAX - 4_000 && text.contains("shows the rest"));
    }

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(shortened(&"a".repeat(VALUE_CHARS_MAX)), "a".repeat(VALUE_CHARS_MAX));
        let short = shortened(&"a".repeat(VALUE_CHARS_MAX + 1));
        assert_eq!(short, format!("{}…", "a".repeat(VALUE_CHARS_MAX)));
    }
}
