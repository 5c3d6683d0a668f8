//! In-memory Entry and Segment tables. They have the same records and conditions as the DynamoDB
//! tables. Since records are encoded as in DynamoDB, a record that DynamoDB would reject is also
//! rejected in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_base::record::Item;
use cellar_log::entry::{Content, Entry};
use cellar_log::records::fork::ListedFork;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;
use cellar_log::{records::entry, records::fork, records::segment};

use crate::ports::{
    CreateOutcome, Entries, ForkPage, ForkRecords, Page, PortError, PutOutcome, ReadConsistency,
    Retention, ScanKey, SegmentPage, Segments,
};

/// In-memory Entry and Segment tables. All reads are strongly consistent.
#[derive(Debug, Default)]
pub struct MemoryTables {
    tables: Mutex<Tables>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    entries: BTreeMap<(LogId, Position), Item>,
    segments: BTreeMap<(LogId, u32), Item>,
    forks: BTreeMap<(LogId, u64), Item>,
    pub(super) presences: BTreeMap<(LogId, u32), Item>,
}

impl MemoryTables {
    pub(super) fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { tables: Mutex::new(self.lock().clone()) }
    }

    #[cfg(test)]
    pub(crate) fn contents(&self) -> (Vec<Entry>, Vec<Segment>, Vec<ListedFork>) {
        let tables = self.lock();
        (
            tables.entries.values().map(|item| entry::decode(item).unwrap()).collect(),
            tables.segments.values().map(|item| segment::decode(item).unwrap()).collect(),
            tables.forks.values().map(|item| fork::decode(item).unwrap()).collect(),
        )
    }
}

impl MemoryTables {
    fn insert_all_or_none(
        &self,
        segments: &[&Segment],
        entries: &[&Entry],
        listed_fork: Option<&ListedFork>,
    ) -> CreateOutcome {
        let mut entry_items = Vec::new();
        for entry in entries {
            match entry::encode(entry) {
                Ok(item) => entry_items.push(((entry.log, entry.position), item)),
                Err(error) => return CreateOutcome::Failed(error.into()),
            }
        }
        let mut tables = self.lock();
        let has_segment =
            |segment: &&Segment| tables.segments.contains_key(&(segment.log, segment.num));
        let has_entry = |(key, _): &((LogId, Position), Item)| tables.entries.contains_key(key);
        let has_fork = |fork: &ListedFork| tables.forks.contains_key(&(fork.source, fork.number));
        if segments.iter().any(has_segment)
            || entry_items.iter().any(has_entry)
            || listed_fork.is_some_and(has_fork)
        {
            return CreateOutcome::Exists;
        }
        for segment in segments {
            tables.segments.insert((segment.log, segment.num), segment::encode(segment));
        }
        tables.entries.extend(entry_items);
        if let Some(fork) = listed_fork {
            tables.forks.insert((fork.source, fork.number), fork::encode(fork));
        }
        CreateOutcome::Created
    }

    fn change_segment(
        &self,
        log_id: LogId,
        segment: u32,
        change: impl FnOnce(&mut Segment),
    ) -> Result<(), PortError> {
        let mut tables = self.lock();
        let item = tables.segments.get_mut(&(log_id, segment));
        let item = item.ok_or_else(|| PortError::permanent("the segment does not exist"))?;
        let mut record = segment::decode(item)?;
        change(&mut record);
        *item = segment::encode(&record);
        Ok(())
    }
}

#[async_trait]
impl Retention for MemoryTables {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        /// The limit is low, so that tests read several pages.
        const SEGMENTS_PER_PAGE: usize = 3;
        let scan_key = |log_id: LogId, num: u32| ScanKey {
            partition: log_id.as_bytes().to_vec(),
            sort: u64::from(num),
        };
        let tables = self.lock();
        let mut segments: Vec<Segment> = Vec::new();
        for ((log_id, num), item) in &tables.segments {
            if after.as_ref().is_some_and(|after| scan_key(*log_id, *num) <= *after) {
                continue;
            }
            if segments.len() == SEGMENTS_PER_PAGE {
                let next = segments.last().map(|segment| scan_key(segment.log, segment.num));
                return Ok(SegmentPage { segments, next });
            }
            segments.push(segment::decode(item)?);
        }
        Ok(SegmentPage { segments, next: None })
    }

    async fn set_offloaded(&self, log_id: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        self.change_segment(log_id, segment, |segment| segment.offloaded = Some(key.to_owned()))
    }

    async fn mark_trimmed(&self, log_id: LogId, segment: u32, now_s: u64) -> Result<(), PortError> {
        let absent = || PortError::permanent("the segment does not exist");
        let first_position = Position::new(segment, 0).map_err(|_| absent())?;
        let mut tables = self.lock();
        let item = tables.entries.get_mut(&(log_id, first_position)).ok_or_else(absent)?;
        let mut record = entry::decode(item)?;
        if let Content::Snapshot { trimmed_s, .. } = &mut record.content {
            trimmed_s.get_or_insert(now_s);
        }
        *item = entry::encode(&record)?;
        Ok(())
    }

    async fn delete(&self, log_id: LogId, positions: &[Position]) -> Result<(), PortError> {
        let mut tables = self.lock();
        for position in positions {
            tables.entries.remove(&(log_id, *position));
        }
        Ok(())
    }

    async fn delete_segment(&self, log_id: LogId, segment: u32) -> Result<(), PortError> {
        self.lock().segments.remove(&(log_id, segment));
        Ok(())
    }

    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        self.lock().forks.remove(&(source, number));
        Ok(())
    }
}

