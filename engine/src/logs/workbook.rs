//! Reads the state at a position by replaying the whole log. In tests, the result is the reference
//! for faster reads.

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
    /// Incarnation (restore counter) of the tables at `position`.
    pub incarnation: u32,
}

/// A replay in progress.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) workbook: Workbook,
    pub(super) cursor: EntryCursor,
}

impl Replay {
    /// Resumes a replay from a state. `next_position` is the position of the next entry to replay.
    pub(super) fn resume(workbook: Workbook, next_position: Position) -> Self {
        Self { workbook, cursor: EntryCursor::from(next_position) }
    }
}

impl Logs {
    /// Returns the state at `requested_position`. If `requested_position` is `None`, the latest
    /// position is used, which is at or after `min_position`. Cells of imported sheets are missing,
    /// since they are not stored in the log.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::TooLarge`],
    /// [`LogError::Corrupt`] or [`LogError::Store`].
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
        let LogHead { head: position, incarnation } = cursor.newest.ok_or(LogError::NotFound)?;
        match requested_position {
            // The requested position is after the latest entry, or between a segment's End Segment
            // (last entry) and the next segment.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(WorkbookRead { workbook, position, incarnation }),
        }
    }

    /// Continues a replay. Calls `visit` for each entry, passing the state before the entry.
    pub(super) async fn continue_replay(
        &self,
        log_id: LogId,
        replay: &mut Replay,
        until: ReadUntil,
        mut visit: impl FnMut(&Workbook, &Entry) + Send,
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
