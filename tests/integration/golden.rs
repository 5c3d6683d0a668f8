//! Bodies of every released version, byte for byte: they must be read for ever.

use std::fs;
use std::path::PathBuf;

use cellar_core::cell::{ErrorCode, Value};
use cellar_core::entry::{
    Header, Mutation, decode_edits, decode_header, encode_edits, encode_header,
};
use cellar_core::identity::ClientKey;
use cellar_core::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_core::position::Position;

fn edit(row: u32, column: u32, value: Value) -> CellEdit {
    CellEdit { row, column, value: Some(value), formula: None, format: None }
}

/// Every kind of value, a formula, formats, gaps between cells, a committed form.
fn mutations() -> Vec<Mutation> {
    let format = |text: &str| Some(text.to_owned());
    let first = vec![
        edit(0, 0, Value::Number(7.0)),
        edit(0, 1, Value::Number(-1.25)),
        edit(0, 3, Value::Text("Grüße, \"Welt\"".into())),
        edit(2, 0, Value::Bool(true)),
        edit(2, 1, Value::Bool(false)),
        CellEdit { format: format("yyyy-mm-dd"), ..edit(9, 4, Value::Number(40_909.0)) },
        CellEdit { format: format("0.00"), value: None, ..edit(9, 5, Value::Empty) },
        CellEdit { formula: format("=A1*2"), ..edit(9, 6, Value::Number(14.0)) },
        CellEdit {
            formula: format("=B1"),
            format: format("0.00"),
            ..edit(9, 7, Value::Text("x".into()))
        },
        CellEdit { format: format("@"), ..edit(9, 8, Value::Text("y".into())) },
        edit(9, 9, Value::Number(std::f64::consts::PI)),
        edit(1_000_000, 70_000, Value::Error(ErrorCode::NotAvailable)),
        edit(1_000_001, 0, Value::Empty),
    ];
    let set = |cells| Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
    let moved = set(vec![edit(1, 0, Value::Number(7.0))]);
    vec![
        Mutation { base: Position::new(0, 5).unwrap(), authored: set(first), committed: None },
        Mutation {
            base: Position::new(3, 300).unwrap(),
            authored: set(vec![edit(0, 0, Value::Number(7.0))]),
            committed: Some(moved),
        },
    ]
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// The released bytes; written if they are not there and that is asked for.
fn released(name: &str, bytes: &[u8]) -> Vec<u8> {
    let path = golden(name);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, format!("{hex}\n")).unwrap();
    }
    let released = fs::read_to_string(&path).unwrap();
    assert_eq!(hex, released.trim(), "the released encoding has changed: add a version instead");
    let digits: Vec<char> = released.trim().chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn edits_version_1() {
    let position = Position::new(3, 301).unwrap();
    let body = released("entry-edits-v1.hex", &encode_edits(position, &mutations()).unwrap());
    let read = decode_edits(1, position, ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations());
}

#[test]
fn headers() {
    let header =
        Header { segment_bytes: 1 << 40, epoch: 7, snapshot_num: 300, snapshot_bytes: 1_000 };
    let bytes = released("entry-header.hex", &encode_header(&header).unwrap());
    assert_eq!(decode_header(&bytes).unwrap(), header);
}
