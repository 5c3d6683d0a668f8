//! In-memory ports: the same records, the same conditions, no database.
//!
//! Records are encoded and decoded as for DynamoDB, so that nothing passes here that a table
//! would not hold.

mod clock;
mod pending_tags;
mod queue;

pub use clock::ManualClock;
pub use pending_tags::MemoryPendingTags;
pub use queue::{MemoryQueue, QueueRules};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_core::entry::Entry;
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_PAGE_ENTRIES;
use cellar_core::position::Position;
use cellar_core::records::{Item, entry, segment};
use cellar_core::segment::Segment;

use crate::ports::{CreateOutcome, Entries, Page, PortError, PutOutcome, Segments};

/// Both tables in memory; consistent reads and eventually consistent ones see the same.
#[derive(Debug, Default)]
pub struct MemoryTables {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    entries: BTreeMap<(LogId, Position), Item>,
    segments: BTreeMap<(LogId, u32), Item>,
}

impl MemoryTables {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(item: &Item) -> Result<Arc<Entry>, PortError> {
    entry::decode(item).map(Arc::new).map_err(PortError::from)
}

fn last_of_segment(segment: u32) -> Result<Position, PortError> {
    Position::new(segment, u32::MAX).map_err(|error| PortError::permanent(error.to_string()))
}

#[async_trait]
impl Entries for MemoryTables {
    async fn page(&self, log: LogId, from: Position, _consistent: bool) -> Result<Page, PortError> {
        let tables = self.lock();
        let end = last_of_segment(from.segment())?;
        let limit = usize::try_from(MAX_PAGE_ENTRIES).unwrap_or(usize::MAX);
        let mut rest = tables.entries.range((log, from)..=(log, end)).map(|(_, item)| read(item));
        let entries = rest.by_ref().take(limit).collect::<Result<_, _>>()?;
        Ok(Page { entries, more: rest.next().is_some() })
    }

    async fn last(
        &self,
        log: LogId,
        segment: u32,
        _consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let tables = self.lock();
        let end = last_of_segment(segment)?;
        let start = Position::new(segment, 0).unwrap_or(end);
        let last = tables.entries.range((log, start)..=(log, end)).next_back();
        last.map(|(_, item)| read(item)).transpose()
    }

    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError> {
        self.lock().entries.get(&(log, position)).map(read).transpose()
    }

    async fn put(&self, new: &Entry) -> PutOutcome {
        let item = match entry::encode(new) {
            Ok(item) => item,
            Err(error) => return PutOutcome::Failed(error.into()),
        };
        let mut tables = self.lock();
        match tables.entries.get(&(new.log, new.position)).map(read) {
            None => {
                tables.entries.insert((new.log, new.position), item);
                PutOutcome::Accepted
            }
            Some(Ok(winner)) => PutOutcome::Refused { winner },
            Some(Err(error)) => PutOutcome::Failed(error),
        }
    }

    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Segments for MemoryTables {
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        _consistent: bool,
    ) -> Result<Vec<Segment>, PortError> {
        let tables = self.lock();
        let newest = tables.segments.range((log, 0)..=(log, u32::MAX)).rev();
        newest
            .take(usize::from(limit))
            .map(|(_, item)| segment::decode(item).map_err(PortError::from))
            .collect()
    }

    async fn create(&self, new: &Segment, first: &Entry) -> CreateOutcome {
        let item = match entry::encode(first) {
            Ok(item) => item,
            Err(error) => return CreateOutcome::Failed(error.into()),
        };
        let mut tables = self.lock();
        let taken = tables.segments.contains_key(&(new.log, new.num))
            || tables.entries.contains_key(&(first.log, first.position));
        if taken {
            return CreateOutcome::Exists;
        }
        tables.segments.insert((new.log, new.num), segment::encode(new));
        tables.entries.insert((first.log, first.position), item);
        CreateOutcome::Created
    }

    async fn reachable(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[tokio::test]
    async fn memory_passes_the_contract() {
        contract::tables(&MemoryTables::default()).await;
    }
}
