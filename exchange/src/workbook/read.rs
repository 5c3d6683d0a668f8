//! Workbook import for all supported workbook formats.

use std::io::Seek;

use cellar_base::limits::{MAX_SHEETS, MAX_WORKBOOK_CELLS};
use cellar_sheet::a1::CellName;
use cellar_snapshot::tile::TileValue;

use super::archive::Archive;
use super::cell::{CellValue, WorkbookCell};
use super::formula::ParsedFormula;
use crate::block::{BlockBuilder, RowTooLong};
use crate::file_format::WorkbookFormat;
use crate::ods::Ods;
use crate::xlsb::Xlsb;
use crate::xlsx::Xlsx;
use crate::{
    BlockSize, Import, ImportProgress, ImportStep, NameInFile, NotImported, Omission, ReadError,
    SheetStart, Source, WorkbookError,
};

const MAX_CELLS_PER_STEP: usize = 1 << 17;

/// A workbook import. Includes hidden and empty sheets. The value of merged cells is imported as
/// the value of the top left cell.
#[derive(Debug)]
pub struct WorkbookImport<S: Source> {
    archive: Archive<S>,
    file_bytes: u64,
    reader: WorkbookReader<S::Stream>,
    current_sheet: Option<String>,
    builder: BlockBuilder,
    cell: WorkbookCell,
    has_pending_cell: bool,
    /// Row and column of the last cell of the current sheet that was added to a block.
    last_cell: Option<(u32, u32)>,
    remaining_cells: u64,
    sheet_count: usize,
    /// Number of formulas that Cellar cannot calculate.
    uncalculated_formulas: u64,
    is_done: bool,
}

#[derive(Debug)]
enum WorkbookReader<R: std::io::Read> {
    Xlsx(Box<Xlsx<R>>),
    Xlsb(Xlsb<R>),
    Ods(Ods<R>),
}

