//! Encodes and decodes a column of a tile: values, formulas and formats.

use super::bytes::{ChunkReader, write_varint};
use super::error::{UnencodableTile, UnreadableChunk};
use super::format_dictionary::{FormatDictionary, StoredFormats};
use super::header::ChunkVersion;
use super::kinds::ColumnKind;
use super::presence::{self, RowEncoding};
use super::{texts, values};
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::{TextLayer, TileColumn, ValueLayer, are_disjoint, are_valid_templates};
use cellar_base::limits::{MAX_COLUMNS, MAX_FORMULA_BYTES, MAX_ROWS, MAX_TEMPLATE_BYTES};

/// First byte of a column's formulas, templates or formats if exactly the rows with values have them.
/// Otherwise, the first byte is the number of a row encoding.
const SAME_ROWS_AS_VALUES: u8 = 0x04;

/// Base row for encoding the rows of formulas. The rows of formulas are encoded as indices into the
/// value rows, which start at 0.
const FIRST_VALUE_INDEX: u32 = 0;

/// First byte of an encoded column. It contains the value kind, the row encoding, and flags for
/// formulas, templates and formats.
struct ColumnFlags {
    column_kind: ColumnKind,
    row_encoding: RowEncoding,
    has_formulas: bool,
    has_templates: bool,
    has_formats: bool,
}

impl ColumnFlags {
    const KIND_MASK: u8 = 0x07;
    const ROW_ENCODING_SHIFT: u8 = 3;
    const HAS_FORMULAS: u8 = 0x20;
    const HAS_FORMATS: u8 = 0x40;
    const HAS_TEMPLATES: u8 = 0x80;

    fn to_byte(&self) -> u8 {
        let mut byte =
            self.column_kind.number() | self.row_encoding.number() << Self::ROW_ENCODING_SHIFT;
        if self.has_formulas {
            byte |= Self::HAS_FORMULAS;
        }
        if self.has_templates {
            byte |= Self::HAS_TEMPLATES;
        }
        if self.has_formats {
            byte |= Self::HAS_FORMATS;
        }
        byte
    }

    fn from_byte(byte: u8, version: ChunkVersion) -> Result<Self, UnreadableChunk> {
        let column_kind = ColumnKind::from_bits(byte & Self::KIND_MASK);
        let lacks_values_and_formats =
            column_kind == ColumnKind::NoValues && byte != Self::HAS_FORMATS;
        let has_templates = byte & Self::HAS_TEMPLATES != 0;
        let may_have_templates = version == ChunkVersion::Templates;
        if lacks_values_and_formats || (has_templates && !may_have_templates) {
            return Err(UnreadableChunk::Malformed("a column has invalid flags"));
        }
        Ok(Self {
            column_kind,
            row_encoding: RowEncoding::from_bits(byte >> Self::ROW_ENCODING_SHIFT),
            has_formulas: byte & Self::HAS_FORMULAS != 0,
            has_templates,
            has_formats: byte & Self::HAS_FORMATS != 0,
        })
    }
}

/// State that is carried from one column of a tile to the next during encoding and decoding.
#[derive(Debug, Default)]
pub(super) struct ColumnContext {
    min_column: u32,
    /// First row of the previous column, relative to which the first row of the next column is
    /// stored.
    base_row: u32,
}

impl ColumnContext {
    fn advance_past(&mut self, column: &TileColumn) {
        let first_row = column.values.rows().first().or(column.formats.rows().first());
        self.min_column = column.index + 1;
        self.base_row = first_row.copied().unwrap_or(self.base_row);
    }

    /// Returns the base row of a column's formats, relative to which the first format's row is
    /// stored. `values` are the values of the column.
    fn format_base_row(&self, values: &ValueLayer) -> u32 {
        values.rows().first().copied().unwrap_or(self.base_row)
    }
}

