//! The exact cost of each operation in DynamoDB capacity units.

mod formulas;

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{CellsQuery, Logs, NewFork, SheetName, UpkeepOutcome};
use cellar_engine::memory::MemoryQueue;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{PortError, QueueRules, Receipt};
use cellar_engine::snapshots::{BuildStep, SnapshotBuilder, SnapshotPorts, Snapshots};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::upkeep::LogPolicy;
use cellar_runtime::dynamodb::DynamoTables;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};
use cellar_snapshot::pending_snapshot::SnapshotOutcome;
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_tests::budgets::{self, Budget};
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{at, log, request, set_numbers};

struct Fixture {
    cloud: TestCloud,
    tables: Arc<DynamoTables>,
    meter: Arc<Meter>,
}

impl Fixture {
    async fn start() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let (tables, meter) = cloud.tables_at(&cloud.database_url);
        Self { cloud, tables, meter }
    }

    /// Returns the service of a process without cached state.
    fn cold(&self) -> Logs {
        TestCloud::logs(&self.tables)
    }

    /// Returns what a snapshot worker needs, and the meter of the pending snapshots.
    fn snapshot_ports(&self) -> (SnapshotPorts, Arc<Meter>) {
        let (pending, pending_meter) = self.cloud.pending_snapshots();
        let ports = SnapshotPorts {
            entries: self.tables.clone(),
            segments: self.tables.clone(),
            pending: Arc::new(pending),
            jobs: Arc::new(MemoryQueue::new(Arc::new(SystemClock), QueueRules::LONGEST)),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
        };
        (ports, pending_meter)
    }

    /// Returns the cost since the last call.
    fn cost(&self) -> (f64, u64, u64) {
        let cost = self.meter.take();
        (cost.read_units(), cost.write_units, cost.table_requests)
    }

    /// Asserts that the cost since the last call is that of `budget`, in `table_requests` requests.
    fn assert_cost(&self, budget: &Budget, table_requests: u64) {
        let (read_units, write_units) = budget.units();
        assert_eq!(self.cost(), (read_units, write_units, table_requests), "{}", budget.operation);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_costs_four_write_units() {
    let fixture = Fixture::start().await;
    fixture.cold().create(log("create"), Some("alice".into())).await.unwrap();
    assert_eq!(fixture.cost(), (0.0, 4, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_append_costs_one_write_unit_and_no_read() {
    let fixture = Fixture::start().await;
    let logs = fixture.cold();
    let log = log("warm");
    logs.create(log, None).await.unwrap();
    fixture.cost();
    for id in 1..=5 {
        let base = at(u32::try_from(id).unwrap() - 1);
        logs.append(request(log, Some("alice"), id, base, set_numbers(&[1.5]))).await.unwrap();
        fixture.assert_cost(&budgets::WARM_EDIT, 1);
    }
    // The base is four entries old, but all of them are cached: no read.
    let client = ClientKey([9; 8]);
    let mutation = NewMutation { id: 1, base: at(1), operation: set_numbers(&[2.0]) };
    let request = Request::new(log, client, None, FIRST_INCARNATION, 0, vec![mutation]).unwrap();
    assert_eq!(logs.append(request).await.unwrap().missing.len(), 4);
    fixture.assert_cost(&budgets::WARM_EDIT, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_cells_in_one_batch_cost_one_write_unit() {
    let fixture = Fixture::start().await;
    let logs = fixture.cold();
    let log = log("batch");
    logs.create(log, None).await.unwrap();
    fixture.cost();
    let ten = [1.5, 2.25, -3.0, 4e9, 5.125, 6.0, 7.75, 8.5, 9.0, 1e-9];
    let author = Some("somebody with a rather long name");
    logs.append(request(log, author, 1, at(0), set_numbers(&ten))).await.unwrap();
    fixture.assert_cost(&budgets::WARM_EDIT, 1);
    // The same operations as ten mutations of one request.
    let mutations = (2..=11).map(|id| NewMutation {
        id,
        base: at(1),
        operation: set_numbers(&[f64::from(u32::try_from(id).unwrap()) / 4.0]),
    });
    let client = ClientKey([9; 8]);
    let mutations = mutations.map(|mutation| NewMutation { id: mutation.id - 1, ..mutation });
    let request =
        Request::new(log, client, None, FIRST_INCARNATION, 0, mutations.collect()).unwrap();
    logs.append(request).await.unwrap();
    fixture.assert_cost(&budgets::WARM_EDIT, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_costs_the_same_if_formulas_depend_on_it() {
    const FORMULAS: u32 = 500;
    let fixture = Fixture::start().await;
    let logs = fixture.cold();
    let log = log("formulas");
    logs.create(log, None).await.unwrap();
    // Column B is a running total of column A.
    let formula = |row: u32| CellEdit {
        row,
        column: 1,
        value: None,
        formula: Some(format!("=SUM(A$1:A{})", row + 1)),
        format: None,
    };
    let cells = (0..FORMULAS).map(formula).collect();
    let formulas = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
    logs.append(request(log, None, 1, at(0), formulas)).await.unwrap();
    fixture.cost();
    logs.append(request(log, None, 2, at(1), set_numbers(&[1.5]))).await.unwrap();
    fixture.assert_cost(&budgets::WARM_EDIT, 1);
    // All references of column B move.
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    logs.append(request(log, None, 3, at(2), Operation::InsertRows(insert))).await.unwrap();
    fixture.assert_cost(&budgets::WARM_EDIT, 1);
    fixture.cold().append(request(log, None, 4, at(3), set_numbers(&[2.5]))).await.unwrap();
    fixture.assert_cost(&budgets::COLD_EDIT, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cold_append_costs_half_a_read_unit_more() {
    let fixture = Fixture::start().await;
    let log = log("cold");
    fixture.cold().create(log, None).await.unwrap();
    fixture.cost();
    let first = request(log, None, 1, at(0), set_numbers(&[1.0]));
    fixture.cold().append(first).await.unwrap();
    fixture.assert_cost(&budgets::COLD_EDIT, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_costs_half_a_read_unit_if_the_segment_is_known() {
    let fixture = Fixture::start().await;
    let (logs, log) = (fixture.cold(), log("head"));
    logs.create(log, None).await.unwrap();
    fixture.cost();
    logs.head(log, None).await.unwrap();
    fixture.assert_cost(&budgets::POLL, 1);
    fixture.cold().head(log, None).await.unwrap();
    assert_eq!(fixture.cost(), (1.0, 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_cost_half_a_read_unit_if_the_snapshot_is_known() {
    let fixture = Fixture::start().await;
    let (logs, log) = (fixture.cold(), log("window"));
    logs.create(log, None).await.unwrap();
    logs.append(request(log, None, 1, at(0), set_numbers(&[1.5]))).await.unwrap();
    fixture.cost();
    let query = CellsQuery {
        sheet: SheetName::First,
        rectangle: Rectangle::EVERYTHING,
        at: None,
        from: None,
        min_position: None,
        with_texts: false,
    };
    for _ in 0..2 {
        assert_eq!(logs.cells(log, &query).await.unwrap().cells.len(), 1);
        fixture.assert_cost(&budgets::WINDOW, 1);
    }
    let cold = fixture.cold();
    cold.cells(log, &query).await.unwrap();
    assert_eq!(fixture.cost(), (1.0, 0, 2));
    cold.cells(log, &query).await.unwrap();
    fixture.assert_cost(&budgets::WINDOW, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_costs_eight_write_units_whatever_is_in_the_log() {
    let fixture = Fixture::start().await;
    let logs = fixture.cold();
    for (edits, nonce) in [(0, "fork of nothing"), (60, "fork of more")] {
        let (source, subject) = (log(nonce), SubjectKey::new("test", "test"));
        append_many(&fixture, source, Some("alice"), edits).await;
        let fork = |at| {
            let log = LogId::derive_fork(&subject, source, &format!("{at:?}")).unwrap();
            NewFork { log, source, at, author: Some("alice".into()) }
        };
        fixture.cost();
        // Reads the entry and its snapshot state; for the newest entry, also the position.
        logs.fork(fork(Some(at(edits)))).await.unwrap();
        let (read_units, write_units) = budgets::FORK.units();
        // The API also creates the fork's listing, with one write unit.
        assert_eq!(fixture.cost(), (read_units, write_units - 1, 3), "{nonce}");
        let newest = fixture.cold().fork(fork(None)).await.unwrap();
        assert_eq!((newest.position, fixture.cost()), (at(edits), (2.5, 8, 5)), "{nonce}");
        // Edits the fork in the process that created it, and in a process without cached state.
        let base = Position::new(1, 0).unwrap();
        let edit = |id, base| request(fork(None).log, None, id, base, set_numbers(&[1.0]));
        let cold = fixture.cold();
        cold.append(edit(u64::from(edits) + 1, base)).await.unwrap();
        assert_eq!(fixture.cost(), (1.5, 1, 3), "{nonce}: the source is read once");
        let base = base.next_in_segment().unwrap();
        cold.append(edit(u64::from(edits) + 2, base)).await.unwrap();
        assert_eq!(fixture.cost(), (0.0, 1, 1), "{nonce}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_put_costs_what_it_would_have_and_no_read() {
    let fixture = Fixture::start().await;
    let (one, two, log) = (fixture.cold(), fixture.cold(), log("lost"));
    one.create(log, None).await.unwrap();
    let warm = request(log, None, 1, at(0), set_numbers(&[1.0]));
    one.append(warm).await.unwrap();
    let client = ClientKey([9; 8]);
    let other = |id, base| {
        let mutation = NewMutation { id, base, operation: set_numbers(&[2.0]) };
        Request::new(log, client, None, FIRST_INCARNATION, id - 1, vec![mutation]).unwrap()
    };
    two.append(other(1, at(0))).await.unwrap();
    fixture.cost();
    // `one` has not cached the second entry: its put is refused, and it transforms past the other
    // entry.
    one.append(request(log, None, 2, at(1), set_numbers(&[3.0]))).await.unwrap();
    let (read_units, write_units) = budgets::LOST_RACE.units();
    let (edit_read_units, edit_write_units) = budgets::WARM_EDIT.units();
    let expected = (read_units + edit_read_units, write_units + edit_write_units, 2);
    assert_eq!(fixture.cost(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_of_a_thousand_edits_costs_at_most_thirteen_read_units() {
    let fixture = Fixture::start().await;
    let with_authors = budgets::LOAD.cost.read_units();
    for (author, most) in [(Some("an author of just thirty bytes"), with_authors), (None, 10.0)] {
        let log = log(if author.is_some() { "authors" } else { "no authors" });
        append_many(&fixture, log, author, 1_000).await;
        fixture.cost();
        let loaded = fixture.cold().load(log, None).await.unwrap();
        assert_eq!(loaded.entries.len(), 1_001);
        let (read_units, write_units, _) = fixture.cost();
        assert!(read_units <= most && write_units == 0, "{read_units} read units");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_costs_one_write_unit_every_thousand_entries_and_else_nothing() {
    let fixture = Fixture::start().await;
    let (logs, log) = (fixture.cold(), log("upkeep"));
    logs.create(log, None).await.unwrap();
    let policy = LogPolicy::default();
    let mut base = Position::FIRST;
    for id in 1..=1_010 {
        let edit = set_numbers(&[id as f64]);
        base = logs.append(request(log, None, id, base, edit)).await.unwrap().tail;
        fixture.cost();
        let upkept = logs.upkeep(log, &policy).await.unwrap();
        let expected = match id {
            1_000 => (UpkeepOutcome::Snapshot(at(1_001)), (0.0, 1, 1)),
            _ => (UpkeepOutcome::Nothing, (0.0, 0, 0)),
        };
        assert_eq!((upkept, fixture.cost()), expected, "{id}");
    }
}

/// Cost of the pipeline alone, without the reads and writes of the builder.
#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_in_one_piece_costs_four_write_units() {
    let fixture = Fixture::start().await;
    let log = log("snapshot");
    fixture.cold().create(log, None).await.unwrap();
    let (ports, pending_meter) = fixture.snapshot_ports();
    let job = SnapshotJob { log, position: Position::FIRST };
    let snapshots = Snapshots::new(ports, Arc::new(InOnePiece));
    fixture.cost();
    let outcome = snapshots.handle(job, &Receipt("none".to_owned()), u64::MAX).await;
    assert_eq!(outcome, SnapshotOutcome::Done);
    // The record: a read that finds none, a put, a delete, and a query that finds no next record.
    let cost = pending_meter.take();
    assert_eq!((cost.read_units(), cost.write_units, cost.table_requests), (2.0, 2, 4));
    // `L` is read with eventual and with strong consistency; `E` and `L` are written.
    let log_cost = fixture.cost();
    assert_eq!(log_cost, (1.5, 2, 4));
    let total = (cost.read_units() + log_cost.0, cost.write_units + log_cost.1);
    assert_eq!(total, budgets::SNAPSHOT.units());
}

/// A builder without work.
struct InOnePiece;

#[async_trait::async_trait]
impl SnapshotBuilder for InOnePiece {
    async fn step(&self, _: &SnapshotJob, _: &[u8]) -> Result<BuildStep, PortError> {
        Ok(BuildStep::Finished { root: "sheets/a/roots/b".to_owned() })
    }
}

async fn append_many(fixture: &Fixture, log: LogId, author: Option<&str>, count: u32) {
    let logs = fixture.cold();
    logs.create(log, author.map(str::to_owned)).await.unwrap();
    let mut base = Position::FIRST;
    for id in 1..=count {
        let edit = set_numbers(&[f64::from(id) + 0.25]);
        base = logs.append(request(log, author, id.into(), base, edit)).await.unwrap().tail;
    }
}
