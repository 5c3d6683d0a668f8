//! Tests of the log service with stale eventually consistent reads.

use std::sync::Mutex;

use super::*;
use cellar_base::consistency::ReadConsistency;

/// Tables that hide entries from `hidden_from` on from eventually consistent reads.
#[derive(Default)]
pub(super) struct LaggingTables {
    tables: MemoryTables,
    hidden_from: Mutex<Option<Position>>,
    reads: AtomicU64,
}

impl LaggingTables {
    pub(super) fn hide_from(&self, position: Position) {
        *self.hidden_from.lock().unwrap() = Some(position);
    }

    pub(super) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    fn shows(&self, entry: &Entry, consistency: ReadConsistency) -> bool {
        consistency.is_strong()
            || self.hidden_from.lock().unwrap().is_none_or(|from| entry.position < from)
    }
}

#[async_trait]
impl Entries for LaggingTables {
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
impl Segments for LaggingTables {
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

/// Closes segment 0 after 0.1 like another process, with or without opening the next segment.
async fn roll(tables: &LaggingTables, with_next: bool) {
    let first = Entry::first(log(), None, 0);
    let end = Entry { position: at(0, 2), content: Content::EndSegment, ..first.clone() };
    assert_eq!(tables.put(&end).await, PutOutcome::Accepted);
    if with_next {
        let segment = Segment {
            log: log(),
            num: 1,
            created_s: 0,
            last_snapshot: None,
            offloaded: None,
            lineage: None,
        };
        let next = Entry { position: at(1, 0), ..first };
        assert_eq!(tables.create(&segment, &next).await, CreateOutcome::Created);
    }
}

/// Creates a log with one edit, and a service that has cached it.
async fn edited() -> (Arc<LaggingTables>, Logs) {
    let tables = Arc::new(LaggingTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    service.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    (tables, service)
}

#[tokio::test]
async fn finds_a_new_log_despite_stale_reads() {
    let tables = Arc::new(LaggingTables::default());
    logs(&tables).create(log(), None).await.unwrap();
    tables.hide_from(Position::FIRST);
    let first = Position::FIRST;
    assert_eq!(logs(&tables).head(log(), None).await.unwrap().head, first);
    assert_eq!(logs(&tables).load(log(), None).await.unwrap().head, first);
    assert_eq!(logs(&tables).update(log(), first).await.unwrap().head, first);
    assert!(texts(&logs(&tables), None).await.is_empty());
    let appended = logs(&tables).append(request(1, 0, 1, first, "one")).await.unwrap();
    assert_eq!(appended.tail, at(0, 1));
}

#[tokio::test]
async fn replies_include_the_position_that_the_client_has_seen() {
    let (tables, service) = edited().await;
    roll(&tables, true).await;
    for hidden_from in [at(0, 1), at(0, 2), at(1, 0)] {
        tables.hide_from(hidden_from);
        let seen = Some(at(1, 0));
        for service in [&service, &logs(&tables)] {
            let name = format!("hidden from {hidden_from}");
            assert_eq!(service.head(log(), seen).await.unwrap().head, at(1, 0), "{name}");
            let query = CellsQuery { min_position: seen, ..everything(None) };
            assert_eq!(service.cells(log(), &query).await.unwrap().position, at(1, 0), "{name}");
            let updated = service.update(log(), at(0, 1)).await.unwrap();
            assert!(updated.head >= at(0, 1), "{name}");
        }
    }
}

#[tokio::test]
async fn reads_again_only_if_the_position_exists() {
    let (tables, _) = edited().await;
    tables.hide_from(at(0, 1));
    assert_eq!(texts(&logs(&tables), Some(at(0, 1))).await, ["one"]);
    let beyond = logs(&tables).cells(log(), &everything(Some(at(0, 2)))).await;
    assert_eq!(beyond, Err(LogError::NoSuchPosition { at: at(0, 2), newest: at(0, 1) }));
}

#[tokio::test]
async fn a_missing_next_segment_is_an_error() {
    let (tables, service) = edited().await;
    roll(&tables, false).await;
    let corrupt = LogError::Corrupt { at: at(1, 0) };
    assert_eq!(service.update(log(), at(0, 1)).await, Err(corrupt.clone()));
    for service in [&service, &logs(&tables)] {
        assert_eq!(service.head(log(), None).await, Err(corrupt.clone()));
        assert_eq!(service.cells(log(), &everything(None)).await, Err(corrupt.clone()));
        let append = service.append(request(1, 1, 2, at(0, 1), "two")).await;
        assert_eq!(append, Err(LogError::Refused(Refusal::Corrupt { at: at(1, 0) })));
    }
    let reads = tables.reads();
    assert!(reads < 200, "{reads} reads");
}

#[tokio::test]
async fn never_uses_a_cached_entry_for_the_root() {
    let tables = Arc::new(MemoryTables::default());
    let service = logs(&tables);
    // A snapshot was finished after this service cached the log.
    let first = Entry::first(log(), None, 0);
    let snapshot = |root: Option<&str>| {
        let content = Content::Snapshot { root: root.map(str::to_owned), trimmed_s: None };
        Entry { position: at(0, 1), content, ..first.clone() }
    };
    let segment = Segment {
        log: log(),
        num: 0,
        created_s: 0,
        last_snapshot: Some(1),
        offloaded: None,
        lineage: None,
    };
    assert_eq!(tables.create(&segment, &first).await, CreateOutcome::Created);
    let finished = snapshot(Some("sheets/x/roots/y"));
    assert_eq!(tables.put(&finished).await, PutOutcome::Accepted);
    let known = [first.clone().into(), snapshot(None).into()];
    service.tails.add(service.clock.now_ms(), &known);
    let loaded = service.load(log(), None).await.unwrap();
    assert_eq!(loaded.root.as_deref(), Some("sheets/x/roots/y"));
}
