//! A layer of texts: formulas, or formats.

use std::ops::Range;

/// Where a text stands in the string of its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSpan {
    /// Its first byte.
    pub start: u32,
    /// Its bytes.
    pub len: u32,
}

impl TextSpan {
    /// The text in `texts`; empty if it is not there.
    #[must_use]
    pub fn of(self, texts: &str) -> &str {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        texts.get(start..start.saturating_add(len)).unwrap_or_default()
    }

    /// Adds a text to `texts`.
    pub(super) fn push(texts: &mut String, text: &str) -> Self {
        let number = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let span = Self { start: number(texts.len()), len: number(text.len()) };
        texts.push_str(text);
        span
    }
}

/// Texts by row. Repeated texts may share their bytes.
#[derive(Debug, Clone, Default)]
pub struct TextLayer {
    rows: Vec<u32>,
    spans: Vec<TextSpan>,
    texts: String,
}

impl PartialEq for TextLayer {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl TextLayer {
    /// Adds a text behind the others. Ascending rows only; what is not, is left out.
    pub fn push(&mut self, row: u32, text: &str) {
        if self.rows.last().is_some_and(|last| *last >= row) {
            return;
        }
        // Formats repeat: most columns have one or two.
        let same = self.spans.last().copied().filter(|last| last.of(&self.texts) == text);
        let span = same.unwrap_or_else(|| TextSpan::push(&mut self.texts, text));
        self.rows.push(row);
        self.spans.push(span);
    }

    /// The rows that have a text, ascending.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Where each row's text stands in [`TextLayer::texts`].
    #[must_use]
    pub fn spans(&self) -> &[TextSpan] {
        &self.spans
    }

    /// The texts of all rows.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// The text at an index, not a row.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        Some(self.spans.get(index)?.of(&self.texts))
    }

    /// The text of a row.
    #[must_use]
    pub fn at(&self, row: u32) -> Option<&str> {
        self.get(self.rows.binary_search(&row).ok()?)
    }

    /// Rows and their texts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.rows.iter().zip(&self.spans).map(|(row, span)| (*row, span.of(&self.texts)))
    }

    /// How many rows have a text.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows are above `row`.
    #[must_use]
    pub fn above(&self, row: u32) -> usize {
        self.rows.partition_point(|other| *other < row)
    }

    /// Makes room for as much as another layer has.
    pub(super) fn reserve(&mut self, other: &Self) {
        self.rows.reserve(other.rows.len());
        self.spans.reserve(other.spans.len());
        self.texts.reserve(other.texts.len());
    }

    /// Adds all of a layer that begins below this one's last row.
    pub fn append(&mut self, other: &Self) {
        other.iter().for_each(|(row, text)| self.push(row, text));
    }

    /// What is in some rows, counted from `top`.
    #[must_use]
    pub fn part(&self, rows: &Range<u32>, top: u32) -> Self {
        let inside = self.above(rows.start)..self.above(rows.end);
        let spans = self.spans.get(inside.clone()).unwrap_or_default();
        let mut part = Self::default();
        if !spans.is_sorted_by_key(|span| span.start) {
            let inside = self.iter().take(inside.end).skip(inside.start);
            inside.for_each(|(row, text)| part.push(row.saturating_sub(top), text));
            return part;
        }
        // As they were pushed, one behind the other: all their bytes at once.
        let start = spans.first().map_or(0, |first| first.start);
        let end =
            spans.iter().map(|span| span.start.saturating_add(span.len)).max().unwrap_or(start);
        part.texts.push_str(TextSpan { start, len: end.saturating_sub(start) }.of(&self.texts));
        let rows = self.rows.get(inside).unwrap_or_default();
        part.rows.extend(rows.iter().map(|row| row.saturating_sub(top)));
        let moved = |span: &TextSpan| TextSpan { start: span.start.saturating_sub(start), ..*span };
        part.spans.extend(spans.iter().map(moved));
        part
    }

    /// A layer from its parts; `None` unless rows ascend, each has a span, and each span is a text.
    #[must_use]
    pub fn from_parts(rows: Vec<u32>, spans: Vec<TextSpan>, texts: String) -> Option<Self> {
        let layer = Self { rows, spans, texts };
        let whole = |span: &TextSpan| span.len == 0 || !span.of(&layer.texts).is_empty();
        let sound = layer.rows.len() == layer.spans.len()
            && layer.rows.is_sorted_by(|one, next| one < next)
            && layer.spans.iter().all(whole);
        sound.then_some(layer)
    }
}
