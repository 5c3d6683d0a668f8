//! The formats of a tile: each once, and codes in the columns.

use std::collections::{HashMap, HashSet};

use super::bytes::{Reader, write_count};
use super::error::{TileTooLarge, UnreadableChunk};
use super::{integers, texts};
use crate::tile::{TextLayer, TextSpan, Tile};
use cellar_base::limits::{MAX_COPIED_FORMAT_BYTES, MAX_FORMAT_BYTES, MAX_TILE_CELLS};

/// The formats of a tile that is written.
#[derive(Default)]
pub(super) struct FormatDictionary<'a> {
    formats: Vec<&'a str>,
    codes: HashMap<&'a str, i64>,
}

impl<'a> FormatDictionary<'a> {
    /// The formats of all columns, in the order in which they come first.
    pub(super) fn new(tile: &'a Tile) -> Result<Self, TileTooLarge> {
        let mut this = Self::default();
        let mut copied = 0_usize;
        for column in &tile.columns {
            copied = copied.saturating_add(this.add(&column.formats)?);
        }
        if copied > MAX_COPIED_FORMAT_BYTES {
            return Err(TileTooLarge::Formats { bytes: copied });
        }
        Ok(this)
    }

    /// Adds the formats of a column; says how many bytes its distinct ones have.
    fn add(&mut self, layer: &'a TextLayer) -> Result<usize, TileTooLarge> {
        let mut of_column: HashSet<&str> = HashSet::new();
        let (mut bytes, mut last) = (0, None);
        for (_, format) in layer.iter().filter(|(_, format)| last.replace(*format) != Some(*format))
        {
            if format.len() > MAX_FORMAT_BYTES {
                return Err(TileTooLarge::Part("a format is longer than any may be"));
            }
            if of_column.insert(format) {
                bytes += format.len();
                let next = i64::try_from(self.formats.len()).unwrap_or(i64::MAX);
                if *self.codes.entry(format).or_insert(next) == next {
                    self.formats.push(format);
                }
            }
        }
        Ok(bytes)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, room: &mut usize) {
        write_count(out, self.formats.len());
        if !self.formats.is_empty() {
            texts::write(out, &self.formats, room);
        }
    }

    /// Writes the codes of one column's formats.
    pub(super) fn write_codes(&self, out: &mut Vec<u8>, layer: &TextLayer) {
        let code = |format: &str| self.codes.get(format).copied().unwrap_or_default();
        let codes: Vec<i64> = layer.iter().map(|(_, format)| code(format)).collect();
        integers::write(out, &codes);
    }
}

/// The formats of a tile that is read.
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

    /// Reads the formats of one column's rows. It gets copies of the few texts that it needs.
    pub(super) fn read_codes(
        &self,
        reader: &mut Reader<'_>,
        rows: Vec<u32>,
    ) -> Result<TextLayer, UnreadableChunk> {
        let malformed = UnreadableChunk::Malformed("a code has no format");
        let most = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        let codes = integers::read_counts(reader, rows.len(), most)?;
        let mut texts = String::new();
        let mut copied: HashMap<u32, TextSpan> = HashMap::new();
        let mut last = None;
        let mut spans = Vec::with_capacity(rows.len());
        for code in codes {
            let span = match last {
                Some((before, span)) if before == code => span,
                _ => match copied.get(&code) {
                    Some(span) => *span,
                    None => {
                        let at = usize::try_from(code).unwrap_or(usize::MAX);
                        let text = self.spans.get(at).ok_or(malformed)?.of(&self.texts);
                        reader.take_format(text.len())?;
                        let start = u32::try_from(texts.len()).unwrap_or(u32::MAX);
                        texts.push_str(text);
                        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
                        let span = TextSpan { start, len };
                        copied.insert(code, span);
                        span
                    }
                },
            };
            last = Some((code, span));
            spans.push(span);
        }
        TextLayer::from_parts(rows, spans, texts).ok_or(malformed)
    }
}
