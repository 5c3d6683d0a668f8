//! The values of a column.

use super::TextSpan;
use super::text_layer::truncate_texts;
use crate::saturate::{saturate_u32, to_usize};
use cellar_sheet::cell::ErrorCode;

/// A value in a tile. The type is `Copy`, because the layer stores all strings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TileValue {
    /// A blank, which hides an older value.
    Empty,
    /// A finite number.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// An error value.
    Error(ErrorCode),
    /// A text, as a span of the layer's texts.
    Text(TextSpan),
    /// A text longer than `MAX_TILE_TEXT_BYTES`, as an index into the [`LongText`]s of the layer.
    LongText(u32),
}

/// A text that is stored as a separate object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongText {
    /// Span of the preview in the strings of the layer. The preview consists of whole characters
    /// and has at most `MAX_TILE_TEXT_BYTES`.
    pub preview: TextSpan,
    /// Name of the object, which is the BLAKE3 hash of the full text.
    pub hash: [u8; 32],
    /// Length of the full text in bytes.
    pub byte_length: u32,
}

/// Values by row.
#[derive(Debug, Clone, Default)]
pub struct ValueLayer {
    rows: Vec<u32>,
    values: Vec<TileValue>,
    texts: String,
    long_texts: Vec<LongText>,
}

impl PartialEq for ValueLayer {
    fn eq(&self, other: &Self) -> bool {
        let is_equal_at = |index: usize| match (self.values.get(index), other.values.get(index)) {
            (Some(TileValue::Text(span)), Some(TileValue::Text(other_span))) => {
                span.of(&self.texts) == other_span.of(&other.texts)
            }
            (Some(TileValue::Number(number)), Some(TileValue::Number(other_number))) => {
                number.to_bits() == other_number.to_bits()
            }
            (Some(TileValue::LongText(index)), Some(TileValue::LongText(other_index))) => {
                self.long_text_parts(*index) == other.long_text_parts(*other_index)
            }
            (value, other_value) => value == other_value,
        };
        self.rows == other.rows && (0..self.rows.len()).all(is_equal_at)
    }
}

impl ValueLayer {
    /// Appends a value that is not a string. Does nothing unless `row` is after the last row.
    #[inline]
    pub fn push(&mut self, row: u32, value: TileValue) {
        if self.rows.last().is_none_or(|last| *last < row) {
            self.rows.push(row);
            self.values.push(value);
        }
    }

