//! Crashes everywhere: each driver runs over ports in memory that fail as planned,
//! at each of its requests and in each way: an error before it is done, or after it; none that is answered
//! for long; its process dies, or stands still and goes on when another has finished. Whoever called repeats
//! what was not answered, in a process that knows nothing. What is left in between must be sound and read
//! right, and in the end there must be what is [promised](Promise).
//!
//! One file for each driver says what runs and who repeats it. The worker on snapshots has a harness of its
//! own over the same ports: `snapshots/levels/crashes`.
//!
//! All single faults are in the ordinary tests. All pairs are the long run, some minutes:
//! `cargo test --release -p cellar-engine crashes:: -- --ignored`; with `--nocapture` it prints how many there were.

mod append;
mod catalog;
mod driver;
mod feed;
mod fork;
mod lost_cells;
mod ports;
pub(crate) mod reading;
mod relay;
mod reprocess;
mod retention;
mod roll;
mod run;
mod stored;
mod streams;
mod sync;
mod trouble;
mod uploads;
mod workers;

pub(crate) use ports::FaultyPorts;
pub(crate) use trouble::Fault;
pub(crate) use workers::{handle, work};

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};

/// Where everything begins, Unix milliseconds.
const BEGAN_MS: u64 = 1_795_246_133_000;

/// Ports with nothing in them, of which nothing fails.
fn empty() -> Arc<FaultyPorts> {
    let clock = Arc::new(ManualClock::at(BEGAN_MS));
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

pub(crate) fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

/// Mutations of a client from this id on, made on this position.
pub(crate) fn edits(
    log: LogId,
    client: u8,
    first_id: u64,
    base: Position,
    all: Vec<Operation>,
) -> Request {
    let mutation = |(id, operation)| NewMutation { id, base, operation };
    let mutations = (first_id..).zip(all).map(mutation).collect();
    let author = Some("alice".to_owned());
    Request::new(log, ClientKey([client; 8]), author, FIRST_INCARNATION, first_id - 1, mutations)
        .unwrap()
}

/// A log with so many edits of client 9, each of a row of its own.
pub(crate) async fn edited(count: u64) -> Arc<FaultyPorts> {
    let ports = empty();
    let logs = ports.logs();
    logs.create(log(), Some("bob".to_owned())).await.unwrap();
    for id in 1..=count {
        let row = u32::try_from(id).unwrap();
        let base = at(0, row - 1);
        let request = edits(log(), 9, id, base, vec![set(row, &format!("edit {id}"))]);
        logs.append(request).await.unwrap();
    }
    ports.trouble.take_requests();
    ports
}
