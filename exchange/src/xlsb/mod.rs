//! xlsb, in: the binary form of xlsx.
//!
//! What is read: values and number formats of cells. Formulas stand there as programs for a stack
//! machine, and are not read: their values are.

mod records;

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Seek};

use cellar_base::limits::{
    MAX_IMPORT_COLUMNS, MAX_ROWS, MAX_SHEETS, MAX_TEXT_BYTES, MAX_WORKBOOK_STYLES,
};
use cellar_sheet::cell::ErrorCode;

use crate::workbook::archive::Archive;
use crate::workbook::cell::{Found, FoundCell};
use crate::workbook::formats::{DAYS_TO_1904, Format};
use crate::xlsx::{SharedTexts, SheetPlace, Target, folder, relationships, relationships_of};
use crate::{ReadError, SheetStart, Source, WorkbookError};
use records::{Fields, Records};

// Types of records (MS-XLSB 2.3).
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

/// An xlsb workbook.
#[derive(Debug)]
pub(crate) struct Xlsb<R: Read> {
    texts: SharedTexts,
    styles: Vec<Format>,
    from_1904: bool,
    sheets: VecDeque<SheetPlace>,
    sheet: String,
    current: Option<Records<R>>,
    row: u32,
}

impl<R: Read + Seek> Xlsb<R> {
    pub(crate) fn open<S: Source<Stream = R>>(
        archive: &Archive<S>,
        main: &str,
    ) -> Result<Self, ReadError> {
        let targets = relationships(archive, &relationships_of(main), folder(main))?;
        let (sheets, from_1904) = workbook(&mut Records::new(archive.part(main)?, main), &targets)?;
        let (mut texts, mut styles) = (SharedTexts::default(), Vec::new());
        for target in targets.values() {
            let records =
                || Ok::<_, ReadError>(Records::new(archive.part(&target.part)?, &target.part));
            match target.kind.as_str() {
                "sharedStrings" => texts = shared_texts(&mut records()?)?,
                "styles" => styles = formats(&mut records()?)?,
                _ => {}
            }
        }
        let sheet = String::new();
        Ok(Self { texts, styles, from_1904, sheets, sheet, current: None, row: 0 })
    }

    pub(crate) fn next_sheet<S: Source<Stream = R>>(
        &mut self,
        archive: &Archive<S>,
    ) -> Result<Option<SheetStart>, ReadError> {
        let Some(place) = self.sheets.pop_front() else {
            return Ok(None);
        };
        self.sheet = place.start.name.clone().unwrap_or_default();
        self.current = Some(Records::new(archive.part(&place.part)?, &place.part));
        self.row = 0;
        Ok(Some(place.start))
    }

    pub(crate) fn next_cell(&mut self, cell: &mut FoundCell) -> Result<bool, WorkbookError> {
        let Some(records) = &mut self.current else {
            return Ok(false);
        };
        let wanted =
            |kind| matches!(kind, ROW_HEADER..=FORMULA_ERROR | CELL_RICH_TEXT | SHEET_DATA_END);
        loop {
            let (kind, mut fields) = match records.next(wanted)? {
                None => return Err(records.damaged("it ends in the middle")),
                Some((SHEET_DATA_END, _)) => break,
                Some((ROW_HEADER, mut fields)) => {
                    let row = fields.u32().filter(|row| *row < MAX_ROWS);
                    let Some(row) = row else {
                        return Err(records.damaged("it has a row that no sheet has"));
                    };
                    self.row = row;
                    continue;
                }
                Some(record) => record,
            };
            cell.clear();
            cell.row = self.row;
            let context =
                Context { texts: &self.texts, styles: &self.styles, from_1904: self.from_1904 };
            if context.fill(cell, kind, &mut fields).is_none() {
                return Err(records.damaged("it has a cell that is cut off or nowhere"));
            }
            if cell.text.len() > MAX_TEXT_BYTES {
                let sheet = self.sheet.clone();
                return Err(WorkbookError::TextTooLong { sheet, cell: cell.name() });
            }
            if cell.value != Found::Empty || cell.format.is_some() {
                return Ok(true);
            }
        }
        // To its end, where its checksum is compared.
        while records.next(|_| false)?.is_some() {}
        self.current = None;
        Ok(false)
    }
}

struct Context<'a> {
    texts: &'a SharedTexts,
    styles: &'a [Format],
    from_1904: bool,
}

