//! Computes the state at a position by replaying the whole log. Tests compare this state with the
//! results of faster reads.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::workbook::Workbook;

use super::committed::{EntryCursor, ReadUntil};
use super::{LogError, LogHead, Logs};

/// A workbook and the position of its state.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookRead {
    pub workbook: Workbook,
    /// Position of the state.
    pub position: Position,
    /// How many times the tables had been restored when the entry at `position` was written.
    pub incarnation: u32,
    /// Time of the entry at `position`, in seconds since the Unix epoch.
    pub created_s: u64,
}

#[derive(Debug)]
pub(super) struct Replay {
    pub(super) workbook: Workbook,
    pub(super) cursor: EntryCursor,
}

impl Replay {
    pub(super) fn resume(workbook: Workbook, next_position: Position) -> Self {
        Self { workbook, cursor: EntryCursor::from(next_position) }
    }
}

impl Logs {
    /// Returns the state at `requested_position`. If `requested_position` is `None`, returns the
    /// latest state, and `min_position` is a position that the log is known to contain. Cells of
    /// imported sheets are missing, since the log does not contain them.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] or [`LogError::NoSuchPosition`] if the log or position does
    /// not exist, [`LogError::TooLarge`] if the state exceeds the memory limit, or
    /// [`LogError::Corrupt`] or [`LogError::Store`] if an entry cannot be read.
    pub async fn workbook(
        &self,
        log_id: LogId,
        requested_position: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<WorkbookRead, LogError> {
        let mut replay = Replay::resume(Workbook::default(), Position::FIRST);
        let until = ReadUntil::requested(requested_position, min_position);
        self.continue_replay(log_id, &mut replay, until, |_, _| {}).await?;
        let Replay { workbook, cursor } = replay;
        let LogHead { head: position, incarnation, created_s } =
            cursor.newest.ok_or(LogError::NotFound)?;
        match requested_position {
            // No entry exists at the requested position: it is after the latest entry, or between
            // two segments.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(WorkbookRead { workbook, position, incarnation, created_s }),
        }
    }

    /// Before each entry is applied, calls `visit` with the current state and the entry.
    pub(super) async fn continue_replay(
        &self,
        log_id: LogId,
        replay: &mut Replay,
        until: ReadUntil,
        mut visit: impl FnMut(&mut Workbook, &Entry) + Send,
    ) -> Result<(), LogError> {
        let Replay { workbook, cursor } = replay;
        self.visit_committed(log_id, cursor, until, |entry, mutations| {
            visit(workbook, entry);
            for operations in mutations {
                workbook.apply_operations(operations)?;
            }
            Ok(ControlFlow::Continue(()))
        })
        .await
    }
}