    /// Appends a string value. Does nothing unless `row` is after the last row.
    pub fn push_text(&mut self, row: u32, text: &str) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let span = TextSpan::push(&mut self.texts, text);
            self.rows.push(row);
            self.values.push(TileValue::Text(span));
        }
    }

    /// Appends a long text, which is stored as a separate object. Does nothing unless `row` is
    /// after the last row.
    pub fn push_long_text(&mut self, row: u32, preview: &str, hash: [u8; 32], byte_length: u32) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let preview_span = TextSpan::push(&mut self.texts, preview);
            let index = saturate_u32(self.long_texts.len());
            self.long_texts.push(LongText { preview: preview_span, hash, byte_length });
            self.rows.push(row);
            self.values.push(TileValue::LongText(index));
        }
    }

    /// Returns the rows that have a value, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the values, one per row.
    #[must_use]
    pub fn values(&self) -> &[TileValue] {
        &self.values
    }

    /// Returns the concatenated strings and previews of all rows.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns the long texts, which are stored as separate objects.
    #[must_use]
    pub fn long_texts(&self) -> &[LongText] {
        &self.long_texts
    }

    /// Returns the long text at an index.
    #[must_use]
    pub fn long_text(&self, index: u32) -> Option<&LongText> {
        self.long_texts.get(to_usize(index))
    }

    fn long_text_parts(&self, index: u32) -> Option<(&str, [u8; 32], u32)> {
        let long_text = self.long_text(index)?;
        Some((long_text.preview.of(&self.texts), long_text.hash, long_text.byte_length))
    }

    /// Returns the number of rows that have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no row has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the value with the given index in another layer as the value of `row`.
    pub fn push_from(&mut self, row: u32, other: &Self, index: usize) {
        match other.values.get(index) {
            Some(TileValue::Text(span)) => self.push_text(row, span.of(&other.texts)),
            Some(TileValue::LongText(long_text_index)) => {
                if let Some((preview, hash, byte_length)) = other.long_text_parts(*long_text_index)
                {
                    self.push_long_text(row, preview, hash, byte_length);
                }
            }
            Some(value) => self.push(row, *value),
            None => {}
        }
    }

    /// Returns the number of values above `row`.
    #[must_use]
    pub fn count_above(&self, row: u32) -> usize {
        self.rows.partition_point(|layer_row| *layer_row < row)
    }

    /// Reserves capacity for more values, and for their strings.
    pub(crate) fn reserve(&mut self, value_count: usize, text_bytes: usize) {
        self.rows.reserve(value_count);
        self.values.reserve(value_count);
        self.texts.reserve(text_bytes);
    }

    /// Returns the total length of the strings of `value_count` values of the layer, assuming that they
    /// have average length.
    pub(crate) fn expected_text_bytes(&self, value_count: usize) -> usize {
        let text_bytes = self.texts.len().saturating_mul(value_count);
        text_bytes.checked_div(self.len()).unwrap_or(0)
    }

    /// Appends a layer whose rows are all below the rows of this layer. Skips rows that are not.
    pub fn append(&mut self, other: &Self) {
        if let (Some(last_row), Some(other_first_row)) = (self.rows.last(), other.rows.first())
            && last_row >= other_first_row
        {
            for (index, row) in other.rows.iter().enumerate() {
                self.push_from(*row, other, index);
            }
        } else {
            self.append_below(other);
        }
    }

    /// Appends a layer whose rows are all below the rows of this layer. Copies all its strings at
    /// once.
    fn append_below(&mut self, other: &Self) {
        let text_offset = saturate_u32(self.texts.len());
        let long_text_offset = saturate_u32(self.long_texts.len());
        self.rows.extend_from_slice(&other.rows);
        self.texts.push_str(&other.texts);
        self.values.extend(other.values.iter().map(|value| match value {
            TileValue::Text(span) => TileValue::Text(span.shifted_right(text_offset)),
            TileValue::LongText(index) => {
                TileValue::LongText(index.saturating_add(long_text_offset))
            }
            other_value => *other_value,
        }));
        for long_text in &other.long_texts {
            let preview = long_text.preview.shifted_right(text_offset);
            self.long_texts.push(LongText { preview, ..*long_text });
        }
    }

    /// The caller must not change the order of rows.
    pub(super) fn rows_mut(&mut self) -> &mut [u32] {
        &mut self.rows
    }

    /// Removes the values from `row` on, and returns them.
    pub(super) fn split_off(&mut self, row: u32) -> Self {
        let index = self.count_above(row);
        let spans = self.values.split_at_checked(index).and_then(|(upper, lower)| {
            Some((Self::contiguous_text_span(upper)?, Self::contiguous_text_span(lower)?))
        });
        let Some((upper_span, lower_span)) = spans else { return self.split_off_each(index) };
        let mut lower_layer = Self {
            rows: self.rows.split_off(index),
            values: self.values.split_off(index),
            texts: lower_span.of(&self.texts).to_owned(),
            long_texts: Vec::new(),
        };
        for value in &mut lower_layer.values {
            if let TileValue::Text(span) = value {
                *span = span.shifted_left(lower_span.start);
            }
        }
        truncate_texts(&mut self.texts, to_usize(upper_span.end()));
        lower_layer
    }

    /// Copies each string on its own, because the strings are not contiguous.
    fn split_off_each(&mut self, index: usize) -> Self {
        let whole = std::mem::take(self);
        let mut lower_layer = Self::default();
        for (place, row) in whole.rows.iter().enumerate() {
            let layer = if place < index { &mut *self } else { &mut lower_layer };
            layer.push_from(*row, &whole, place);
        }
        lower_layer
    }

    /// Returns `None` if the strings are not contiguous, or if a value is a long text.
    fn contiguous_text_span(values: &[TileValue]) -> Option<TextSpan> {
        let mut joined_span: Option<TextSpan> = None;
        for value in values {
            match value {
                TileValue::Text(span) => {
                    let joined = joined_span.get_or_insert(TextSpan { start: span.start, len: 0 });
                    if joined.end() != span.start {
                        return None;
                    }
                    joined.len = joined.len.checked_add(span.len)?;
                }
                TileValue::LongText(_) => return None,
                TileValue::Empty
                | TileValue::Number(_)
                | TileValue::Bool(_)
                | TileValue::Error(_) => {}
            }
        }
        Some(joined_span.unwrap_or_default())
    }

    /// Creates a layer from parts that the caller has already validated like
    /// [`ValueLayer::from_parts`] does. Validating them again would take as long as decoding.
    pub(crate) fn from_checked_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long_texts: Vec<LongText>,
    ) -> Self {
        Self { rows, values, texts, long_texts }
    }

    /// Creates a layer from its parts. Returns `None` unless rows are in ascending order, each row
    /// has a value, numbers are finite, and spans are valid.
    #[must_use]
    pub fn from_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long_texts: Vec<LongText>,
    ) -> Option<Self> {
        let is_valid_value = |value: &TileValue| match value {
            TileValue::Text(span) => span.is_valid_in(&texts),
            TileValue::LongText(index) => to_usize(*index) < long_texts.len(),
            TileValue::Number(number) => number.is_finite(),
            TileValue::Empty | TileValue::Bool(_) | TileValue::Error(_) => true,
        };
        let is_valid = rows.len() == values.len()
            && rows.is_sorted_by(|row, next_row| row < next_row)
            && values.iter().all(is_valid_value)
            && long_texts.iter().all(|long_text| long_text.preview.is_valid_in(&texts));
        is_valid.then_some(Self { rows, values, texts, long_texts })
    }
}