impl Context<'_> {
    /// Makes a cell of a record; `None` if it is not whole.
    fn fill(&self, cell: &mut FoundCell, kind: u16, fields: &mut Fields<'_>) -> Option<()> {
        cell.column = fields.u32().filter(|column| *column < MAX_IMPORT_COLUMNS)?;
        let [low, middle, high, _flags] = fields.bytes::<4>()?;
        let style = u32::from_le_bytes([low, middle, high, 0]);
        let format = usize::try_from(style).ok().and_then(|style| self.styles.get(style));
        cell.format = format.and_then(|format| format.code.clone());
        cell.value = match kind {
            CELL_SHORT_NUMBER => FoundCell::number(short_number(fields.u32()?)),
            CELL_NUMBER | FORMULA_NUMBER => FoundCell::number(fields.f64()?),
            CELL_BOOLEAN | FORMULA_BOOLEAN => Found::Bool(fields.u8()? != 0),
            CELL_ERROR | FORMULA_ERROR => Found::Error(error(fields.u8()?)?),
            CELL_TEXT | FORMULA_TEXT => {
                fields.text(&mut cell.text)?;
                Found::Text
            }
            CELL_RICH_TEXT => {
                fields.u8()?;
                fields.text(&mut cell.text)?;
                Found::Text
            }
            CELL_SHARED_TEXT => {
                cell.text.push_str(self.texts.get(usize::try_from(fields.u32()?).ok()?)?);
                Found::Text
            }
            CELL_BLANK => Found::Empty,
            _ => return None,
        };
        match cell.value {
            Found::Number(number) if self.from_1904 && format.is_some_and(|format| format.date) => {
                cell.value = FoundCell::number(number + DAYS_TO_1904);
            }
            // A number that is none has no text here.
            Found::Text if cell.text.is_empty() => cell.value = Found::Empty,
            _ => {}
        }
        Some(())
    }
}

/// A number in four bytes: the upper 30 bits of one in eight, or an integer; perhaps in hundredths.
fn short_number(bits: u32) -> f64 {
    let number = if bits & 2 == 0 {
        f64::from_bits(u64::from(bits & !3) << 32)
    } else {
        f64::from(bits.cast_signed() >> 2)
    };
    if bits & 1 == 0 { number } else { number / 100.0 }
}

fn error(number: u8) -> Option<ErrorCode> {
    Some(match number {
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

fn workbook<R: Read>(
    records: &mut Records<R>,
    targets: &BTreeMap<String, Target>,
) -> Result<(VecDeque<SheetPlace>, bool), WorkbookError> {
    let (mut sheets, mut from_1904) = (VecDeque::new(), false);
    while let Some((kind, mut fields)) =
        records.next(|kind| matches!(kind, WORKBOOK_PROPERTIES | SHEET))?
    {
        if kind == WORKBOOK_PROPERTIES {
            from_1904 = fields.u32().is_some_and(|flags| flags & 1 == 1);
            continue;
        }
        let (mut relation, mut name) = (String::new(), String::new());
        let mut read = || {
            let state = fields.u32()?;
            fields.u32()?;
            fields.text(&mut relation)?;
            fields.text(&mut name)?;
            Some(state)
        };
        let (Some(state), Some(target)) = (read(), targets.get(&relation)) else {
            return Err(records.damaged("it lists a sheet that is nowhere"));
        };
        if target.kind == "worksheet" {
            let start = SheetStart { name: Some(name), hidden: state != 0 };
            sheets.push_back(SheetPlace { start, part: target.part.clone() });
        }
        if sheets.len() > MAX_SHEETS {
            return Err(WorkbookError::TooManySheets);
        }
    }
    Ok((sheets, from_1904))
}

fn shared_texts<R: Read>(records: &mut Records<R>) -> Result<SharedTexts, WorkbookError> {
    let (mut texts, mut text) = (SharedTexts::default(), String::new());
    while let Some((_, mut fields)) = records.next(|kind| kind == SHARED_TEXT)? {
        text.clear();
        if fields.u8().and_then(|_| fields.text(&mut text)).is_none() {
            return Err(records.damaged("it has a text that is cut off"));
        }
        texts.push(&text)?;
    }
    Ok(texts)
}

fn formats<R: Read>(records: &mut Records<R>) -> Result<Vec<Format>, WorkbookError> {
    let (mut codes, mut styles) = (BTreeMap::new(), Vec::new());
    let mut in_styles = false;
    let wanted = |kind| matches!(kind, NUMBER_FORMAT | STYLE | CELL_STYLES_BEGIN | CELL_STYLES_END);
    while let Some((kind, mut fields)) = records.next(wanted)? {
        match kind {
            CELL_STYLES_BEGIN => in_styles = true,
            CELL_STYLES_END => in_styles = false,
            NUMBER_FORMAT => {
                let mut code = String::new();
                if let Some(number) = fields.u16()
                    && fields.text(&mut code).is_some()
                {
                    codes.insert(u32::from(number), Format::of(&code));
                }
            }
            _ if in_styles => {
                let number = fields.u16().and_then(|_| fields.u16()).map_or(0, u32::from);
                let format = codes.get(&number).cloned();
                styles.push(format.unwrap_or_else(|| Format::built_in(number)));
            }
            _ => {}
        }
        if styles.len().saturating_add(codes.len()) > MAX_WORKBOOK_STYLES {
            return Err(WorkbookError::TooManyStyles);
        }
    }
    Ok(styles)
}
