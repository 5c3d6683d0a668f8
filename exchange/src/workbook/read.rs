//! A workbook of any kind, as one import.

use std::io::Seek;

use cellar_base::limits::{MAX_SHEETS, MAX_XLSX_CELLS};
use cellar_snapshot::tile::TileValue;

use super::archive::Archive;
use super::cell::{Found, FoundCell};
use crate::block::{BlockBuilder, RowTooLong};
use crate::ods::Ods;
use crate::xlsb::Xlsb;
use crate::xlsx::{Xlsx, main_part};
use crate::{
    BlockSize, Import, ImportProgress, Piece, ReadError, SheetStart, Source, WorkbookError,
};

/// Cells that one pull looks at.
const STEP_CELLS: usize = 1 << 17;

/// Which program's format it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkbookKind {
    /// Excel, since 2007.
    Xlsx,
    /// Excel, binary. Its formulas are not read, only their values.
    Xlsb,
    /// OpenDocument: LibreOffice.
    Ods,
}

/// A workbook that is being read. Hidden and empty sheets come like all others; of merged cells the
/// top left one has the value.
#[derive(Debug)]
pub struct WorkbookImport<S: Source> {
    archive: Archive<S>,
    file_bytes: u64,
    format: Format<S::Stream>,
    sheet: Option<String>,
    builder: BlockBuilder,
    cell: FoundCell,
    /// `cell` has been read and not been taken yet.
    pending: bool,
    last: Option<(u32, u32)>,
    /// Cells that may still come.
    cells_left: u64,
    sheets: usize,
    done: bool,
}

#[derive(Debug)]
enum Format<R: std::io::Read> {
    Xlsx(Xlsx<R>),
    Xlsb(Xlsb<R>),
    Ods(Ods<R>),
}

impl<S: Source> WorkbookImport<S>
where
    S::Stream: Seek,
{
    /// Opens a workbook: reads what its sheets share.
    ///
    /// # Errors
    /// [`ReadError`] if it is none, damaged, or beyond a limit.
    pub fn open(source: S, block: BlockSize) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        let archive = Archive::open(source)?;
        let format = match main_part(&archive)? {
            Some(main) if main.ends_with(".bin") => Format::Xlsb(Xlsb::open(&archive, &main)?),
            Some(main) => Format::Xlsx(Xlsx::open(&archive, &main)?),
            None if archive.has("content.xml") => Format::Ods(Ods::open(&archive)?),
            None => return Err(WorkbookError::Unknown.into()),
        };
        Ok(Self {
            archive,
            file_bytes,
            format,
            sheet: None,
            builder: BlockBuilder::new(block),
            cell: FoundCell::default(),
            pending: false,
            last: None,
            cells_left: MAX_XLSX_CELLS,
            sheets: 0,
            done: false,
        })
    }

    /// What kind of workbook it is.
    #[must_use]
    pub fn kind(&self) -> WorkbookKind {
        match self.format {
            Format::Xlsx(_) => WorkbookKind::Xlsx,
            Format::Xlsb(_) => WorkbookKind::Xlsb,
            Format::Ods(_) => WorkbookKind::Ods,
        }
    }

    fn next_sheet(&mut self) -> Result<Option<SheetStart>, ReadError> {
        let start = match &mut self.format {
            Format::Xlsx(workbook) => workbook.next_sheet(&self.archive)?,
            Format::Xlsb(workbook) => workbook.next_sheet(&self.archive)?,
            Format::Ods(workbook) => workbook.next_sheet()?,
        };
        self.last = None;
        if let Some(start) = &start {
            self.sheets = self.sheets.saturating_add(1);
            if self.sheets > MAX_SHEETS {
                return Err(WorkbookError::TooManySheets.into());
            }
            self.sheet = Some(start.name.clone().unwrap_or_default());
        }
        Ok(start)
    }

    /// Reads the next cell of the sheet, unless one is pending; `false` at its end.
    fn read_cell(&mut self) -> Result<bool, WorkbookError> {
        if self.pending {
            return Ok(true);
        }
        let found = match &mut self.format {
            Format::Xlsx(workbook) => workbook.next_cell(&mut self.cell)?,
            Format::Xlsb(workbook) => workbook.next_cell(&mut self.cell)?,
            Format::Ods(workbook) => workbook.next_cell(&mut self.cell)?,
        };
        if found {
            let place = (self.cell.row, self.cell.column);
            if self.last.is_some_and(|last| last >= place) {
                return Err(WorkbookError::OutOfOrder {
                    sheet: self.name(),
                    cell: self.cell.name(),
                });
            }
            let Some(left) = self.cells_left.checked_sub(1) else {
                return Err(WorkbookError::TooManyCells { sheet: self.name() });
            };
            self.cells_left = left;
        }
        self.pending = found;
        Ok(found)
    }

    fn name(&self) -> String {
        self.sheet.clone().unwrap_or_default()
    }

    fn take_cell(&mut self) -> Result<(), RowTooLong> {
        let cell = &self.cell;
        if self.last.is_none_or(|(row, _)| row != cell.row) {
            self.builder.begin_row(cell.row);
        }
        self.last = Some((cell.row, cell.column));
        self.pending = false;
        let column = cell.column;
        match cell.value {
            // A formula stands beside a value, even if that is nothing.
            Found::Empty if cell.formula.is_empty() => {}
            Found::Empty => self.builder.value(column, TileValue::Empty),
            Found::Number(number) => self.builder.value(column, TileValue::Number(number)),
            Found::Bool(value) => self.builder.value(column, TileValue::Bool(value)),
            Found::Error(code) => self.builder.value(column, TileValue::Error(code)),
            Found::Text => self.builder.text(column, &cell.text)?,
        }
        if !cell.formula.is_empty() {
            self.builder.formula(column, &cell.formula)?;
        }
        if let Some(format) = &cell.format {
            self.builder.format(column, format);
        }
        Ok(())
    }

    /// The next block of the sheet; `Working` if there is none yet; `None` at its end.
    fn next_block(&mut self) -> Result<Option<Piece>, ReadError> {
        for _ in 0..STEP_CELLS {
            if !self.read_cell()? {
                return Ok(self.builder.take().map(Piece::Block));
            }
            let row = self.cell.row;
            let new_row = self.last.is_none_or(|(last, _)| last != row);
            if new_row
                && self.builder.is_full(row)
                && let Some(block) = self.builder.take()
            {
                return Ok(Some(Piece::Block(block)));
            }
            self.take_cell().map_err(|_| WorkbookError::RowTooLong {
                sheet: self.name(),
                row: u64::from(row).saturating_add(1),
            })?;
        }
        Ok(Some(Piece::Working))
    }

    fn next_piece(&mut self) -> Result<Option<Piece>, ReadError> {
        if self.sheet.is_some() {
            if let Some(piece) = self.next_block()? {
                return Ok(Some(piece));
            }
            self.sheet = None;
        }
        Ok(self.next_sheet()?.map(Piece::Sheet))
    }
}

