//! The values of a column.

use std::ops::Range;

use super::TextSpan;
use cellar_sheet::cell::ErrorCode;

/// A value in a tile. Texts are stored in the layer, so values are `Copy`.
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
    /// A text longer than `MAX_TILE_TEXT_BYTES`, as an index into the layer's [`LongText`]s.
    Long(u32),
}

/// A text stored as a separate object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongText {
    /// Preview as a span of the layer's texts: whole characters, limited to `MAX_TILE_TEXT_BYTES`.
    pub preview: TextSpan,
    /// Object name: the BLAKE3 hash of the full text.
    pub hash: [u8; 32],
    /// Length of the full text in bytes.
    pub bytes: u32,
}

/// Values by row.
#[derive(Debug, Clone, Default)]
pub struct ValueLayer {
    rows: Vec<u32>,
    values: Vec<TileValue>,
    texts: String,
    long: Vec<LongText>,
}

impl PartialEq for ValueLayer {
    fn eq(&self, other: &Self) -> bool {
        let is_equal_at = |index: usize| match (self.values.get(index), other.values.get(index)) {
            (Some(TileValue::Text(one)), Some(TileValue::Text(two))) => {
                one.of(&self.texts) == two.of(&other.texts)
            }
            (Some(TileValue::Number(one)), Some(TileValue::Number(two))) => {
                one.to_bits() == two.to_bits()
            }
            (Some(TileValue::Long(one)), Some(TileValue::Long(two))) => {
                self.long_text(*one) == other.long_text(*two)
            }
            (one, two) => one == two,
        };
        self.rows == other.rows && (0..self.rows.len()).all(is_equal_at)
    }
}

impl ValueLayer {
    /// Appends a value other than a text. No-op unless `row` is after the last row.
    pub fn push(&mut self, row: u32, value: TileValue) {
        if self.rows.last().is_none_or(|last| *last < row) {
            self.rows.push(row);
            self.values.push(value);
        }
    }

