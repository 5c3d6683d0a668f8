//! Reads and folds the entries for a compaction step.

use std::ops::ControlFlow;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry};
use cellar_sheet::operation::Operation;
use cellar_snapshot::compaction::{CompactionBase, CompactionFold, FoldedEntries};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::logs::{EntryCursor, LogError, Logs, ReadUntil};
use crate::ports::PortError;

pub(super) enum EntriesRead {
    Folded(Box<FoldedEntries>),
    /// An earlier Snapshot entry has no root yet. Its snapshot must be built first.
    EarlierSnapshot(Position),
    /// The log has a snapshot after the base, from which the step must start instead.
    LaterBase {
        root_key: String,
    },
    NoEntries,
}

pub(super) struct StepEntries<'a> {
    pub(super) job: SnapshotJob,
    pub(super) base: &'a CompactionBase,
    /// A rebuild starts from a fixed base and does not wait for earlier snapshots.
    pub(super) is_rebuild: bool,
    /// Whether the step may start from a newer snapshot than `base`. This is not possible while a
    /// merge is in progress, since the merge depends on its base.
    pub(super) may_change_base: bool,
}

impl StepEntries<'_> {
    pub(super) async fn read(&self, logs: &Logs) -> Result<EntriesRead, PortError> {
        let first_own_position = logs.first_own_position(self.job.log).await?;
        let mut fold = CompactionFold::new(self.base);
        let mut early_end = None;
        let mut cursor = EntryCursor::from(self.base.position.unwrap_or(Position::FIRST));
        let until = ReadUntil::Position(self.job.position);
        let visit_entries =
            logs.visit_committed(self.job.log, &mut cursor, until, |entry, operations| {
                let is_in_base = Some(entry.position) == self.base.position;
                if is_in_base {
                    return Ok(ControlFlow::Continue(()));
                }
                early_end = self.result_if_ended_before(entry, first_own_position);
                if early_end.is_some() {
                    return Ok(ControlFlow::Break(()));
                }
                fold_entry(&mut fold, entry, operations)?;
                Ok(if fold.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
        visit_entries.await?;
        if let Some(entries_read) = early_end {
            return Ok(entries_read);
        }
        match fold.finish() {
            Some(folded) => Ok(EntriesRead::Folded(Box::new(folded))),
            None => Ok(EntriesRead::NoEntries),
        }
    }

    /// Returns the result of the read if the step ends before `entry`, and `None` otherwise. A step
    /// can end only before a Snapshot entry. It does not end before the entry of the job itself,
    /// before the first entry of the log, which needs no snapshot, or before an inherited entry,
    /// whose snapshot is built in the source.
    fn result_if_ended_before(
        &self,
        entry: &Entry,
        first_own_position: Position,
    ) -> Option<EntriesRead> {
        let position = entry.position;
        let is_inherited = position < first_own_position;
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
