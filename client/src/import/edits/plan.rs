//! Reads a whole file and splits its cells into mutations before anything is sent.

use std::borrow::Cow;

use std::path::Path;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_exchange::{Block, BlockCell, ImportStep, NotImported, Survey};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{GENERAL, NumberFormat, Value};
use cellar_sheet::operation::CellEdit;

use super::batches::{self, CellTooLong};
use super::{MAX_EDIT_FILE_BYTES, MAX_EDITED_CELLS};
use crate::import::file::{Findings, SheetReader, unreadable};
use crate::import::{ImportError, OneSheetPurpose, ReadOptions, require_all_imported};

/// An import's cells, split into mutations.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Number of rows up to the last non-blank row.
    pub rows: u32,
    /// Number of columns up to the last non-blank column.
    pub columns: u32,
    /// Number of non-blank cells.
    pub cells: usize,
    /// Number of cells with a formula.
    pub formulas: u64,
    /// Column types of a CSV file.
    pub survey: Option<Survey>,
    /// Contents of a workbook that an import does not take.
    pub not_imported: NotImported,
    /// The cells of each mutation.
    pub batches: Vec<Vec<CellEdit>>,
}

impl Plan {
    /// Reads a whole file and plans its import. The file's first cell is imported into the cell
    /// `target`.
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] if the file is invalid or too large, or does not fit in the
    /// sheet.
    pub fn read(path: &Path, options: &ReadOptions, target: CellName) -> Result<Self, ImportError> {
        let file_bytes = std::fs::metadata(path).map_err(|source| unreadable(path, source))?.len();
        if file_bytes > MAX_EDIT_FILE_BYTES {
            return Err(ImportError::FileTooLarge { path: path.to_owned() });
        }
        let mut file = SheetReader::open(path, options, None)?;
        let collected = collect_only_sheet(&mut file, target, path)?;
        let CellCollector { edits, rows, columns, .. } = collected;
        let cells = edits.len();
        let formulas = edits.iter().map(|edit| u64::from(edit.formula.is_some())).sum();
        let batches = batches::split_into_batches(edits)
            .map_err(|cell| encoded_too_long_error(cell, target))?;
        let Findings { survey, not_imported, .. } = file.findings();
        Ok(Self { rows, columns, cells, formulas, survey, not_imported, batches })
    }

    /// Checks that the import takes all contents of the file.
    ///
    /// # Errors
    ///
    /// Returns [`ImportError::Incomplete`] otherwise.
    pub fn require_all_imported(&self) -> Result<(), ImportError> {
        require_all_imported(&self.not_imported)
    }

    /// Returns a hash of all cells. The journal uses it to recognize the same import.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 import plan");
        for batch in &self.batches {
            // Encoding plain data cannot fail.
            let batch_json = serde_json::to_vec(batch).unwrap_or_default();
            hasher.update(&u64::try_from(batch_json.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(&batch_json);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Returns the total number of cells in the first `batch_count` mutations.
    #[must_use]
    pub fn cells_in(&self, batch_count: usize) -> usize {
        self.batches.iter().take(batch_count).map(Vec::len).sum()
    }
}

/// Fails unless exactly one sheet of the file is selected.
fn collect_only_sheet(
    file: &mut SheetReader,
    target: CellName,
    path: &Path,
) -> Result<CellCollector, ImportError> {
    let mut collected = CellCollector::new(target);
    let mut sheet_count = 0;
    while let Some(step) = file.next_step()? {
        match step {
            ImportStep::Working => {}
            ImportStep::Restart => collected = CellCollector::new(target),
            ImportStep::Sheet(_) => sheet_count += 1,
            // A second sheet is an error. The rest of the file is read only to count its sheets for
            // the error message.
            ImportStep::Block(_) if sheet_count > 1 => {}
            ImportStep::Block(block) => collected.add_block(&block, path)?,
        }
    }
    if sheet_count != 1 {
        return Err(ImportError::OneSheet { purpose: OneSheetPurpose::Edits, sheets: sheet_count });
    }
    Ok(collected)
}

fn encoded_too_long_error(cell: CellTooLong, target: CellName) -> ImportError {
    let cell_in_file = CellName {
        row: cell.row.saturating_sub(target.row),
        column: cell.column.saturating_sub(target.column),
    };
    ImportError::EncodedTooLong { cell: cell_in_file, bytes: cell.bytes }
}

#[derive(Debug)]
struct CellCollector {
    target: CellName,
    edits: Vec<CellEdit>,
    text_bytes: u64,
    rows: u32,
    columns: u32,
}

impl CellCollector {
    fn new(target: CellName) -> Self {
        Self { target, edits: Vec::new(), text_bytes: 0, rows: 0, columns: 0 }
    }

    fn add_block(&mut self, block: &Block, path: &Path) -> Result<(), ImportError> {
        for cell in block.cells() {
            if self.edits.len() >= MAX_EDITED_CELLS {
                return Err(ImportError::TooManyCells);
            }
            self.rows = self.rows.max(cell.row.saturating_add(1));
            self.columns = self.columns.max(cell.column.saturating_add(1));
            let edit = to_edit(cell, self.target)?;
            // All texts are kept in memory. Check their total length, because the texts of a
            // compressed workbook may be longer than the file.
            self.text_bytes = self.text_bytes.saturating_add(text_bytes(&edit));
            if self.text_bytes > MAX_EDIT_FILE_BYTES {
                return Err(ImportError::FileTooLarge { path: path.to_owned() });
            }
            self.edits.push(edit);
        }
        Ok(())
    }
}

fn text_bytes(edit: &CellEdit) -> u64 {
    let formula_bytes = edit.formula.as_ref().map_or(0, String::len);
    let value_bytes = match &edit.value {
        Some(Value::Text(text)) => text.len(),
        _ => 0,
    };
    u64::try_from(formula_bytes.saturating_add(value_bytes)).unwrap_or(u64::MAX)
}

fn to_edit(cell: BlockCell<'_>, target: CellName) -> Result<CellEdit, ImportError> {
    let BlockCell { row, column, value, formula, format } = cell;
    // The server rejects edits with unknown number formats, which are displayed as `General`.
    let format = format.filter(|code| NumberFormat::parse(code).is_ok());
    // If the file's cell has a number without a format, clear the number format of the sheet's
    // cell.
    let new_format = match value {
        Value::Number(_) => Some(format.unwrap_or(GENERAL)),
        _ => format,
    };
    // If the file's cell has only a format, the sheet's cell keeps its value.
    let has_only_format = value == Value::Empty && formula.is_none();
    Ok(CellEdit {
        row: shift_index(row, target.row, MAX_ROWS)?,
        column: shift_index(column, target.column, MAX_COLUMNS)?,
        value: if has_only_format { None } else { Some(value) },
        formula: formula.map(Cow::into_owned),
        format: new_format.map(str::to_owned),
    })
}

/// `target_index` is the row or column of the sheet where the import starts. Fails if the result is
/// not below `axis_length`, the number of rows or columns of a sheet.
fn shift_index(index: u32, target_index: u32, axis_length: u32) -> Result<u32, ImportError> {
    match target_index.checked_add(index) {
        Some(shifted_index) if shifted_index < axis_length => Ok(shifted_index),
        _ => Err(ImportError::OutsideSheet),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use cellar_sheet::cell::display;
    use proptest::prelude::*;

    use super::*;
    use crate::import::file::tests::workbook;

    pub(crate) fn plan(text: &str, at: &str) -> Result<Plan, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        let options = ReadOptions { pad: true, ..ReadOptions::default() };
        Plan::read(&path, &options, at.parse().unwrap())
    }

    fn texts(plan: &Plan) -> BTreeMap<(u32, u32), String> {
        let text = |edit: &CellEdit| {
            let value = edit.value.as_ref().unwrap();
            let format = edit.format.as_deref().unwrap_or(GENERAL);
            ((edit.row, edit.column), display(value, format))
        };
        plan.batches.iter().flatten().map(text).collect()
    }

    fn fields(bytes: &[u8]) -> BTreeMap<(u32, u32), String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
        let mut fields = BTreeMap::new();
        for (row, record) in (0..).zip(reader.records()) {
            for (column, field) in (0..).zip(&record.unwrap()) {
                if !field.is_empty() {
                    fields.insert((row, column), field.to_owned());
                }
            }
        }
        fields
    }

    #[test]
    fn keeps_every_text_of_real_files() {
        for (name, rows, columns) in [
            ("airports.csv", 3_377, 7),
            ("seattle-weather.csv", 1_462, 6),
            ("us-employment.csv", 121, 24),
        ] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");
            let path = Path::new(folder).join(name);
            let at = CellName { row: 0, column: 0 };
            let plan = Plan::read(&path, &ReadOptions::default(), at).unwrap();
            assert_eq!((plan.rows, plan.columns), (rows, columns), "{name}");
            assert_eq!(texts(&plan), fields(&std::fs::read(&path).unwrap()), "{name}");
            assert_eq!(plan.cells, plan.cells_in(plan.batches.len()));
        }
    }

    #[test]
    fn moves_cells_to_the_target_and_checks_the_bounds() {
        let edits = plan("n\n5\n", "B2").unwrap().batches.concat();
        assert_eq!((edits[1].row, edits[1].column), (2, 1));
        assert_eq!(edits[1].format.as_deref(), Some(GENERAL));
        assert_eq!(edits[0].format, None);
        let last = CellName { row: MAX_ROWS - 2, column: MAX_COLUMNS - 1 };
        assert!(plan("n\n5\n", &last.to_string()).is_ok());
        for outside in [
            CellName { row: MAX_ROWS - 1, column: 0 },
            CellName { row: 0, column: MAX_COLUMNS - 1 },
        ] {
            let outside = plan("n,m\n5,6\n", &outside.to_string());
            assert!(matches!(outside, Err(ImportError::OutsideSheet)));
        }
    }

    #[test]
    fn limits_of_edits_are_inclusive() {
        let most = "1\n".repeat(MAX_EDITED_CELLS);
        assert_eq!(plan(&most, "A1").unwrap().cells, MAX_EDITED_CELLS);
        assert!(matches!(plan(&format!("{most}1\n"), "A1"), Err(ImportError::TooManyCells)));

        let line = format!("{}\n", "x".repeat((1 << 16) - 1));
        let largest = line.repeat(usize::try_from(MAX_EDIT_FILE_BYTES >> 16).unwrap());
        assert_eq!(largest.len(), usize::try_from(MAX_EDIT_FILE_BYTES).unwrap());
        assert!(plan(&largest, "A1").is_ok());
        let larger = plan(&format!("{largest}y"), "A1");
        assert!(matches!(larger, Err(ImportError::FileTooLarge { .. })));
    }

    #[test]
    fn limits_texts_of_compressed_files() {
        let mut cells = CellCollector::new(CellName { row: 0, column: 0 });
        let block = |row: u32| {
            let mut block = Block::default();
            let mut column = cellar_snapshot::tile::TileColumn::new(0);
            column.values.push_text(row, &"x".repeat(1 << 20));
            block.tile.columns.push(column);
            block
        };
        let most = u32::try_from(MAX_EDIT_FILE_BYTES >> 20).unwrap();
        (0..most).for_each(|row| cells.add_block(&block(row), Path::new("a")).unwrap());
        let larger = cells.add_block(&block(most), Path::new("a"));
        assert!(matches!(larger, Err(ImportError::FileTooLarge { .. })));
    }

    #[test]
    fn imports_one_sheet_of_a_workbook() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xlsx");
        workbook(&path, &["One", "Two"]);
        let read = |sheets: &[&str]| {
            let sheets = sheets.iter().map(|name| (*name).to_owned()).collect();
            let options = ReadOptions { sheets, ..ReadOptions::default() };
            Plan::read(&path, &options, CellName { row: 0, column: 0 })
        };
        assert!(matches!(read(&[]), Err(ImportError::OneSheet { sheets: 2, .. })));
        assert_eq!(texts(&read(&["Two"]).unwrap()), BTreeMap::from([((0, 0), "2".to_owned())]));
    }

    #[test]
    fn the_fingerprint_depends_on_the_cells_only() {
        let fingerprint = |text: &str| plan(text, "A1").unwrap().fingerprint();
        assert_eq!(fingerprint("a,b\n"), fingerprint("a,b\r\n"));
        assert_ne!(fingerprint("a,b\n"), fingerprint("a,c\n"));
    }

    #[test]
    fn names_the_cell_with_too_many_control_characters() {
        let text = format!("a,c\nb,\"{}\"\n", "\u{1}".repeat(60_000));
        let error = plan(&text, "C3").unwrap_err();
        let ImportError::EncodedTooLong { cell, .. } = error else { panic!("{error}") };
        assert_eq!(cell.to_string(), "B2");
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_accepted_text_is_kept(
            text in "([a-z0-9.,\"\n\r;\t-]|TRUE|2020-01-01){0,60}|\\PC{0,40}",
        ) {
            if let Ok(plan) = plan(&text, "A1") {
                prop_assert_eq!(texts(&plan).len(), plan.cells);
                prop_assert!(texts(&plan).values().all(|shown| !shown.is_empty()));
            }
        }
    }
}