    /// Appends a text. No-op unless `row` is after the last row.
    pub fn push_text(&mut self, row: u32, text: &str) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let span = TextSpan::push(&mut self.texts, text);
            self.rows.push(row);
            self.values.push(TileValue::Text(span));
        }
    }

    /// Appends a text that is stored as a separate object. No-op unless `row` is after the last
    /// row.
    pub fn push_long(&mut self, row: u32, preview: &str, hash: [u8; 32], bytes: u32) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let preview = TextSpan::push(&mut self.texts, preview);
            let index = u32::try_from(self.long.len()).unwrap_or(u32::MAX);
            self.long.push(LongText { preview, hash, bytes });
            self.rows.push(row);
            self.values.push(TileValue::Long(index));
        }
    }

    /// Returns the rows with a value, in ascending order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the values, one per row.
    #[must_use]
    pub fn values(&self) -> &[TileValue] {
        &self.values
    }

    /// Returns the string that contains all texts and previews.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns the texts that are stored as separate objects.
    #[must_use]
    pub fn long(&self) -> &[LongText] {
        &self.long
    }

    /// Returns the preview, hash and length of a long text by its index.
    #[must_use]
    pub fn long_text(&self, index: u32) -> Option<(&str, [u8; 32], u32)> {
        let long = self.long.get(usize::try_from(index).ok()?)?;
        Some((long.preview.of(&self.texts), long.hash, long.bytes))
    }

    /// Returns the number of rows with a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no row has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the value at `index` in another layer as the value of `row`.
    pub fn push_from(&mut self, row: u32, other: &Self, index: usize) {
        match other.values.get(index) {
            Some(TileValue::Text(span)) => self.push_text(row, span.of(&other.texts)),
            Some(TileValue::Long(number)) => {
                if let Some((preview, hash, bytes)) = other.long_text(*number) {
                    self.push_long(row, preview, hash, bytes);
                }
            }
            Some(value) => self.push(row, *value),
            None => {}
        }
    }

    /// Returns the number of values above `row`.
    #[must_use]
    pub fn count_above(&self, row: u32) -> usize {
        self.rows.partition_point(|other| *other < row)
    }

    /// Reserves capacity for a number of values from another layer, assuming texts of average
    /// length.
    pub(crate) fn reserve(&mut self, values: usize, other: &Self) {
        self.rows.reserve(values);
        self.values.reserve(values);
        let texts = other.texts.len().saturating_mul(values).checked_div(other.len());
        self.texts.reserve(texts.unwrap_or(0));
    }

    /// Appends a layer whose rows all come after the rows of this layer.
    pub fn append(&mut self, other: &Self) {
        if self.rows.last().zip(other.rows.first()).is_some_and(|(last, first)| last >= first) {
            for (index, row) in (0..).zip(&other.rows) {
                self.push_from(*row, other, index);
            }
            return;
        }
        let text_offset = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let long_offset = u32::try_from(self.long.len()).unwrap_or(u32::MAX);
        self.rows.extend_from_slice(&other.rows);
        self.texts.push_str(&other.texts);
        let shift =
            |span: TextSpan| TextSpan { start: span.start.saturating_add(text_offset), ..span };
        self.values.extend(other.values.iter().map(|value| match value {
            TileValue::Text(span) => TileValue::Text(shift(*span)),
            TileValue::Long(number) => TileValue::Long(number.saturating_add(long_offset)),
            value => *value,
        }));
        let long_texts = other.long.iter();
        self.long.extend(long_texts.map(|long| LongText { preview: shift(long.preview), ..*long }));
    }

    /// Returns the values in these rows, with row numbers relative to `top`.
    #[must_use]
    pub fn part(&self, rows: &Range<u32>, top: u32) -> Self {
        let indices = self.count_above(rows.start)..self.count_above(rows.end);
        let values = self.values.get(indices.clone()).unwrap_or_default();
        let mut part = Self::default();
        if let Some(texts) = self.contiguous_texts(values) {
            let first = texts.start;
            let all = TextSpan { start: first, len: texts.end.saturating_sub(first) };
            part.texts.push_str(all.of(&self.texts));
            let rows = self.rows.get(indices).unwrap_or_default();
            part.rows.extend(rows.iter().map(|row| row.saturating_sub(top)));
            part.values.extend(values.iter().map(|value| match value {
                TileValue::Text(span) => {
                    TileValue::Text(TextSpan { start: span.start.saturating_sub(first), ..*span })
                }
                value => *value,
            }));
            return part;
        }
        part.reserve(values.len(), self);
        for index in indices {
            if let Some(row) = self.rows.get(index) {
                part.push_from(row.saturating_sub(top), self, index);
            }
        }
        part
    }

    /// Returns the byte range of the values' texts if it is contiguous and no value is a long text.
    fn contiguous_texts(&self, values: &[TileValue]) -> Option<Range<u32>> {
        let mut bytes: Option<Range<u32>> = None;
        for value in values {
            match value {
                TileValue::Text(span) => {
                    let all = bytes.get_or_insert(span.start..span.start);
                    if all.end != span.start {
                        return None;
                    }
                    all.end = span.start.checked_add(span.len)?;
                }
                TileValue::Long(_) => return None,
                _ => {}
            }
        }
        Some(bytes.unwrap_or_default())
    }

    /// Creates a layer from parts that the caller has already validated like
    /// [`ValueLayer::from_parts`]. A second validation would take as long as decoding.
    pub(crate) fn from_checked_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long: Vec<LongText>,
    ) -> Self {
        Self { rows, values, texts, long }
    }

    /// Creates a layer from its parts. Returns `None` unless rows ascend, each row has a value,
    /// numbers are finite, and text spans are valid.
    #[must_use]
    pub fn from_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long: Vec<LongText>,
    ) -> Option<Self> {
        let is_text = |span: TextSpan| span.len == 0 || !span.of(&texts).is_empty();
        let is_valid_value = |value: &TileValue| match value {
            TileValue::Text(span) => is_text(*span),
            TileValue::Long(number) => {
                usize::try_from(*number).is_ok_and(|index| index < long.len())
            }
            TileValue::Number(number) => number.is_finite(),
            TileValue::Empty | TileValue::Bool(_) | TileValue::Error(_) => true,
        };
        let is_valid = rows.len() == values.len()
            && rows.is_sorted_by(|one, next| one < next)
            && values.iter().all(is_valid_value)
            && long.iter().all(|long| is_text(long.preview));
        is_valid.then_some(Self { rows, values, texts, long })
    }
}
