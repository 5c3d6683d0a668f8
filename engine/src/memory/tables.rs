//! In-memory Entry and Segment tables, with the same records and conditions as the DynamoDB tables.
//!
//! Records are encoded as in DynamoDB, so that a record that DynamoDB would reject is rejected here
//! as well.

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
    CreateOutcome, Entries, ForkPage, ForkRecords, Page, PortError, PutOutcome, Retention, ScanKey,
    SegmentPage, Segments,
};

/// In-memory Entry and Segment tables. All reads are strongly consistent.
#[derive(Debug, Default)]
pub struct MemoryTables {
    tables: Mutex<Tables>,
}

#[derive(Debug, Clone, Default)]
struct Tables {
    entries: BTreeMap<(LogId, Position), Item>,
    segments: BTreeMap<(LogId, u32), Item>,
    forks: BTreeMap<(LogId, u64), Item>,
}

impl MemoryTables {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an independent copy of the tables.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { tables: Mutex::new(self.lock().clone()) }
    }

    /// Returns all entries, segments and fork records.
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
    /// Writes all records if none of them exists; otherwise writes nothing.
    fn transact(
        &self,
        segments: &[&Segment],
        entries: &[&Entry],
        listed: Option<&ListedFork>,
    ) -> CreateOutcome {
        let items = entries.iter().map(|new| entry::encode(new)).collect::<Result<Vec<_>, _>>();
        let items = match items {
            Ok(items) => items,
            Err(error) => return CreateOutcome::Failed(error.into()),
        };
        let mut tables = self.lock();
        let key = |entry: &Entry| (entry.log, entry.position);
        let place = |listed: &ListedFork| (listed.source, listed.number);
        let taken = segments.iter().any(|new| tables.segments.contains_key(&(new.log, new.num)))
            || entries.iter().any(|entry| tables.entries.contains_key(&key(entry)))
            || listed.is_some_and(|listed| tables.forks.contains_key(&place(listed)));
        if taken {
            return CreateOutcome::Exists;
        }
        for new in segments {
            tables.segments.insert((new.log, new.num), segment::encode(new));
        }
        let items = entries.iter().map(|entry| key(entry)).zip(items);
        tables.entries.extend(items);
        tables.forks.extend(listed.map(|listed| (place(listed), fork::encode(listed))));
        CreateOutcome::Created
    }

    fn change_segment(
        &self,
        log: LogId,
        segment: u32,
        change: impl FnOnce(&mut Segment),
    ) -> Result<(), PortError> {
        let mut tables = self.lock();
        let item = tables.segments.get_mut(&(log, segment));
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
        /// The page size is small, so that callers must request several pages.
        const PAGE_SEGMENTS: usize = 3;
        let tables = self.lock();
        let key = |(log, num): &(LogId, u32)| ScanKey {
            partition: log.as_bytes().to_vec(),
            sort: u64::from(*num),
        };
        let behind = tables.segments.iter().filter(|(own, _)| Some(key(own)) > after);
        let page: Vec<_> = behind.take(PAGE_SEGMENTS + 1).collect();
        let more = page.len() > PAGE_SEGMENTS;
        let shown = page.into_iter().take(PAGE_SEGMENTS);
        let segments = shown.map(|(_, item)| segment::decode(item));
        let segments = segments.collect::<Result<Vec<_>, _>>()?;
        let next = segments.last().filter(|_| more).map(|last| key(&(last.log, last.num)));
        Ok(SegmentPage { segments, next })
    }

    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        self.change_segment(log, segment, |segment| segment.offloaded = Some(key.to_owned()))
    }

    async fn mark_trimmed(&self, log: LogId, segment: u32, at_s: u64) -> Result<(), PortError> {
        let absent = || PortError::permanent("the segment does not exist");
        let first = Position::new(segment, 0).map_err(|_| absent())?;
        let mut tables = self.lock();
        let item = tables.entries.get_mut(&(log, first)).ok_or_else(absent)?;
        let mut record = entry::decode(item)?;
        if let Content::Snapshot { trimmed_s, .. } = &mut record.content {
            trimmed_s.get_or_insert(at_s);
        }
        *item = entry::encode(&record)?;
        Ok(())
    }

    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError> {
        let mut tables = self.lock();
        for position in positions {
            tables.entries.remove(&(log, *position));
        }
        Ok(())
    }

    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError> {
        self.lock().segments.remove(&(log, segment));
        Ok(())
    }

    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        self.lock().forks.remove(&(source, number));
        Ok(())
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

    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        _consistent: bool,
    ) -> Result<Page, PortError> {
        let tables = self.lock();
        let start = (log, from.segment_start());
        let mut rest = tables.entries.range(start..=(log, from)).rev().map(|(_, item)| read(item));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
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

    async fn set_root(
        &self,
        log: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        let absent = || PortError::permanent("the Snapshot entry does not exist");
        let mut tables = self.lock();
        let item = tables.entries.get_mut(&(log, position)).ok_or_else(absent)?;
        let mut record = entry::decode(item)?;
        let Content::Snapshot { root: there, .. } = &mut record.content else {
            return Err(absent());
        };
        let stands = there.get_or_insert_with(|| root.to_owned()).clone();
        *item = entry::encode(&record)?;
        Ok(stands)
    }

    async fn replace_root(
        &self,
        log: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        let mut tables = self.lock();
        let Some(item) = tables.entries.get_mut(&(log, position)) else { return Ok(None) };
        let mut record = entry::decode(item)?;
        let Content::Snapshot { root: there, .. } = &mut record.content else { return Ok(None) };
        if there.as_deref() == replaces {
            *there = Some(root.to_owned());
        }
        let stands = there.clone();
        *item = entry::encode(&record)?;
        Ok(stands)
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

    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        _consistent: bool,
    ) -> Result<Option<Segment>, PortError> {
        let tables = self.lock();
        let item = tables.segments.get(&(log, segment));
        item.map(|item| segment::decode(item).map_err(PortError::from)).transpose()
    }

    async fn create(&self, new: &Segment, first: &Entry) -> CreateOutcome {
        self.transact(&[new], &[first], None)
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        let Transaction { end, segment, first } = transaction;
        self.transact(&[segment], &[end, first], None)
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        let ForkRecords { origin, segment, first, listed } = records;
        self.transact(&[origin, segment], &[first], Some(listed))
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let tables = self.lock();
        let begin =
            after.map_or(Bound::Included((source, 0)), |after| Bound::Excluded((source, after)));
        let end = Bound::Included((source, u64::MAX));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut rest = tables.forks.range((begin, end)).map(|(_, item)| fork::decode(item));
        let forks = rest.by_ref().take(limit).collect::<Result<Vec<_>, _>>()?;
        let next = rest.next().and(forks.last()).map(|last| last.number);
        Ok(ForkPage { forks, next })
    }

    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        self.change_segment(log, at.segment(), |segment| {
            segment.last_snapshot = segment.last_snapshot.max(Some(at.entry_number()));
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
}
