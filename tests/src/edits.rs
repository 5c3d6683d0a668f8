//! Short ways to write edits and requests.

use cellar_core::api::{AppendRequest, CreateReply, SentMutation};
use cellar_core::append::{NewMutation, Request};
use cellar_core::cell::Value;
use cellar_core::entry::FIRST_INCARNATION;
use cellar_core::identity::{ClientKey, LogId, SubjectKey};
use cellar_core::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_core::position::Position;

/// Sets `A1` and the cells below it to these numbers.
pub fn set_numbers(numbers: &[f64]) -> Operation {
    let edit = |(row, number): (u32, &f64)| CellEdit {
        row,
        column: 0,
        value: Some(Value::Number(*number)),
        formula: None,
        format: None,
    };
    let cells = (0..).zip(numbers).map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// A request of one mutation for the API.
pub fn append_one(
    created: CreateReply,
    client: &str,
    id: u64,
    base: Position,
    op: Operation,
) -> AppendRequest {
    AppendRequest {
        client: client.to_owned(),
        incarnation: created.incarnation,
        ack: id - 1,
        mutations: vec![SentMutation { id, base, op }],
    }
}

/// A request of one mutation for the log service.
pub fn request(
    log: LogId,
    author: Option<&str>,
    id: u64,
    base: Position,
    op: Operation,
) -> Request {
    let client = ClientKey::derive(&SubjectKey::new("test", "test"), "client").unwrap();
    let mutations = vec![NewMutation { id, base, operation: op }];
    let author = author.map(str::to_owned);
    Request::new(log, client, author, FIRST_INCARNATION, id - 1, mutations).unwrap()
}

/// The log that a test names.
pub fn log(nonce: &str) -> LogId {
    LogId::derive(&SubjectKey::new("test", "test"), nonce).unwrap()
}

/// A position in segment 0.
pub fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}
