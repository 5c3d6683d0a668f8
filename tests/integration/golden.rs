//! Golden files of every released version: they must stay readable for ever.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cellar_api::wire::hexadecimal;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_log::entry::{
    Content, Edits, Entry, ExternalEdits, Header, Merged, Mutation, decode_edits, decode_external,
    decode_external_body, decode_header, decode_old_header, encode_edits, encode_edits_body,
    encode_external, encode_external_body, encode_header,
};
use cellar_log::transform::{FormulaSheet, FormulaSheets, SpaceMap};
use cellar_log::{
    retention::decode_offloaded, retention::encode_offloaded, retention::offloaded_key,
};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::{Extent, SheetSet, StateSummary};
use cellar_sheet::operation::{
    AddSheet, CellEdit, ClearRange, DeleteSheet, DeleteSpans, ImportSheet, InsertBefore, Operation,
    Rejection, RejectionReason, RenameSheet, Revert, SetCells, SetFormat, SetName, SheetId, Span,
    Spans, Undo,
};
use cellar_snapshot::TileFormulas;
use cellar_snapshot::index::pack_import;
use cellar_snapshot::level::{ChunkHash, ChunkRef, StoredTile, Stripe, StripeTile};

fn edit(row: u32, column: u32, value: Value) -> CellEdit {
    CellEdit { row, column, value: Some(value), formula: None, format: None }
}

/// Returns mutations with every kind of value, a formula, formats, gaps between cells, and a
/// committed form.
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
            committed: Some(vec![moved]),
        },
    ]
}

/// Returns one operation of every kind.
fn every_operation() -> Vec<Operation> {
    let sheet = SheetId(3);
    let rows =
        Spans::from_sorted(vec![Span { first: 2, count: 3 }, Span { first: 1_000, count: 1 }]);
    let columns = Spans::all(Axis::Columns);
    let insert = InsertBefore { sheet, before: 300, count: 2 };
    let format = "0.00".to_owned();
    let name = "Grüße".to_owned();
    let position = Position::new(2, 7).unwrap();
    vec![
        mutations().remove(1).authored,
        Operation::ClearRange(ClearRange { sheet, rows: rows.clone(), columns: columns.clone() }),
        Operation::InsertRows(insert),
        Operation::DeleteRows(DeleteSpans { sheet, spans: rows.clone() }),
        Operation::InsertColumns(insert),
        Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(0, 1) }),
        Operation::AddSheet(AddSheet { sheet, name: name.clone(), before: None }),
        Operation::RenameSheet(RenameSheet { sheet, name }),
        Operation::DeleteSheet(DeleteSheet { sheet }),
        Operation::SetFormat(SetFormat { sheet, rows, columns, format }),
        Operation::Undo(Undo { position }),
        Operation::Rejected(Rejection::new(RejectionReason::BaseGone, "gone")),
    ]
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// Returns the released bytes. If the file is missing and writing is requested, writes `bytes`
/// first.
fn released(name: &str, bytes: &[u8]) -> Vec<u8> {
    let path = golden(name);
    let hex = hexadecimal(bytes);
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, format!("{hex}\n")).unwrap();
    }
    let released = fs::read_to_string(&path).unwrap();
    assert_eq!(
        hex,
        released.trim(),
        "the encoding of a released version has changed: add a new version instead"
    );
    bytes.to_vec()
}

/// Returns released bytes that are only read: the current code does not write them, or the
/// compressor may produce other bytes.
fn once_released(name: &str, bytes: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let path = golden(name);
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, format!("{}\n", hexadecimal(&bytes()))).unwrap();
    }
    let digits: Vec<char> = fs::read_to_string(&path).unwrap().trim().chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn position() -> Position {
    Position::new(3, 301).unwrap()
}

fn authored_mutations() -> Vec<Mutation> {
    let authored = mutations().into_iter();
    authored.map(|mutation| Mutation { committed: None, ..mutation }).collect()
}

#[test]
fn edits_version_1() {
    let authored = authored_mutations();
    let (version, body) = encode_edits(position(), &authored).unwrap();
    assert_eq!(version, 1);
    let body = released("entry-edits-v1-as-authored.hex", &body);
    let read = decode_edits(1, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, authored);
}

#[test]
fn edits_version_1_as_it_was_before_there_was_a_second() {
    let body = once_released("entry-edits-v1.hex", || panic!("the golden file is missing"));
    let read = decode_edits(1, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations());
}

