//! The cost of snapshots and reads of formulas.

use std::time::Instant;

use cellar_api::cost::{Cost, Prices};
use cellar_engine::logs::{CellsQuery, CellsRead, SheetName};
use cellar_engine::snapshots::LevelsBuilder;
use cellar_runtime::s3::S3Blobs;
use cellar_sheet::a1::Range;
use cellar_sheet::cell::Value;

use super::*;

/// Number of formulas that an edit sets.
const FORMULAS_PER_EDIT: u32 = 5_000;

/// A log with a column of numbers and a running total beside it.
struct Totals {
    fixture: Fixture,
    /// The service of the process that edits.
    editor: Logs,
    blobs: Arc<S3Blobs>,
    blob_meter: Arc<Meter>,
    log: LogId,
    base: Position,
    sent: u64,
}

impl Totals {
    async fn of_rows(rows: u32) -> Self {
        let fixture = Fixture::start().await;
        let (blobs, blob_meter) = fixture.cloud.blobs();
        let (blobs, log) = (Arc::new(blobs), log("totals"));
        let editor = new_logs(&fixture, &blobs);
        editor.create(log, None).await.unwrap();
        let (base, sent) = (Position::FIRST, 0);
        let mut totals = Self { fixture, editor, blobs, blob_meter, log, base, sent };
        for first in (0..rows).step_by(FORMULAS_PER_EDIT as usize) {
            let cells = (first..rows.min(first + FORMULAS_PER_EDIT)).flat_map(row_of_totals);
            totals.edit(cells.collect()).await;
        }
        totals
    }

    /// Returns the service of a process without cached state.
    fn cold(&self) -> Logs {
        new_logs(&self.fixture, &self.blobs)
    }

    async fn edit(&mut self, cells: Vec<CellEdit>) {
        self.sent += 1;
        let set = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
        let edit = request(self.log, None, self.sent, self.base, set);
        self.base = self.editor.append(edit).await.unwrap().tail;
    }

    /// Sets the first number, on which all totals depend.
    async fn edit_first(&mut self, value: f64) {
        self.edit(vec![number(0, value)]).await;
    }

    /// Builds a snapshot of the newest edit. Returns its cost, without that of the entry.
    async fn snapshot(&mut self) -> Cost {
        let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
        let upkept = self.editor.upkeep(self.log, &policy).await.unwrap();
        let UpkeepOutcome::Snapshot(position) = upkept else { panic!("{upkept:?}") };
        self.base = position;
        let (ports, pending_meter) = self.fixture.snapshot_ports();
        let builder = LevelsBuilder::new(Arc::new(self.cold()), Arc::clone(&self.blobs) as _);
        let snapshots = Snapshots::new(ports, Arc::new(builder));
        self.take_cost();
        let job = SnapshotJob { log: self.log, position };
        let outcome = snapshots.handle(job, &Receipt("none".to_owned()), u64::MAX).await;
        assert_eq!(outcome, SnapshotOutcome::Done);
        [self.take_cost(), pending_meter.take()].into_iter().sum()
    }

    /// Returns the cost of the tables and the bucket since the last call.
    fn take_cost(&self) -> Cost {
        [self.fixture.meter.take(), self.blob_meter.take()].into_iter().sum()
    }

    /// Reads a range in a process without cached state. Returns also the cost.
    async fn read(&self, range: &str) -> (CellsRead, Cost) {
        let query = CellsQuery {
            sheet: SheetName::First,
            rectangle: range.parse::<Range>().unwrap().rectangle,
            at: None,
            from: None,
            min_position: None,
            with_texts: false,
        };
        let logs = self.cold();
        self.take_cost();
        let read = logs.cells(self.log, &query).await.unwrap();
        (read, self.take_cost())
    }
}

fn new_logs(fixture: &Fixture, blobs: &Arc<S3Blobs>) -> Logs {
    let (tables, blobs) = (|| Arc::clone(&fixture.tables), Arc::clone(blobs));
    Logs::new(tables(), tables(), blobs, Arc::new(SystemClock), Arc::new(SystemRandom))
}

fn number(row: u32, number: f64) -> CellEdit {
    let value = Some(Value::Number(number));
    CellEdit { row, column: 0, value, formula: None, format: None }
}

fn row_of_totals(row: u32) -> [CellEdit; 2] {
    let formula = match row {
        0 => "=A1".to_owned(),
        _ => format!("=B{row}+A{}", row + 1),
    };
    let total = CellEdit { row, column: 1, value: None, formula: Some(formula), format: None };
    [number(row, f64::from(row % 1_000) / 4.0), total]
}

/// Read units in halves, write units, PUTs and GETs.
fn parts(cost: Cost) -> (u64, u64, u64, u64) {
    (cost.read_half_units, cost.write_units, cost.object_puts, cost.object_gets)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_10_000_changed_formulas_costs_a_few_requests() {
    let mut totals = Totals::of_rows(10_000).await;
    totals.snapshot().await;
    totals.edit_first(7.0).await;
    let snapshot = totals.snapshot().await;
    let (read, fresh) = totals.read("B10000").await;
    // A snapshot without changed formulas costs as much without the values.
    totals.edit(vec![CellEdit { column: 7, ..number(0, 1.0) }]).await;
    let unchanged = totals.snapshot().await;
    assert_eq!(parts(snapshot), (11, 6, 4, 8), "{snapshot:?}");
    assert_eq!(read.cells[0].cell.value, Value::Number(1_248_757.0));
    assert_eq!(parts(fresh), (4, 0, 0, 2), "{fresh:?}");
    assert_eq!(parts(unchanged), (11, 4, 2, 4), "{unchanged:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_read_and_a_spill_cost_no_units_in_addition() {
    let mut totals = Totals::of_rows(10_000).await;
    let formula = |row, column, text: &str| CellEdit {
        row,
        column,
        value: Some(Value::Number(1.0)),
        formula: Some(text.to_owned()),
        format: None,
    };
    let beyond = formula(0, 4, "=SUM(SEQUENCE(99999999))+B10000");
    totals.edit(vec![formula(0, 3, "=B10000"), beyond, formula(0, 6, "=SEQUENCE(9)")]).await;
    totals.snapshot().await;
    let (fresh, fresh_cost) = totals.read("D1").await;
    let (stale, stale_cost) = totals.read("E1").await;
    assert_eq!((fresh.cells[0].stale, stale.cells[0].stale), (false, true));
    let (spilled, spill_cost) = totals.read("G1:G9").await;
    assert_eq!(spilled.cells.len(), 9);
    assert_eq!(parts(fresh_cost), (4, 0, 0, 2), "{fresh_cost:?}");
    assert_eq!(parts(stale_cost), (4, 0, 0, 2), "{stale_cost:?}");
    assert_eq!(parts(spill_cost), (4, 0, 0, 2), "{spill_cost:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn figures_of_snapshots_of_formulas() {
    for rows in [10_000, 1_000_000] {
        let mut totals = Totals::of_rows(rows).await;
        totals.snapshot().await;
        totals.edit_first(7.0).await;
        let (stale, stale_cost) = totals.read(&format!("B{rows}")).await;
        let begun = Instant::now();
        let cost = totals.snapshot().await;
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{rows} changed formulas: {cost:?}, {}, {seconds:.1} s",
            Prices::US_EAST_1.dollars(&cost)
        );
        let is_stale = stale.cells[0].stale;
        println!("  a read of the last one before (stale: {is_stale}): {stale_cost:?}");
    }
}
