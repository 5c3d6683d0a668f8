//! Format dictionary of a tile. It contains each distinct cell format once. Columns refer to
//! formats by code.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::bytes::{ChunkReader, write_count};
use super::error::{UnencodableTile, UnreadableChunk};
use super::{integers, texts};
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::{TextLayer, TextSpan, Tile};
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_FORMAT_BYTES, MAX_TILE_CELLS};

#[derive(Default)]
pub(super) struct FormatDictionary<'a> {
    formats: Vec<&'a str>,
    codes: HashMap<&'a str, i64>,
}

impl<'a> FormatDictionary<'a> {
    /// Collects the formats of all columns in order of first occurrence.
    pub(super) fn of_tile(tile: &'a Tile) -> Result<Self, UnencodableTile> {
        let mut dictionary = Self::default();
        let mut copied_bytes = 0_usize;
        for column in &tile.columns {
            let column_formats = distinct_column_formats(&column.formats)?;
            for format in column_formats {
                copied_bytes += format.len();
                dictionary.add(format);
            }
        }
        if copied_bytes > MAX_COPIED_FORMAT_BYTES {
            return Err(UnencodableTile::Formats { bytes: copied_bytes });
        }
        Ok(dictionary)
    }

    fn add(&mut self, format: &'a str) {
        if let Entry::Vacant(unknown_format) = self.codes.entry(format) {
            unknown_format.insert(i64::try_from(self.formats.len()).unwrap_or(i64::MAX));
            self.formats.push(format);
        }
    }

    pub(super) fn write(&self, output: &mut Vec<u8>, expansion_budget: &mut usize) {
        write_count(output, self.formats.len());
        if !self.formats.is_empty() {
            texts::write_texts(output, &self.formats, expansion_budget);
        }
    }

    pub(super) fn write_codes(&self, output: &mut Vec<u8>, layer: &TextLayer) {
        let code_of = |format: &str| self.codes.get(format).copied().unwrap_or_default();
        let mut codes = Vec::with_capacity(layer.len());
        for (format, run) in runs(layer) {
            codes.resize(codes.len() + run.len(), code_of(format));
        }
        integers::write_integers(output, &codes);
    }
}

/// Returns the runs of rows that share the bytes of a format.
fn runs(layer: &TextLayer) -> impl Iterator<Item = (&str, &[TextSpan])> {
    let runs = layer.spans().chunk_by(|span, next| span == next);
    runs.filter_map(|run| Some((run.first()?.of(layer.texts()), run)))
}

fn distinct_column_formats(layer: &TextLayer) -> Result<Vec<&str>, UnencodableTile> {
    let mut distinct_formats = Vec::new();
    let mut seen_formats: HashSet<&str> = HashSet::new();
    for (format, _) in runs(layer) {
        if format.len() > MAX_FORMAT_BYTES {
            return Err(UnencodableTile::Malformed("a format is too long"));
        }
        if seen_formats.insert(format) {
            distinct_formats.push(format);
        }
    }
    Ok(distinct_formats)
}

const INVALID_CODE: UnreadableChunk =
    UnreadableChunk::Malformed("the code of a format is out of range");

/// Format dictionary of a tile that is being decoded.
pub(super) struct StoredFormats {
    texts: String,
    spans: Vec<TextSpan>,
}

impl StoredFormats {
    pub(super) fn read(reader: &mut ChunkReader<'_>) -> Result<Self, UnreadableChunk> {
        let format_count = reader.read_count(MAX_TILE_CELLS)?;
        let mut texts = String::new();
        let spans = match format_count {
            0 => Vec::new(),
            _ => texts::read_texts(reader, format_count, MAX_FORMAT_BYTES, &mut texts)?,
        };
        Ok(Self { texts, spans })
    }

    /// Copies the formats that are used from the dictionary into the column.
    pub(super) fn read_codes(
        &self,
        reader: &mut ChunkReader<'_>,
        rows: Vec<u32>,
    ) -> Result<TextLayer, UnreadableChunk> {
        let max_code = saturate_u32(self.spans.len());
        let codes = integers::read_unsigned_integers(reader, rows.len(), max_code)?;
        let mut column_formats = ColumnFormats::default();
        let mut spans = Vec::with_capacity(rows.len());
        for run_of_equal_codes in codes.chunk_by(|code, next_code| code == next_code) {
            if let Some(code) = run_of_equal_codes.first() {
                let span = column_formats.copy_once(*code, self, reader)?;
                spans.resize(spans.len() + run_of_equal_codes.len(), span);
            }
        }
        Ok(TextLayer::from_checked_parts(rows, spans, column_formats.texts))
    }

    fn format(&self, code: u32) -> Result<&str, UnreadableChunk> {
        let span = self.spans.get(to_usize(code)).ok_or(INVALID_CODE)?;
        Ok(span.of(&self.texts))
    }
}

#[derive(Default)]
struct ColumnFormats {
    texts: String,
    spans_by_code: HashMap<u32, TextSpan>,
}

impl ColumnFormats {
    /// On the first use of a format, copies it and deducts its length from the reader's format
    /// budget.
    fn copy_once(
        &mut self,
        code: u32,
        dictionary: &StoredFormats,
        reader: &mut ChunkReader<'_>,
    ) -> Result<TextSpan, UnreadableChunk> {
        if let Some(span) = self.spans_by_code.get(&code) {
            return Ok(*span);
        }
        let format = dictionary.format(code)?;
        reader.charge_format(format.len())?;
        let span = TextSpan::push(&mut self.texts, format);
        self.spans_by_code.insert(code, span);
        Ok(span)
    }
}
