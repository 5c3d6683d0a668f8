//! Tests of external bodies and their records: round trips, damage and limits.

use super::*;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, DeleteSpans, InsertBefore, SetCells, Spans};

fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}

fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.into()));
    let edit = CellEdit { row, column: 1, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

fn external() -> ExternalEdits {
    let sheet = SheetId::FIRST;
    let map = SpaceMap::from_operations(&[
        Operation::InsertRows(InsertBefore { sheet, before: 3, count: 2 }),
        Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(0, 1) }),
    ]);
    let failed = (SheetId(4), SheetMap { target: None, ..SheetMap::identity(SheetId(4)) });
    let moved = map.sheets().map(|(id, map)| (id, map.clone()));
    let map = SpaceMap::from_sheets(moved.chain([failed]));
    let client = ClientKey([7; 8]);
    let (object, sha256) = ("uploads/a/b".to_owned(), [9; 32]);
    ExternalEdits { client, first_id: 5, count: 2, base: at(3), object, bytes: 7, sha256, map }
}

#[test]
fn external_edits_round_trip_with_their_maps() {
    let external = external();
    let (version, body) = encode_external(at(9), &external).unwrap();
    let read = |version, body: &[u8]| {
        decode_external(version, at(9), external.client, 5, external.object.clone(), body)
    };
    assert_eq!(read(version, &body).unwrap(), external);
    assert_eq!(external.last_id(), 6);
    assert_eq!(external.committed_operations(&set(5, "x")), Some(vec![moved(&set(5, "x"))]));
    assert!(read(2, &body).is_err() && read(3, &body).is_err());
    for cut in 0..body.len() {
        assert!(read(1, &body[..cut]).is_err(), "{cut}");
    }
}

fn formula(text: &str) -> Operation {
    let formula = Some(text.to_owned());
    let edit = CellEdit { row: 9, column: 9, value: Some(Value::Empty), formula, format: None };
    Operation::SetCells(SetCells { sheet: SheetId(7), cells: vec![edit] })
}

#[test]
fn external_edits_round_trip_with_the_sheets_of_their_formulas() {
    let names = |later_name: Option<&str>| {
        let sheet =
            FormulaSheet { sheet: SheetId::FIRST, later_name: later_name.map(str::to_owned) };
        FormulaSheets::from_names([("data".to_owned(), sheet)])
    };
    for (later_name, expected) in [(Some("Facts"), "=Facts!B8"), (None, "=#REF!")] {
        let map = external().map.with_formula_sheets(names(later_name));
        let external = ExternalEdits { map, ..external() };
        let (version, body) = encode_external(at(9), &external).unwrap();
        assert_eq!(version, 2);
        let read = |body: &[u8]| {
            let object = external.object.clone();
            decode_external(version, at(9), external.client, 5, object, body)
        };
        assert_eq!(read(&body).unwrap(), external);
        let committed = external.committed_operations(&formula("=Data!C6"));
        assert_eq!(committed, Some(vec![formula(expected)]));
        for cut in 0..body.len() {
            assert!(read(&body[..cut]).is_err(), "{cut}");
        }
    }
}

fn moved(operation: &Operation) -> Operation {
    let Operation::SetCells(mut set) = operation.clone() else { panic!() };
    set.cells.iter_mut().for_each(|edit| (edit.row, edit.column) = (edit.row + 2, 0));
    Operation::SetCells(set)
}

#[test]
fn objects_round_trip_and_other_bytes_are_rejected() {
    let operations = vec![set(0, "a"), set(1, &"b".repeat(50_000))];
    let object = encode_external_body(&operations).unwrap();
    assert!(object.len() < 200);
    assert_eq!(decode_external_body(&object).unwrap(), operations);
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    for bad in [vec![], vec![Operation::InsertRows(insert)]] {
        assert!(decode_external_body(&encode_external_body(&bad).unwrap()).is_err());
    }
    for cut in 0..object.len() {
        assert!(decode_external_body(&object[..cut]).is_err(), "{cut}");
    }
    let other_version = [&[2], &object[1..]].concat();
    assert!(decode_external_body(&other_version).is_err());
}

