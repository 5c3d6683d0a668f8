//! Reads xlsb workbooks. The xlsb format is a binary variant of xlsx.
//!
//! The reader returns cell values and number formats. Formulas are not read, because they are
//! stored as programs for a stack machine. For a cell with a formula, only the value is returned.

mod not_imported;
mod records;

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Seek};
use std::sync::Arc;

use cellar_base::limits::{MAX_IMPORT_COLUMNS, MAX_ROWS, MAX_WORKBOOK_STYLES};
use cellar_sheet::cell::ErrorCode;

use crate::workbook::archive::Archive;
use crate::workbook::cell::{CellValue, WorkbookCell};
use crate::workbook::formats::{DAYS_TO_1904, Format, NumberFormats};
use crate::workbook::other_parts::count_other_parts;
use crate::xlsx::{
    RelationshipTarget, SharedTexts, SheetList, SheetPart, WorkbookContext, parent_folder,
    read_relationships, relationships_part,
};
use crate::{NotImported, Omission, ReadError, SheetStart, Source, WorkbookError};
use not_imported::{has_noted_fields, note_fields, note_record};
use records::{Fields, Record, Records};

// Record types (MS-XLSB 2.3).
const ROW_HEADER: u16 = 0;
const CELL_BLANK: u16 = 1;
const CELL_SHORT_NUMBER: u16 = 2;
const CELL_ERROR: u16 = 3;
const CELL_BOOLEAN: u16 = 4;
const CELL_NUMBER: u16 = 5;
const CELL_TEXT: u16 = 6;
const CELL_SHARED_TEXT: u16 = 7;
const FORMULA_TEXT: u16 = 8;
const FORMULA_NUMBER: u16 = 9;
const FORMULA_BOOLEAN: u16 = 10;
const FORMULA_ERROR: u16 = 11;
const SHARED_TEXT: u16 = 19;
const NUMBER_FORMAT: u16 = 44;
const STYLE: u16 = 47;
const CELL_RICH_TEXT: u16 = 62;
const SHEET_DATA_END: u16 = 146;
const WORKBOOK_PROPERTIES: u16 = 153;
const SHEET: u16 = 156;
const CELL_STYLES_BEGIN: u16 = 617;
const CELL_STYLES_END: u16 = 618;

#[derive(Debug)]
pub(crate) struct Xlsb<R: Read> {
    context: WorkbookContext,
    /// Sheets not opened yet.
    sheets: VecDeque<SheetPart>,
    sheet_name: String,
    sheet_records: Option<Records<R>>,
    row: u32,
    not_imported: NotImported,
}

impl<R: Read + Seek> Xlsb<R> {
    pub(crate) fn open<S: Source<Stream = R>>(
        archive: &Archive<S>,
        main_part: &str,
    ) -> Result<Self, ReadError> {
        let targets =
            read_relationships(archive, &relationships_part(main_part), parent_folder(main_part))?;
        let mut not_imported = count_other_parts(archive);
        let mut workbook_records = open_records(archive, main_part)?;
        let sheet_list = read_sheet_list(&mut workbook_records, &targets, &mut not_imported)?;
        not_imported.add(Omission::OtherSheets, sheet_list.other_sheets);
        let SheetList { sheets, from_1904, .. } = sheet_list;
        let mut context = WorkbookContext { from_1904, ..WorkbookContext::default() };
        for target in targets.values() {
            if target.kind == "sharedStrings" {
                context.texts = read_shared_texts(&mut open_records(archive, &target.part)?)?;
            } else if target.kind == "styles" {
                context.styles = read_styles(&mut open_records(archive, &target.part)?)?;
            }
        }
        let (sheet_name, sheet_records) = (String::new(), None);
        Ok(Self { context, sheets, sheet_name, sheet_records, row: 0, not_imported })
    }

    pub(crate) fn not_imported(&self) -> NotImported {
        self.not_imported
    }

    pub(crate) fn next_sheet<S: Source<Stream = R>>(
        &mut self,
        archive: &Archive<S>,
    ) -> Result<Option<SheetStart>, ReadError> {
        let Some(sheet) = self.sheets.pop_front() else {
            return Ok(None);
        };
        self.sheet_name = sheet.start.name.clone().unwrap_or_default();
        self.sheet_records = Some(open_records(archive, &sheet.part)?);
        self.row = 0;
        Ok(Some(sheet.start))
    }