/// `expansion_budget` is the remaining number of bytes by which decoded strings may be longer than
/// their encoding.
pub(super) fn write_column(
    output: &mut Vec<u8>,
    column: &TileColumn,
    context: &mut ColumnContext,
    formats: &FormatDictionary<'_>,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    let unsorted = UnencodableTile::Malformed("the columns of the tile do not ascend");
    let skipped_columns = column.index.checked_sub(context.min_column).ok_or(unsorted)?;
    check_column(column)?;
    let value_rows = presence::encode_rows(column.values.rows(), context.base_row);
    let flags = ColumnFlags {
        column_kind: ColumnKind::of(column.values.values()),
        row_encoding: value_rows.encoding,
        has_formulas: !column.formulas.is_empty(),
        has_templates: !column.templates.is_empty(),
        has_formats: !column.formats.is_empty(),
    };
    write_varint(output, u64::from(skipped_columns));
    output.push(flags.to_byte());
    output.extend_from_slice(&value_rows.bytes);
    values::write_values(output, &column.values, flags.column_kind, expansion_budget)?;
    if flags.has_formulas {
        let max_bytes = MAX_FORMULA_BYTES;
        write_formulas(output, &column.formulas, &column.values, max_bytes, expansion_budget)?;
    }
    if flags.has_templates {
        let max_bytes = MAX_TEMPLATE_BYTES;
        write_formulas(output, &column.templates, &column.values, max_bytes, expansion_budget)?;
    }
    if flags.has_formats {
        let base_row = context.format_base_row(&column.values);
        write_layer_rows(output, column.formats.rows(), column.values.rows(), base_row);
        formats.write_codes(output, &column.formats);
    }
    context.advance_past(column);
    Ok(())
}

fn check_column(column: &TileColumn) -> Result<(), UnencodableTile> {
    if column.index >= MAX_COLUMNS || column.end() > MAX_ROWS {
        return Err(UnencodableTile::Malformed("a cell is beyond the end of a sheet"));
    }
    if column.is_empty() {
        return Err(UnencodableTile::Malformed("a column is empty"));
    }
    if !are_disjoint(column.formulas.rows(), column.templates.rows()) {
        return Err(UnencodableTile::Malformed("a cell has two formulas"));
    }
    if !are_valid_templates(&column.templates) {
        return Err(UnencodableTile::Malformed("a template is malformed"));
    }
    Ok(())
}

/// Writes only a flag if the rows are the same as the value rows.
fn write_layer_rows(output: &mut Vec<u8>, layer_rows: &[u32], value_rows: &[u32], base_row: u32) {
    if layer_rows == value_rows {
        output.push(SAME_ROWS_AS_VALUES);
        return;
    }
    let encoded_rows = presence::encode_rows(layer_rows, base_row);
    output.push(encoded_rows.encoding.number());
    output.extend_from_slice(&encoded_rows.bytes);
}

/// Each formula's row is encoded as an index into the value rows, because every row with a formula
/// also has a value. `layer` contains texts or templates.
fn write_formulas(
    output: &mut Vec<u8>,
    layer: &TextLayer,
    values: &ValueLayer,
    max_bytes: usize,
    expansion_budget: &mut usize,
) -> Result<(), UnencodableTile> {
    let value_indices = find_formula_value_indices(layer, values)?;
    let formulas: Vec<&str> = layer.iter().map(|(_, formula)| formula).collect();
    if formulas.iter().any(|formula| formula.len() > max_bytes) {
        return Err(UnencodableTile::Malformed("a formula is too long"));
    }
    let all_value_indices: Vec<u32> = (0..saturate_u32(values.len())).collect();
    write_layer_rows(output, &value_indices, &all_value_indices, FIRST_VALUE_INDEX);
    texts::write_texts(output, &formulas, expansion_budget);
    Ok(())
}

fn find_formula_value_indices(
    layer: &TextLayer,
    values: &ValueLayer,
) -> Result<Vec<u32>, UnencodableTile> {
    let mut indexed_value_rows = (0_u32..).zip(values.rows());
    let mut value_indices = Vec::with_capacity(layer.len());
    for formula_row in layer.rows() {
        // Both lists of rows are in ascending order, so each search starts after the previous
        // match.
        let indexed_row = indexed_value_rows.find(|(_, value_row)| *value_row == formula_row);
        let (value_index, _) = indexed_row
            .ok_or(UnencodableTile::Malformed("a formula is in a row without a value"))?;
        value_indices.push(value_index);
    }
    Ok(value_indices)
}

