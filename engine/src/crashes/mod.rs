//! Crash tests.
//!
//! Each scenario runs over in-memory ports. It is run once for each combination of one of its
//! requests and one kind of fault. A fault returns an error before or after the request takes
//! effect, fails all requests for some time, kills the process, or freezes the process until
//! another process has finished. If a step gets no response, the caller retries the step in a new
//! process without caches. After each failure, the stored data must be consistent and readable. The
//! final data must fulfil the scenario's [promise](Promise).
//!
//! Each scenario has its own file, which documents the scenario's steps and caller. The snapshot
//! worker has a separate harness over the same ports in `snapshots/levels/crashes`.
//!
//! By default, the tests cover all single faults. A longer test run covers all pairs of faults and
//! takes a few minutes: `cargo test --release -p cellar-engine crashes:: -- --ignored`. With
//! `--nocapture`, the tests print the number of runs.

mod append;
mod catalog;
mod faults;
mod feed;
mod fork;
mod lost_cells;
mod ports;
pub(crate) mod reading;
mod relay;
mod relayed;
mod reprocess;
mod retention;
mod roll;
mod run;
mod scenario;
mod stored;
mod streams;
mod sync;
mod uploads;
mod workers;

pub(crate) use faults::Fault;
pub(crate) use ports::FaultyPorts;
pub(crate) use workers::{handle_message, handle_queued_jobs};

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};

const START_MS: u64 = 1_795_246_133_000;

fn empty_ports() -> Arc<FaultyPorts> {
    let clock = Arc::new(ManualClock::at(START_MS));
    let blobs = MemoryBlobs::new(clock.clone());
    FaultyPorts::new(vec![], MemoryTables::default(), blobs, clock)
}

fn subject() -> SubjectKey {
    SubjectKey::new("crashes", "alice")
}

pub(crate) fn log() -> LogId {
    LogId::derive(&subject(), "log").unwrap()
}

pub(crate) fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

pub(crate) fn set_text(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

/// Returns an operation that sets a text, and formulas beside it.
pub(crate) fn set_with_formulas(row: u32, text: &str, formulas: &[&str]) -> Operation {
    let text = CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(text.to_owned())),
        formula: None,
        format: None,
    };
    let formula = |(column, formula): (u32, &&str)| CellEdit {
        row,
        column,
        value: Some(Value::Empty),
        formula: Some((*formula).to_owned()),
        format: None,
    };
    let cells = std::iter::once(text).chain((1..).zip(formulas).map(formula)).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

pub(crate) fn edit_request(
    log_id: LogId,
    client: u8,
    first_id: u64,
    base: Position,
    all: Vec<Operation>,
) -> Request {
    let mutation = |(id, operation)| NewMutation { id, base, operation };
    let mutations = (first_id..).zip(all).map(mutation).collect();
    let author = Some("alice".to_owned());
    Request::new(log_id, ClientKey([client; 8]), author, FIRST_INCARNATION, first_id - 1, mutations)
        .unwrap()
}

/// More formulas would make the tests slower and find nothing else.
const EDITS_WITH_FORMULAS: u64 = 2;

/// Creates a log to which client 9 appends `count` edits, each in a different row. The first edits
/// have a formula, which reads the text beside it and the formula above it.
pub(crate) async fn ports_with_edits(count: u64) -> Arc<FaultyPorts> {
    let ports = empty_ports();
    let logs = ports.logs();
    logs.create(log(), Some("bob".to_owned())).await.unwrap();
    for id in 1..=count {
        let row = u32::try_from(id).unwrap();
        let base = at(0, row - 1);
        let formula = format!("=LEN(A{})+B{row}", row + 1);
        let formulas: &[&str] = if id <= EDITS_WITH_FORMULAS { &[&formula] } else { &[] };
        let edit = set_with_formulas(row, &format!("edit {id}"), formulas);
        let request = edit_request(log(), 9, id, base, vec![edit]);
        logs.append(request).await.unwrap();
    }
    ports.faults.take_request_count();
    ports
}
