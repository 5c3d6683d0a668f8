//! A layer of values.

use std::ops::Range;

use super::TextSpan;
use cellar_sheet::cell::ErrorCode;

/// A value in a tile. Copied freely: texts stand in the layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TileValue {
    /// Nothing: hides an older value.
    Empty,
    /// A finite number.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// An error value.
    Error(ErrorCode),
    /// A text: where it stands in the layer's texts.
    Text(TextSpan),
    /// A text that is longer than `MAX_TILE_TEXT_BYTES`: the number of its [`LongText`].
    Long(u32),
}

/// A text that is an object of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongText {
    /// The text's beginning, in the layer's texts: whole characters, at most `MAX_TILE_TEXT_BYTES`.
    pub preview: TextSpan,
    /// BLAKE3 of the whole text: the name of its object.
    pub hash: [u8; 32],
    /// Bytes of the whole text.
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
        let same = |index: usize| match (self.values.get(index), other.values.get(index)) {
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
        self.rows == other.rows && (0..self.rows.len()).all(same)
    }
}

impl ValueLayer {
    /// Adds a value that is no text behind the others. Ascending rows only; what is not, is left out.
    pub fn push(&mut self, row: u32, value: TileValue) {
        if self.rows.last().is_none_or(|last| *last < row) {
            self.rows.push(row);
            self.values.push(value);
        }
    }

    /// Adds a text, as [`ValueLayer::push`].
    pub fn push_text(&mut self, row: u32, text: &str) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let span = TextSpan::push(&mut self.texts, text);
            self.rows.push(row);
            self.values.push(TileValue::Text(span));
        }
    }

    /// Adds a text that is an object of its own, as [`ValueLayer::push`].
    pub fn push_long(&mut self, row: u32, preview: &str, hash: [u8; 32], bytes: u32) {
        if self.rows.last().is_none_or(|last| *last < row) {
            let preview = TextSpan::push(&mut self.texts, preview);
            let number = u32::try_from(self.long.len()).unwrap_or(u32::MAX);
            self.long.push(LongText { preview, hash, bytes });
            self.rows.push(row);
            self.values.push(TileValue::Long(number));
        }
    }

    /// The rows that have a value, ascending.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The values, as many as rows.
    #[must_use]
    pub fn values(&self) -> &[TileValue] {
        &self.values
    }

    /// The bytes in which texts and previews stand.
    #[must_use]
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// The texts that are objects of their own.
    #[must_use]
    pub fn long(&self) -> &[LongText] {
        &self.long
    }

    /// A long text by its number: its preview, hash and bytes.
    #[must_use]
    pub fn long_text(&self, number: u32) -> Option<(&str, [u8; 32], u32)> {
        let long = self.long.get(usize::try_from(number).ok()?)?;
        Some((long.preview.of(&self.texts), long.hash, long.bytes))
    }

    /// How many rows have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the value at an index of another layer, under a row of this one's.
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

    /// How many rows are above `row`.
    #[must_use]
    pub fn above(&self, row: u32) -> usize {
        self.rows.partition_point(|other| *other < row)
    }

    /// Makes room for so many values of another layer, which has its texts spread evenly.
    pub(crate) fn reserve(&mut self, values: usize, other: &Self) {
        self.rows.reserve(values);
        self.values.reserve(values);
        let texts = other.texts.len().saturating_mul(values).checked_div(other.len());
        self.texts.reserve(texts.unwrap_or(0));
    }

    /// Adds all of a layer that begins below this one's last row.
    pub fn append(&mut self, other: &Self) {
        if self.rows.last().zip(other.rows.first()).is_some_and(|(last, first)| last >= first) {
            (0..).zip(&other.rows).for_each(|(index, row)| self.push_from(*row, other, index));
            return;
        }
        let texts = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let long = u32::try_from(self.long.len()).unwrap_or(u32::MAX);
        self.rows.extend_from_slice(&other.rows);
        self.texts.push_str(&other.texts);
        let text = |span: TextSpan| TextSpan { start: span.start.saturating_add(texts), ..span };
        self.values.extend(other.values.iter().map(|value| match value {
            TileValue::Text(span) => TileValue::Text(text(*span)),
            TileValue::Long(number) => TileValue::Long(number.saturating_add(long)),
            value => *value,
        }));
        self.long.extend(other.long.iter().map(|it| LongText { preview: text(it.preview), ..*it }));
    }

    /// What is in some rows, counted from `top`.
    #[must_use]
    pub fn part(&self, rows: &Range<u32>, top: u32) -> Self {
        let inside = self.above(rows.start)..self.above(rows.end);
        let values = self.values.get(inside.clone()).unwrap_or_default();
        let mut part = Self::default();
        if let Some(texts) = self.texts_in_a_row(values) {
            let first = texts.start;
            let all = TextSpan { start: first, len: texts.end.saturating_sub(first) };
            part.texts.push_str(all.of(&self.texts));
            let rows = self.rows.get(inside).unwrap_or_default();
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
        for index in inside {
            if let Some(row) = self.rows.get(index) {
                part.push_from(row.saturating_sub(top), self, index);
            }
        }
        part
    }

    /// The bytes in which the texts of values stand, if these stand one behind the other, and none
    /// is an object of its own.
    fn texts_in_a_row(&self, values: &[TileValue]) -> Option<Range<u32>> {
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

    /// A layer from parts that the caller has checked: rows ascend, each has a value, numbers are
    /// finite, and every text is one. Checking them again would take as long as decoding them.
    pub(crate) fn from_sound_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long: Vec<LongText>,
    ) -> Self {
        Self { rows, values, texts, long }
    }

    /// A layer from its parts; `None` unless rows ascend, each has a value, and every text is one.
    #[must_use]
    pub fn from_parts(
        rows: Vec<u32>,
        values: Vec<TileValue>,
        texts: String,
        long: Vec<LongText>,
    ) -> Option<Self> {
        let whole = |span: TextSpan| span.len == 0 || !span.of(&texts).is_empty();
        let sound = |value: &TileValue| match value {
            TileValue::Text(span) => whole(*span),
            TileValue::Long(number) => usize::try_from(*number).is_ok_and(|at| at < long.len()),
            TileValue::Number(number) => number.is_finite(),
            TileValue::Empty | TileValue::Bool(_) | TileValue::Error(_) => true,
        };
        let sound = rows.len() == values.len()
            && rows.is_sorted_by(|one, next| one < next)
            && values.iter().all(sound)
            && long.iter().all(|long| whole(long.preview));
        sound.then_some(Self { rows, values, texts, long })
    }
}
