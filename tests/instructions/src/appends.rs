//! Paths through the append machine.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Inputs, NewMutation, Request};
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};

use crate::{Failure, PreparedPath};

const EDITS: u64 = 200;
const INSERTED_ROWS: u64 = 100;

/// A log whose entries are all cached.
struct CachedLog {
    entries: Vec<Arc<Entry>>,
}

impl CachedLog {
    fn new() -> Result<Self, Failure> {
        let log_id = LogId::derive(&SubjectKey::new("cellar", "alice"), "budget")?;
        Ok(Self { entries: vec![Arc::new(Entry::first(log_id, None, 0))] })
    }

    fn newest(&self) -> Result<Position, Failure> {
        Ok(self.entries.last().ok_or("the log is empty")?.position)
    }

    fn append(
        &mut self,
        client: u8,
        id: u64,
        base: Position,
        operation: Operation,
    ) -> Result<(), Failure> {
        let log_id = self.entries.first().ok_or("the log is empty")?.log;
        let mutations = vec![NewMutation { id, base, operation }];
        let client = ClientKey([client; 8]);
        let request = Request::new(log_id, client, None, FIRST_INCARNATION, id - 1, mutations)?;
        let first_known = self.entries.partition_point(|entry| entry.position < base);
        let known = self.entries.get(first_known..).unwrap_or_default();
        let inputs = Inputs { now_s: 0, random: 0 };
        let (mut append, mut action) = Append::begin(request, known, inputs);
        loop {
            let AppendAction::Put { entry } = action else {
                return match action {
                    AppendAction::Finish(result) => Ok(result.map(drop)?),
                    _ => Err("the append must not read".into()),
                };
            };
            self.entries.push(entry);
            (append, action) = append.step(AppendEvent::PutAccepted, inputs);
        }
    }
}

fn set(number: u64) -> Result<Operation, Failure> {
    let (row, value) = (u32::try_from(number)?, Some(Value::Text(format!("text {number}"))));
    let cell = CellEdit { row, column: 1, value, formula: None, format: None };
    Ok(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] }))
}

/// Edits of one client, which has seen all earlier entries.
pub(crate) fn append_edits() -> Result<PreparedPath, Failure> {
    let mut log = CachedLog::new()?;
    Ok(Box::new(move || {
        for id in 1..=EDITS {
            let base = log.newest()?;
            log.append(1, id, base, set(id)?)?;
        }
        Ok(log.entries.len())
    }))
}

/// One edit of a client that has not seen the rows that another client has inserted.
pub(crate) fn append_past_inserted_rows() -> Result<PreparedPath, Failure> {
    let mut log = CachedLog::new()?;
    for id in 1..=INSERTED_ROWS {
        let (sheet, before) = (SheetId::FIRST, u32::try_from(id)?);
        let base = log.newest()?;
        log.append(1, id, base, Operation::InsertRows(InsertBefore { sheet, before, count: 1 }))?;
    }
    Ok(Box::new(move || {
        log.append(2, 1, Position::FIRST, set(7)?)?;
        Ok(log.entries.len())
    }))
}
