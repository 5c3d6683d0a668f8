//! Finds the position of a log at a time.

use std::sync::Arc;

use cellar_api::wire::PositionOrTime;
use cellar_base::identity::LogId;
use cellar_base::limits::TIME_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_log::bisection::Bisection;
use cellar_log::entry::Entry;

use super::{LogError, Logs};
use crate::ports::ReadConsistency;

impl Logs {
    /// Returns a position as it is, and for a time the position of the last entry whose time is not
    /// later. `min_position` is a position that the log is known to contain.
    ///
    /// The search reads the first entries of some segments and then entries of one segment: at most
    /// as many as both numbers have binary digits, and one page of [`TIME_PAGE_ENTRIES`] entries.
    /// Clocks of servers differ, so that an entry can have an earlier time than the entry before it.
    /// The result then is a position whose time is not later, and that of the next entry is later.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::BeforeCreation`] if the log was created later, or another [`LogError`]
    /// if the log cannot be read.
    pub async fn find_position(
        &self,
        log_id: LogId,
        at: PositionOrTime,
        min_position: Option<Position>,
    ) -> Result<Position, LogError> {
        let time_s = match at {
            PositionOrTime::Position(position) => return Ok(position),
            PositionOrTime::Time { unix_s } => unix_s,
        };
        let head = self.head(log_id, min_position).await?.head;
        let created_s = self.read_entry_at(log_id, Position::FIRST).await?.created_s;
        if created_s > time_s {
            return Err(LogError::BeforeCreation { time_s, created_s });
        }
        let segment = self.last_segment_begun_at(log_id, head.segment(), time_s).await?;
        let last_position = self.last_position_of_segment(log_id, segment, head).await?;
        self.last_position_written_at(log_id, last_position, time_s).await
    }

    /// The first entry of a segment is kept even if the segment is trimmed.
    async fn last_segment_begun_at(
        &self,
        log_id: LogId,
        last_segment: u32,
        time_s: u64,
    ) -> Result<u32, LogError> {
        let mut search = Bisection::up_to(last_segment);
        while let Some(segment) = search.next_probe() {
            let first_position = position_in(segment, 0)?;
            let first_entry = self.read_entry_at(log_id, first_position).await?;
            search = search.after_probe(segment, first_entry.created_s <= time_s);
        }
        Ok(search.last())
    }

    async fn last_position_of_segment(
        &self,
        log_id: LogId,
        segment: u32,
        head: Position,
    ) -> Result<Position, LogError> {
        if segment == head.segment() {
            return Ok(head);
        }
        let read_last = || self.last_entry(log_id, segment, ReadConsistency::Strong);
        let last_entry = self.retry_read(read_last).await?;
        let last_entry = last_entry.ok_or(LogError::Corrupt { at: position_in(segment, 0)? })?;
        Ok(last_entry.position)
    }

    /// Searches the segment of `last_position`, whose first entry must not be later than `time_s`.
    async fn last_position_written_at(
        &self,
        log_id: LogId,
        last_position: Position,
        time_s: u64,
    ) -> Result<Position, LogError> {
        let segment = last_position.segment();
        let mut search = Bisection::up_to(last_position.entry_number());
        // One page costs less than probes of its entries.
        while search.undecided() >= TIME_PAGE_ENTRIES
            && let Some(number) = search.next_probe()
        {
            let entry = self.read_entry_at(log_id, position_in(segment, number)?).await?;
            search = search.after_probe(number, entry.created_s <= time_s);
        }
        let mut position = position_in(segment, search.last())?;
        loop {
            let max_entries = usize::try_from(TIME_PAGE_ENTRIES).unwrap_or(usize::MAX);
            let entries = self.read_page_back(log_id, position, max_entries).await?;
            if let Some(entry) = entries.iter().find(|entry| entry.created_s <= time_s) {
                return Ok(entry.position);
            }
            let oldest = entries.last().map_or(position, |entry| entry.position);
            let number = oldest.entry_number().checked_sub(1);
            position = position_in(segment, number.ok_or(LogError::Corrupt { at: oldest })?)?;
        }
    }

    async fn read_entry_at(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Arc<Entry>, LogError> {
        let entries = self.read_page_back(log_id, position, 1).await?;
        entries.into_iter().next().ok_or(LogError::Corrupt { at: position })
    }
}

fn position_in(segment: u32, number: u32) -> Result<Position, LogError> {
    Position::new(segment, number).map_err(|_| LogError::Corrupt { at: Position::FIRST })
}
