//! Encodes and decodes a column's values, grouped by kind.

use super::bytes::Reader;
use super::error::{TileTooLarge, UnreadableChunk};
use super::kinds::{self, KINDS, Kind, MIXED};
use super::{integers, numbers, texts};
use crate::tile::{LongText, TextSpan, TileValue, ValueLayer};
use cellar_base::limits::{MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES};
use cellar_sheet::cell::ErrorCode;

/// Encodes values. `common` is the number of their common kind or `MIXED`.
pub(super) fn write(
    out: &mut Vec<u8>,
    layer: &ValueLayer,
    common: u8,
    expansion_budget: &mut usize,
) -> Result<(), TileTooLarge> {
    if common == MIXED {
        kinds::write(out, layer.values());
    }
    for kind in KINDS.into_iter().filter(|kind| common == MIXED || common == kind.number()) {
        write_kind(out, layer, kind, expansion_budget)?;
    }
    Ok(())
}

fn write_kind(
    out: &mut Vec<u8>,
    layer: &ValueLayer,
    kind: Kind,
    expansion_budget: &mut usize,
) -> Result<(), TileTooLarge> {
    let values = layer.values().iter();
    match kind {
        Kind::Empty => {}
        Kind::Number => {
            let as_number = |value: &TileValue| match value {
                TileValue::Number(number) => Some(*number),
                _ => None,
            };
            let mut numbers: Vec<f64> = Vec::with_capacity(layer.len());
            numbers.extend(values.filter_map(as_number));
            if numbers.iter().any(|number| !number.is_finite()) {
                return Err(TileTooLarge::Part("a number is not finite"));
            }
            if !numbers.is_empty() {
                numbers::write(out, &numbers);
            }
        }
        Kind::Bool => {
            let as_bit = |value: &TileValue| match value {
                TileValue::Bool(value) => Some(i64::from(*value)),
                _ => None,
            };
            integers::write(out, &values.filter_map(as_bit).collect::<Vec<_>>());
        }
        Kind::Error => {
            let as_code = |value: &TileValue| match value {
                TileValue::Error(code) => Some(i64::from(code.number())),
                _ => None,
            };
            integers::write(out, &values.filter_map(as_code).collect::<Vec<_>>());
        }
        Kind::Text => {
            let as_text = |value: &TileValue| match value {
                TileValue::Text(span) => Some(checked_text(layer, *span)),
                _ => None,
            };
            let list = values.filter_map(as_text).collect::<Result<Vec<_>, _>>()?;
            if !list.is_empty() {
                texts::write(out, &list, expansion_budget);
            }
        }
        Kind::Long => write_long(out, layer, expansion_budget)?,
    }
    Ok(())
}

/// Returns the text of a span, or an error if the span or its length is invalid.
fn checked_text(layer: &ValueLayer, span: TextSpan) -> Result<&str, TileTooLarge> {
    let text = span.of(layer.texts());
    if u32::try_from(text.len()) != Ok(span.len) {
        return Err(TileTooLarge::Part("the span of a text is invalid"));
    }
    if text.len() > MAX_TILE_TEXT_BYTES {
        return Err(TileTooLarge::Part("a text is too long: store it as a long text"));
    }
    Ok(text)
}

fn write_long(
    out: &mut Vec<u8>,
    layer: &ValueLayer,
    expansion_budget: &mut usize,
) -> Result<(), TileTooLarge> {
    let missing = TileTooLarge::Part("the index of a long text is invalid");
    let indices = layer.values().iter().filter_map(|value| match value {
        TileValue::Long(index) => Some(usize::try_from(*index).unwrap_or(usize::MAX)),
        _ => None,
    });
    let long: Option<Vec<&LongText>> = indices.map(|index| layer.long().get(index)).collect();
    let long = long.ok_or(missing)?;
    if long.is_empty() {
        return Ok(());
    }
    if long.iter().any(|text| !is_long(text.bytes)) {
        return Err(TileTooLarge::Part("the length of a long text is out of range"));
    }
    let previews = long.iter().map(|text| checked_text(layer, text.preview));
    texts::write(out, &previews.collect::<Result<Vec<_>, _>>()?, expansion_budget);
    let lengths: Vec<i64> = long.iter().map(|text| i64::from(text.bytes)).collect();
    integers::write(out, &lengths);
    for text in long {
        out.extend_from_slice(&text.hash);
    }
    Ok(())
}

