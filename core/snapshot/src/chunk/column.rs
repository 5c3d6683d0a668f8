//! Encodes and decodes a tile column: its values, formulas and formats.

use super::bytes::{Reader, write_count};
use super::error::{TileTooLarge, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::presence::{self, Form};
use super::{kinds, texts, values};
use crate::tile::{TextLayer, TileColumn, ValueLayer};
use cellar_base::limits::{MAX_COLUMNS, MAX_FORMULA_BYTES, MAX_ROWS};

/// Bit offset of the row encoding in the column flags. The lower bits contain the value kind.
const ROWS_SHIFT: u8 = 3;
const HAS_FORMULAS: u8 = 0x20;
const HAS_FORMATS: u8 = 0x40;
/// Flag in the first byte of formulas or formats. If set, their rows are the rows that have a
/// value.
const IN_ALL_ROWS: u8 = 0x04;

/// State carried over from the previous columns when encoding or decoding a tile.
#[derive(Debug, Default)]
pub(super) struct ColumnContext {
    /// Lower bound of the next column's index.
    next_column: u32,
    /// First row of the previous column.
    anchor: u32,
}

/// Encodes a column. `expansion_budget` is the number of text bytes that decoding may still produce
/// beyond its input length.
pub(super) fn write(
    out: &mut Vec<u8>,
    column: &TileColumn,
    context: &mut ColumnContext,
    formats: &FormatDictionary<'_>,
    expansion_budget: &mut usize,
) -> Result<(), TileTooLarge> {
    let unsorted = TileTooLarge::Part("the columns of the tile do not ascend");
    let distance = column.column.checked_sub(context.next_column).ok_or(unsorted)?;
    if column.column >= MAX_COLUMNS || column.end() > MAX_ROWS {
        return Err(TileTooLarge::Part("a cell is beyond the end of a sheet"));
    }
    if column.is_empty() {
        return Err(TileTooLarge::Part("a column is empty"));
    }
    write_count(out, usize::try_from(distance).unwrap_or(usize::MAX));
    let rows = column.values.rows();
    let common = kinds::common_kind(column.values.values());
    let mut present = Vec::new();
    let form = presence::write(&mut present, rows, context.anchor);
    let flag_unless_empty = |layer: &TextLayer, flag: u8| if layer.is_empty() { 0 } else { flag };
    let layer_flags = flag_unless_empty(&column.formulas, HAS_FORMULAS)
        | flag_unless_empty(&column.formats, HAS_FORMATS);
    out.push(common | form.number() << ROWS_SHIFT | layer_flags);
    out.extend_from_slice(&present);
    values::write(out, &column.values, common, expansion_budget)?;
    write_formulas(out, column, expansion_budget)?;
    let anchor = rows.first().copied().unwrap_or(context.anchor);
    if !column.formats.is_empty() {
        write_rows(out, column.formats.rows(), rows, anchor);
        formats.write_codes(out, &column.formats);
    }
    context.next_column = column.column + 1;
    context.anchor = rows.first().or(column.formats.rows().first()).copied().unwrap_or(anchor);
    Ok(())
}

/// Encodes the rows of formulas or formats. Writes only a flag if they equal the value rows.
fn write_rows(out: &mut Vec<u8>, rows: &[u32], value_rows: &[u32], anchor: u32) {
    if rows == value_rows {
        out.push(IN_ALL_ROWS);
        return;
    }
    let mut present = Vec::new();
    let form = presence::write(&mut present, rows, anchor);
    out.push(form.number());
    out.extend_from_slice(&present);
}

/// Encodes formulas. Every formula row has a value, so the rows are encoded as indices into the
/// value rows.
fn write_formulas(
    out: &mut Vec<u8>,
    column: &TileColumn,
    expansion_budget: &mut usize,
) -> Result<(), TileTooLarge> {
    if column.formulas.is_empty() {
        return Ok(());
    }
    let mut rows = column.values.rows().iter().zip(0_u32..);
    let mut find_index = |row: &u32| rows.find(|(other, _)| *other == row).map(|(_, index)| index);
    let indexes = column.formulas.rows().iter().map(&mut find_index).collect::<Option<Vec<_>>>();
    let indexes = indexes.ok_or(TileTooLarge::Part("a formula is in a row without a value"))?;
    let list: Vec<&str> = column.formulas.iter().map(|(_, text)| text).collect();
    if list.iter().any(|text| text.len() > MAX_FORMULA_BYTES) {
        return Err(TileTooLarge::Part("a formula is too long"));
    }
    let all: Vec<u32> = (0_u32..).take(column.values.len()).collect();
    write_rows(out, &indexes, &all, 0);
    texts::write(out, &list, expansion_budget);
    Ok(())
}

/// Decodes a column.
pub(super) fn read(
    reader: &mut Reader<'_>,
    context: &mut ColumnContext,
    formats: &StoredFormats,
) -> Result<TileColumn, UnreadableChunk> {
    let outside = UnreadableChunk::Malformed("a column is beyond the end of a sheet");
    let distance = u32::try_from(reader.varint()?).map_err(|_| outside)?;
    let number = context.next_column.checked_add(distance).ok_or(outside)?;
    if number >= MAX_COLUMNS {
        return Err(outside);
    }
    let flags = reader.byte()?;
    let common = flags & 0x07;
    if flags & 0x80 != 0 || (common == 0 && flags & !HAS_FORMATS != 0) || flags == 0 {
        return Err(UnreadableChunk::Malformed("a column has invalid flags"));
    }
    let mut column = TileColumn::new(number);
    if common != 0 {
        let form = Form::from_bits(flags >> ROWS_SHIFT);
        let rows = presence::read(reader, form, context.anchor, MAX_ROWS)?;
        column.values = values::read(reader, rows, common)?;
    }
    if flags & HAS_FORMULAS != 0 {
        column.formulas = read_formulas(reader, &column.values)?;
    }
    let anchor = column.values.rows().first().copied().unwrap_or(context.anchor);
    if flags & HAS_FORMATS != 0 {
        let rows = read_rows(reader, column.values.rows(), anchor, MAX_ROWS)?;
        column.formats = formats.read_codes(reader, rows)?;
    }
    context.next_column = number + 1;
    let first = column.values.rows().first().or(column.formats.rows().first());
    context.anchor = first.copied().unwrap_or(anchor);
    Ok(column)
}

fn read_rows(
    reader: &mut Reader<'_>,
    value_rows: &[u32],
    anchor: u32,
    limit: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    match reader.byte()? {
        form @ 0..IN_ALL_ROWS => presence::read(reader, Form::from_bits(form), anchor, limit),
        IN_ALL_ROWS if !value_rows.is_empty() => {
            reader.charge_cells(value_rows.len())?;
            Ok(value_rows.to_vec())
        }
        _ => Err(UnreadableChunk::Malformed("rows are encoded in an unknown form")),
    }
}

fn read_formulas(
    reader: &mut Reader<'_>,
    values: &ValueLayer,
) -> Result<TextLayer, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a formula is malformed");
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let all: Vec<u32> = (0..count).collect();
    let indexes = read_rows(reader, &all, 0, count)?;
    let row_at = |index: u32| values.rows().get(usize::try_from(index).ok()?).copied();
    let rows = indexes.into_iter().map(row_at).collect::<Option<Vec<_>>>().ok_or(malformed)?;
    let mut formulas = String::new();
    let spans = texts::read(reader, rows.len(), MAX_FORMULA_BYTES, &mut formulas)?;
    TextLayer::from_parts(rows, spans, formulas).ok_or(malformed)
}
