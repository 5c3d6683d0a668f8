//! Encodes and decodes a column's values, grouped by kind.

use super::bytes::ChunkReader;
use super::error::{UnencodableTile, UnreadableChunk};
use super::kinds::{self, ColumnKind, VALUE_KINDS, ValueKind};
use super::{integers, numbers, texts};
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::{LongText, TextSpan, TileValue, ValueLayer};
use cellar_base::limits::{MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES};
use cellar_sheet::cell::ErrorCode;

const HASH_BYTES: usize = 32;

/// `column_kind` is the kind of all values, or `Mixed` if their kinds differ.
pub(super) fn write_values(
    output: &mut Vec<u8>,
    layer: &ValueLayer,
    column_kind: ColumnKind,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    match column_kind {
        ColumnKind::NoValues => Ok(()),
        ColumnKind::Uniform(kind) => write_values_of_kind(output, layer, kind, expansion_budget),
        ColumnKind::Mixed => {
            kinds::write_kinds(output, layer.values());
            for kind in VALUE_KINDS {
                write_values_of_kind(output, layer, kind, expansion_budget)?;
            }
            Ok(())
        }
    }
}

fn write_values_of_kind(
    output: &mut Vec<u8>,
    layer: &ValueLayer,
    kind: ValueKind,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    match kind {
        ValueKind::Empty => {}
        ValueKind::Number => write_number_values(output, layer)?,
        ValueKind::Bool => {
            integers::write_integers(output, &bits_of_booleans(layer));
        }
        ValueKind::Error => {
            integers::write_integers(output, &codes_of_errors(layer));
        }
        ValueKind::Text => write_text_values(output, layer, expansion_budget)?,
        ValueKind::LongText => write_long_texts(output, layer, expansion_budget)?,
    }
    Ok(())
}

fn write_number_values(output: &mut Vec<u8>, layer: &ValueLayer) -> Result<(), UnencodableTile> {
    let mut numbers: Vec<f64> = Vec::with_capacity(layer.len());
    for value in layer.values() {
        if let TileValue::Number(number) = value {
            numbers.push(*number);
        }
    }
    if numbers.iter().any(|number| !number.is_finite()) {
        return Err(UnencodableTile::Malformed("a number is not finite"));
    }
    if !numbers.is_empty() {
        numbers::write_numbers(output, &numbers);
    }
    Ok(())
}

fn bits_of_booleans(layer: &ValueLayer) -> Vec<i64> {
    let to_bit = |value: &TileValue| match value {
        TileValue::Bool(boolean) => Some(i64::from(*boolean)),
        _ => None,
    };
    layer.values().iter().filter_map(to_bit).collect()
}

fn codes_of_errors(layer: &ValueLayer) -> Vec<i64> {
    let to_code = |value: &TileValue| match value {
        TileValue::Error(code) => Some(i64::from(code.number())),
        _ => None,
    };
    layer.values().iter().filter_map(to_code).collect()
}

fn write_text_values(
    output: &mut Vec<u8>,
    layer: &ValueLayer,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    let mut texts = Vec::with_capacity(layer.len());
    for value in layer.values() {
        if let TileValue::Text(span) = value {
            texts.push(checked_text(layer, *span)?);
        }
    }
    if !texts.is_empty() {
        texts::write_texts(output, &texts, expansion_budget);
    }
    Ok(())
}

fn checked_text(layer: &ValueLayer, span: TextSpan) -> Result<&str, UnencodableTile> {
    let text = span.of(layer.texts());
    if text.len() != to_usize(span.len) {
        return Err(UnencodableTile::Malformed("the span of a string is invalid"));
    }
    if text.len() > MAX_TILE_TEXT_BYTES {
        return Err(UnencodableTile::Malformed(
            "a string is too long for a tile: store it as a long text",
        ));
    }
    Ok(text)
}

fn write_long_texts(
    output: &mut Vec<u8>,
    layer: &ValueLayer,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    let long_texts = long_texts_in_value_order(layer)?;
    if long_texts.is_empty() {
        return Ok(());
    }
    if !long_texts.iter().all(|long_text| is_long_text_length(long_text.byte_length)) {
        return Err(UnencodableTile::Malformed("the length of a long text is out of range"));
    }
    let mut previews = Vec::with_capacity(long_texts.len());
    for long_text in &long_texts {
        previews.push(checked_text(layer, long_text.preview)?);
    }
    texts::write_texts(output, &previews, expansion_budget);
    let byte_lengths: Vec<i64> =
        long_texts.iter().map(|long_text| i64::from(long_text.byte_length)).collect();
    integers::write_integers(output, &byte_lengths);
    for long_text in long_texts {
        output.extend_from_slice(&long_text.hash);
    }
    Ok(())
}

fn long_texts_in_value_order(layer: &ValueLayer) -> Result<Vec<&LongText>, UnencodableTile> {
    let mut long_texts = Vec::new();
    for value in layer.values() {
        if let TileValue::LongText(index) = value {
            let long_text = layer.long_texts().get(to_usize(*index));
            long_texts.push(
                long_text
                    .ok_or(UnencodableTile::Malformed("the index of a long text is invalid"))?,
            );
        }
    }
    Ok(long_texts)
}

