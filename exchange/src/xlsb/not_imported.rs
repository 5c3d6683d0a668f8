//! Counts what the reader does not take of the records of an xlsb workbook (MS-XLSB 2.3).

use super::records::{Fields, Record};
use super::{FORMULA_BOOLEAN, FORMULA_ERROR, FORMULA_NUMBER, FORMULA_TEXT, ROW_HEADER};
use crate::{NotImported, Omission};

const DEFINED_NAME: u16 = 39;
const COLUMNS: u16 = 60;
const DATA_VALIDATION: u16 = 64;
const PANE: u16 = 151;
const FILTER_BEGIN: u16 = 161;
const MERGED_RANGE: u16 = 176;
const CONDITIONAL_RULE_BEGIN: u16 = 463;
const LINK: u16 = 494;
const SHEET_PROTECTION: u16 = 535;
const COMMENT_BEGIN: u16 = 635;
const TABLE: u16 = 661;

/// Counts a record by its type. [`note_fields`] counts the types that [`has_noted_fields`] names.
pub(super) fn note_record(record_type: u16, not_imported: &mut NotImported) {
    let omission = match record_type {
        FORMULA_TEXT | FORMULA_NUMBER | FORMULA_BOOLEAN | FORMULA_ERROR => Omission::Formulas,
        DEFINED_NAME => Omission::DefinedNames,
        DATA_VALIDATION => Omission::DataValidations,
        FILTER_BEGIN => Omission::Filters,
        MERGED_RANGE => Omission::MergedRanges,
        CONDITIONAL_RULE_BEGIN => Omission::ConditionalFormats,
        LINK => Omission::Links,
        SHEET_PROTECTION => Omission::Protections,
        COMMENT_BEGIN => Omission::Comments,
        TABLE => Omission::Tables,
        _ => return,
    };
    not_imported.add(omission, 1);
}

pub(super) fn has_noted_fields(record_type: u16) -> bool {
    matches!(record_type, ROW_HEADER | COLUMNS | PANE)
}

pub(super) fn note_fields(record: Record<'_>, not_imported: &mut NotImported) {
    let mut fields = record.fields;
    // A record that is too short contains nothing to count.
    let _ = match record.record_type {
        ROW_HEADER => note_row(&mut fields, not_imported),
        COLUMNS => note_columns(&mut fields, not_imported),
        PANE => note_pane(&mut fields, not_imported),
        _ => None,
    };
}

fn note_row(fields: &mut Fields<'_>, not_imported: &mut NotImported) -> Option<()> {
    let (_row, _style, _height) = (fields.read_u32()?, fields.read_u32()?, fields.read_u16()?);
    let (_spacing, flags) = (fields.read_u8()?, fields.read_u8()?);
    for (omission, bits) in [
        (Omission::GroupedRowsAndColumns, 0x07),
        (Omission::HiddenRows, 0x10),
        (Omission::RowHeights, 0x20),
        (Omission::StyledRowsAndColumns, 0x40),
    ] {
        not_imported.add(omission, u64::from(flags & bits != 0));
    }
    Some(())
}

fn note_columns(fields: &mut Fields<'_>, not_imported: &mut NotImported) -> Option<()> {
    let (first, last) = (fields.read_u32()?, fields.read_u32()?);
    let (_width, style) = (fields.read_u32()?, fields.read_u32()?);
    let flags = fields.read_u16()?;
    let noted = [
        (Omission::HiddenColumns, flags & 0x0001 != 0),
        (Omission::ColumnWidths, flags & 0x0003 == 0x0002),
        (Omission::GroupedRowsAndColumns, flags & 0x0700 != 0),
        (Omission::StyledRowsAndColumns, style != 0),
    ];
    not_imported.add_columns(first.into(), last.into(), noted);
    Some(())
}

fn note_pane(fields: &mut Fields<'_>, not_imported: &mut NotImported) -> Option<()> {
    const FROZEN: u8 = 1;
    let _split = (fields.read_f64()?, fields.read_f64()?);
    let _top_left = (fields.read_u32()?, fields.read_u32()?);
    let _active_pane = fields.read_u32()?;
    let is_frozen = fields.read_u8()? & FROZEN != 0;
    not_imported.add(Omission::FrozenPanes, u64::from(is_frozen));
    Some(())
}
