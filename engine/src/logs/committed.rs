//! Reads entries and the operations that they committed. The operations of a large entry are stored
//! as a separate object.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, ExternalEdits, Mutation, decode_external_body};
use cellar_sheet::operation::Operation;

use super::{LogError, LogHead, Logs};
use crate::ports::{BlobKey, GetOutcome};
use crate::sha256::sha256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryCursor {
    /// Position of the next entry to read, or `None` after the last possible position of a log.
    pub(crate) next: Option<Position>,
    /// Position of the last entry that was read, and how many times the tables had been restored
    /// when it was written.
    pub(crate) newest: Option<LogHead>,
}

impl EntryCursor {
    pub(crate) fn from(position: Position) -> Self {
        Self { next: Some(position), newest: None }
    }

    fn advance_past(&mut self, entry: &Entry) {
        self.newest = Some(LogHead::of(entry));
        self.next = entry.next_position();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadUntil {
    /// The entry at this position.
    Position(Position),
    /// The latest entry of the log. The log is known to contain an entry at `min_position`.
    Newest { min_position: Option<Position> },
}

impl ReadUntil {
    pub(super) fn requested(
        requested_position: Option<Position>,
        min_position: Option<Position>,
    ) -> Self {
        requested_position.map_or(Self::Newest { min_position }, Self::Position)
    }

    /// Returns the position of the last entry to visit, or `None` if all entries are visited.
    fn last_position(self) -> Option<Position> {
        match self {
            Self::Position(last_position) => Some(last_position),
            Self::Newest { .. } => None,
        }
    }

    /// Returns the position that a read must reach. A read that ends earlier may be stale. An
    /// existing log has at least its first entry.
    fn existing_position(self) -> Position {
        match self {
            Self::Position(last_position) => last_position,
            Self::Newest { min_position } => min_position.unwrap_or(Position::FIRST),
        }
    }
}

impl Logs {
    /// Ends after the entry that `until` specifies, or when `visit` returns [`ControlFlow::Break`].
    pub(crate) async fn visit_committed(
        &self,
        log_id: LogId,
        cursor: &mut EntryCursor,
        until: ReadUntil,
        mut visit: impl FnMut(&Entry, &[&[Operation]]) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<(), LogError> {
        let mut visit_until_last = |entry: &Entry, mutations: &[&[Operation]]| {
            let flow = visit(entry, mutations)?;
            let is_last = until.last_position() == Some(entry.position);
            Ok(if is_last { ControlFlow::Break(()) } else { flow })
        };
        while let Some(external_entry) =
            self.visit_inline_entries(log_id, cursor, until, &mut visit_until_last).await?
        {
            // The object with the operations is read here, since `visit` is synchronous.
            let external_operations = self.external_operations(&external_entry).await?;
            let mutations: Vec<&[Operation]> =
                external_operations.iter().map(Vec::as_slice).collect();
            cursor.advance_past(&external_entry);
            if visit_until_last(&external_entry, &mutations)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Visits entries up to the next entry whose operations are stored as a separate object, and
    /// returns that entry. Returns `None` if there is no such entry in the range or if `visit` ends
    /// the read.
    async fn visit_inline_entries(
        &self,
        log_id: LogId,
        cursor: &mut EntryCursor,
        until: ReadUntil,
        visit: &mut (impl FnMut(&Entry, &[&[Operation]]) -> Result<ControlFlow<()>, LogError> + Send),
    ) -> Result<Option<Arc<Entry>>, LogError> {
        let Some(start) = cursor.next else { return Ok(None) };
        let mut external_entry = None;
        let existing_position = Some(until.existing_position());
        self.walk(log_id, start, existing_position, |entry| {
            let is_in_range = until.last_position().is_none_or(|last| entry.position <= last);
            if !is_in_range {
                return Ok(ControlFlow::Break(()));
            }
            if matches!(entry.content, Content::External(_)) {
                external_entry = Some(Arc::clone(entry));
                return Ok(ControlFlow::Break(()));
            }
            cursor.advance_past(entry);
            visit(entry, &inline_operations(entry))
        })
        .await?;
        Ok(external_entry)
    }

    /// Returns the operations that each mutation of an entry committed.
    pub(super) async fn operations_of(
        &self,
        entry: &Entry,
    ) -> Result<Vec<Vec<Operation>>, LogError> {
        if matches!(entry.content, Content::External(_)) {
            return self.external_operations(entry).await;
        }
        Ok(inline_operations(entry).into_iter().map(<[Operation]>::to_vec).collect())
    }

    async fn external_operations(&self, entry: &Entry) -> Result<Vec<Vec<Operation>>, LogError> {
        let Content::External(external) = &entry.content else { return Ok(Vec::new()) };
        let Some(authored_operations) = self.read_external_body(external).await? else {
            tracing::error!(at = %entry.position, object = external.object, "the external body is missing or damaged");
            return Err(LogError::Corrupt { at: entry.position });
        };
        let mut committed_operations = Vec::with_capacity(authored_operations.len());
        for authored in authored_operations {
            let transformed = external.committed_operations(&authored);
            committed_operations.push(transformed.unwrap_or_else(|| vec![authored]));
        }
        Ok(committed_operations)
    }

    /// Returns `None` if the object is missing or its checksum differs from the entry.
    async fn read_external_body(
        &self,
        external: &ExternalEdits,
    ) -> Result<Option<Vec<Operation>>, LogError> {
        let Ok(key) = BlobKey::new(&external.object) else { return Ok(None) };
        let outcome = self.retry_read(|| self.blobs.get(&key, external.bytes)).await?;
        let GetOutcome::Found { bytes, .. } = outcome else { return Ok(None) };
        if sha256(&bytes) != external.sha256 {
            return Ok(None);
        }
        Ok(decode_external_body(&bytes).ok())
    }
}

fn inline_operations(entry: &Entry) -> Vec<&[Operation]> {
    match entry.edits() {
        Some(edits) => edits.mutations.iter().map(Mutation::committed_operations).collect(),
        None => Vec::new(),
    }
}
