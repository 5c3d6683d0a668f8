//! Random histories: after each step, the client reads the same cells and calculates the same values
//! as the server.

use std::collections::BTreeSet;

use cellar::import::ReadOptions;
use cellar::import::sheets::{JournalKey, ProgressMonitor, Target, import_sheets};
use cellar_api::wire::DiffReply;
use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::random::FormulaScope;
use cellar_sheet::operation::{
    AddSheet, ClearRange, DeleteSpans, InsertBefore, RenameSheet, SetFormat, Spans,
};
use cellar_sheet::workbook::{CellDiff, SheetDiff};
use fastrand::Rng;

use super::*;

const STEPS: usize = 70;
pub(super) const EXTRA: &str = "Extra";
pub(super) const OTHER: &str = "Other";
/// The formulas of two sheets read each other.
const FORMULA_SCOPE: FormulaScope = FormulaScope {
    rows: 60,
    columns: 12,
    sheets: &["Sheet1", EXTRA, OTHER],
    names: &[],
    exceeds_limits: true,
};

/// Returns a random operation of any kind, including operations that are too large for an entry.
pub(super) fn operation(random: &mut Rng, sheet: SheetId, step: usize) -> Operation {
    let span = |random: &mut Rng, end: u32| {
        let first = random.u32(0..end);
        Spans::one(first, random.u32(1..20))
    };
    match random.u32(0..14) {
        0 => Operation::InsertRows(InsertBefore { sheet, before: random.u32(0..300), count: 3 }),
        1 => Operation::InsertColumns(InsertBefore { sheet, before: random.u32(0..9), count: 1 }),
        2 => Operation::DeleteRows(DeleteSpans { sheet, spans: span(random, 300) }),
        3 => {
            let spans = Spans::one(random.u32(0..12), 1);
            Operation::DeleteColumns(DeleteSpans { sheet, spans })
        }
        4 | 5 => {
            let (rows, columns) = (span(random, 300), span(random, 9));
            let format = ["0.00", "yyyy-mm-dd", "General", "#,##0"][random.usize(0..4)].to_owned();
            Operation::SetFormat(SetFormat { sheet, rows, columns, format })
        }
        6 => {
            let (rows, columns) = (span(random, 300), Spans::all(Axis::Columns));
            Operation::ClearRange(ClearRange { sheet, rows, columns })
        }
        7 => set(random, sheet, 1, MAX_TILE_TEXT_BYTES + 500),
        8 => set(random, sheet, 40, 600),
        _ => {
            let edits = set(random, sheet, 150, step % 40 + 1);
            with_references(random, edits)
        }
    }
}

/// Replaces the formulas of an edit by formulas that refer to other cells.
fn with_references(random: &mut Rng, mut operation: Operation) -> Operation {
    if let Operation::SetCells(edits) = &mut operation {
        for formula in edits.cells.iter_mut().filter_map(|edit| edit.formula.as_mut()) {
            *formula = FORMULA_SCOPE.draw_formula(&mut |end| random.u32(0..end.max(1)));
        }
    }
    operation
}

/// Returns numbers and incompressible texts of about `text_bytes` bytes.
fn set(random: &mut Rng, sheet: SheetId, count: usize, text_bytes: usize) -> Operation {
    let edit = |_| {
        let value = match random.u32(0..5) {
            0 => None,
            1 => Some(Value::Empty),
            2 => Some(Value::Number(f64::from(random.u32(..)) / 8.0)),
            _ => Some(Value::Text((0..text_bytes).map(|_| random.alphanumeric()).collect())),
        };
        let is_number = matches!(value, Some(Value::Number(_)));
        CellEdit {
            row: random.u32(0..400),
            column: random.u32(0..12),
            formula: (is_number && random.bool()).then(|| "=1+1".to_owned()),
            format: (value.is_none() || random.u32(0..9) == 0).then(|| "0.0".to_owned()),
            value,
        }
    };
    Operation::SetCells(SetCells { sheet, cells: (0..count).map(edit).collect() })
}

