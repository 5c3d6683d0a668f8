//! Random edits of several clients with formulas that refer to each other, in a log and a fork that
//! is merged, with snapshots: at each position, each formula has the value that its evaluation gives.

use std::cell::Cell;

use cellar_calculation::testing::FormulaCounts;
use cellar_log::upkeep::LogPolicy;
use cellar_sheet::operation::random::{SIDE, any_formula, any_operation_with_formulas};
use cellar_snapshot::snapshot_job::SnapshotJob;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;
use crate::crashes::handle_queued_jobs;
use crate::crashes::reading::assert_calculated;
use crate::logs::{NewFork, NewMerge, UpkeepOutcome};
use crate::ports::Jobs as _;

/// A snapshot is due after each entry.
const POLICY: LogPolicy = LogPolicy {
    snapshot_entries: 1,
    snapshot_bytes: u64::MAX,
    segment_entries: u32::MAX,
    segment_bytes: u64::MAX,
};

#[derive(Debug, Clone)]
enum Step {
    /// The author has not seen this number of entries.
    Edit {
        is_of_fork: bool,
        unseen: usize,
        operation: Operation,
    },
    Snapshot,
    Merge,
    /// Sets the cells of many rows, which exceed level 0.
    Fill {
        first_row: u32,
        seed: u32,
    },
}

/// Imports need objects, and only the server rejects.
fn any_edit() -> impl Strategy<Value = Operation> {
    let operation = any_operation_with_formulas().prop_filter("an edit", |operation| {
        !matches!(operation, Operation::ImportSheet(_) | Operation::Rejected(_))
    });
    prop_oneof![4 => operation, 1 => set_formulas()]
}

/// Half of the formulas have a stored value, as those of an imported file.
fn set_formulas() -> impl Strategy<Value = Operation> {
    let edit = (0..SIDE, 0..SIDE, any::<bool>(), any_formula()).prop_map(
        |(row, column, has_value, formula)| CellEdit {
            row,
            column,
            value: Some(if has_value { Value::Number(7.0) } else { Value::Empty }),
            formula: Some(formula),
            format: None,
        },
    );
    (0..6_u32, vec(edit, 4..12)).prop_map(|(sheet, cells)| {
        Operation::SetCells(SetCells { sheet: SheetId(sheet.saturating_sub(4)), cells })
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        14 => (any::<bool>(), 0..3_usize, any_edit())
            .prop_map(|(is_of_fork, unseen, operation)| Step::Edit { is_of_fork, unseen, operation }),
        2 => Just(Step::Snapshot),
        1 => Just(Step::Merge),
    ]
}

/// Returns rows with numbers and formulas: one that reads its row and a cell of the first rows, and a
/// running total.
fn filled_rows(first_row: u32, seed: u32) -> Operation {
    const ROWS: u32 = 700;
    let number = |row: u32, value: u32| CellEdit {
        row,
        column: 0,
        value: Some(Value::Number(f64::from(value) / 7.0)),
        formula: None,
        format: None,
    };
    let formula = |row: u32, column: u32, formula: String| CellEdit {
        row,
        column,
        value: Some(Value::Empty),
        formula: Some(formula),
        format: None,
    };
    let cells = (first_row..first_row + ROWS).flat_map(|row| {
        let value = row.wrapping_mul(0x9E37_79B9) ^ seed;
        [
            number(row, value),
            CellEdit { column: 1, ..number(row, value.rotate_left(7)) },
            formula(row, 2, format!("=IFERROR(A{}*$B$3+COLUMNS(B{row}:D{row}),1)", row + 1)),
            formula(row, 3, format!("=IFERROR(B{}+D{row},C$1)", row + 1)),
        ]
    });
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: cells.collect() })
}

fn any_step_with_fills() -> impl Strategy<Value = Step> {
    let fill = (SIDE..900, any::<u32>());
    prop_oneof![
        8 => any_step(),
        2 => fill.prop_map(|(first_row, seed)| Step::Fill { first_row, seed }),
        2 => Just(Step::Snapshot),
    ]
}

/// A log and a fork of it.
struct World {
    ports: Arc<FaultyPorts>,
    fork: LogId,
    next_client: u64,
}

impl World {
    async fn new(before: Vec<Operation>) -> Self {
        let ports = over(vec![], Arc::new(ManualClock::at(StoppedClock.now_ms())));
        let fork = LogId::derive_fork(&SubjectKey::new("cellar", "alice"), log(), "fork").unwrap();
        let mut world = Self { ports, fork, next_client: 1 };
        world.ports.logs().create(log(), None).await.unwrap();
        for operation in before {
            world.edit(log(), 0, operation).await;
        }
        let new = NewFork { log: fork, source: log(), at: None, author: None };
        world.ports.logs().fork(new).await.unwrap();
        world
    }

