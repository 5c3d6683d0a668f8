//! Reads entries with their committed operations, which are stored in the entry itself or in an
//! external body (a separate object).

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, ExternalEdits, decode_external_body};
use cellar_sheet::operation::Operation;

use super::{LogError, Logs};
use crate::ports::{BlobKey, GetOutcome};
use crate::sha256::sha256;

/// Cursor over the entries of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryCursor {
    /// Next position to read, or `None` after the last possible position of a log.
    pub(crate) next: Option<Position>,
    /// Position and incarnation (restore counter) of the latest entry read.
    pub(crate) newest: Option<(Position, u32)>,
}

impl EntryCursor {
    /// Creates a cursor that reads from `position` (inclusive).
    pub(crate) fn from(position: Position) -> Self {
        Self { next: Some(position), newest: None }
    }

    fn advance_past(&mut self, entry: &Entry) {
        self.newest = Some((entry.position, entry.header.incarnation));
        self.next = entry.next_position();
    }
}

impl Logs {
    /// Calls `visit` for each entry with the operations committed by each of its mutations, up to
    /// the entry at `at` (inclusive). `at` defaults to the latest entry, which is at or after
    /// `min_position`. Stops early if `visit` breaks.
    pub(crate) async fn visit_committed(
        &self,
        log: LogId,
        cursor: &mut EntryCursor,
        at: Option<Position>,
        min_position: Option<Position>,
        mut visit: impl FnMut(&Entry, &[&[Operation]]) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<(), LogError> {
        // Always require the first entry: an empty result may be stale and does not prove that the
        // log is empty.
        let must_reach = at.max(min_position).max(Some(Position::FIRST));
        while let Some(from) = cursor.next {
            let mut external: Option<Arc<Entry>> = None;
            self.walk(log, from, must_reach, |entry| {
                if at.is_some_and(|at| entry.position > at) {
                    return Ok(ControlFlow::Break(()));
                }
                if matches!(entry.content, Content::External(_)) {
                    external = Some(Arc::clone(entry));
                    return Ok(ControlFlow::Break(()));
                }
                cursor.advance_past(entry);
                let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
                let committed: Vec<&[Operation]> = mutations
                    .iter()
                    .map(cellar_log::entry::Mutation::committed_operations)
                    .collect();
                let flow = visit(entry, &committed)?;
                let is_last = at == Some(entry.position);
                Ok(if is_last { ControlFlow::Break(()) } else { flow })
            })
            .await?;
            // External bodies are fetched between walks, since visitors are synchronous.
            let Some(entry) = external else { break };
            let committed = self.external_operations(&entry).await?;
            let committed: Vec<&[Operation]> = committed.iter().map(Vec::as_slice).collect();
            cursor.advance_past(&entry);
            if visit(&entry, &committed)?.is_break() || at == Some(entry.position) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the operations committed by each mutation of an entry with an external body.
    async fn external_operations(&self, entry: &Entry) -> Result<Vec<Vec<Operation>>, LogError> {
        let Content::External(external) = &entry.content else { return Ok(Vec::new()) };
        let authored = self.external_body(external).await?;
        let Some(authored) = authored else {
            tracing::error!(at = %entry.position, object = external.object, "the external body is missing or damaged");
            return Err(LogError::Corrupt { at: entry.position });
        };
        let committed = authored.into_iter().map(|operation| {
            external.committed_operations(&operation).unwrap_or_else(|| vec![operation])
        });
        Ok(committed.collect())
    }

    /// Reads the original operations from an external body, before any transform. Returns `None` if
    /// the object is missing or does not match its entry.
    async fn external_body(
        &self,
        external: &ExternalEdits,
    ) -> Result<Option<Vec<Operation>>, LogError> {
        let Ok(key) = BlobKey::new(&external.object) else { return Ok(None) };
        let got = self.retry_read(|| self.blobs.get(&key, external.bytes)).await?;
        let GetOutcome::Found { bytes, .. } = got else { return Ok(None) };
        if sha256(&bytes) != external.sha256 {
            return Ok(None);
        }
        Ok(decode_external_body(&bytes).ok())
    }
}