/// Imports a sheet, which replaces the sheet imported before.
async fn import(world: &World, random: &mut Rng, replace: Option<&str>) {
    let path = world.folder.path().join("imported.csv");
    let line = |_| format!("{},{:.2},{}\n", random.u32(..), random.f64(), random.u64(..));
    std::fs::write(&path, (0..800).map(line).collect::<String>()).unwrap();
    let options = ReadOptions::default();
    let key = JournalKey {
        cloud: world.client.identity(),
        subject: "alice",
        file: &path,
        options: &options,
        into: Some(world.log),
        replace,
    };
    let (into, replace) = (Some(world.log), replace.map(str::to_owned));
    let target = Target {
        into,
        name: None,
        replace,
        journal: key.path(world.folder.path()),
        restart: false,
    };
    import_sheets(&world.client, &path, &options, &target, &ProgressMonitor::default())
        .await
        .unwrap();
}

async fn sheets(world: &World) -> Vec<(SheetId, String)> {
    let reply = world.client.spreadsheet(world.log).sheets().await.unwrap();
    reply.sheets.into_iter().map(|view| (view.sheet, view.name)).collect()
}

/// Compares two positions by their chunks, and on the server.
async fn differs_as_the_server_says(world: &World, from: Position, to: Position) {
    let spreadsheet = world.client.spreadsheet(world.log);
    let from_chunks = spreadsheet.diff_from_chunks(from, to, usize::MAX, |_| {}).await.unwrap();
    let listed = from_chunks.expect("both positions can be read from chunks");
    assert_eq!(listed.unlisted_cells().len(), 0);
    let shown = spreadsheet.diff(from, to).await.unwrap();
    if !shown.formulas_incomplete {
        assert_same_differences(listed.diff, shown);
    }
}

/// Compares the differences in chunks with those that the server shows.
pub(super) fn assert_same_differences(mut listed: DiffReply, mut shown: DiffReply) {
    let (from, to) = (shown.from, shown.to);
    for diff in [&mut listed, &mut shown] {
        diff.sheets.iter_mut().for_each(omit_results);
    }
    for (own, shown) in listed.sheets.iter().zip(&shown.sheets) {
        let only = |diff: &[CellDiff], other: &[CellDiff]| -> Vec<_> {
            diff.iter().filter(|cell| !other.contains(cell)).cloned().collect()
        };
        let differences = [only(&own.cells, &shown.cells), only(&shown.cells, &own.cells)];
        assert_eq!(differences, [vec![], vec![]], "{} from {from} to {to}", own.name);
    }
    let json = |diff| serde_json::to_value(diff).unwrap();
    assert_eq!(json(&listed), json(&shown), "from {from} to {to}");
}

/// The stored results of formulas depend on the snapshot from which they are read.
fn omit_results(sheet: &mut SheetDiff) {
    let changed = sheet.cells.iter_mut().flat_map(|diff| [&mut diff.before, &mut diff.after]);
    let deleted = sheet.deleted_cells.iter_mut().map(|deleted| &mut deleted.cell);
    for cell in changed.chain(deleted).filter(|cell| cell.formula.is_some()) {
        cell.value = Value::Empty;
    }
}

