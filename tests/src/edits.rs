//! Functions that build edits and requests.

use cellar_api::{wire::AppendRequest, wire::CreateReply, wire::SentMutation};
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

/// Returns an edit that writes the given numbers to `A1` and the cells below it.
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

/// Returns an API request that contains one mutation.
pub fn append_one(
    created: CreateReply,
    client: &str,
    id: u64,
    base: Position,
    op: Operation,
) -> AppendRequest {
    AppendRequest {
        client_id: client.to_owned(),
        incarnation: created.incarnation,
        acked_id: id - 1,
        refuse_unchanged: false,
        mutations: vec![SentMutation { id, base, op }],
    }
}

/// Returns a log service request that contains one mutation.
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

/// Returns the id of the log that is created with the given nonce.
pub fn log(nonce: &str) -> LogId {
    LogId::derive(&SubjectKey::new("test", "test"), nonce).unwrap()
}

/// Returns the position of the given entry number in segment 0.
pub fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}
