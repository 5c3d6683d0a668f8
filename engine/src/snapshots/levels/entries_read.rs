//! Reads and folds the entries of a compaction step.

use std::ops::ControlFlow;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry};
use cellar_sheet::operation::Operation;
use cellar_snapshot::compaction::{CompactionBase, CompactionFold, FoldedEntries};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::logs::{EntryCursor, LogError, Logs};
use crate::snapshots::builder::BuildError;

/// Result of reading the entries of a compaction step.
pub(super) enum EntriesRead {
    Folded(Box<FoldedEntries>),
    /// An earlier Snapshot entry has no root yet.
    EarlierSnapshot(Position),
    /// A snapshot newer than the base exists. `root` is its root key.
    LaterBase {
        root: String,
    },
    /// The log has no entry after the base up to the job's position.
    NoEntries,
}

/// Describes the entries that a compaction step must read.
pub(super) struct StepEntries<'a> {
    pub(super) job: SnapshotJob,
    pub(super) base: &'a CompactionBase,
    /// Whether the snapshot is rebuilt from scratch. A rebuild starts from a given base and does
    /// not wait for earlier snapshots.
    pub(super) is_rebuild: bool,
    /// Whether the step may switch to a newer base. Not allowed during a merge, which depends on
    /// its base.
    pub(super) may_change_base: bool,
}

impl StepEntries<'_> {
    /// Reads and folds entries until the step is full, the job's position is reached, or a Snapshot
    /// entry ends the step.
    pub(super) async fn read(&self, logs: &Logs) -> Result<EntriesRead, BuildError> {
        let first_own = logs.first_own(self.job.log).await?;
        let mut fold = CompactionFold::new(self.base);
        let mut has_entries = false;
        let mut ended_by = None;
        let start = self.base.position.unwrap_or(Position::FIRST);
        let mut cursor = EntryCursor::from(start);
        let end = Some(self.job.position);
        let visit =
            logs.visit_committed(self.job.log, &mut cursor, end, None, |entry, committed| {
                if Some(entry.position) == self.base.position {
                    return Ok(ControlFlow::Continue(()));
                }
                ended_by = self.end_of_step(entry, first_own);
                if ended_by.is_some() {
                    return Ok(ControlFlow::Break(()));
                }
                fold_entry(&mut fold, entry, committed)?;
                has_entries = true;
                Ok(if fold.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
        visit.await?;
        if let Some(end) = ended_by {
            return Ok(end);
        }
        match fold.finish() {
            Some(folded) if has_entries => Ok(EntriesRead::Folded(Box::new(folded))),
            _ => Ok(EntriesRead::NoEntries),
        }
    }

    /// Returns the result of the read if the step must end before this entry. Ignores inherited
    /// Snapshot entries, whose snapshots are built by the source's workers, and the first entry of
    /// a log, which needs no snapshot.
    fn end_of_step(&self, entry: &Entry, first_own: Position) -> Option<EntriesRead> {
        let at = entry.position;
        let is_own_earlier = at >= first_own && at != Position::FIRST && at != self.job.position;
        if !is_own_earlier {
            return None;
        }
        match &entry.content {
            Content::Snapshot { root: None, trimmed_s: None } if !self.is_rebuild => {
                Some(EntriesRead::EarlierSnapshot(at))
            }
            Content::Snapshot { root: Some(root), .. } if self.may_change_base => {
                Some(EntriesRead::LaterBase { root: root.clone() })
            }
            _ => None,
        }
    }
}

fn fold_entry(
    fold: &mut CompactionFold,
    entry: &Entry,
    committed: &[&[Operation]],
) -> Result<(), LogError> {
    let at = entry.position;
    let mutations = entry.mutation_ids().map(|(client, _, last)| (client, last));
    fold.fold_entry(at, entry.created_s, mutations, committed)
        .map_err(|_| LogError::Corrupt { at })?;
    if let Some(Edits { client, name: Some(name), .. }) = entry.edits() {
        fold.note_client_name(*client, name);
    }
    Ok(())
}