    async fn positions(&self, log: LogId) -> Vec<Position> {
        let history = self.ports.logs().history(log, None, 1_000).await.unwrap();
        history.entries.iter().rev().map(|entry| entry.position).collect()
    }

    async fn edit(&mut self, log: LogId, unseen: usize, operation: Operation) {
        let positions = self.positions(log).await;
        let base = positions[positions.len().saturating_sub(1 + unseen)];
        let client = ClientKey(self.next_client.to_be_bytes());
        self.next_client += 1;
        let mutations = vec![NewMutation { id: 1, base, operation }];
        let request = Request::new(log, client, None, FIRST_INCARNATION, 0, mutations).unwrap();
        accept_refusal(self.ports.logs().append(request).await);
    }

    async fn make_snapshots(&self) {
        for log in [log(), self.fork] {
            let logs = self.ports.logs();
            logs.load(log, None).await.unwrap();
            if let UpkeepOutcome::Snapshot(position) = logs.upkeep(log, &POLICY).await.unwrap() {
                let job = SnapshotJob { log, position };
                self.ports.queue.send(&job.encode()).await.unwrap();
            }
        }
        handle_queued_jobs(&self.ports.workers(), &self.ports).await;
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Edit { is_of_fork, unseen, operation } => {
                let log = if is_of_fork { self.fork } else { log() };
                self.edit(log, unseen, operation).await;
            }
            Step::Snapshot => self.make_snapshots().await,
            Step::Fill { first_row, seed } => {
                self.edit(log(), 0, filled_rows(first_row, seed)).await;
            }
            Step::Merge => {
                let merge = NewMerge { log: log(), fork: self.fork, through: None, by: None };
                accept_refusal(self.ports.logs().merge(&merge).await);
            }
        }
    }

    /// Checks both logs at the newest position, and at every `step`-th before it.
    async fn check(&self, step: usize) -> FormulaCounts {
        let mut sum = FormulaCounts::default();
        for log in [log(), self.fork] {
            for position in self.positions(log).await.into_iter().rev().step_by(step) {
                let logs = self.ports.logs();
                let (_, counts) = assert_calculated(&logs, log, position, "random edits").await;
                sum.evaluated += counts.evaluated;
                sum.chained += counts.chained;
                sum.stale += counts.stale;
                sum.cyclic += counts.cyclic;
                sum.spilled += counts.spilled;
                sum.blocked += counts.blocked;
            }
        }
        sum
    }
}

/// Clients may send edits that are refused, such as an undo of an entry that does not exist.
fn accept_refusal<T>(result: Result<T, LogError>) {
    match result {
        Ok(_)
        | Err(
            LogError::Refused(_)
            | LogError::NoSuchPosition { .. }
            | LogError::Merge(_)
            | LogError::UnknownSheet { .. }
            | LogError::Reload
            | LogError::ReloadUnknownPosition { .. },
        ) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the numbers of formulas that were checked.
fn check_random_histories(
    (cases, step): (u32, usize),
    steps: impl Strategy<Value = Vec<Step>>,
) -> [u64; 6] {
    let config = ProptestConfig { cases, source_file: Some(file!()), ..ProptestConfig::default() };
    let histories = (vec(any_edit(), 0..6), steps);
    let counts = [const { Cell::new(0_u64) }; 6];
    let checked = TestRunner::new(config).run(&histories, |(before, steps)| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let checked = runtime.block_on(async {
            let mut world = World::new(before).await;
            for step in steps {
                world.take(step).await;
            }
            world.check(step).await
        });
        let FormulaCounts { evaluated, chained, stale, cyclic, spilled, blocked } = checked;
        let checked = [evaluated, chained, stale, cyclic, spilled, blocked];
        for (sum, count) in counts.iter().zip(checked) {
            sum.set(sum.get() + count);
        }
        Ok(())
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
    counts.map(Cell::into_inner)
}

#[test]
fn formulas_have_the_values_of_their_evaluation_after_random_edits() {
    let counts = check_random_histories((64, 2), vec(any_step(), 8..24));
    let enough = [1_000, 200, 10, 50, 40, 20];
    assert!(counts.iter().zip(enough).all(|(count, enough)| *count > enough), "{counts:?}");
}

/// The levels of these snapshots are in chunks, so that whole tiles are outdated.
#[test]
fn formulas_in_chunks_have_the_values_of_their_evaluation_after_random_edits() {
    let counts = check_random_histories((8, 5), vec(any_step_with_fills(), 8..24));
    assert!(counts.into_iter().take(2).all(|count| count > 1_000), "{counts:?}");
}