impl<S: Source> WorkbookImport<S>
where
    S::Stream: Seek,
{
    /// Opens a workbook and reads the parts that all sheets share.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file is not a workbook, is damaged, or exceeds a limit.
    pub fn open(source: S, block: BlockSize) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        let archive = Archive::open(source)?;
        let reader = match WorkbookFormat::detect(&archive)? {
            WorkbookFormat::Xlsx { main_part } => {
                WorkbookReader::Xlsx(Box::new(Xlsx::open(&archive, &main_part)?))
            }
            WorkbookFormat::Xlsb { main_part } => {
                WorkbookReader::Xlsb(Xlsb::open(&archive, &main_part)?)
            }
            WorkbookFormat::Ods => WorkbookReader::Ods(Ods::open(&archive)?),
        };
        Ok(Self {
            archive,
            file_bytes,
            reader,
            current_sheet: None,
            builder: BlockBuilder::new(block),
            cell: WorkbookCell::default(),
            has_pending_cell: false,
            last_cell: None,
            remaining_cells: MAX_WORKBOOK_CELLS,
            sheet_count: 0,
            uncalculated_formulas: 0,
            is_done: false,
        })
    }

    /// Returns what was not imported of the file, as far as it has been read. Everything of a sheet
    /// has been counted when the next sheet starts, or when the file ends. Whether sheets are hidden
    /// is not counted, but a part of their [`SheetStart`].
    #[must_use]
    pub fn not_imported(&self) -> NotImported {
        let mut not_imported = match &self.reader {
            WorkbookReader::Xlsx(workbook) => workbook.not_imported(),
            WorkbookReader::Xlsb(workbook) => workbook.not_imported(),
            WorkbookReader::Ods(workbook) => workbook.not_imported(),
        };
        not_imported.add(Omission::UncalculatedFormulas, self.uncalculated_formulas);
        not_imported
    }

    /// Returns the names of an xlsx workbook that formulas can use. [`WorkbookImport::not_imported`]
    /// counts them, because it depends on their formulas whether they can be imported.
    #[must_use]
    pub fn names(&self) -> &[NameInFile] {
        match &self.reader {
            WorkbookReader::Xlsx(workbook) => &workbook.names,
            WorkbookReader::Xlsb(_) | WorkbookReader::Ods(_) => &[],
        }
    }

    fn start_next_sheet(&mut self) -> Result<Option<SheetStart>, ReadError> {
        let sheet_start = match &mut self.reader {
            WorkbookReader::Xlsx(workbook) => workbook.next_sheet(&self.archive)?,
            WorkbookReader::Xlsb(workbook) => workbook.next_sheet(&self.archive)?,
            WorkbookReader::Ods(workbook) => workbook.next_sheet()?,
        };
        self.last_cell = None;
        if let Some(sheet_start) = &sheet_start {
            self.sheet_count += 1;
            if self.sheet_count > MAX_SHEETS {
                return Err(WorkbookError::TooManySheets.into());
            }
            self.current_sheet = Some(sheet_start.name.clone().unwrap_or_default());
        }
        Ok(sheet_start)
    }

    /// Reads the next cell of the sheet into `cell`, unless `cell` contains a cell that has not
    /// been added to a block yet. Returns `false` at the end of the sheet.
    fn read_next_cell(&mut self) -> Result<bool, WorkbookError> {
        if self.has_pending_cell {
            return Ok(true);
        }
        let has_cell = match &mut self.reader {
            WorkbookReader::Xlsx(workbook) => workbook.next_cell(&mut self.cell)?,
            WorkbookReader::Xlsb(workbook) => workbook.next_cell(&mut self.cell)?,
            WorkbookReader::Ods(workbook) => workbook.next_cell(&mut self.cell)?,
        };
        if !has_cell {
            return Ok(false);
        }
        let position = (self.cell.row, self.cell.column);
        if self.last_cell.is_some_and(|last_cell| last_cell >= position) {
            return Err(WorkbookError::OutOfOrder {
                sheet: self.current_sheet_name(),
                cell: self.cell.name(),
            });
        }
        let Some(remaining_cells) = self.remaining_cells.checked_sub(1) else {
            return Err(WorkbookError::TooManyCells { sheet: self.current_sheet_name() });
        };
        self.remaining_cells = remaining_cells;
        self.has_pending_cell = true;
        Ok(true)
    }

    fn current_sheet_name(&self) -> String {
        self.current_sheet.clone().unwrap_or_default()
    }

    fn is_in_new_row(&self) -> bool {
        self.last_cell.is_none_or(|(last_row, _)| last_row != self.cell.row)
    }

    fn push_pending_cell(&mut self) -> Result<(), RowTooLong> {
        if self.is_in_new_row() {
            self.builder.start_row(self.cell.row);
        }
        let cell = &self.cell;
        self.last_cell = Some((cell.row, cell.column));
        self.has_pending_cell = false;
        let column = cell.column;
        match cell.value {
            CellValue::Empty if !cell.has_formula() => {}
            // Every formula requires a value, which may be empty.
            CellValue::Empty => self.builder.push_value(column, TileValue::Empty),
            CellValue::Number(number) => {
                self.builder.push_value(column, TileValue::Number(number));
            }
            CellValue::Bool(boolean) => self.builder.push_value(column, TileValue::Bool(boolean)),
            CellValue::Error(code) => self.builder.push_value(column, TileValue::Error(code)),
            CellValue::Text => self.builder.push_text(column, &cell.text)?,
        }
        self.push_formula()?;
        if let Some(format) = &self.cell.format {
            self.builder.push_format(column, format);
        }
        Ok(())
    }

    /// A formula that cannot be parsed stays a text.
    fn push_formula(&mut self) -> Result<(), RowTooLong> {
        let WorkbookCell { row, column, formula, template, evaluation, .. } = &self.cell;
        let (row, column) = (*row, *column);
        if let Some(template) = template {
            return self.builder.push_template(column, template);
        }
        if formula.is_empty() {
            return Ok(());
        }
        let parsed = ParsedFormula::parse(formula, CellName { row, column }, *evaluation);
        if parsed.as_ref().is_none_or(|parsed| !parsed.is_supported) {
            self.uncalculated_formulas = self.uncalculated_formulas.saturating_add(1);
        }
        match parsed {
            Some(parsed) => self.builder.push_template(column, parsed.template.encoded()),
            None => self.builder.push_formula(column, formula),
        }
    }

    /// Returns the next block of the sheet, or `None` at the end of the sheet. Returns
    /// [`ImportStep::Working`] if more cells must be read to complete the block.
    fn next_block(&mut self) -> Result<Option<ImportStep>, ReadError> {
        for _ in 0..MAX_CELLS_PER_STEP {
            if !self.read_next_cell()? {
                return Ok(self.builder.take_block().map(ImportStep::Block));
            }
            let row = self.cell.row;
            if self.is_in_new_row()
                && self.builder.is_full_before(row)
                && let Some(block) = self.builder.take_block()
            {
                return Ok(Some(ImportStep::Block(block)));
            }
            self.push_pending_cell().map_err(|RowTooLong| WorkbookError::RowTooLong {
                sheet: self.current_sheet_name(),
                row: u64::from(row) + 1,
            })?;
        }
        Ok(Some(ImportStep::Working))
    }

    fn read_step(&mut self) -> Result<Option<ImportStep>, ReadError> {
        if self.current_sheet.is_some() {
            if let Some(step) = self.next_block()? {
                return Ok(Some(step));
            }
            self.current_sheet = None;
        }
        Ok(self.start_next_sheet()?.map(ImportStep::Sheet))
    }
}

