//! The values of a column, kind by kind.

use super::bytes::Reader;
use super::error::{TileTooLarge, UnreadableChunk};
use super::kinds::{self, KINDS, Kind, MIXED};
use super::{integers, numbers, texts};
use crate::tile::{LongText, TextSpan, TileValue, ValueLayer};
use cellar_base::limits::{MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES};
use cellar_sheet::cell::ErrorCode;

/// Writes values, whose common kind is `common`.
pub(super) fn write(
    out: &mut Vec<u8>,
    layer: &ValueLayer,
    common: u8,
    room: &mut usize,
) -> Result<(), TileTooLarge> {
    if common == MIXED {
        kinds::write(out, layer.values());
    }
    for kind in KINDS.into_iter().filter(|kind| common == MIXED || common == kind.number()) {
        write_kind(out, layer, kind, room)?;
    }
    Ok(())
}

fn write_kind(
    out: &mut Vec<u8>,
    layer: &ValueLayer,
    kind: Kind,
    room: &mut usize,
) -> Result<(), TileTooLarge> {
    let values = layer.values().iter();
    match kind {
        Kind::Empty => {}
        Kind::Number => {
            let number = |value: &TileValue| match value {
                TileValue::Number(number) => Some(*number),
                _ => None,
            };
            let mut numbers: Vec<f64> = Vec::with_capacity(layer.len());
            numbers.extend(values.filter_map(number));
            if numbers.iter().any(|number| !number.is_finite()) {
                return Err(TileTooLarge::Part("a number is not finite"));
            }
            if !numbers.is_empty() {
                numbers::write(out, &numbers);
            }
        }
        Kind::Bool => {
            let bit = |value: &TileValue| match value {
                TileValue::Bool(value) => Some(i64::from(*value)),
                _ => None,
            };
            integers::write(out, &values.filter_map(bit).collect::<Vec<_>>());
        }
        Kind::Error => {
            let code = |value: &TileValue| match value {
                TileValue::Error(code) => Some(i64::from(code.number())),
                _ => None,
            };
            integers::write(out, &values.filter_map(code).collect::<Vec<_>>());
        }
        Kind::Text => {
            let text = |value: &TileValue| match value {
                TileValue::Text(span) => Some(text(layer, *span)),
                _ => None,
            };
            let list = values.filter_map(text).collect::<Result<Vec<_>, _>>()?;
            if !list.is_empty() {
                texts::write(out, &list, room);
            }
        }
        Kind::Long => write_long(out, layer, room)?,
    }
    Ok(())
}

fn text(layer: &ValueLayer, span: TextSpan) -> Result<&str, TileTooLarge> {
    let text = span.of(layer.texts());
    if u32::try_from(text.len()) != Ok(span.len) {
        return Err(TileTooLarge::Part("a text is not where it should be"));
    }
    if text.len() > MAX_TILE_TEXT_BYTES {
        return Err(TileTooLarge::Part("a text is longer than a tile holds: it is a long text"));
    }
    Ok(text)
}

fn write_long(out: &mut Vec<u8>, layer: &ValueLayer, room: &mut usize) -> Result<(), TileTooLarge> {
    let missing = TileTooLarge::Part("a long text is not where it should be");
    let long = layer.values().iter().filter_map(|value| match value {
        TileValue::Long(number) => Some(usize::try_from(*number).unwrap_or(usize::MAX)),
        _ => None,
    });
    let long = long.map(|number| layer.long().get(number));
    let long = long.collect::<Option<Vec<&LongText>>>().ok_or(missing)?;
    if long.is_empty() {
        return Ok(());
    }
    if long.iter().any(|long| !is_long(long.bytes)) {
        return Err(TileTooLarge::Part("a long text is shorter or longer than one may be"));
    }
    let previews = long.iter().map(|long| text(layer, long.preview));
    texts::write(out, &previews.collect::<Result<Vec<_>, _>>()?, room);
    let bytes: Vec<i64> = long.iter().map(|long| i64::from(long.bytes)).collect();
    integers::write(out, &bytes);
    long.iter().for_each(|long| out.extend_from_slice(&long.hash));
    Ok(())
}

/// Whether a text of so many bytes is an object of its own.
fn is_long(bytes: u32) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    bytes > MAX_TILE_TEXT_BYTES && bytes <= MAX_TEXT_BYTES
}

/// Texts of a layer that is being read.
#[derive(Default)]
struct Texts {
    texts: String,
    long: Vec<LongText>,
}

/// Reads the values of rows that were read before, whose common kind is `common`.
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
    let mut of_kind = Vec::with_capacity(KINDS.len());
    for kind in KINDS {
        let count = order.iter().filter(|other| **other == kind).count();
        let values = if count == 0 { Vec::new() } else { read_kind(reader, kind, count, texts)? };
        of_kind.push(values.into_iter());
    }
    let mut next = |kind: &Kind| {
        let values = of_kind.get_mut(usize::from(kind.number().saturating_sub(1)));
        values.and_then(Iterator::next).ok_or(malformed)
    };
    order.iter().map(&mut next).collect()
}

fn read_kind(
    reader: &mut Reader<'_>,
    kind: Kind,
    count: usize,
    texts: &mut Texts,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let spans = |reader: &mut Reader<'_>, texts: &mut Texts| {
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
            let code = |code: u32| u8::try_from(code).ok().and_then(ErrorCode::from_number);
            let error = |number: u32| code(number).map(TileValue::Error).ok_or(unknown);
            let codes = integers::read_counts(reader, count, u32::from(u8::MAX))?;
            codes.into_iter().map(error).collect::<Result<_, _>>()?
        }
        Kind::Text => spans(reader, texts)?.into_iter().map(TileValue::Text).collect(),
        Kind::Long => {
            let previews = spans(reader, texts)?;
            read_long(reader, previews, &mut texts.long)?
        }
    })
}

fn read_long(
    reader: &mut Reader<'_>,
    previews: Vec<TextSpan>,
    long: &mut Vec<LongText>,
) -> Result<Vec<TileValue>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a long text is shorter or longer than one may be");
    let count = previews.len();
    let lengths = integers::read_counts(reader, count, u32::MAX)?;
    let hashes = reader.bytes(count.saturating_mul(32))?.as_chunks::<32>().0;
    for ((preview, bytes), hash) in previews.into_iter().zip(lengths).zip(hashes) {
        if !is_long(bytes) {
            return Err(malformed);
        }
        long.push(LongText { preview, hash: *hash, bytes });
    }
    let most = u32::try_from(count).unwrap_or(u32::MAX);
    Ok((0..most).map(TileValue::Long).collect())
}
