//! The whole import, decided before anything is sent.

use std::path::Path;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_exchange::{Block, BlockCell, Piece, Survey};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{GENERAL, Value};
use cellar_sheet::operation::CellEdit;

use super::{MAX_EDIT_FILE_BYTES, MAX_EDITED_CELLS, batches};
use crate::import::file::{Sheets, unreadable};
use crate::import::{ImportError, ReadOptions};

/// What a file of one sheet is for.
const INTO_A_SHEET: &str = "--sheet";

/// What an import does: its cells, cut into mutations.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Rows of the file up to the last that has a cell.
    pub rows: u32,
    /// Columns of the file up to the last that has a cell.
    pub columns: u32,
    /// Cells of the file.
    pub cells: usize,
    /// Cells of the file that have a formula.
    pub formulas: u64,
    /// What the columns of csv are.
    pub survey: Option<Survey>,
    /// The cells of each mutation, in order.
    pub batches: Vec<Vec<CellEdit>>,
}

impl Plan {
    /// Plans the import of a file whose first cell goes to `at`. Reads all of it.
    ///
    /// # Errors
    /// [`ImportError`] with the place and what to do; nothing has been sent then.
    pub fn read(path: &Path, options: &ReadOptions, at: CellName) -> Result<Self, ImportError> {
        let bytes = std::fs::metadata(path).map_err(|source| unreadable(path, source))?.len();
        if bytes > MAX_EDIT_FILE_BYTES {
            return Err(ImportError::FileTooLarge { path: path.to_owned() });
        }
        let mut file = Sheets::open(path, options, None)?;
        let mut cells = Cells { at, ..Cells::default() };
        let mut sheets = 0;
        while let Some(piece) = file.next()? {
            match piece {
                Piece::Working => {}
                // The whole file is looked at before.
                Piece::Restart => cells = Cells { at, ..Cells::default() },
                Piece::Sheet(_) => sheets += 1,
                // Only how many sheets there are is still of interest.
                Piece::Block(_) if sheets > 1 => {}
                Piece::Block(block) => cells.take(&block, path)?,
            }
        }
        if sheets != 1 {
            return Err(ImportError::OneSheet { what: INTO_A_SHEET, sheets });
        }
        let Cells { edits, rows, columns, .. } = cells;
        let count = edits.len();
        let formulas = edits.iter().map(|edit| u64::from(edit.formula.is_some())).sum();
        let batches = batches::cut(edits).map_err(|fault| ImportError::EncodedTooLong {
            cell: CellName {
                row: fault.row.saturating_sub(at.row),
                column: fault.column.saturating_sub(at.column),
            },
            bytes: fault.bytes,
        })?;
        let survey = file.survey().cloned();
        Ok(Self { rows, columns, cells: count, formulas, survey, batches })
    }

    /// A hash of everything that will be sent, for the journal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 import plan");
        for batch in &self.batches {
            // Plain data always encodes.
            let json = serde_json::to_vec(batch).unwrap_or_default();
            hasher.update(&u64::try_from(json.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(&json);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// How many cells the first `batches` mutations have.
    #[must_use]
    pub fn cells_in(&self, batches: usize) -> usize {
        self.batches.iter().take(batches).map(Vec::len).sum()
    }
}

/// The cells of a sheet, as edits.
#[derive(Debug)]
struct Cells {
    at: CellName,
    edits: Vec<CellEdit>,
    text_bytes: u64,
    rows: u32,
    columns: u32,
}

impl Default for Cells {
    fn default() -> Self {
        let at = CellName { row: 0, column: 0 };
        Self { at, edits: Vec::new(), text_bytes: 0, rows: 0, columns: 0 }
    }
}

impl Cells {
    fn take(&mut self, block: &Block, path: &Path) -> Result<(), ImportError> {
        for cell in block.cells() {
            if self.edits.len() >= MAX_EDITED_CELLS {
                return Err(ImportError::TooManyCells);
            }
            self.rows = self.rows.max(cell.row.saturating_add(1));
            self.columns = self.columns.max(cell.column.saturating_add(1));
            let edit = edit(cell, self.at)?;
            // A workbook unpacks to more than its file: all of it is in memory.
            let texts = [edit.formula.as_deref(), edit.value.as_ref().and_then(text)];
            let bytes: usize = texts.into_iter().flatten().map(str::len).sum();
            self.text_bytes = self.text_bytes.saturating_add(u64::try_from(bytes).unwrap_or(0));
            if self.text_bytes > MAX_EDIT_FILE_BYTES {
                return Err(ImportError::FileTooLarge { path: path.to_owned() });
            }
            self.edits.push(edit);
        }
        Ok(())
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn edit(cell: BlockCell<'_>, at: CellName) -> Result<CellEdit, ImportError> {
    let BlockCell { row, column, value, formula, format } = cell;
    let place = |first: u32, more: u32, limit: u32| {
        first.checked_add(more).filter(|place| *place < limit).ok_or(ImportError::OutsideSheet)
    };
    // A format that an earlier number left would show this one differently.
    let needs_general = matches!(value, Value::Number(_));
    let format = format.or(needs_general.then_some(GENERAL)).map(str::to_owned);
    // A cell that has only a format leaves the value that is there.
    let value = (value != Value::Empty || formula.is_some()).then_some(value);
    Ok(CellEdit {
        row: place(at.row, row, MAX_ROWS)?,
        column: place(at.column, column, MAX_COLUMNS)?,
        value,
        formula: formula.map(str::to_owned),
        format,
    })
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
    fn real_files_keep_every_text() {
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
    fn cells_go_where_they_are_to_and_must_fit_there() {
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
    fn limits_hold_at_n_and_n_plus_1() {
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
    fn texts_are_counted_however_small_their_file_is() {
        let mut cells = Cells::default();
        let block = |row: u32| {
            let mut block = Block::default();
            let mut column = cellar_snapshot::tile::TileColumn::new(0);
            column.values.push_text(row, &"x".repeat(1 << 20));
            block.tile.columns.push(column);
            block
        };
        let most = u32::try_from(MAX_EDIT_FILE_BYTES >> 20).unwrap();
        (0..most).for_each(|row| cells.take(&block(row), Path::new("a")).unwrap());
        let larger = cells.take(&block(most), Path::new("a"));
        assert!(matches!(larger, Err(ImportError::FileTooLarge { .. })));
    }

    #[test]
    fn one_sheet_of_a_workbook_goes_in() {
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
    fn a_fingerprint_is_of_what_is_sent() {
        let fingerprint = |text: &str| plan(text, "A1").unwrap().fingerprint();
        assert_eq!(fingerprint("a,b\n"), fingerprint("a,b\r\n"));
        assert_ne!(fingerprint("a,b\n"), fingerprint("a,c\n"));
    }

    #[test]
    fn control_characters_are_named_with_their_place() {
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