    pub(crate) fn next_cell(&mut self, cell: &mut WorkbookCell) -> Result<bool, WorkbookError> {
        let Some(records) = &mut self.sheet_records else { return Ok(false) };
        loop {
            let not_imported = &mut self.not_imported;
            let is_wanted = |record_type| {
                note_record(record_type, not_imported);
                is_sheet_data_record(record_type) || has_noted_fields(record_type)
            };
            let Some(mut record) = records.next_record(is_wanted)? else {
                return Err(records.damaged("the part is truncated"));
            };
            note_fields(record, &mut self.not_imported);
            if !is_sheet_data_record(record.record_type) {
                continue;
            }
            if record.record_type == SHEET_DATA_END {
                skip_remaining_records(records, &mut self.not_imported)?;
                self.sheet_records = None;
                return Ok(false);
            }
            if record.record_type == ROW_HEADER {
                let row = record.fields.read_u32().filter(|row| *row < MAX_ROWS);
                let Some(row) = row else {
                    return Err(records.damaged("a row is outside of the sheet"));
                };
                self.row = row;
                continue;
            }
            cell.clear();
            cell.row = self.row;
            let Some(fields) = CellFields::read(&self.context, record, &mut cell.text) else {
                return Err(records.damaged("a cell is truncated or outside of the sheet"));
            };
            cell.column = fields.column;
            cell.format = fields.format;
            cell.value = fields.value;
            if let Some(format) = self.context.styles.get(fields.style_index) {
                format.note_cell(&mut self.not_imported);
            }
            cell.check_lengths(&self.sheet_name)?;
            if cell.has_content() {
                return Ok(true);
            }
        }
    }
}

/// The part's checksum is verified at its end.
fn skip_remaining_records<R: Read>(
    records: &mut Records<R>,
    not_imported: &mut NotImported,
) -> Result<(), WorkbookError> {
    let mut is_wanted = |record_type| {
        note_record(record_type, not_imported);
        false
    };
    while records.next_record(&mut is_wanted)?.is_some() {}
    Ok(())
}

fn is_sheet_data_record(record_type: u16) -> bool {
    matches!(record_type, ROW_HEADER..=FORMULA_ERROR | CELL_RICH_TEXT | SHEET_DATA_END)
}

fn open_records<S: Source>(
    archive: &Archive<S>,
    part: &str,
) -> Result<Records<S::Stream>, ReadError>
where
    S::Stream: Seek,
{
    Ok(Records::new(archive.open_part(part)?, part))
}

/// Bits of the second field in a cell record that contain the style index. The other bits are
/// flags.
const STYLE_INDEX_BITS: u32 = 0x00ff_ffff;

struct CellFields {
    column: u32,
    style_index: usize,
    format: Option<Arc<str>>,
    value: CellValue,
}

impl CellFields {
    /// Appends the cell's text to `text`. Returns `None` if a field is missing or invalid.
    fn read(context: &WorkbookContext, record: Record<'_>, text: &mut String) -> Option<Self> {
        let mut fields = record.fields;
        let column = fields.read_u32().filter(|column| *column < MAX_IMPORT_COLUMNS)?;
        let style_index = usize::try_from(fields.read_u32()? & STYLE_INDEX_BITS).ok()?;
        let format = context.styles.get(style_index);
        let is_date = format.is_some_and(|format| format.is_date);
        let value = match read_cell_value(context, text, record.record_type, &mut fields)? {
            CellValue::Number(number) if context.from_1904 && is_date => {
                CellValue::from_number(number + DAYS_TO_1904)
            }
            // The cell is empty or contains a number that is not finite. In xlsb, such a number has
            // no text.
            CellValue::Text if text.is_empty() => CellValue::Empty,
            value => value,
        };
        let code = format.and_then(|format| format.code.clone());
        Some(Self { column, style_index, format: code, value })
    }
}

/// If the value is text, appends it to `text`.
fn read_cell_value(
    context: &WorkbookContext,
    text: &mut String,
    record_type: u16,
    fields: &mut Fields<'_>,
) -> Option<CellValue> {
    let value = match record_type {
        CELL_SHORT_NUMBER => CellValue::from_number(decode_short_number(fields.read_u32()?)),
        CELL_NUMBER | FORMULA_NUMBER => CellValue::from_number(fields.read_f64()?),
        CELL_BOOLEAN | FORMULA_BOOLEAN => CellValue::Bool(fields.read_u8()? != 0),
        CELL_ERROR | FORMULA_ERROR => CellValue::Error(decode_error(fields.read_u8()?)?),
        CELL_TEXT | FORMULA_TEXT => {
            fields.read_text(text)?;
            CellValue::Text
        }
        CELL_RICH_TEXT => {
            let _flags = fields.read_u8()?;
            fields.read_text(text)?;
            CellValue::Text
        }
        CELL_SHARED_TEXT => {
            let text_index = usize::try_from(fields.read_u32()?).ok()?;
            text.push_str(context.texts.get(text_index)?);
            CellValue::Text
        }
        CELL_BLANK => CellValue::Empty,
        _ => return None,
    };
    Some(value)
}