fn decode_entry(item: &Item) -> Result<Arc<Entry>, PortError> {
    entry::decode(item).map(Arc::new).map_err(PortError::from)
}

fn entry_page<'a>(
    items: impl Iterator<Item = (&'a (LogId, Position), &'a Item)>,
    limit: u32,
) -> Result<Page, PortError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    for (_, item) in items {
        if entries.len() == limit {
            return Ok(Page { entries, more: true });
        }
        entries.push(decode_entry(item)?);
    }
    Ok(Page { entries, more: false })
}

fn last_of_segment(segment: u32) -> Result<Position, PortError> {
    Position::new(segment, u32::MAX).map_err(PortError::from_permanent)
}

#[async_trait]
impl Entries for MemoryTables {
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        _consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let end = last_of_segment(from.segment())?;
        let tables = self.lock();
        entry_page(tables.entries.range((log_id, from)..=(log_id, end)), MAX_PAGE_ENTRIES)
    }

    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        _consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let start = from.segment_start();
        let tables = self.lock();
        entry_page(tables.entries.range((log_id, start)..=(log_id, from)).rev(), limit)
    }

    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        _consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let tables = self.lock();
        let end = last_of_segment(segment)?;
        let start = Position::new(segment, 0).unwrap_or(end);
        let last_item = tables.entries.range((log_id, start)..=(log_id, end)).next_back();
        last_item.map(|(_, item)| decode_entry(item)).transpose()
    }

    async fn get(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.lock().entries.get(&(log_id, position)).map(decode_entry).transpose()
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let item = match entry::encode(entry) {
            Ok(item) => item,
            Err(error) => return PutOutcome::Failed(error.into()),
        };
        let key = (entry.log, entry.position);
        let mut tables = self.lock();
        match tables.entries.get(&key).map(decode_entry) {
            None => {
                tables.entries.insert(key, item);
                PutOutcome::Accepted
            }
            Some(Ok(winner)) => PutOutcome::Refused { winner },
            Some(Err(error)) => PutOutcome::Failed(error),
        }
    }

    async fn set_root(
        &self,
        log_id: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        let absent = || PortError::permanent("the Snapshot entry does not exist");
        let mut tables = self.lock();
        let item = tables.entries.get_mut(&(log_id, position)).ok_or_else(absent)?;
        let mut entry = entry::decode(item)?;
        let Content::Snapshot { root: stored_root, .. } = &mut entry.content else {
            return Err(absent());
        };
        let current_root = stored_root.get_or_insert_with(|| root.to_owned()).clone();
        *item = entry::encode(&entry)?;
        Ok(current_root)
    }

    async fn replace_root(
        &self,
        log_id: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        let mut tables = self.lock();
        let Some(item) = tables.entries.get_mut(&(log_id, position)) else { return Ok(None) };
        let mut entry = entry::decode(item)?;
        let Content::Snapshot { root: stored_root, .. } = &mut entry.content else {
            return Ok(None);
        };
        if stored_root.as_deref() == replaces {
            *stored_root = Some(root.to_owned());
        }
        let current_root = stored_root.clone();
        *item = entry::encode(&entry)?;
        Ok(current_root)
    }

    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Segments for MemoryTables {
    async fn newest(
        &self,
        log_id: LogId,
        limit: u8,
        _consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        let tables = self.lock();
        let items_newest_first = tables.segments.range((log_id, 0)..=(log_id, u32::MAX)).rev();
        items_newest_first
            .take(usize::from(limit))
            .map(|(_, item)| segment::decode(item).map_err(PortError::from))
            .collect()
    }

    async fn segment(
        &self,
        log_id: LogId,
        segment: u32,
        _consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        let tables = self.lock();
        let item = tables.segments.get(&(log_id, segment));
        item.map(|item| segment::decode(item).map_err(PortError::from)).transpose()
    }

    async fn create(&self, segment: &Segment, first_entry: &Entry) -> CreateOutcome {
        self.insert_all_or_none(&[segment], &[first_entry], None)
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        let Transaction { end, segment, first } = transaction;
        self.insert_all_or_none(&[segment], &[end, first], None)
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        let ForkRecords { origin, segment, first, listed } = records;
        self.insert_all_or_none(&[origin, segment], &[first], Some(listed))
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let start = match after {
            Some(number) => Bound::Excluded((source, number)),
            None => Bound::Included((source, 0)),
        };
        let end = Bound::Included((source, u64::MAX));
        let tables = self.lock();
        let mut forks: Vec<ListedFork> = Vec::new();
        for (_, item) in tables.forks.range((start, end)) {
            if forks.len() == limit {
                let next = forks.last().map(|fork| fork.number);
                return Ok(ForkPage { forks, next });
            }
            forks.push(fork::decode(item)?);
        }
        Ok(ForkPage { forks, next: None })
    }

    async fn raise_last_snapshot(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<(), PortError> {
        self.change_segment(log_id, position.segment(), |segment| {
            segment.last_snapshot = segment.last_snapshot.max(Some(position.entry_number()));
        })
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

    #[tokio::test]
    async fn memory_passes_the_contract_of_retention() {
        contract::retention(&MemoryTables::default()).await;
    }

    #[tokio::test]
    async fn memory_passes_the_contract_of_presences() {
        contract::presences(&MemoryTables::default()).await;
    }
}
