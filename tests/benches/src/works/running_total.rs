//! A running total of many formulas, which one edit of the first number changes: the next read says that
//! the last total is stale, and the next snapshot calculates all of them.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{CellsQuery, CellsRead, Logs, SheetName, UpkeepOutcome};
use cellar_engine::memory::{ManualClock, MemoryBlobs, MemoryTables};
use cellar_engine::ports::{Entries as _, Segments as _};
use cellar_engine::snapshots::{BuildStep, LevelsBuilder, SnapshotBuilder as _};
use cellar_engine::system::SystemRandom;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::upkeep::LogPolicy;
use cellar_sheet::a1::Range;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::clock::timed_until;
use crate::report::Row;
use crate::{Failure, Options};

/// Number of rows that an edit sets.
const ROWS_PER_EDIT: u32 = 5_000;
/// Repetitions of the edit, the read and the snapshot.
const REPEATS: usize = 5;
/// A time in 2026, in milliseconds.
const NOW_MS: u64 = 1_795_246_133_000;

pub(crate) fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(measured(options.rows))
}

async fn measured(rows: u32) -> Result<Vec<Row>, Failure> {
    let mut totals = Totals::of_rows(rows).await?;
    let (first, first_s) = timed_until(totals.snapshot()).await;
    first?;
    let mut reads_s = Vec::new();
    let mut snapshots_s = Vec::new();
    for number in 1..=REPEATS {
        let number = f64::from(u32::try_from(number)?) * 1_000.0;
        totals.edit(vec![number_at(0, number)]).await?;
        let (stale, read_s) = timed_until(totals.last_total(rows)).await;
        Totals::check(&stale?, rows, number, true)?;
        let (snapshot, snapshot_s) = timed_until(totals.snapshot()).await;
        snapshot?;
        Totals::check(&totals.last_total(rows).await?, rows, number, false)?;
        reads_s.push(read_s);
        snapshots_s.push(snapshot_s);
    }
    let mut snapshot = Row::new("snapshot of changed totals", "CPU s", median(&mut snapshots_s));
    if rows == 1_000_000 {
        snapshot = snapshot.at_most(1.5);
    }
    Ok(vec![
        Row::new("first snapshot of a running total", "CPU s", first_s),
        Row::new("last changed total is stale", "CPU ms", median(&mut reads_s) * 1e3),
        snapshot,
    ])
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or_default()
}

/// A log with a column of numbers and a running total beside it.
struct Totals {
    /// The service of the process that edits.
    editor: Logs,
    tables: Arc<MemoryTables>,
    blobs: Arc<MemoryBlobs>,
    clock: Arc<ManualClock>,
    log: LogId,
    base: Position,
    sent: u64,
}

impl Totals {
    async fn of_rows(rows: u32) -> Result<Self, Failure> {
        let clock = Arc::new(ManualClock::at(NOW_MS));
        let tables = Arc::new(MemoryTables::default());
        let blobs = Arc::new(MemoryBlobs::new(Arc::clone(&clock) as _));
        let log = LogId::derive(&SubjectKey::new("benches", "alice"), "totals")?;
        let editor = new_logs(&tables, &blobs, &clock);
        let mut totals = Self { editor, tables, blobs, clock, log, base: Position::FIRST, sent: 0 };
        totals.editor.create(log, None).await?;
        for first in (0..rows).step_by(ROWS_PER_EDIT as usize) {
            let rows = first..rows.min(first + ROWS_PER_EDIT);
            totals.edit(rows.flat_map(row_of_totals).collect()).await?;
        }
        Ok(totals)
    }

    /// Returns the service of a process without cached state.
    fn logs(&self) -> Logs {
        new_logs(&self.tables, &self.blobs, &self.clock)
    }

    async fn edit(&mut self, cells: Vec<CellEdit>) -> Result<(), Failure> {
        self.sent += 1;
        let operation = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
        let mutations = vec![NewMutation { id: self.sent, base: self.base, operation }];
        let (client, ack) = (ClientKey([1; 8]), self.sent - 1);
        let request = Request::new(self.log, client, None, FIRST_INCARNATION, ack, mutations)?;
        self.base = self.editor.append(request).await?.tail;
        Ok(())
    }

    /// Builds a snapshot of the newest edit.
    async fn snapshot(&mut self) -> Result<(), Failure> {
        let policy = LogPolicy {
            snapshot_entries: 1,
            segment_entries: u32::MAX,
            segment_bytes: u64::MAX,
            ..LogPolicy::default()
        };
        let upkept = self.editor.upkeep(self.log, &policy).await?;
        let UpkeepOutcome::Snapshot(position) = upkept else {
            return Err(format!("no snapshot was started: {upkept:?}").into());
        };
        self.base = position;
        let job = SnapshotJob { log: self.log, position };
        let builder = LevelsBuilder::new(Arc::new(self.logs()), Arc::clone(&self.blobs) as _);
        let mut progress = Vec::new();
        let root = loop {
            match builder.step(&job, &progress).await? {
                BuildStep::Progress(next) => progress = next,
                BuildStep::Finished { root } => break root,
                BuildStep::EarlierSnapshot(_) => {
                    return Err("an earlier snapshot is missing".into());
                }
            }
        };
        self.tables.set_root(self.log, position, &root).await?;
        self.tables.raise_last_snapshot(self.log, position).await?;
        Ok(())
    }

    /// Reads the last total in a process without cached state.
    async fn last_total(&self, rows: u32) -> Result<CellsRead, Failure> {
        let query = CellsQuery {
            sheet: SheetName::First,
            rectangle: format!("B{rows}").parse::<Range>()?.rectangle,
            at: None,
            from: None,
            min_position: None,
            with_texts: false,
        };
        Ok(self.logs().cells(self.log, &query).await?)
    }

    fn check(read: &CellsRead, rows: u32, first: f64, is_stale: bool) -> Result<(), Failure> {
        let cell = read.cells.first().ok_or("the last total is missing")?;
        let expected = first + (1..rows).map(number_in).sum::<f64>();
        let is_right = is_stale || cell.cell.value == Value::Number(expected);
        if cell.stale != is_stale || !is_right {
            return Err(format!("the last total is {cell:?} instead of {expected}").into());
        }
        Ok(())
    }
}

fn new_logs(
    tables: &Arc<MemoryTables>,
    blobs: &Arc<MemoryBlobs>,
    clock: &Arc<ManualClock>,
) -> Logs {
    let (entries, segments) = (Arc::clone(tables), Arc::clone(tables));
    Logs::new(
        entries,
        segments,
        Arc::clone(blobs) as _,
        Arc::clone(clock) as _,
        Arc::new(SystemRandom),
    )
}

fn number_in(row: u32) -> f64 {
    f64::from(row % 1_000) / 4.0
}

fn number_at(row: u32, number: f64) -> CellEdit {
    let value = Some(Value::Number(number));
    CellEdit { row, column: 0, value, formula: None, format: None }
}

fn row_of_totals(row: u32) -> [CellEdit; 2] {
    let formula = match row {
        0 => "=A1".to_owned(),
        _ => format!("=B{row}+A{}", row + 1),
    };
    let total = CellEdit { row, column: 1, value: None, formula: Some(formula), format: None };
    [number_at(row, number_in(row)), total]
}