/// Returns whether a string of this length is stored as a separate object.
fn is_long_text_length(byte_length: u32) -> bool {
    let byte_length = to_usize(byte_length);
    byte_length > MAX_TILE_TEXT_BYTES && byte_length <= MAX_TEXT_BYTES
}

#[derive(Default)]
struct LayerTexts {
    /// The strings and the previews of long texts, concatenated.
    texts: String,
    long_texts: Vec<LongText>,
}

/// `column_kind` is the kind of all values, or `Mixed` if their kinds differ.
pub(super) fn read_values(
    reader: &mut ChunkReader<'_>,
    rows: Vec<u32>,
    column_kind: ColumnKind,
) -> Result<ValueLayer, UnreadableChunk> {
    let mut layer_texts = LayerTexts::default();
    let values = match column_kind {
        ColumnKind::NoValues => Vec::new(),
        ColumnKind::Uniform(kind) => {
            read_values_of_kind(reader, kind, rows.len(), &mut layer_texts)?
        }
        ColumnKind::Mixed => read_mixed_values(reader, rows.len(), &mut layer_texts)?,
    };
    let LayerTexts { texts, long_texts } = layer_texts;
    Ok(ValueLayer::from_checked_parts(rows, values, texts, long_texts))
}

fn read_mixed_values(
    reader: &mut ChunkReader<'_>,
    value_count: usize,
    layer_texts: &mut LayerTexts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the value kinds of a column are malformed");
    let kinds_by_row = kinds::read_kinds(reader, value_count)?;
    let mut unplaced_values_by_kind = Vec::with_capacity(VALUE_KINDS.len());
    for stored_kind in VALUE_KINDS {
        let kind_count = kinds_by_row.iter().filter(|kind| **kind == stored_kind).count();
        let values_of_kind = match kind_count {
            0 => Vec::new(),
            _ => read_values_of_kind(reader, stored_kind, kind_count, layer_texts)?,
        };
        unplaced_values_by_kind.push(values_of_kind.into_iter());
    }
    let mut values = Vec::with_capacity(value_count);
    for kind in kinds_by_row {
        let unplaced_values = unplaced_values_by_kind.get_mut(kind.storage_index());
        values.push(unplaced_values.and_then(Iterator::next).ok_or(malformed)?);
    }
    Ok(values)
}

fn read_values_of_kind(
    reader: &mut ChunkReader<'_>,
    kind: ValueKind,
    value_count: usize,
    layer_texts: &mut LayerTexts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    match kind {
        ValueKind::Empty => Ok(vec![TileValue::Empty; value_count]),
        ValueKind::Number => numbers::read_numbers(reader, value_count, TileValue::Number),
        ValueKind::Bool => {
            const MAX_BIT: u32 = 1;
            let to_value = |bit| TileValue::Bool(bit == 1);
            integers::map_unsigned_integers(reader, value_count, MAX_BIT, to_value)
        }
        ValueKind::Error => read_error_values(reader, value_count),
        ValueKind::Text => {
            let spans = read_tile_texts(reader, value_count, layer_texts)?;
            Ok(spans.into_iter().map(TileValue::Text).collect())
        }
        ValueKind::LongText => read_long_texts(reader, value_count, layer_texts),
    }
}

fn read_error_values(
    reader: &mut ChunkReader<'_>,
    value_count: usize,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let unknown_code = UnreadableChunk::Malformed("an error value has an unknown code");
    let stored_codes = integers::read_unsigned_integers(reader, value_count, u32::from(u8::MAX))?;
    let mut values = Vec::with_capacity(value_count);
    for stored_code in stored_codes {
        let error_code = u8::try_from(stored_code).ok().and_then(ErrorCode::from_number);
        values.push(TileValue::Error(error_code.ok_or(unknown_code)?));
    }
    Ok(values)
}

fn read_tile_texts(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    layer_texts: &mut LayerTexts,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    texts::read_texts(reader, text_count, MAX_TILE_TEXT_BYTES, &mut layer_texts.texts)
}

fn read_long_texts(
    reader: &mut ChunkReader<'_>,
    value_count: usize,
    layer_texts: &mut LayerTexts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let out_of_range = UnreadableChunk::Malformed("the length of a long text is out of range");
    let previews = read_tile_texts(reader, value_count, layer_texts)?;
    let byte_lengths = integers::read_unsigned_integers(reader, value_count, u32::MAX)?;
    let hash_bytes = reader.read_bytes(value_count.saturating_mul(HASH_BYTES))?;
    let hashes = hash_bytes.as_chunks::<HASH_BYTES>().0;
    for ((preview, byte_length), hash) in previews.into_iter().zip(byte_lengths).zip(hashes) {
        if !is_long_text_length(byte_length) {
            return Err(out_of_range);
        }
        layer_texts.long_texts.push(LongText { preview, hash: *hash, byte_length });
    }
    Ok((0..saturate_u32(value_count)).map(TileValue::LongText).collect())
}
