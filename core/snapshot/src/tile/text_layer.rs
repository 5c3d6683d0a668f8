//! A layer of a column that contains the column's formulas or formats.

use std::collections::HashSet;

use crate::saturate::{saturate_u32, to_usize};

/// Byte range of one string in the concatenated strings of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TextSpan {
    /// Offset of the first byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

impl TextSpan {
    /// Returns the string at this range of `texts`, or an empty string if the range is invalid.
    #[must_use]
    pub fn of(self, texts: &str) -> &str {
        let start = to_usize(self.start);
        texts.get(start..start.saturating_add(to_usize(self.len))).unwrap_or_default()
    }

    pub(crate) fn push(texts: &mut String, text: &str) -> Self {
        let span = Self { start: saturate_u32(texts.len()), len: saturate_u32(text.len()) };
        texts.push_str(text);
        span
    }

    /// Returns whether the span is within `texts` and contains only whole characters.
    pub(super) fn is_valid_in(self, texts: &str) -> bool {
        self.len == 0 || !self.of(texts).is_empty()
    }

    pub(super) fn end(self) -> u32 {
        self.start.saturating_add(self.len)
    }

    pub(super) fn shifted_right(self, byte_count: u32) -> Self {
        Self { start: self.start.saturating_add(byte_count), ..self }
    }

    pub(super) fn shifted_left(self, byte_count: u32) -> Self {
        Self { start: self.start.saturating_sub(byte_count), ..self }
    }
}

/// `bytes` must be at the end of a string, or after the end of all strings.
pub(super) fn truncate_texts(texts: &mut String, bytes: usize) {
    if texts.is_char_boundary(bytes) {
        texts.truncate(bytes);
    }
}

/// Strings of a column, one per row. Equal strings may share bytes.
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
    /// Appends a string. Does nothing unless `row` is after the last row.
    pub fn push(&mut self, row: u32, text: &str) {
        if self.rows.last().is_some_and(|last_row| *last_row >= row) {
            return;
        }
        // Let consecutive equal strings share bytes, because most columns have only one or two
        // distinct formats.
        let equal_last_span = self.spans.last().filter(|last| last.of(&self.texts) == text);
        let span = match equal_last_span {
            Some(span) => *span,
            None => TextSpan::push(&mut self.texts, text),
        };
        self.rows.push(row);
        self.spans.push(span);
    }

    /// Returns the rows that have a string, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the span of each row's string in [`TextLayer::texts`].
    #[must_use]
    pub fn spans(&self) -> &[TextSpan] {
        &self.spans
    }

    /// Returns the concatenated strings of all rows.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns the string with the given index in the layer. The index is not a row number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        Some(self.spans.get(index)?.of(&self.texts))
    }

    /// Returns the text in a row.
    #[must_use]
    pub fn at(&self, row: u32) -> Option<&str> {
        self.get(self.rows.binary_search(&row).ok()?)
    }

    /// Iterates over the rows and their texts.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.rows.iter().zip(&self.spans).map(|(row, span)| (*row, span.of(&self.texts)))
    }

    /// Returns each string once if equal strings share bytes.
    pub fn distinct(&self) -> impl Iterator<Item = &str> {
        let mut seen_spans = HashSet::new();
        let new_spans = self.spans.iter().filter(move |span| seen_spans.insert(**span));
        new_spans.map(|span| span.of(&self.texts))
    }

    /// Returns the number of rows that have a string.
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
        self.rows.partition_point(|layer_row| *layer_row < row)
    }

    pub(super) fn reserve(&mut self, other: &Self) {
        self.rows.reserve(other.rows.len());
        self.spans.reserve(other.spans.len());
        self.texts.reserve(other.texts.len());
    }

    /// Appends the string of the last row again. Does nothing unless `row` is after the last row.
    #[inline]
    pub fn push_last_text(&mut self, row: u32) {
        if let (Some(last_row), Some(span)) = (self.rows.last(), self.spans.last().copied())
            && *last_row < row
        {
            self.rows.push(row);
            self.spans.push(span);
        }
    }

    /// Appends a layer whose rows are all below the rows of this layer.
    pub fn append(&mut self, other: &Self) {
        self.rows.reserve(other.rows.len());
        self.spans.reserve(other.spans.len());
        let mut last_span = None;
        for (row, span) in other.rows.iter().zip(&other.spans) {
            if last_span == Some(span) {
                self.push_last_text(*row);
            } else {
                self.push(*row, span.of(&other.texts));
                last_span = Some(span);
            }
        }
    }

    /// The caller must not change the order of rows.
    pub(super) fn rows_mut(&mut self) -> &mut [u32] {
        &mut self.rows
    }

    /// Removes the strings from `row` on, and returns them.
    pub(super) fn split_off(&mut self, row: u32) -> Self {
        let index = self.count_above(row);
        let (lower_rows, lower_spans) = (self.rows.split_off(index), self.spans.split_off(index));
        let start = lower_spans.iter().map(|span| span.start).min().unwrap_or(0);
        let end = lower_spans.iter().map(|span| span.end()).max().unwrap_or(start);
        // All bytes are copied at once, also if other rows use some of them.
        let copied_span = TextSpan { start, len: end.saturating_sub(start) };
        let lower_layer = Self {
            rows: lower_rows,
            spans: lower_spans.iter().map(|span| span.shifted_left(start)).collect(),
            texts: copied_span.of(&self.texts).to_owned(),
        };
        let used_bytes = self.spans.iter().map(|span| to_usize(span.end())).max().unwrap_or(0);
        truncate_texts(&mut self.texts, used_bytes);
        lower_layer
    }

    /// Creates a layer from parts of which the caller knows that [`TextLayer::from_parts`] accepts
    /// them.
    pub(crate) fn from_checked_parts(rows: Vec<u32>, spans: Vec<TextSpan>, texts: String) -> Self {
        Self { rows, spans, texts }
    }

    /// Creates a layer from its parts. Returns `None` unless rows are in ascending order, each row
    /// has a span, and all spans are valid.
    #[must_use]
    pub fn from_parts(rows: Vec<u32>, spans: Vec<TextSpan>, texts: String) -> Option<Self> {
        let is_valid = rows.len() == spans.len()
            && rows.is_sorted_by(|row, next_row| row < next_row)
            && spans.iter().all(|span| span.is_valid_in(&texts));
        is_valid.then_some(Self { rows, spans, texts })
    }
}
