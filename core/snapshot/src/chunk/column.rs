//! One column of a tile: its values, its formulas and its formats.

use super::bytes::{Reader, write_count};
use super::error::{TileTooLarge, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::presence::{self, Form};
use super::{kinds, texts, values};
use crate::tile::{TextLayer, TileColumn, ValueLayer};
use cellar_base::limits::{MAX_COLUMNS, MAX_FORMULA_BYTES, MAX_ROWS};

/// Bits of a column's flags, above the kind of its values and the form of their rows.
const ROWS_SHIFT: u8 = 3;
const HAS_FORMULAS: u8 = 0x20;
const HAS_FORMATS: u8 = 0x40;
/// Bit of the first byte of formulas and of formats: they stand in every row that has a value.
const IN_ALL_ROWS: u8 = 0x04;

/// What the columns so far leave for the next one.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The column behind the one before.
    next_column: u32,
    /// The first row of the one before.
    anchor: u32,
}

/// Writes a column. `room` is how many bytes of text may come out where fewer go in.
pub(super) fn write(
    out: &mut Vec<u8>,
    column: &TileColumn,
    before: &mut Before,
    formats: &FormatDictionary<'_>,
    room: &mut usize,
) -> Result<(), TileTooLarge> {
    let order = TileTooLarge::Part("its columns do not ascend");
    let distance = column.column.checked_sub(before.next_column).ok_or(order)?;
    if column.column >= MAX_COLUMNS || column.end() > MAX_ROWS {
        return Err(TileTooLarge::Part("a cell is beyond the end of a sheet"));
    }
    if column.is_empty() {
        return Err(TileTooLarge::Part("a column holds nothing"));
    }
    write_count(out, usize::try_from(distance).unwrap_or(usize::MAX));
    let rows = column.values.rows();
    let common = kinds::common(column.values.values());
    let mut present = Vec::new();
    let form = presence::write(&mut present, rows, before.anchor);
    let has = |layer: &TextLayer, flag: u8| if layer.is_empty() { 0 } else { flag };
    let of_texts = has(&column.formulas, HAS_FORMULAS) | has(&column.formats, HAS_FORMATS);
    out.push(common | form.number() << ROWS_SHIFT | of_texts);
    out.extend_from_slice(&present);
    values::write(out, &column.values, common, room)?;
    write_formulas(out, column, room)?;
    let anchor = rows.first().copied().unwrap_or(before.anchor);
    if !column.formats.is_empty() {
        write_rows(out, column.formats.rows(), rows, anchor);
        formats.write_codes(out, &column.formats);
    }
    before.next_column = column.column + 1;
    before.anchor = rows.first().or(column.formats.rows().first()).copied().unwrap_or(anchor);
    Ok(())
}

/// Rows of formulas or formats, of which nothing is written if they are those of the values.
fn write_rows(out: &mut Vec<u8>, rows: &[u32], of_values: &[u32], anchor: u32) {
    if rows == of_values {
        out.push(IN_ALL_ROWS);
        return;
    }
    let mut present = Vec::new();
    let form = presence::write(&mut present, rows, anchor);
    out.push(form.number());
    out.extend_from_slice(&present);
}

/// Formulas stand in rows that have a value: these are counted, not numbered.
fn write_formulas(
    out: &mut Vec<u8>,
    column: &TileColumn,
    room: &mut usize,
) -> Result<(), TileTooLarge> {
    if column.formulas.is_empty() {
        return Ok(());
    }
    let mut rows = column.values.rows().iter().zip(0_u32..);
    let mut index = |row: &u32| rows.find(|(other, _)| *other == row).map(|(_, index)| index);
    let indexes = column.formulas.rows().iter().map(&mut index).collect::<Option<Vec<_>>>();
    let indexes = indexes.ok_or(TileTooLarge::Part("a formula stands where no value is"))?;
    let list: Vec<&str> = column.formulas.iter().map(|(_, text)| text).collect();
    if list.iter().any(|text| text.len() > MAX_FORMULA_BYTES) {
        return Err(TileTooLarge::Part("a formula is longer than any may be"));
    }
    let all: Vec<u32> = (0_u32..).take(column.values.len()).collect();
    write_rows(out, &indexes, &all, 0);
    texts::write(out, &list, room);
    Ok(())
}

/// Reads a column.
pub(super) fn read(
    reader: &mut Reader<'_>,
    before: &mut Before,
    formats: &StoredFormats,
) -> Result<TileColumn, UnreadableChunk> {
    let outside = UnreadableChunk::Malformed("a column is beyond the end of a sheet");
    let distance = u32::try_from(reader.varint()?).ok();
    let number = distance.and_then(|distance| before.next_column.checked_add(distance));
    let number = number.filter(|number| *number < MAX_COLUMNS).ok_or(outside)?;
    let flags = reader.byte()?;
    let common = flags & 0x07;
    if flags & 0x80 != 0 || (common == 0 && flags & !HAS_FORMATS != 0) || flags == 0 {
        return Err(UnreadableChunk::Malformed("a column has flags that make no sense"));
    }
    let mut column = TileColumn::new(number);
    if common != 0 {
        let form = Form::from_bits(flags >> ROWS_SHIFT);
        let rows = presence::read(reader, form, before.anchor, MAX_ROWS)?;
        column.values = values::read(reader, rows, common)?;
    }
    if flags & HAS_FORMULAS != 0 {
        column.formulas = read_formulas(reader, &column.values)?;
    }
    let anchor = column.values.rows().first().copied().unwrap_or(before.anchor);
    if flags & HAS_FORMATS != 0 {
        let rows = read_rows(reader, column.values.rows(), anchor, MAX_ROWS)?;
        column.formats = formats.read_codes(reader, rows)?;
    }
    before.next_column = number + 1;
    let first = column.values.rows().first().or(column.formats.rows().first());
    before.anchor = first.copied().unwrap_or(anchor);
    Ok(column)
}

fn read_rows(
    reader: &mut Reader<'_>,
    of_values: &[u32],
    anchor: u32,
    limit: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    match reader.byte()? {
        form @ 0..IN_ALL_ROWS => presence::read(reader, Form::from_bits(form), anchor, limit),
        IN_ALL_ROWS if !of_values.is_empty() => {
            reader.take_cells(of_values.len())?;
            Ok(of_values.to_vec())
        }
        _ => Err(UnreadableChunk::Malformed("rows are of an unknown kind")),
    }
}

fn read_formulas(reader: &mut Reader<'_>, of: &ValueLayer) -> Result<TextLayer, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a formula is malformed");
    let count = u32::try_from(of.len()).unwrap_or(u32::MAX);
    let all: Vec<u32> = (0..count).collect();
    let indexes = read_rows(reader, &all, 0, count)?;
    let row = |index: u32| of.rows().get(usize::try_from(index).ok()?).copied();
    let rows = indexes.into_iter().map(row).collect::<Option<Vec<_>>>().ok_or(malformed)?;
    let mut list = String::new();
    let spans = texts::read(reader, rows.len(), MAX_FORMULA_BYTES, &mut list)?;
    TextLayer::from_parts(rows, spans, list).ok_or(malformed)
}
