//! Imports of workbooks, and into existing spreadsheets.

use std::path::Path;
use std::time::Duration;

use cellar::import::ImportError;
use cellar::import::sheets::{ProgressMonitor, examine_file, import_sheets};
use cellar_exchange::{CellToWrite, Spill, XlsxWriter};
use cellar_sheet::cell::{Cell, ErrorCode, Value};
use cellar_sheet::operation::{AddSheet, Operation, SheetId};

use super::block_on;
use super::fake::{Cells, Fault};
use super::sheet_imports::{Case, NOTHING};

fn cell(value: Value) -> Cell {
    Cell { value, ..Cell::default() }
}

fn cells(number: f64) -> Cells {
    Cells::from([((0, 0), cell(Value::Number(number)))])
}

/// Returns cells of every kind.
pub(crate) fn every_kind() -> Cells {
    let formula = |value, formula: &str| Cell { formula: Some(formula.into()), ..cell(value) };
    let number =
        |number, format: &str| Cell { format: Some(format.into()), ..cell(Value::Number(number)) };
    Cells::from([
        ((0, 0), cell(Value::Text("ä & <text>\nof lines ".into()))),
        ((0, 1), cell(Value::Text("x".repeat(9_000)))),
        ((0, 2), cell(Value::Bool(true))),
        ((1, 0), cell(Value::Error(ErrorCode::Div0))),
        ((1, 1), number(46_347.0, "yyyy-mm-dd")),
        ((1, 2), number(-2.5, "#,##0.00 \"kg\"")),
        ((2, 0), cell(Value::Number(0.1))),
        ((2, 200), formula(Value::Number(5.0), "=A1+1")),
        ((2, 201), formula(Value::Text("t".into()), "=A1&\"t\"")),
        ((40_000, 3), Cell { format: Some("0.00".into()), ..Cell::default() }),
    ])
}

pub(crate) fn write_workbook(path: &Path, sheets: &[(&str, Cells)]) {
    let mut writer = XlsxWriter::new(None).unwrap();
    for (name, cells) in sheets {
        writer.start_sheet(name).unwrap();
        for ((row, column), Cell { value, formula, format }) in cells {
            let (formula, format) = (formula.as_deref(), format.as_deref());
            writer
                .write_cell(
                    *row,
                    *column,
                    &CellToWrite { value, formula, format, spill: Spill::None },
                )
                .unwrap();
        }
    }
    writer.finish(std::fs::File::create(path).unwrap()).unwrap();
}

fn workbook_case(sheets: &[(&str, Cells)]) -> Case {
    let case = Case::new("book.xlsx", b"");
    write_workbook(&case.path, sheets);
    case
}

#[test]
fn a_truncated_workbook_creates_no_spreadsheet() {
    let case = workbook_case(&[("One", cells(1.0)), ("Two", cells(2.0))]);
    let bytes = std::fs::read(&case.path).unwrap();
    std::fs::write(&case.path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(case.import().unwrap_err(), ImportError::Read { .. }));
    assert!(case.fake.requests().is_empty());
}

#[test]
fn all_sheets_of_a_workbook_are_imported_in_one_entry() {
    let sheets = [("Kinds", every_kind()), ("Empty", Cells::new()), ("kinds 2", cells(7.0))];
    let case = workbook_case(&sheets);
    let imported = case.import().unwrap();
    let expected: Vec<_> =
        sheets.iter().map(|(name, cells)| ((*name).to_owned(), cells.clone())).collect();
    assert_eq!(case.fake.sheets(imported.spreadsheet), expected);
    assert_eq!(case.entries(), 2, "the sheets are not in one entry");
    let counts: Vec<u64> = imported.sheets.iter().map(|sheet| sheet.cells).collect();
    assert_eq!(counts, [10, 0, 1]);
}