/// Returns whether texts of this length are stored as separate objects.
fn is_long(bytes: u32) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    bytes > MAX_TILE_TEXT_BYTES && bytes <= MAX_TEXT_BYTES
}

/// Texts of the layer being decoded.
#[derive(Default)]
struct Texts {
    texts: String,
    long: Vec<LongText>,
}

/// Decodes the values in `rows`. `common` is the number of their common kind or `MIXED`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    rows: Vec<u32>,
    common: u8,
) -> Result<ValueLayer, UnreadableChunk> {
    let mut texts = Texts::default();
    let values = match Kind::from_number(common) {
        Some(kind) => read_kind(reader, kind, rows.len(), &mut texts)?,
        None => read_mixed(reader, rows.len(), &mut texts)?,
    };
    Ok(ValueLayer::from_checked_parts(rows, values, texts.texts, texts.long))
}

fn read_mixed(
    reader: &mut Reader<'_>,
    count: usize,
    texts: &mut Texts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the kinds of values are malformed");
    let order = kinds::read(reader, count)?;
    let mut values_by_kind = Vec::with_capacity(KINDS.len());
    for kind in KINDS {
        let count = order.iter().filter(|other| **other == kind).count();
        let values = if count == 0 { Vec::new() } else { read_kind(reader, kind, count, texts)? };
        values_by_kind.push(values.into_iter());
    }
    let mut next_of_kind = |kind: &Kind| {
        let values = values_by_kind.get_mut(usize::from(kind.number().saturating_sub(1)));
        values.and_then(Iterator::next).ok_or(malformed)
    };
    order.iter().map(&mut next_of_kind).collect()
}

fn read_kind(
    reader: &mut Reader<'_>,
    kind: Kind,
    count: usize,
    texts: &mut Texts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let read_spans = |reader: &mut Reader<'_>, texts: &mut Texts| {
        texts::read(reader, count, MAX_TILE_TEXT_BYTES, &mut texts.texts)
    };
    Ok(match kind {
        Kind::Empty => vec![TileValue::Empty; count],
        Kind::Number => numbers::read(reader, count)?.into_iter().map(TileValue::Number).collect(),
        Kind::Bool => {
            let bits = integers::read_counts(reader, count, 1)?;
            bits.into_iter().map(|bit| TileValue::Bool(bit == 1)).collect()
        }
        Kind::Error => {
            let unknown = UnreadableChunk::Malformed("an error value has an unknown code");
            let to_code = |number: u32| u8::try_from(number).ok().and_then(ErrorCode::from_number);
            let to_value = |number: u32| to_code(number).map(TileValue::Error).ok_or(unknown);
            let codes = integers::read_counts(reader, count, u32::from(u8::MAX))?;
            codes.into_iter().map(to_value).collect::<Result<_, _>>()?
        }
        Kind::Text => read_spans(reader, texts)?.into_iter().map(TileValue::Text).collect(),
        Kind::Long => {
            let previews = read_spans(reader, texts)?;
            read_long(reader, previews, &mut texts.long)?
        }
    })
}

fn read_long(
    reader: &mut Reader<'_>,
    previews: Vec<TextSpan>,
    long: &mut Vec<LongText>,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the length of a long text is out of range");
    let count = previews.len();
    let lengths = integers::read_counts(reader, count, u32::MAX)?;
    let hashes = reader.bytes(count.saturating_mul(32))?.as_chunks::<32>().0;
    for ((preview, bytes), hash) in previews.into_iter().zip(lengths).zip(hashes) {
        if !is_long(bytes) {
            return Err(malformed);
        }
        long.push(LongText { preview, hash: *hash, bytes });
    }
    let end = u32::try_from(count).unwrap_or(u32::MAX);
    Ok((0..end).map(TileValue::Long).collect())
}