async fn reads_as_the_server_does(seed: u64) {
    let (world, mut random) = (World::start().await, Rng::with_seed(seed));
    let extra = AddSheet { sheet: SheetId(1), name: EXTRA.into(), before: None };
    world.apply(Operation::AddSheet(extra)).await;
    for seed in 0..3 {
        world.apply(noise(SheetId::FIRST, seed)).await;
    }
    let (mut without_fetch, mut roots, mut positions) = (0, BTreeSet::new(), Vec::new());
    for step in 0..STEPS {
        match step {
            20 => import(&world, &mut random, None).await,
            50 => import(&world, &mut random, Some("imported")).await,
            35 => {
                let rename = RenameSheet { sheet: SheetId(1), name: OTHER.into() };
                world.apply(Operation::RenameSheet(rename)).await;
            }
            _ => {}
        }
        let sheets = sheets(&world).await;
        let (sheet, name) = &sheets[random.usize(..sheets.len())];
        let edited = world.apply(operation(&mut random, *sheet, step)).await;
        positions.push(edited);

        if step % 12 == 11 {
            world.settle().await;
            Box::pin(world.check_exports(CellsQuery::of_sheet(name))).await;
            let at = positions[random.usize(..positions.len())];
            Box::pin(world.check_exports(CellsQuery::default().at_position(at))).await;
            Box::pin(differs_as_the_server_says(&world, at, edited)).await;
            Box::pin(differs_as_the_server_says(&world, edited, at)).await;
        }
        let root_before = world.root().await;
        roots.extend(root_before.clone());
        let client = world.reader_client();
        let mut reader = world.open(&client).await;
        assert!(reader.position() >= edited);
        let (row, column) = (random.u32(1..350), random.u32(0..10));
        let letters = cellar_sheet::a1::column_name(column);
        let window = format!("{letters}{row}:{letters}{}", row + random.u32(0..90));
        let whole = ["A1:T40", "A:ZZ"][step % 2];
        world.check(&mut reader, Some(name.as_str()), &window).await;
        world.check(&mut reader, None, whole).await;
        world.check(&mut reader, Some(name.to_uppercase().as_str()), whole).await;

        // Read again from the start: nothing is fetched unless there is a newer root.
        let again = world.reader_client();
        let mut reader = world.open(&again).await;
        world.check(&mut reader, Some(name.as_str()), &window).await;
        if world.root().await == root_before {
            assert_eq!(again.cost().cost.object_gets, 0, "step {step}");
            without_fetch += 1;
        }
    }
    assert!(without_fetch > STEPS / 2, "{without_fetch}");
    // At least one root per twelve steps, and finally chunks of levels and of imports.
    assert!(roots.len() >= STEPS / 12, "{} roots", roots.len());
    world.settle().await;
    let client = world.reader_client();
    let mut reader = Reader::open(client.spreadsheet(world.log), None, None).await.unwrap();
    for (_, name) in sheets(&world).await {
        world.check(&mut reader, Some(name.as_str()), "A:ZZ").await;
        Box::pin(world.check_exports(CellsQuery::of_sheet(&name))).await;
    }
    let fetched = client.cost().cost.object_gets;
    assert!(fetched >= 4, "{fetched} objects");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_reader_shows_is_what_the_server_shows_at_every_step() {
    reads_as_the_server_does(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_reader_shows_is_what_the_server_shows_in_another_history() {
    reads_as_the_server_does(20_260_101).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_read_fetches_nothing_and_another_window_only_its_own() {
    let world = World::with_snapshots().await;
    world.apply(set(&mut Rng::with_seed(7), SheetId::FIRST, 60, 500)).await;
    world.settle().await;
    let loaded = world.client.spreadsheet(world.log).load(None).await.unwrap();
    assert!(loaded.entries.iter().any(|entry| entry.external_body.is_some()), "no large entry");

    let (first, fetched) = world.read(None, "A1:C20").await;
    assert!(fetched >= 2, "{fetched}");
    let (second, again) = world.read(None, "A1:C20").await;
    assert_same(&second, &first);
    assert_eq!(again, 0);
    let (whole, more) = world.read(None, "A:AZ").await;
    assert_same(&whole, &world.shown(None, "A:AZ", whole.position).await);
    let (_, none) = world.read(None, "A:AZ").await;
    assert_eq!(none, 0, "after {more} more");

    // Without a cache, everything is fetched each time.
    let client = world.reader_client();
    for reads in 1..=2 {
        let opened = Reader::open(client.spreadsheet(world.log), None, None).await;
        assert_eq!(
            opened.unwrap().cells(None, rectangle("A1:C20")).await.unwrap().cells,
            first_cells(&whole)
        );
        assert_eq!(client.cost().cost.object_gets, reads * fetched);
    }
}

/// Returns the part of a reply within `A1:C20`.
fn first_cells(whole: &CellsReply) -> Vec<cellar_api::wire::CellAt> {
    let inside = rectangle("A1:C20");
    let cells = whole.cells.iter().filter(|placed| inside.contains(placed.row, placed.column));
    cells.cloned().collect()
}
