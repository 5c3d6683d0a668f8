//! Tables over in-memory tables, with stale reads and competing writers.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;
use cellar_base::consistency::ReadConsistency;
use cellar_log::entry::{Edits, Mutation};

/// An edit that another client appends before a put.
pub(super) struct CompetingEdit {
    pub(super) authored: Operation,
    pub(super) committed: Option<Vec<Operation>>,
}

/// Tables with stale reads and competing writers. By default, neither occurs.
#[derive(Default)]
pub(super) struct DisturbedTables {
    pub(super) tables: MemoryTables,
    /// Eventually consistent reads do not find entries from this position on.
    hidden_from: Mutex<Option<Position>>,
    reads: AtomicU64,
    /// One of these edits is appended before each put.
    competing_edits: Mutex<VecDeque<CompetingEdit>>,
}

impl DisturbedTables {
    pub(super) fn hide_from(&self, position: Position) {
        *self.hidden_from.lock().unwrap() = Some(position);
    }

    pub(super) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    pub(super) fn compete(&self, edits: impl IntoIterator<Item = Operation>) {
        for authored in edits {
            self.compete_with(CompetingEdit { authored, committed: None });
        }
    }

    pub(super) fn compete_with(&self, edit: CompetingEdit) {
        self.competing_edits.lock().unwrap().push_back(edit);
    }

    /// Appends a competing edit at a position that the tested client wants to write.
    async fn take_position(&self, wanted: &Entry, edit: CompetingEdit) {
        let CompetingEdit { authored, committed } = edit;
        let entry_number = wanted.position.entry_number();
        let base = Position::new(0, entry_number - 1).unwrap();
        let edits = Edits {
            client: ClientKey([77; 8]),
            name: None,
            merged: None,
            first_id: u64::from(entry_number),
            mutations: vec![Mutation { base, authored, committed }],
        };
        let entry = Entry { content: Content::Edits(edits), ..wanted.clone() };
        assert_eq!(self.tables.put(&entry).await, PutOutcome::Accepted);
    }

    fn shows(&self, entry: &Entry, consistency: ReadConsistency) -> bool {
        consistency.is_strong()
            || self.hidden_from.lock().unwrap().is_none_or(|from| entry.position < from)
    }
}

#[async_trait]
impl Entries for DisturbedTables {
    async fn page(
        &self,
        log: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let mut page = self.tables.page(log, from, ReadConsistency::Strong).await?;
        page.entries.retain(|entry| self.shows(entry, consistency));
        Ok(page)
    }

    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let mut page = self.tables.page_back(log, from, limit, ReadConsistency::Strong).await?;
        page.entries.retain(|entry| self.shows(entry, consistency));
        Ok(page)
    }

    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let page = self.tables.page(log, at(segment, 0), ReadConsistency::Strong).await?;
        Ok(page.entries.into_iter().rfind(|entry| self.shows(entry, consistency)))
    }

    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError> {
        self.tables.get(log, position).await
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let competing_edit = self.competing_edits.lock().unwrap().pop_front();
        if let Some(competing_edit) = competing_edit {
            self.take_position(entry, competing_edit).await;
        }
        self.tables.put(entry).await
    }

    async fn set_root(&self, log: LogId, at: Position, root: &str) -> Result<String, PortError> {
        self.tables.set_root(log, at, root).await
    }

    async fn replace_root(
        &self,
        log: LogId,
        at: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        self.tables.replace_root(log, at, replaces, root).await
    }

    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Segments for DisturbedTables {
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        let mut newest = self.tables.newest(log, u8::MAX, ReadConsistency::Strong).await?;
        let hidden_from = *self.hidden_from.lock().unwrap();
        newest.retain(|segment| {
            consistency.is_strong() || hidden_from.is_none_or(|from| at(segment.num, 0) < from)
        });
        newest.truncate(usize::from(limit));
        Ok(newest)
    }

    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        _consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        self.tables.segment(log, segment, ReadConsistency::Strong).await
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        self.tables.roll(transaction).await
    }

    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        self.tables.raise_last_snapshot(log, at).await
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        self.tables.create(segment, entry).await
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        self.tables.fork(records).await
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        self.tables.forks(source, after, limit).await
    }

    async fn reachable(&self) -> bool {
        true
    }
}