impl<S: Source> Import for WorkbookImport<S>
where
    S::Stream: Seek,
{
    fn next(&mut self) -> Result<Option<Piece>, ReadError> {
        if self.done {
            return Ok(None);
        }
        // An error ends it.
        self.done = true;
        let piece = self.next_piece()?;
        self.done = piece.is_none();
        Ok(piece)
    }

    fn progress(&self) -> ImportProgress {
        let total = self.archive.declared().max(self.file_bytes);
        let done = if self.done { total } else { self.archive.unpacked().min(total) };
        ImportProgress { done, total }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::{OutCell, XlsxWriter};

    #[test]
    fn cells_of_all_sheets_are_counted() {
        let mut writer = XlsxWriter::new(None).unwrap();
        let value = cellar_sheet::cell::Value::Number(1.0);
        for sheet in ["one", "two"] {
            writer.sheet(sheet).unwrap();
            for row in 0..5 {
                let cell = OutCell { value: &value, formula: None, format: None };
                writer.cell(row, 0, &cell).unwrap();
            }
        }
        let mut target = Cursor::new(Vec::new());
        writer.finish(&mut target).unwrap();
        let bytes = target.into_inner();
        for (cells_left, enough) in [(10, true), (9, false)] {
            let mut import = WorkbookImport::open(bytes.as_slice(), BlockSize::default()).unwrap();
            assert_eq!(import.cells_left, MAX_XLSX_CELLS);
            import.cells_left = cells_left;
            let outcome = loop {
                match import.next() {
                    Ok(Some(_)) => {}
                    other => break other,
                }
            };
            assert_eq!(outcome.is_ok(), enough);
            if let Err(error) = outcome {
                assert!(error.to_string().starts_with("sheet `two`: the workbook has more than"));
            }
        }
    }
}
