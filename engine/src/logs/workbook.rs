//! The state of a spreadsheet at any position in its history, by plain replay: what all that is faster is
//! checked against.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::workbook::Workbook;

use super::committed::EntryCursor;
use super::{LogError, Logs};

/// A state and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookRead {
    /// The state.
    pub workbook: Workbook,
    /// The position at which it is.
    pub position: Position,
    /// The incarnation there.
    pub incarnation: u32,
}

/// A replay as far as it has come.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) workbook: Workbook,
    pub(super) reading: EntryCursor,
}

impl Replay {
    /// Goes on from a state with the entries from a position on.
    pub(super) fn on(workbook: Workbook, next: Position) -> Self {
        Self { workbook, reading: EntryCursor::from(next) }
    }
}

impl Logs {
    /// The state at `at`, or the newest, which is never older than `seen`; without the cells of imported
    /// sheets, which are not in the log.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::TooLarge`],
    /// [`LogError::Corrupt`], [`LogError::Store`].
    pub async fn workbook(
        &self,
        log: LogId,
        at: Option<Position>,
        seen: Option<Position>,
    ) -> Result<WorkbookRead, LogError> {
        let mut replay = Replay::on(Workbook::default(), Position::FIRST);
        self.replay_on(log, &mut replay, at, seen, |_, _| {}).await?;
        let (position, incarnation) = replay.reading.newest.ok_or(LogError::NotFound)?;
        match at {
            // Beyond the end, or between the end of one segment and the next.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(WorkbookRead { workbook: replay.workbook, position, incarnation }),
        }
    }

    /// Goes on with a replay, up to `at` or the newest, which is never older than `seen`.
    pub(super) async fn replay_on(
        &self,
        log: LogId,
        replay: &mut Replay,
        at: Option<Position>,
        seen: Option<Position>,
        mut visit: impl FnMut(&Workbook, &Entry) + Send,
    ) -> Result<(), LogError> {
        let Replay { workbook, reading } = replay;
        self.visit_committed(log, reading, at, seen, |entry, committed| {
            visit(workbook, entry);
            for operations in committed {
                workbook.apply_operations(operations)?;
            }
            Ok(ControlFlow::Continue(()))
        })
        .await
    }
}