/// Returns an object that the encoder would never write. Each element of `counts` is the number
/// of blank cells in one operation.
fn bomb(cells: &[usize]) -> Vec<u8> {
    let mut plain = postcard::to_allocvec(&cells.len()).unwrap();
    for count in cells {
        // `SetCells` on sheet 0 without formats. The operation has one run of cells, which
        // starts at row 0, column 0.
        plain.extend([0, 0, 0, 1, 0, 0]);
        plain.extend(postcard::to_allocvec(count).unwrap());
        plain.resize(plain.len() + count, 0);
    }
    let packed = zstd::bulk::compress(&plain, COMPRESSION_LEVEL).unwrap();
    [&[OBJECT_VERSION], packed.as_slice()].concat()
}

fn blank(count: usize) -> Operation {
    let blank =
        |row| CellEdit { row, column: 0, value: Some(Value::Empty), formula: None, format: None };
    let cells = (0..u32::try_from(count).unwrap()).map(blank).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

#[test]
fn limits_the_cells_and_mutations_of_an_upload() {
    let full = vec![MAX_CELLS_PER_OPERATION; MAX_CELLS_PER_UPLOAD / MAX_CELLS_PER_OPERATION];
    let and_one = [full.as_slice(), &[1]].concat();
    let most = MAX_MUTATIONS_PER_REQUEST;
    for (cells, fits) in [
        (full, true),
        (and_one, false),
        (vec![MAX_CELLS_PER_OPERATION], true),
        (vec![MAX_CELLS_PER_OPERATION + 1], false),
        (vec![1; most], true),
        (vec![1; most + 1], false),
    ] {
        let operations: Vec<Operation> = cells.iter().map(|count| blank(*count)).collect();
        let object = bomb(&cells);
        assert!(object.len() < 4_000);
        assert_eq!(decode_external_body(&object).is_ok(), fits, "{cells:?}");
        assert_eq!(encode_external_body(&operations).is_ok(), fits, "{cells:?}");
    }
    // Both objects contain 32 MB of cells: the first in many single-cell operations, the second
    // in one operation.
    assert!(decode_external_body(&bomb(&vec![1; 4_000_000])).is_err());
    assert!(decode_external_body(&bomb(&[32_000_000])).is_err());
}

#[test]
fn limits_the_moved_sheets_of_a_record() {
    let read = |count: usize| {
        let stored = ExternalV1 {
            base: BaseV1::relative_to(at(9), at(3)),
            count: 1,
            bytes: 1,
            sha256: [0; 32],
            sheets: (0..u32::try_from(count).unwrap()).map(unmoved).collect(),
        };
        let body = postcard::to_allocvec(&stored).unwrap();
        decode_external(1, at(9), ClientKey([7; 8]), 1, String::new(), &body)
    };
    assert!(read(MAX_MOVED_SHEETS).is_ok());
    assert!(read(MAX_MOVED_SHEETS + 1).is_err());
}

#[test]
fn limits_the_named_sheets_of_a_record() {
    let read = |count: usize| {
        let v1 = ExternalV1 {
            base: BaseV1::relative_to(at(9), at(3)),
            count: 1,
            bytes: 1,
            sha256: [0; 32],
            sheets: Vec::new(),
        };
        let name = |sheet: u32| NameV2 { name: sheet.to_string(), sheet, later_name: None };
        let names = (0..u32::try_from(count).unwrap()).map(name).collect();
        let body = postcard::to_allocvec(&ExternalV2 { v1, names }).unwrap();
        decode_external(2, at(9), ClientKey([7; 8]), 1, String::new(), &body)
    };
    assert!(read(MAX_SHEETS).is_ok());
    assert!(read(MAX_SHEETS + 1).is_err());
}

fn unmoved(sheet: u32) -> SheetV1 {
    let map = |axis| StoredAxisMap::from(&cellar_sheet::axis_map::AxisMap::identity(axis));
    SheetV1 { sheet, target: Some(sheet), rows: map(Axis::Rows), columns: map(Axis::Columns) }
}

#[test]
fn rejects_a_decompression_bomb_before_it_takes_memory() {
    let bomb = |bytes: usize| {
        let plain = zstd::bulk::compress(&vec![0_u8; bytes], 3).unwrap();
        decompress(&plain, MAX_EXTERNAL_BODY_BYTES).map(|plain| plain.len())
    };
    assert_eq!(bomb(MAX_EXTERNAL_BODY_BYTES), Ok(MAX_EXTERNAL_BODY_BYTES));
    assert!(bomb(MAX_EXTERNAL_BODY_BYTES + 1).is_err());
}
