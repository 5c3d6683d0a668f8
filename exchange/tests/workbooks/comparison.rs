//! Compares the readers with an independent library, and shows why Cellar does not use that library.

use std::io::Cursor;

use calamine::{Data, Reader as _, Xlsx};

use super::*;
use crate::xlsx::Parts;

/// Converts a cell value of the library.
fn value(data: &Data) -> Value {
    match data {
        Data::Empty => Value::Empty,
        Data::Int(number) => Value::Number(f64::from(i32::try_from(*number).unwrap())),
        Data::Float(number) => Value::Number(*number),
        Data::String(text) => Value::Text(text.clone()),
        Data::Bool(value) => Value::Bool(*value),
        Data::DateTime(date) => Value::Number(date.as_f64()),
        Data::Error(code) => Value::Error(code.to_string().parse().unwrap()),
        other => panic!("{other:?}"),
    }
}

fn same_values(name: &str, range: &calamine::Range<Data>, sheets: &[Sheet]) {
    let (_, cells) = sheets.iter().find(|(start, _)| start.name.as_deref() == Some(name)).unwrap();
    let start = range.start().unwrap_or_default();
    let mut theirs = BTreeMap::new();
    for (row, column, data) in range.used_cells() {
        let place =
            (start.0 + u32::try_from(row).unwrap(), start.1 + u32::try_from(column).unwrap());
        theirs.insert(place, value(data));
    }
    let ours: BTreeMap<_, _> = cells
        .iter()
        .filter(|(_, cell)| cell.value != Value::Empty)
        .map(|(place, cell)| (*place, cell.value.clone()))
        .collect();
    assert_eq!(ours, theirs);
}

#[test]
fn it_reads_the_same_from_xlsx() {
    let bytes = super::xlsx::by_the_library();
    let sheets = read(&bytes).unwrap();
    let mut theirs = Xlsx::new(Cursor::new(&bytes)).unwrap();
    for name in theirs.sheet_names() {
        same_values(&name, &theirs.worksheet_range(&name).unwrap(), &sheets);
    }
    let formulas = theirs.worksheet_formula("Prices ä").unwrap();
    assert_eq!(formulas.get_value((2, 0)).map(String::as_str), Some("B1*2"));
}

#[test]
fn it_reads_what_this_writes() {
    let formula = |value: Cell| Cell { formula: Some("=A1".into()), ..value };
    let cells = BTreeMap::from([
        ((0, 0), text("ä <&> 'x'")),
        ((0, 1), number(-0.1, "0.00")),
        ((0, 2), error(ErrorCode::NotAvailable)),
        ((1, 0), formula(text("TRUE"))),
        ((1, 1), formula(text("45366"))),
        ((1, 2), formula(error(ErrorCode::Div0))),
        ((2, 0), formula(cell(Value::Bool(true)))),
        ((2, 1), formula(number(5.0, ""))),
    ]);
    let bytes = crate::xlsx::written(&[("a <&\" b", cells)]).unwrap();
    let sheets = read(&bytes).unwrap();
    let mut theirs = Xlsx::new(Cursor::new(&bytes)).unwrap();
    let name = "a <&\" b";
    same_values(name, &theirs.worksheet_range(name).unwrap(), &sheets);
    let formulas = theirs.worksheet_formula(name).unwrap();
    assert_eq!(formulas.get_value((1, 0)).map(String::as_str), Some("A1"));
    assert_eq!(formulas.get_value((0, 2)).filter(|formula| !formula.is_empty()), None);
}

#[test]
fn it_reads_the_same_from_ods() {
    let bytes = super::ods::document(super::ods::CONTENT);
    let sheets = read(&bytes).unwrap();
    let mut theirs = calamine::Ods::new(Cursor::new(&bytes)).unwrap();
    let name = "Simple";
    same_values(name, &theirs.worksheet_range(name).unwrap(), &sheets);
}

#[test]
fn it_reads_the_same_from_xlsb() {
    let bytes = super::xlsb::workbook(super::xlsb::CELLS);
    let sheets = read(&bytes).unwrap();
    let mut theirs = calamine::Xlsb::new(Cursor::new(&bytes)).unwrap();
    same_values("Bin", &theirs.worksheet_range("Bin").unwrap(), &sheets);
}

/// A workbook that declares huge numbers of shared formulas and shared texts, for which the library allocates
/// memory.
#[test]
fn it_panics_where_this_does_not() {
    let shared =
        "<row><c r=\"A1\"><f t=\"shared\" ref=\"A1\" si=\"4611686018427387904\">1</f></c></row>";
    let one = "<row><c r=\"A1\"><v>1</v></c></row>";
    for (name, parts) in [
        ("formulas", Parts { rows: shared, ..Parts::default() }),
        (
            "texts",
            Parts {
                texts: "<sst uniqueCount=\"9223372036854775807\"/>",
                rows: one,
                ..Parts::default()
            },
        ),
    ] {
        let bytes = parts.packed();
        assert_eq!(read(&bytes).unwrap()[0].1.len(), 1, "{name}");
        let theirs = std::panic::catch_unwind(|| {
            let Ok(mut theirs) = Xlsx::new(Cursor::new(&bytes)) else { return };
            let _ = theirs.worksheet_formula("A & B");
        });
        // If this fails, the library may be usable.
        assert!(theirs.is_err(), "{name}");
    }
    let good = Parts { rows: one, ..Parts::default() }.packed();
    assert!(Xlsx::new(Cursor::new(&good)).unwrap().worksheet_formula("A & B").is_ok());
}