pub(super) fn read_column(
    reader: &mut ChunkReader<'_>,
    version: ChunkVersion,
    context: &mut ColumnContext,
    formats: &StoredFormats,
) -> Result<TileColumn, UnreadableChunk> {
    let column_index = read_column_index(reader, context.min_column)?;
    let flags = ColumnFlags::from_byte(reader.read_byte()?, version)?;
    let mut column = TileColumn::new(column_index);
    if flags.column_kind != ColumnKind::NoValues {
        let rows = presence::read_rows(reader, flags.row_encoding, context.base_row, MAX_ROWS)?;
        column.values = values::read_values(reader, rows, flags.column_kind)?;
    }
    if flags.has_formulas {
        column.formulas = read_formulas(reader, &column.values, MAX_FORMULA_BYTES)?;
    }
    if flags.has_templates {
        column.templates = read_formulas(reader, &column.values, MAX_TEMPLATE_BYTES)?;
        let are_two_formulas_in_a_cell =
            !are_disjoint(column.formulas.rows(), column.templates.rows());
        if are_two_formulas_in_a_cell || !are_valid_templates(&column.templates) {
            return Err(MALFORMED_FORMULA);
        }
    }
    if flags.has_formats {
        let base_row = context.format_base_row(&column.values);
        let rows = read_layer_rows(reader, column.values.rows(), base_row, MAX_ROWS)?;
        column.formats = formats.read_codes(reader, rows)?;
    }
    context.advance_past(&column);
    Ok(column)
}

/// Reads the number of columns that the tile skips. Returns the index of the next column.
fn read_column_index(
    reader: &mut ChunkReader<'_>,
    min_column: u32,
) -> Result<u32, UnreadableChunk> {
    let outside = UnreadableChunk::Malformed("a column is beyond the end of a sheet");
    let skipped_columns = u32::try_from(reader.read_varint()?).map_err(|_| outside)?;
    let column_index = min_column.checked_add(skipped_columns).ok_or(outside)?;
    if column_index < MAX_COLUMNS { Ok(column_index) } else { Err(outside) }
}

/// The rows must all be below `row_end`.
fn read_layer_rows(
    reader: &mut ChunkReader<'_>,
    value_rows: &[u32],
    base_row: u32,
    row_end: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    match reader.read_byte()? {
        encoding_bits @ 0..SAME_ROWS_AS_VALUES => {
            let encoding = RowEncoding::from_bits(encoding_bits);
            presence::read_rows(reader, encoding, base_row, row_end)
        }
        SAME_ROWS_AS_VALUES if !value_rows.is_empty() => {
            reader.charge_cells(value_rows.len())?;
            Ok(value_rows.to_vec())
        }
        _ => Err(UnreadableChunk::Malformed("a list of rows has an unknown encoding")),
    }
}

const MALFORMED_FORMULA: UnreadableChunk = UnreadableChunk::Malformed("a formula is malformed");

/// Reads texts or templates.
fn read_formulas(
    reader: &mut ChunkReader<'_>,
    values: &ValueLayer,
    max_bytes: usize,
) -> Result<TextLayer, UnreadableChunk> {
    let value_count = saturate_u32(values.len());
    let all_value_indices: Vec<u32> = (0..value_count).collect();
    let value_indices =
        read_layer_rows(reader, &all_value_indices, FIRST_VALUE_INDEX, value_count)?;
    let mut formula_rows = Vec::with_capacity(value_indices.len());
    for value_index in value_indices {
        let value_row = values.rows().get(to_usize(value_index)).ok_or(MALFORMED_FORMULA)?;
        formula_rows.push(*value_row);
    }
    let mut formulas = String::new();
    let formula_spans = texts::read_texts(reader, formula_rows.len(), max_bytes, &mut formulas)?;
    TextLayer::from_parts(formula_rows, formula_spans, formulas).ok_or(MALFORMED_FORMULA)
}
