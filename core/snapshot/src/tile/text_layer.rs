//! The formulas or formats of a column.

use std::ops::Range;

/// A text, stored as a byte range of its layer's string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSpan {
    /// Offset of the first byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl TextSpan {
    /// Returns the text in `texts`, or an empty text if the range is invalid.
    #[must_use]
    pub fn of(self, texts: &str) -> &str {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        texts.get(start..start.saturating_add(len)).unwrap_or_default()
    }

    /// Appends a text to `texts` and returns its span.
    pub(super) fn push(texts: &mut String, text: &str) -> Self {
        let saturate = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let span = Self { start: saturate(texts.len()), len: saturate(text.len()) };
        texts.push_str(text);
        span
    }
}

/// Texts of a column, keyed by row. Equal texts may share bytes.
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
    /// Appends a text. No-op unless `row` is after the last row.
    pub fn push(&mut self, row: u32, text: &str) {
        if self.rows.last().is_some_and(|last| *last >= row) {
            return;
        }
        // Consecutive equal texts share bytes, because most columns have only one or two distinct
        // formats.
        let shared = self.spans.last().copied().filter(|last| last.of(&self.texts) == text);
        let span = shared.unwrap_or_else(|| TextSpan::push(&mut self.texts, text));
        self.rows.push(row);
        self.spans.push(span);
    }

    /// Returns the rows with a text, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the spans in [`TextLayer::texts`], one per row.
    #[must_use]
    pub fn spans(&self) -> &[TextSpan] {
        &self.spans
    }

    /// Returns the string that contains the texts of all rows.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns the text at an index into the layer, which is not a row.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        Some(self.spans.get(index)?.of(&self.texts))
    }

    /// Returns the text of a row.
    #[must_use]
    pub fn at(&self, row: u32) -> Option<&str> {
        self.get(self.rows.binary_search(&row).ok()?)
    }

    /// Iterates over the rows and their texts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.rows.iter().zip(&self.spans).map(|(row, span)| (*row, span.of(&self.texts)))
    }

    /// Returns the number of rows with a text.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no row has a text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of texts above `row`.
    #[must_use]
    pub fn count_above(&self, row: u32) -> usize {
        self.rows.partition_point(|other| *other < row)
    }

    /// Reserves capacity for as many texts as `other` has.
    pub(super) fn reserve(&mut self, other: &Self) {
        self.rows.reserve(other.rows.len());
        self.spans.reserve(other.spans.len());
        self.texts.reserve(other.texts.len());
    }

    /// Appends a layer whose rows all come after the rows of this layer.
    pub fn append(&mut self, other: &Self) {
        for (row, text) in other.iter() {
            self.push(row, text);
        }
    }

    /// Returns the texts in these rows, with row numbers relative to `top`.
    #[must_use]
    pub fn part(&self, rows: &Range<u32>, top: u32) -> Self {
        let indices = self.count_above(rows.start)..self.count_above(rows.end);
        let spans = self.spans.get(indices.clone()).unwrap_or_default();
        let mut part = Self::default();
        if !spans.is_sorted_by_key(|span| span.start) {
            for (row, text) in self.iter().take(indices.end).skip(indices.start) {
                part.push(row.saturating_sub(top), text);
            }
            return part;
        }
        // Spans are in order, so their bytes can be copied in one go.
        let start = spans.first().map_or(0, |first| first.start);
        let end =
            spans.iter().map(|span| span.start.saturating_add(span.len)).max().unwrap_or(start);
        part.texts.push_str(TextSpan { start, len: end.saturating_sub(start) }.of(&self.texts));
        let rows = self.rows.get(indices).unwrap_or_default();
        part.rows.extend(rows.iter().map(|row| row.saturating_sub(top)));
        let shift = |span: &TextSpan| TextSpan { start: span.start.saturating_sub(start), ..*span };
        part.spans.extend(spans.iter().map(shift));
        part
    }

    /// Creates a layer from its parts. Returns `None` unless rows ascend, each row has a span, and
    /// all spans are valid.
    #[must_use]
    pub fn from_parts(rows: Vec<u32>, spans: Vec<TextSpan>, texts: String) -> Option<Self> {
        let layer = Self { rows, spans, texts };
        let is_text = |span: &TextSpan| span.len == 0 || !span.of(&layer.texts).is_empty();
        let is_valid = layer.rows.len() == layer.spans.len()
            && layer.rows.is_sorted_by(|one, next| one < next)
            && layer.spans.iter().all(is_text);
        is_valid.then_some(layer)
    }
}
