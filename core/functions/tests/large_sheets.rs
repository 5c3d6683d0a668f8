//! References to cells beyond the last row and column of Excel, and to several sheets.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "this test target does not use all helpers")]
mod sheet;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_functions::limits::Limits;
use cellar_functions::{CellSource, EvaluationOutcome, SheetIndex, Size};
use cellar_sheet::a1::{CellName, column_name};
use cellar_sheet::cell::{ErrorCode, Value};
use sheet::evaluate_with;

/// Zero-based index of the first row beyond Excel's last row.
const ROW: u32 = 1_048_576;
/// Zero-based index of the first column beyond Excel's last column.
const COLUMN: u32 = 16_384;
const SHEETS: [&str; 3] = ["Data1", "Data2", "Data3"];

/// Three sheets of the maximum size. The first one contains 1 in `A1`, 2 in `A1048577`, 3 in `XFE1`
/// and 4 in `XFE1048577`. In the other sheets, these numbers are larger by 10 and 20.
struct LargeSheets;

impl CellSource for LargeSheets {
    fn grid_size(&self) -> Size {
        Size { rows: MAX_ROWS, columns: MAX_COLUMNS }
    }

    fn sheet_count(&self) -> u32 {
        3
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        let index = SHEETS.iter().position(|sheet| sheet.eq_ignore_ascii_case(name))?;
        Some(u32::try_from(index).unwrap())
    }

    fn sheet_name(&self, sheet: SheetIndex) -> Option<String> {
        SHEETS.get(sheet as usize).map(|name| (*name).to_owned())
    }

    fn used_size(&self, _sheet: SheetIndex) -> Size {
        Size { rows: ROW + 1, columns: COLUMN + 1 }
    }

    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value {
        let value = match (cell.row, cell.column) {
            (0, 0) => 1.0,
            (ROW, 0) => 2.0,
            (0, COLUMN) => 3.0,
            (ROW, COLUMN) => 4.0,
            _ => return Value::Empty,
        };
        Value::Number(value + f64::from(sheet) * 10.0)
    }
}

fn value(formula: &str) -> Value {
    match evaluate_with(&LargeSheets, formula, Limits::default()) {
        Ok(EvaluationOutcome::Value(value)) => value,
        other => panic!("{formula}: {other:?}"),
    }
}

#[test]
fn cells_beyond_the_sheets_of_excel_have_values() {
    assert_eq!(column_name(COLUMN), "XFE");
    for (formula, expected) in [
        ("=A1048577", 2.0),
        ("=$XFE$1", 3.0),
        ("=XFE1048577+1", 5.0),
        ("=data2!XFE1048577", 14.0),
        ("=SUM(A1:A1048577)", 3.0),
        ("=SUM(A1048577:XFE1048577)", 6.0),
        ("=SUM(XFE:XFE)", 7.0),
        ("=SUM(1048577:1048577)", 6.0),
        ("=COUNT(A:A,XFE:XFE)", 4.0),
        ("=SUM(A1048577:INDEX(1048577:1048577,16385))", 6.0),
        ("=SUM(1048577:1048577 XFE:XFE)", 4.0),
        ("=INDEX(A:A,1048577)", 2.0),
        ("=MATCH(2,A:A,0)", 1_048_577.0),
        ("=VLOOKUP(2,A:XFE,16385,FALSE)", 4.0),
        ("=INDIRECT(\"A1048577\")", 2.0),
        ("=INDIRECT(\"R1048577C16385\",FALSE)", 4.0),
        ("=INDIRECT(ADDRESS(1048577,16385))", 4.0),
        ("=OFFSET(A1,1048576,16384)", 4.0),
        ("=ROW(A1073741824)", 1_073_741_824.0),
        ("=COLUMN(XFE1)", 16_385.0),
        ("=ROWS(A:A)", 1_073_741_824.0),
        ("=COLUMNS(1:1)", 4_194_304.0),
    ] {
        assert_eq!(value(formula), Value::Number(expected), "{formula}");
    }
    let last_column = column_name(MAX_COLUMNS - 1);
    assert_eq!(value(&format!("={last_column}1073741824")), Value::Number(0.0));
    // An address beyond the last row of Cellar is parsed as a name.
    assert_eq!(value("=A1073741825"), Value::Error(ErrorCode::Name));
    assert_eq!(value("=OFFSET(A1073741824,1,0)"), Value::Error(ErrorCode::Ref));
}

#[test]
fn references_to_several_sheets_have_the_cells_of_all() {
    for (formula, expected) in [
        ("=SUM(Data1:Data3!A1)", 33.0),
        ("=SUM(Data3:Data2!XFE1)", 36.0),
        ("=SUM('Data1:Data2'!A:A)", 26.0),
        ("=COUNT(Data1:Data3!$A$1:XFE1)", 6.0),
    ] {
        assert_eq!(value(formula), Value::Number(expected), "{formula}");
    }
    assert_eq!(value("=SUM(Data1:Other!A1)"), Value::Error(ErrorCode::Ref));
    assert_eq!(value("=SUM(Data1:Data2!#REF!)"), Value::Error(ErrorCode::Ref));
    assert_eq!(value("=SUM(Data1:Data2!rate)"), Value::Error(ErrorCode::Name));
}
