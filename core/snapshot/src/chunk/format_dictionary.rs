//! A tile's format dictionary, which contains each distinct cell format once. Columns refer to
//! formats by code.

use std::collections::{HashMap, HashSet};

use super::bytes::{Reader, write_count};
use super::error::{TileTooLarge, UnreadableChunk};
use super::{integers, texts};
use crate::tile::{TextLayer, TextSpan, Tile};
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_FORMAT_BYTES, MAX_TILE_CELLS};

/// Format dictionary of a tile that is being encoded.
#[derive(Default)]
pub(super) struct FormatDictionary<'a> {
    formats: Vec<&'a str>,
    codes: HashMap<&'a str, i64>,
}

impl<'a> FormatDictionary<'a> {
    /// Collects the formats of all columns in order of first occurrence.
    pub(super) fn new(tile: &'a Tile) -> Result<Self, TileTooLarge> {
        let mut dictionary = Self::default();
        let mut copied_bytes = 0_usize;
        for column in &tile.columns {
            copied_bytes = copied_bytes.saturating_add(dictionary.add(&column.formats)?);
        }
        if copied_bytes > MAX_COPIED_FORMAT_BYTES {
            return Err(TileTooLarge::Formats { bytes: copied_bytes });
        }
        Ok(dictionary)
    }

    /// Adds a column's formats. Returns the total length of its distinct formats in bytes.
    fn add(&mut self, layer: &'a TextLayer) -> Result<usize, TileTooLarge> {
        let mut column_formats: HashSet<&str> = HashSet::new();
        let mut column_bytes = 0;
        let mut previous = None;
        for (_, format) in layer.iter() {
            if previous.replace(format) == Some(format) {
                continue;
            }
            if format.len() > MAX_FORMAT_BYTES {
                return Err(TileTooLarge::Part("a format is too long"));
            }
            if column_formats.insert(format) {
                column_bytes += format.len();
                self.add_distinct(format);
            }
        }
        Ok(column_bytes)
    }
    fn add_distinct(&mut self, format: &'a str) {
        let next_code = i64::try_from(self.formats.len()).unwrap_or(i64::MAX);
        if *self.codes.entry(format).or_insert(next_code) == next_code {
            self.formats.push(format);
        }
    }
    pub(super) fn write(&self, out: &mut Vec<u8>, expansion_budget: &mut usize) {
        write_count(out, self.formats.len());
        if !self.formats.is_empty() {
            texts::write(out, &self.formats, expansion_budget);
        }
    }

    /// Encodes the format codes of a column.
    pub(super) fn write_codes(&self, out: &mut Vec<u8>, layer: &TextLayer) {
        let code_of = |format: &str| self.codes.get(format).copied().unwrap_or_default();
        let codes: Vec<i64> = layer.iter().map(|(_, format)| code_of(format)).collect();
        integers::write(out, &codes);
    }
}

const INVALID_CODE: UnreadableChunk =
    UnreadableChunk::Malformed("the code of a format is out of range");

/// Format dictionary of a tile that is being decoded.
pub(super) struct StoredFormats {
    texts: String,
    spans: Vec<TextSpan>,
}

impl StoredFormats {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, UnreadableChunk> {
        let count = reader.count(MAX_TILE_CELLS)?;
        let mut texts = String::new();
        let spans = match count {
            0 => Vec::new(),
            _ => texts::read(reader, count, MAX_FORMAT_BYTES, &mut texts)?,
        };
        Ok(Self { texts, spans })
    }

    /// Decodes a column's formats for the given rows, and copies the formats used into the column.
    pub(super) fn read_codes(
        &self,
        reader: &mut Reader<'_>,
        rows: Vec<u32>,
    ) -> Result<TextLayer, UnreadableChunk> {
        let max_code = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        let codes = integers::read_counts(reader, rows.len(), max_code)?;
        let mut texts = String::new();
        let mut copies: HashMap<u32, TextSpan> = HashMap::new();
        let mut previous = None;
        let mut spans = Vec::with_capacity(rows.len());
        for code in codes {
            let span = match previous {
                Some((previous_code, span)) if previous_code == code => span,
                _ => match copies.get(&code) {
                    Some(span) => *span,
                    None => {
                        let span = self.copy_format(code, reader, &mut texts)?;
                        copies.insert(code, span);
                        span
                    }
                },
            };
            previous = Some((code, span));
            spans.push(span);
        }
        TextLayer::from_parts(rows, spans, texts).ok_or(INVALID_CODE)
    }

    /// Appends the format with this code to `texts` and deducts its length from the reader's format
    /// budget.
    fn copy_format(
        &self,
        code: u32,
        reader: &mut Reader<'_>,
        texts: &mut String,
    ) -> Result<TextSpan, UnreadableChunk> {
        let index = usize::try_from(code).unwrap_or(usize::MAX);
        let format = self.spans.get(index).ok_or(INVALID_CODE)?.of(&self.texts);
        reader.charge_format(format.len())?;
        let saturate = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let span = TextSpan { start: saturate(texts.len()), len: saturate(format.len()) };
        texts.push_str(format);
        Ok(span)
    }
}
