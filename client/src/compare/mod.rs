//! Compares the results of formulas with the values that a workbook file stores for them, which the
//! program that wrote the file has calculated.

mod file;
mod results;

use std::path::PathBuf;

use cellar_api::wire::CellAt;
use cellar_base::position::Position;
use cellar_exchange::{Block, ImportStep};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;

use crate::import::{ImportError, ReadOptions};
use crate::reader::{Reader, ReaderError};
use crate::{ClientError, Spreadsheet};
use file::FileSteps;
use results::{FormulaInFile, Verdict, formulas_of, verdict};

/// Reason why a comparison failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The file cannot be read, or does not have a selected sheet.
    #[error(transparent)]
    File(#[from] ImportError),
    /// The file is no workbook, so that it stores no formulas.
    #[error("{} is no workbook, so it has no formulas", path.display())]
    NotAWorkbook {
        /// The file.
        path: PathBuf,
    },
    /// The cells of the spreadsheet cannot be read.
    #[error(transparent)]
    Reader(#[from] ReaderError),
}

impl From<ClientError> for CompareError {
    fn from(error: ClientError) -> Self {
        Self::Reader(error.into())
    }
}

/// A formula whose result differs from the value in the file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DifferentResult {
    /// Name of the sheet in the spreadsheet.
    pub sheet: String,
    /// The cell, the same in the file and in the spreadsheet.
    pub cell: CellName,
    /// The formula in the spreadsheet. Starts with `=`.
    pub formula: String,
    /// Value that the file stores.
    pub in_file: Value,
    /// Result in the spreadsheet.
    pub in_spreadsheet: Value,
    /// Whether both are numbers that agree to 12 digits.
    pub is_rounding: bool,
}

/// Counts of the compared formulas.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileComparison {
    /// Position of the spreadsheet.
    pub position: Position,
    /// Table incarnation of the position.
    pub incarnation: u32,
    /// Names of compared sheets of the file that the spreadsheet does not have.
    pub missing_sheets: Vec<String>,
    /// Number of formulas in the compared sheets of the file, without those of missing sheets.
    pub formulas: u64,
    /// Number of results that are equal.
    pub equal: u64,
    /// Number of results that are numbers and agree to 12 digits, but are not equal.
    pub rounding: u64,
    /// Number of other results that differ.
    pub different: u64,
    /// Number of formulas for which the file stores no value.
    pub without_value: u64,
    /// Number of formulas that the spreadsheet has not calculated.
    pub stale: u64,
    /// Number of cells that have no formula in the spreadsheet.
    pub without_formula: u64,
}

impl FileComparison {
    pub(crate) fn new(position: Position, incarnation: u32) -> Self {
        Self {
            position,
            incarnation,
            missing_sheets: Vec::new(),
            formulas: 0,
            equal: 0,
            rounding: 0,
            different: 0,
            without_value: 0,
            stale: 0,
            without_formula: 0,
        }
    }
}

impl Spreadsheet {
    /// Compares the result of each formula of a workbook file with the newest result in the same cell
    /// of the sheet with the same name. `options` selects the sheets of the file.
    ///
    /// `handle_difference` gets each different result, in the order of sheets and rows.
    /// `report_progress` gets the number of formulas that were compared so far.
    ///
    /// # Errors
    ///
    /// Returns a [`CompareError`] if the file or the spreadsheet cannot be read, or the error of
    /// `handle_difference`.
    pub async fn compare_file<E: From<CompareError>>(
        &self,
        path: impl Into<PathBuf>,
        options: &ReadOptions,
        min_position: Option<Position>,
        mut handle_difference: impl FnMut(DifferentResult) -> Result<(), E>,
        mut report_progress: impl FnMut(u64),
    ) -> Result<FileComparison, E> {
        let mut steps = FileSteps::start(path.into(), options.clone())?;
        let reader = Reader::open(self.clone(), min_position, self.cache()).await;
        let mut comparer = Comparer::new(reader.map_err(CompareError::from)?);
        while let Some(step) = steps.next().await? {
            match step {
                ImportStep::Sheet(start) => comparer.start_sheet(start.name.unwrap_or_default()),
                ImportStep::Block(block) => {
                    for difference in comparer.compare_block(&block).await? {
                        handle_difference(difference)?;
                    }
                    report_progress(comparer.comparison.formulas);
                }
                ImportStep::Working | ImportStep::Restart => {}
            }
        }
        Ok(comparer.finish())
    }
}

struct Comparer {
    reader: Reader,
    /// `None` if the spreadsheet does not have the sheet.
    sheet: Option<String>,
    comparison: FileComparison,
}

impl Comparer {
    fn new(reader: Reader) -> Self {
        let comparison = FileComparison::new(reader.position(), reader.incarnation());
        Self { reader, sheet: None, comparison }
    }

    fn start_sheet(&mut self, name: String) {
        self.sheet = None;
        if self.reader.has_sheet(&name) {
            self.sheet = Some(name);
        } else {
            self.comparison.missing_sheets.push(name);
        }
    }

    async fn compare_block(&mut self, block: &Block) -> Result<Vec<DifferentResult>, CompareError> {
        let Some(sheet) = self.sheet.clone() else { return Ok(Vec::new()) };
        let formulas = formulas_of(block);
        let Some(rectangle) = bounds(&formulas) else { return Ok(Vec::new()) };
        let reply = self.reader.cells(Some(&sheet), rectangle).await?;
        let mut cells = reply.cells.into_iter().peekable();
        let mut differences = Vec::new();
        for FormulaInFile { cell, value } in formulas {
            let key = (cell.row, cell.column);
            while cells.next_if(|other| (other.row, other.column) < key).is_some() {}
            let in_spreadsheet = cells.next_if(|other| (other.row, other.column) == key);
            differences.extend(self.compare(&sheet, cell, value, in_spreadsheet));
        }
        Ok(differences)
    }

    fn compare(
        &mut self,
        sheet: &str,
        cell: CellName,
        in_file: Value,
        in_spreadsheet: Option<CellAt>,
    ) -> Option<DifferentResult> {
        let counts = &mut self.comparison;
        counts.formulas += 1;
        let verdict = verdict(&in_file, in_spreadsheet.as_ref());
        *match verdict {
            Verdict::Equal => &mut counts.equal,
            Verdict::Rounding => &mut counts.rounding,
            Verdict::Different => &mut counts.different,
            Verdict::WithoutValue => &mut counts.without_value,
            Verdict::Stale => &mut counts.stale,
            Verdict::WithoutFormula => &mut counts.without_formula,
        } += 1;
        let is_rounding = verdict == Verdict::Rounding;
        if !is_rounding && verdict != Verdict::Different {
            return None;
        }
        let found = in_spreadsheet?.cell;
        Some(DifferentResult {
            sheet: sheet.to_owned(),
            cell,
            formula: found.formula.unwrap_or_default(),
            in_file,
            in_spreadsheet: found.value,
            is_rounding,
        })
    }

    /// Returns the counts with the last position that was read.
    fn finish(mut self) -> FileComparison {
        self.comparison.position = self.reader.position();
        self.comparison.incarnation = self.reader.incarnation();
        self.comparison
    }
}

/// Returns the smallest rectangle with all formulas.
fn bounds(formulas: &[FormulaInFile]) -> Option<Rectangle> {
    let columns = || formulas.iter().map(|formula| formula.cell.column);
    let first = CellName { row: formulas.first()?.cell.row, column: columns().min()? };
    let last = CellName { row: formulas.last()?.cell.row, column: columns().max()? };
    Some(Rectangle { first, last })
}