/// Bit 0 is set if the value must be divided by 100. Bit 1 is set if the other 30 bits are an
/// integer. Otherwise, they are the upper bits of a floating-point number.
fn decode_short_number(bits: u32) -> f64 {
    const IS_HUNDREDTHS: u32 = 1;
    const IS_INTEGER: u32 = 2;
    const FLAG_BITS: u32 = 2;
    const LOW_FLOAT_BITS: u32 = 32;
    let number = if bits & IS_INTEGER == 0 {
        f64::from_bits(u64::from(bits & !(IS_INTEGER | IS_HUNDREDTHS)) << LOW_FLOAT_BITS)
    } else {
        f64::from(bits.cast_signed() >> FLAG_BITS)
    };
    if bits & IS_HUNDREDTHS == 0 { number } else { number / 100.0 }
}

fn decode_error(code: u8) -> Option<ErrorCode> {
    Some(match code {
        0x00 => ErrorCode::Null,
        0x07 => ErrorCode::Div0,
        0x0f => ErrorCode::Value,
        0x17 => ErrorCode::Ref,
        0x1d => ErrorCode::Name,
        0x24 => ErrorCode::Num,
        0x2a => ErrorCode::NotAvailable,
        0x2b => ErrorCode::GettingData,
        _ => return None,
    })
}

fn read_sheet_list<R: Read>(
    records: &mut Records<R>,
    targets: &BTreeMap<String, RelationshipTarget>,
    not_imported: &mut NotImported,
) -> Result<SheetList, WorkbookError> {
    const USES_1904_FLAG: u32 = 1;
    let mut is_wanted = |record_type| {
        note_record(record_type, not_imported);
        matches!(record_type, WORKBOOK_PROPERTIES | SHEET)
    };
    let mut sheet_list = SheetList::default();
    while let Some(mut record) = records.next_record(&mut is_wanted)? {
        if record.record_type == WORKBOOK_PROPERTIES {
            let flags = record.fields.read_u32().unwrap_or(0);
            sheet_list.from_1904 = flags & USES_1904_FLAG != 0;
            continue;
        }
        let sheet = SheetFields::read(&mut record.fields);
        let target = sheet.as_ref().and_then(|sheet| targets.get(&sheet.relationship_id));
        let (Some(sheet), Some(target)) = (sheet, target) else {
            return Err(records.damaged("the part of a sheet is missing"));
        };
        let start = SheetStart { name: Some(sheet.name), hidden: sheet.is_hidden };
        sheet_list.add_sheet(start, target)?;
    }
    Ok(sheet_list)
}

struct SheetFields {
    is_hidden: bool,
    relationship_id: String,
    name: String,
}

impl SheetFields {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let is_hidden = fields.read_u32()? != 0;
        let _sheet_id = fields.read_u32()?;
        let mut relationship_id = String::new();
        let mut name = String::new();
        fields.read_text(&mut relationship_id)?;
        fields.read_text(&mut name)?;
        Some(Self { is_hidden, relationship_id, name })
    }
}

fn read_shared_texts<R: Read>(records: &mut Records<R>) -> Result<SharedTexts, WorkbookError> {
    let is_wanted = |record_type| record_type == SHARED_TEXT;
    let mut shared_texts = SharedTexts::default();
    let mut text = String::new();
    while let Some(mut record) = records.next_record(is_wanted)? {
        text.clear();
        let flags = record.fields.read_u8();
        if flags.is_none() || record.fields.read_text(&mut text).is_none() {
            return Err(records.damaged("a text is truncated"));
        }
        shared_texts.push(&text)?;
    }
    Ok(shared_texts)
}

/// Returns the number formats, indexed by style.
fn read_styles<R: Read>(records: &mut Records<R>) -> Result<Vec<Format>, WorkbookError> {
    let is_wanted = |record_type| {
        matches!(record_type, NUMBER_FORMAT | STYLE | CELL_STYLES_BEGIN | CELL_STYLES_END)
    };
    let mut number_formats = NumberFormats::default();
    let mut style_formats = Vec::new();
    let mut in_cell_styles = false;
    let mut default_look = None;
    while let Some(mut record) = records.next_record(is_wanted)? {
        match record.record_type {
            CELL_STYLES_BEGIN => in_cell_styles = true,
            CELL_STYLES_END => in_cell_styles = false,
            NUMBER_FORMAT => {
                let mut code = String::new();
                if let Some(format_id) = record.fields.read_u16()
                    && record.fields.read_text(&mut code).is_some()
                {
                    number_formats.insert(u32::from(format_id), &code);
                }
            }
            STYLE if in_cell_styles => {
                let _parent_style = record.fields.read_u16();
                let format_id = record.fields.read_u16().map_or(0, u32::from);
                let mut format = number_formats.format_of(format_id);
                // The font, fill, border and alignment.
                let look = record.fields.read_bytes::<10>();
                format.is_styled = *default_look.get_or_insert(look) != look;
                style_formats.push(format);
            }
            _ => {}
        }
        if style_formats.len().saturating_add(number_formats.count()) > MAX_WORKBOOK_STYLES {
            return Err(WorkbookError::TooManyStyles);
        }
    }
    Ok(style_formats)
}
