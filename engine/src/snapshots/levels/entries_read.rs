//! Reads and folds the entries for a compaction step.

use std::ops::ControlFlow;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry};
use cellar_sheet::operation::Operation;
use cellar_snapshot::compaction::{CompactionBase, CompactionFold, FoldedEntries};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::logs::{EntryCursor, LogError, Logs, ReadUntil};
use crate::ports::PortError;

/// Result of reading the entries for a compaction step.
pub(super) enum EntriesRead {
    Folded(Box<FoldedEntries>),
    /// An earlier Snapshot entry has no root yet, so its snapshot must be built first.
    EarlierSnapshot(Position),
    /// A snapshot that is newer than the base exists.
    LaterBase {
        root_key: String,
    },
    /// The log has no entries after the base, up to and including the job's position.
    NoEntries,
}

/// Describes the entries that a compaction step must read.
pub(super) struct StepEntries<'a> {
    pub(super) job: SnapshotJob,
    pub(super) base: &'a CompactionBase,
    /// Whether the snapshot is being rebuilt. A rebuild starts from a given base and does not wait
    /// for earlier snapshots.
    pub(super) is_rebuild: bool,
    /// Whether the step may switch to a newer base. A merge depends on its base, so the base must
    /// not change during a merge.
    pub(super) may_change_base: bool,
}

impl StepEntries<'_> {
    /// Reads and folds entries until the step is full, the job's position is reached, or a Snapshot
    /// entry ends the step.
    pub(super) async fn read(&self, logs: &Logs) -> Result<EntriesRead, PortError> {
        let first_own = logs.first_own(self.job.log).await?;
        let mut fold = CompactionFold::new(self.base);
        let mut ended_by_snapshot = None;
        let mut cursor = EntryCursor::from(self.base.position.unwrap_or(Position::FIRST));
        let until = ReadUntil::Position(self.job.position);
        let visit_entries =
            logs.visit_committed(self.job.log, &mut cursor, until, |entry, operations| {
                let is_in_base = Some(entry.position) == self.base.position;
                if is_in_base {
                    return Ok(ControlFlow::Continue(()));
                }
                ended_by_snapshot = self.end_before_snapshot(entry, first_own);
                if ended_by_snapshot.is_some() {
                    return Ok(ControlFlow::Break(()));
                }
                fold_entry(&mut fold, entry, operations)?;
                Ok(if fold.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
        visit_entries.await?;
        if let Some(entries_read) = ended_by_snapshot {
            return Ok(entries_read);
        }
        match fold.finish() {
            Some(folded) => Ok(EntriesRead::Folded(Box::new(folded))),
            None => Ok(EntriesRead::NoEntries),
        }
    }

    /// Returns the result of the read if the step must end before this entry, and `None` otherwise.
    /// The step never ends before the job's own entry. It never ends before the first entry of a
    /// log either, since that entry needs no snapshot, nor before an inherited Snapshot entry,
    /// since the source's workers build its snapshot.
    fn end_before_snapshot(&self, entry: &Entry, first_own: Position) -> Option<EntriesRead> {
        let position = entry.position;
        let is_inherited = position < first_own;
        let is_job_entry = position == self.job.position;
        if is_inherited || is_job_entry || position == Position::FIRST {
            return None;
        }
        match &entry.content {
            Content::Snapshot { root: None, trimmed_s: None } if !self.is_rebuild => {
                Some(EntriesRead::EarlierSnapshot(position))
            }
            Content::Snapshot { root: Some(root_key), .. } if self.may_change_base => {
                Some(EntriesRead::LaterBase { root_key: root_key.clone() })
            }
            _ => None,
        }
    }
}

fn fold_entry(
    fold: &mut CompactionFold,
    entry: &Entry,
    operations_by_mutation: &[&[Operation]],
) -> Result<(), LogError> {
    let client = entry.mutation_ids().map(|(client, _, last_id)| (client, last_id));
    fold.fold_entry(entry.position, entry.created_s, client, operations_by_mutation)
        .map_err(|_| LogError::Corrupt { at: entry.position })?;
    if let Some(Edits { client, name: Some(name), .. }) = entry.edits() {
        fold.record_client_name(*client, name);
    }
    Ok(())
}