#[test]
fn sheets_are_imported_into_an_existing_spreadsheet() {
    let mut case = workbook_case(&[("Sheet1", cells(1.0)), ("Plan", cells(2.0))]);
    let id = case.fake.spreadsheet();
    case.into = Some(id);
    let imported = case.import().unwrap();
    let names = |case: &Case| -> Vec<String> {
        case.fake.sheets(id).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&case), ["Sheet1", "Sheet1 (2)", "Plan"]);
    let called: Vec<&str> = imported.sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(called, ["Sheet1 (2)", "Plan"], "the names are not those that they got");

    case.options.sheets = vec!["plan".into()];
    case.replace = Some("SHEET1".into());
    let imported = case.import().unwrap();
    assert_eq!(imported.sheets[0].name, "Sheet1");
    assert_eq!(names(&case), ["Sheet1", "Sheet1 (2)", "Plan"]);
    assert_eq!(case.fake.sheets(id)[0].1, cells(2.0));
    // A later import finds the sheet by its name again.
    case.import().unwrap();
    assert_eq!(case.fake.sheets(id).len(), 3);
    assert_eq!(case.count_journal_files(), NOTHING);
}

#[test]
fn an_invalid_target_is_an_error_before_anything_is_sent() {
    let mut case = workbook_case(&[("One", cells(1.0)), ("Two", cells(2.0))]);
    let id = case.fake.spreadsheet();
    (case.into, case.replace) = (Some(id), Some("Nope".into()));
    let error = case.import().unwrap_err();
    assert!(matches!(&error, ImportError::UnknownSheet { sheets, .. } if sheets == "Sheet1"));
    assert_eq!(case.fake.requests(), ["GET sheets"]);
    case.replace = Some("Sheet1".into());
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::OneSheet { sheets: 2, .. }), "{error}");
    case.options.sheets = vec!["Two".into(), "Three".into()];
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::NotInFile { .. }), "{error}");
    assert_eq!((case.entries(), case.fake.requests().len()), (1, 3));
}

#[test]
fn others_may_add_sheets_and_delete_the_replaced_one_during_an_import() {
    let mut case = Case::small();
    let id = case.fake.spreadsheet();
    (case.into, case.replace) = (Some(id), Some("Sheet1".into()));
    // The sheet is deleted while the file is read.
    let (client, watch, target) = (case.fake.client(), ProgressMonitor::default(), case.target());
    case.fake.fail([Fault::None, Fault::RetryAfter(1)]);
    let error = block_on(async {
        let import = import_sheets(&client, &case.path, &case.options, &target, &watch);
        let others = async {
            while case.fake.requests().len() < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            case.fake.lock().replace_sheet(id, SheetId(1), SheetId::FIRST);
        };
        tokio::join!(import, others).0.unwrap_err()
    });
    assert!(matches!(&error, ImportError::UnknownSheet { sheets, .. } if sheets == "Other"));
    case.replace = None;
    let imported = case.import().unwrap();
    let import = case.fake.appends().pop().unwrap().mutations.remove(0);
    assert!(matches!(import.op, Operation::ImportSheet(it) if it.sheet == SheetId(2)));
    assert_eq!(imported.sheets[0].name, "prices");
}

#[test]
fn the_number_of_sheets_is_limited() {
    let mut case = workbook_case(&[("One", cells(1.0)), ("Two", cells(2.0))]);
    let id = case.fake.spreadsheet();
    case.into = Some(id);
    let added = |sheet| AddSheet { sheet: SheetId(sheet), name: format!("S{sheet}"), before: None };
    for sheet in 1..=998 {
        case.fake.lock().author(id, Operation::AddSheet(added(sheet)));
    }
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::TooManySheets { sheets: 1_001 }), "{error}");
    case.options.sheets = vec!["Two".into()];
    case.import().unwrap();
    assert_eq!(case.fake.sheets(id).len(), 1_000);
}

#[test]
fn a_dry_run_sends_nothing() {
    let case = workbook_case(&[("Kinds", every_kind()), ("a", cells(1.0))]);
    let watch = ProgressMonitor::default();
    let looked = block_on(examine_file(&case.path, &case.options, &watch)).unwrap();
    let cells: Vec<u64> = looked.sheets.iter().map(|sheet| sheet.cells).collect();
    assert_eq!((cells, watch.current().cells), (vec![10, 1], 11));
    assert!(case.fake.requests().is_empty());
}