#[test]
fn edits_version_2_with_every_operation() {
    let mutations: Vec<Mutation> = every_operation()
        .into_iter()
        .map(|authored| Mutation {
            base: Position::new(3, 300).unwrap(),
            authored,
            committed: Some(every_operation()),
        })
        .chain(mutations())
        .collect();
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    assert_eq!(version, 2);
    let body = released("entry-edits-v2.hex", &body);
    let read = decode_edits(2, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

#[test]
fn edits_version_3_merged_from_a_fork() {
    let merged = Merged {
        fork: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
        position: Position::new(4, 9).unwrap(),
        created_s: 1_795_246_133,
        by: Some("Grüße".to_owned()),
        through: Position::new(5, 1).unwrap(),
        after: Position::new(3, 299).unwrap(),
    };
    let (client, mutations) = (ClientKey([1; 8]), authored_mutations());
    let edits = Edits { client, name: None, merged: Some(merged), first_id: 1, mutations };
    let (version, body) = encode_edits_body(position(), &edits).unwrap();
    assert_eq!(version, 3);
    let body = released("entry-edits-v3.hex", &body);
    let read = decode_edits(3, position(), client, 1, &body).unwrap();
    assert_eq!(read, edits);
}

#[test]
fn imported_sheets() {
    let hash = ChunkHash([7; 32]);
    let place = |first, count| StripeTile {
        rows: Span { first, count },
        cells: 1_000,
        stored: StoredTile::Chunk(ChunkRef { hash, bytes: 100_000 }),
        formulas: None,
    };
    let columns = Span { first: 0, count: 128 };
    let stripes = [Stripe { columns, tiles: vec![place(0, 500), place(500, 12)] }];
    let import = |sheet, replaces| {
        Operation::ImportSheet(ImportSheet {
            sheet: SheetId(sheet),
            name: "Grüße".to_owned(),
            replaces,
            extent: Extent { rows: 512, columns: 4 },
            cells: 2_000,
            formulas: None,
            sheets: BTreeMap::new(),
            tile_index: pack_import(&stripes).unwrap().0,
        })
    };
    let base = Position::new(3, 300).unwrap();
    let mutations = [import(3, Some(SheetId::FIRST)), import(4, None)].map(|authored| Mutation {
        base,
        authored,
        committed: None,
    });
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    assert_eq!(version, 1);
    let body = released("entry-import-v1.hex", &body);
    let read = decode_edits(1, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

#[test]
fn imported_sheets_with_formulas() {
    let hash = ChunkHash([7; 32]);
    let place = |first, count, formulas| StripeTile {
        rows: Span { first, count },
        cells: 1_000,
        stored: StoredTile::Chunk(ChunkRef { hash, bytes: 100_000 }),
        formulas: Some(TileFormulas::counted(formulas)),
    };
    let columns = Span { first: 0, count: 128 };
    let stripes = [Stripe { columns, tiles: vec![place(0, 500, 0), place(500, 12, 300)] }];
    let tile_index = pack_import(&stripes).unwrap().0;
    released("import-v2.hex", tile_index.bytes());
    let import = |formulas, sheets: &[(&str, u32)]| {
        let sheets = sheets.iter().map(|(name, number)| ((*name).to_owned(), SheetId(*number)));
        Operation::ImportSheet(ImportSheet {
            sheet: SheetId(3),
            name: "Grüße".to_owned(),
            replaces: Some(SheetId::FIRST),
            extent: Extent { rows: 512, columns: 4 },
            cells: 2_000,
            formulas,
            sheets: sheets.collect(),
            tile_index: tile_index.clone(),
        })
    };
    let named = [("Grüße", 3), ("Costs", 2)];
    let base = Position::new(3, 300).unwrap();
    let mutations = [import(Some(0), &[]), import(Some(300), &named), import(None, &named)]
        .map(|authored| Mutation { base, authored, committed: None });
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    let body = released("entry-import-formulas-v1.hex", &body);
    let read = decode_edits(version, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

#[test]
fn reverts() {
    let position_of = |num| Position::new(3, num).unwrap();
    let authored = Operation::Revert(Revert::whole(position_of(7)));
    let committed = Some(vec![mutations().remove(1).authored]);
    let mutations = [Mutation { base: position_of(300), authored, committed }];
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    assert_eq!(version, 2);
    let body = released("entry-revert-v2.hex", &body);
    let read = decode_edits(2, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

#[test]
fn reverts_of_a_part_and_sheets_with_a_place() {
    let position_of = |num| Position::new(3, num).unwrap();
    let part = Revert { sheet: Some(SheetId(3)), ..Revert::whole(position_of(7)) };
    let (rows, columns) = (Span { first: 300, count: 2 }, Span { first: 1, count: 400 });
    let sheet = SheetId(4);
    let before = Some(SheetId(2));
    let operations = [
        Operation::Revert(part),
        Operation::Revert(Revert { rows: Some(rows), ..part }),
        Operation::Revert(Revert { rows: Some(rows), columns: Some(columns), ..part }),
        Operation::AddSheet(AddSheet { sheet, name: "Grüße".to_owned(), before }),
    ];
    let mutations =
        operations.map(|authored| Mutation { base: position_of(300), authored, committed: None });
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    assert_eq!(version, 1);
    let body = released("entry-revert-part-v1.hex", &body);
    let read = decode_edits(1, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

#[test]
fn definitions_of_names() {
    let set = |name: &str, formula: Option<&str>| {
        let sheets = [("Grüße", 3), ("My data", 300)];
        let sheets = sheets.map(|(label, number)| (label.to_owned(), SheetId(number)));
        let sheets = formula.map(|_| sheets.into_iter().collect()).unwrap_or_default();
        let formula = formula.map(str::to_owned);
        Operation::SetName(SetName { name: name.to_owned(), formula, sheets })
    };
    let authored = set("Preise", Some("=SUM(Grüße!$A$2:$A$10,'My data'!$B:$C)"));
    let moved = set("Preise", Some("=SUM(Grüße!$A$4:$A$12,#REF!)"));
    let base = Position::new(3, 300).unwrap();
    let mutations = [
        Mutation { base, authored, committed: Some(vec![moved]) },
        Mutation { base, authored: set("Preise", None), committed: None },
    ];
    let (version, body) = encode_edits(position(), &mutations).unwrap();
    assert_eq!(version, 2);
    let body = released("entry-name-v2.hex", &body);
    let read = decode_edits(2, position(), ClientKey([1; 8]), 1, &body).unwrap();
    assert_eq!(read.mutations, mutations);
}

/// Returns a large entry whose formulas name `sheets`.
fn large_entry(sheets: FormulaSheets) -> ExternalEdits {
    let map = SpaceMap::from_operations(&every_operation());
    ExternalEdits {
        client: ClientKey([1; 8]),
        first_id: 9,
        count: 2,
        base: Position::new(2, 5).unwrap(),
        object: "uploads/a/b".to_owned(),
        bytes: 12_345,
        sha256: [0xab; 32],
        map: map.without_added_sheets().with_formula_sheets(sheets),
    }
}

#[test]
fn large_entries() {
    let sheet = |name: &str, sheet, later_name: Option<&str>| {
        let later_name = later_name.map(str::to_owned);
        (name.to_owned(), FormulaSheet { sheet: SheetId(sheet), later_name })
    };
    let sheets = [sheet("data", 0, Some("Grüße")), sheet("old", 3, None)];
    for (expected_version, file, sheets) in [
        (1, "entry-external-v1.hex", FormulaSheets::default()),
        (2, "entry-external-v2.hex", FormulaSheets::from_names(sheets)),
    ] {
        let external = large_entry(sheets);
        let (version, body) = encode_external(position(), &external).unwrap();
        assert_eq!(version, expected_version);
        let body = released(file, &body);
        let (client, object) = (external.client, external.object.clone());
        let read = decode_external(version, position(), client, 9, object, &body).unwrap();
        assert_eq!(read, external);
    }
}

#[test]
fn objects_of_large_entries() {
    let operations: Vec<Operation> = mutations().into_iter().map(|m| m.authored).collect();
    let object = once_released("entry-external-object-v1.hex", || {
        encode_external_body(&operations).unwrap()
    });
    assert_eq!(decode_external_body(&object).unwrap(), operations);
}

#[test]
fn offloads() {
    let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
    let mut entries = vec![
        Entry::first(log, Some("alice".into()), 1_795_246_133),
        Entry {
            position: Position::new(0, 1).unwrap(),
            content: Content::Edits(Edits {
                client: ClientKey([1; 8]),
                name: None,
                merged: None,
                first_id: 1,
                mutations: vec![Mutation { base: Position::FIRST, ..mutations().remove(0) }],
            }),
            ..Entry::first(log, None, 1_795_246_134)
        },
    ];
    // From before headers had summaries.
    entries.iter_mut().for_each(|entry| entry.header.summary = None);
    let object = once_released("offloaded-v1.hex", || encode_offloaded(&entries).unwrap());
    let key = offloaded_key(log, 0, &object);
    assert_eq!(decode_offloaded(&key, &object).unwrap(), entries);
}

#[test]
fn headers() {
    let mut sheets = SheetSet::first();
    for sheet in [1, 2, 5] {
        sheets.add(SheetId(sheet)).unwrap();
    }
    sheets.delete(SheetId(1)).unwrap();
    let summary = Arc::new(StateSummary { sheets, format_spans: 300 });
    let header = Header {
        segment_bytes: 1 << 40,
        incarnation: 7,
        snapshot_num: 300,
        snapshot_bytes: 1_000,
        outside_bytes: 0,
        summary: None,
    };
    let old = once_released("entry-header.hex", Vec::new);
    assert_eq!(decode_old_header(&old).unwrap(), header);
    let header = Header { summary: Some(summary), ..header };
    let bytes = released("entry-header-summary.hex", &encode_header(&header).unwrap());
    assert_eq!(decode_header(&bytes).unwrap(), header);
    let header = Header { outside_bytes: 5_000_000, ..header };
    let bytes = released("entry-header-outside.hex", &encode_header(&header).unwrap());
    assert_eq!(decode_header(&bytes).unwrap(), header);
}
