//! Reads the state at a position by replaying the whole log. Tests use this as the reference model
//! for faster reads.

use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::workbook::Workbook;

use super::committed::EntryCursor;
use super::{LogError, Logs};

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
    /// Resumes a replay from a state. `next` is the next entry to replay.
    pub(super) fn resume(workbook: Workbook, next: Position) -> Self {
        Self { workbook, cursor: EntryCursor::from(next) }
    }
}

impl Logs {
    /// Returns the state at `at`, which defaults to the latest position. The latest position is at
    /// or after `min_position`. Cells of imported sheets are missing, since the log does not
    /// contain them.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::TooLarge`],
    /// [`LogError::Corrupt`] or [`LogError::Store`].
    pub async fn workbook(
        &self,
        log: LogId,
        at: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<WorkbookRead, LogError> {
        let mut replay = Replay::resume(Workbook::default(), Position::FIRST);
        self.continue_replay(log, &mut replay, at, min_position, |_, _| {}).await?;
        let (position, incarnation) = replay.cursor.newest.ok_or(LogError::NotFound)?;
        match at {
            // `at` is after the latest entry, or in the gap between a segment's End Segment (last
            // entry) and the next segment.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(WorkbookRead { workbook: replay.workbook, position, incarnation }),
        }
    }

    /// Continues a replay up to `at`, calling `visit` for each entry with the state before it. `at`
    /// defaults to the latest entry, which is at or after `min_position`.
    pub(super) async fn continue_replay(
        &self,
        log: LogId,
        replay: &mut Replay,
        at: Option<Position>,
        min_position: Option<Position>,
        mut visit: impl FnMut(&Workbook, &Entry) + Send,
    ) -> Result<(), LogError> {
        let Replay { workbook, cursor } = replay;
        self.visit_committed(log, cursor, at, min_position, |entry, committed| {
            visit(workbook, entry);
            for operations in committed {
                workbook.apply_operations(operations)?;
            }
            Ok(ControlFlow::Continue(()))
        })
        .await
    }
}
