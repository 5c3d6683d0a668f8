//! The state of a spreadsheet at any position in its history, by replay.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_core::entry::Content;
use cellar_core::entry::{Entry, ExternalEdits, decode_external_body};
use cellar_core::identity::LogId;
use cellar_core::operation::Operation;
use cellar_core::position::Position;
use cellar_core::workbook::Workbook;

use super::{LogError, Logs};
use crate::ports::{BlobKey, Got, PortError};
use crate::sha256::sha256;

/// A state and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbookRead {
    /// The state.
    pub workbook: Workbook,
    /// The position at which it is.
    pub position: Position,
    /// The epoch there.
    pub epoch: u32,
}

/// A replay as far as it has come.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) workbook: Workbook,
    /// The position and the epoch of the newest entry in it.
    pub(super) newest: Option<(Position, u32)>,
    /// Where it goes on; `None` where no log can.
    next: Option<Position>,
}

impl Default for Replay {
    fn default() -> Self {
        Self { workbook: Workbook::default(), newest: None, next: Some(Position::FIRST) }
    }
}

impl Logs {
    /// The state at `at`, or the newest, which is never older than `seen`.
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
        self.replay(log, at, seen, |_, _| {}).await
    }

    /// Replays the log from its beginning up to `at`; `visit` sees the state before each entry.
    pub(super) async fn replay(
        &self,
        log: LogId,
        at: Option<Position>,
        seen: Option<Position>,
        visit: impl FnMut(&Workbook, &Entry) + Send,
    ) -> Result<WorkbookRead, LogError> {
        let mut replay = Replay::default();
        self.replay_on(log, &mut replay, at, seen, visit).await?;
        let (position, epoch) = replay.newest.ok_or(LogError::NotFound)?;
        match at {
            // Beyond the end, or between the end of one segment and the next.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(WorkbookRead { workbook: replay.workbook, position, epoch }),
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
        // Not even an empty log is believed to be absent on a stale read.
        let must_reach = at.max(seen).max(Some(Position::FIRST));
        while let Some(from) = replay.next {
            let mut external: Option<Arc<Entry>> = None;
            let Replay { workbook, newest, next } = &mut *replay;
            self.walk(log, from, must_reach, |entry| {
                if at.is_some_and(|at| entry.position > at) {
                    return Ok(ControlFlow::Break(()));
                }
                *newest = Some((entry.position, entry.header.epoch));
                *next = entry.next_position();
                visit(workbook, entry);
                if matches!(entry.content, Content::External(_)) {
                    external = Some(Arc::clone(entry));
                    return Ok(ControlFlow::Break(()));
                }
                workbook.apply(entry)?;
                let there = at == Some(entry.position);
                Ok(if there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })
            .await?;
            // The body of a large entry is fetched between two walks.
            let Some(entry) = external else { break };
            for operations in self.external_operations(&entry).await? {
                replay.workbook.apply_operations(&operations)?;
            }
            if at == Some(entry.position) {
                break;
            }
        }
        Ok(())
    }

    /// What is committed of each mutation of a large entry.
    async fn external_operations(&self, entry: &Entry) -> Result<Vec<Vec<Operation>>, LogError> {
        let Content::External(external) = &entry.content else { return Ok(Vec::new()) };
        let authored = self.external_body(external).await?;
        let Some(authored) = authored else {
            tracing::error!(at = %entry.position, object = external.object, "the body is damaged");
            return Err(LogError::Corrupt { at: entry.position });
        };
        let committed = authored
            .into_iter()
            .map(|operation| external.committed(&operation).unwrap_or_else(|| vec![operation]));
        Ok(committed.collect())
    }

    /// The operations of a large entry as authored; `None` if the object is gone or is not what the
    /// entry says.
    async fn external_body(
        &self,
        external: &ExternalEdits,
    ) -> Result<Option<Vec<Operation>>, LogError> {
        let Ok(key) = BlobKey::new(&external.object) else { return Ok(None) };
        let got = self.read(|| self.blobs.get(&key, external.bytes)).await?;
        let Got::Found { bytes, .. } = got else { return Ok(None) };
        if sha256(&bytes) != external.sha256 {
            return Ok(None);
        }
        Ok(decode_external_body(&bytes).ok())
    }

    /// Where clients get the body of a large entry: valid for a few minutes.
    ///
    /// # Errors
    /// [`LogError::Store`] if it cannot be signed.
    pub async fn external_url(&self, external: &ExternalEdits) -> Result<String, LogError> {
        let key = BlobKey::new(&external.object)
            .map_err(|error| LogError::Store(PortError::permanent(error.to_string())))?;
        let now_s = self.clock.now_ms() / 1_000;
        let signed =
            self.blobs.presign_get(&key, cellar_core::limits::MAX_PRESIGNED_S, now_s).await;
        Ok(signed.map_err(LogError::Store)?.url)
    }
}
