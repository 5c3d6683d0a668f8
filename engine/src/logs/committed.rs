//! Entries with what they committed, wherever their bodies are.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, ExternalEdits, decode_external_body};
use cellar_sheet::operation::Operation;

use super::{LogError, Logs};
use crate::ports::{BlobKey, Got};
use crate::sha256::sha256;

/// How far entries were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Where it goes on; `None` where no log can.
    pub(crate) next: Option<Position>,
    /// The position and the incarnation of the newest that was read.
    pub(crate) newest: Option<(Position, u32)>,
}

impl Reading {
    /// From a position on, inclusive.
    pub(crate) fn from(position: Position) -> Self {
        Self { next: Some(position), newest: None }
    }
}

impl Logs {
    /// Visits entries with the operations that each mutation committed, up to `at` or the newest,
    /// which is never older than `seen`. The visitor ends it behind any entry.
    pub(crate) async fn committed(
        &self,
        log: LogId,
        reading: &mut Reading,
        at: Option<Position>,
        seen: Option<Position>,
        mut visit: impl FnMut(&Entry, &[&[Operation]]) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<(), LogError> {
        // Not even an empty log is believed to be absent on a stale read.
        let must_reach = at.max(seen).max(Some(Position::FIRST));
        while let Some(from) = reading.next {
            let mut external: Option<Arc<Entry>> = None;
            self.walk(log, from, must_reach, |entry| {
                if at.is_some_and(|at| entry.position > at) {
                    return Ok(ControlFlow::Break(()));
                }
                if matches!(entry.content, Content::External(_)) {
                    external = Some(Arc::clone(entry));
                    return Ok(ControlFlow::Break(()));
                }
                reading.pass(entry);
                let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
                let committed: Vec<&[Operation]> =
                    mutations.iter().map(cellar_log::entry::Mutation::effective).collect();
                let flow = visit(entry, &committed)?;
                let there = at == Some(entry.position);
                Ok(if there { ControlFlow::Break(()) } else { flow })
            })
            .await?;
            // The body of a large entry is fetched between two walks.
            let Some(entry) = external else { break };
            let committed = self.external_operations(&entry).await?;
            let committed: Vec<&[Operation]> = committed.iter().map(Vec::as_slice).collect();
            reading.pass(&entry);
            if visit(&entry, &committed)?.is_break() || at == Some(entry.position) {
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
}

impl Reading {
    fn pass(&mut self, entry: &Entry) {
        self.newest = Some((entry.position, entry.header.incarnation));
        self.next = entry.next_position();
    }
}