impl<S: Source> Import for WorkbookImport<S>
where
    S::Stream: Seek,
{
    fn next_step(&mut self) -> Result<Option<ImportStep>, ReadError> {
        if self.is_done {
            return Ok(None);
        }
        // Mark the import as done first, so that it does not continue after an error.
        self.is_done = true;
        let step = self.read_step()?;
        self.is_done = step.is_none();
        Ok(step)
    }

    fn set_block_cells(&mut self, cells: usize) {
        self.builder.set_block_cells(cells);
    }

    fn progress(&self) -> ImportProgress {
        let total = self.archive.declared_bytes().max(self.file_bytes);
        let done = if self.is_done { total } else { self.archive.unpacked_bytes().min(total) };
        ImportProgress { done, total }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::{CellToWrite, Spill, XlsxWriter};

    /// Returns a workbook of two sheets with five cells each.
    fn two_sheets() -> Vec<u8> {
        let mut writer = XlsxWriter::new(None).unwrap();
        let value = cellar_sheet::cell::Value::Number(1.0);
        for sheet in ["one", "two"] {
            writer.start_sheet(sheet).unwrap();
            for row in 0..5 {
                let cell =
                    CellToWrite { value: &value, formula: None, format: None, spill: Spill::None };
                writer.write_cell(row, 0, &cell).unwrap();
            }
        }
        let mut target = Cursor::new(Vec::new());
        writer.finish(&mut target).unwrap();
        target.into_inner()
    }

    #[test]
    fn the_size_of_the_next_blocks_can_be_changed() {
        let bytes = two_sheets();
        let mut import = WorkbookImport::open(bytes.as_slice(), BlockSize::default()).unwrap();
        let (mut next_sizes, mut blocks) = ([2, 1, 9, 3].into_iter(), Vec::new());
        import.set_block_cells(next_sizes.next().unwrap());
        while let Some(step) = import.next_step().unwrap() {
            if let ImportStep::Block(block) = step {
                blocks.push(block.tile.cell_count());
                next_sizes.next().into_iter().for_each(|cells| import.set_block_cells(cells));
            }
        }
        assert_eq!(blocks, [2, 1, 2, 3, 2]);
    }

    #[test]
    fn cells_of_all_sheets_are_counted() {
        let bytes = two_sheets();
        for (remaining_cells, enough) in [(10, true), (9, false)] {
            let mut import = WorkbookImport::open(bytes.as_slice(), BlockSize::default()).unwrap();
            assert_eq!(import.remaining_cells, MAX_WORKBOOK_CELLS);
            import.remaining_cells = remaining_cells;
            let outcome = loop {
                match import.next_step() {
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
