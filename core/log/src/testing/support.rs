//! Test helpers that create entries and requests.

use crate::append::*;
use crate::entry::Entry;
use crate::entry::{Content, Edits, Header, Mutation};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use std::sync::Arc;

pub const INCARNATION: u32 = 7;

pub fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes([9; 16]))
}

pub fn client(number: u8) -> ClientKey {
    ClientKey([number; 8])
}

pub fn set_text(row: u32, text: String) -> Operation {
    let value = Some(Value::Text(text));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

fn entry(position: Position, content: Content) -> Arc<Entry> {
    let header = Header::first(INCARNATION);
    Arc::new(Entry { log: log(), position, created_s: 0, author: None, header, content })
}

pub fn snapshot_entry(position: Position) -> Arc<Entry> {
    entry(position, Content::Snapshot { root: None, trimmed_s: None })
}

pub fn end_entry(position: Position) -> Arc<Entry> {
    entry(position, Content::EndSegment)
}

pub fn edits_entry(position: Position, who: u8, first_id: u64) -> Arc<Entry> {
    let authored = set_text(0, "x".to_owned());
    let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
    let edits = Edits { client: client(who), name: None, merged: None, first_id, mutations };
    entry(position, Content::Edits(edits))
}

pub fn edits_of(position: Position, who: u8, mutations: Vec<Mutation>) -> Arc<Entry> {
    let edits = Edits { client: client(who), name: None, merged: None, first_id: 1, mutations };
    entry(position, Content::Edits(edits))
}

pub fn text_entry(position: Position, bytes: usize) -> Arc<Entry> {
    let authored = set_text(0, "x".repeat(bytes));
    let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
    let edits = Edits { client: client(1), name: None, merged: None, first_id: 1, mutations };
    entry(position, Content::Edits(edits))
}

pub fn request(who: u8, ack: u64, ids: &[u64], base: Position) -> Request {
    let mutations = ids
        .iter()
        .map(|id| NewMutation { id: *id, base, operation: set_text(0, format!("m{id}")) })
        .collect();
    Request::new(log(), client(who), None, INCARNATION, ack, mutations).unwrap()
}

pub fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

/// Returns an upload of `count` operations on the given base.
pub fn uploaded(count: u32, base: Position) -> Upload {
    let operations = (0..count).map(|_| set_text(0, "x".to_owned())).collect();
    Upload { object: "uploads/a".into(), bytes: 9, sha256: [3; 32], operations, base }
}
