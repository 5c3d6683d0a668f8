//! Which finished snapshot a read begins from.

use cellar_core::entry::Content;
use cellar_core::identity::LogId;
use cellar_core::position::Position;

use super::{LogError, Logs};

/// Snapshot entries that are looked at, backwards, until one has a root; beyond that, the log is read
/// from further back, which is as right and takes longer.
const MAX_UNFINISHED: usize = 8;

impl Logs {
    /// The newest finished snapshot at or before a position, with the key of its root; none if the log
    /// must be read from its beginning.
    pub(crate) async fn snapshot_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let mut at = at;
        loop {
            let found = self.snapshot_in_segment(log, at).await?;
            if found.is_some() {
                return Ok(found);
            }
            let Some(before) = at.segment().checked_sub(1) else { return Ok(None) };
            at = Position::new(before, u32::MAX).unwrap_or(Position::FIRST);
        }
    }

    /// The same, within the segment of a position.
    async fn snapshot_in_segment(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let segment = self.read(|| self.segments.segment(log, at.segment(), false)).await?;
        let last = segment.and_then(|segment| segment.last_snapshot);
        let last = last.and_then(|num| Position::new(at.segment(), num).ok());
        // Nothing in this segment is finished, as far as is known.
        let Some(last) = last else { return Ok(None) };
        let mut candidate = match last <= at {
            true => Some(last),
            false => self.snapshot_entry_before(log, at).await?,
        };
        for _ in 0..MAX_UNFINISHED {
            let Some(position) = candidate else { return Ok(None) };
            let entry = self.read(|| self.entries.get(log, position)).await?;
            match entry.map(|entry| entry.content.clone()) {
                Some(Content::Snapshot { root: Some(root), .. }) => {
                    return Ok(Some((position, root)));
                }
                Some(Content::Snapshot { .. }) => {}
                _ => return Err(LogError::Corrupt { at: position }),
            }
            candidate = match position.num().checked_sub(1) {
                None => None,
                Some(num) => {
                    let before = Position::new(position.segment(), num).unwrap_or(Position::FIRST);
                    self.snapshot_entry_before(log, before).await?
                }
            };
        }
        Ok(None)
    }

    /// The last Snapshot entry of the segment at or before a position: the entry there says where.
    async fn snapshot_entry_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Position>, LogError> {
        let entry = self.read(|| self.entries.get(log, at)).await?;
        let num = entry.map(|entry| entry.header.snapshot_num);
        Ok(num.and_then(|num| Position::new(at.segment(), num).ok()))
    }
}
