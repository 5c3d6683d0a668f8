//! The simulated Entry table.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_engine::ports::{Entries, Page, PortError, PutOutcome, ReadConsistency};
use cellar_log::append::AppendEvent;
use cellar_log::entry::Entry;
use cellar_log::invariants::Attempts;

use crate::process::Process;
use crate::rare::RareEvent;

tokio::task_local! {
    /// Number of attempts of the append that runs in the current task.
    static ATTEMPTS: RefCell<Attempts>;
}

/// Runs an append and counts its attempts (I6).
pub(crate) async fn counting_attempts<T>(append: impl Future<Output = T>) -> (T, Attempts) {
    ATTEMPTS
        .scope(RefCell::default(), async {
            let done = append.await;
            (done, ATTEMPTS.with(|attempts| *attempts.borrow()))
        })
        .await
}

fn count_attempt(event: &AppendEvent) {
    // Requests outside of an append are not counted.
    let _ = ATTEMPTS.try_with(|attempts| attempts.borrow_mut().record(event));
}

fn count_failed_read<T>(read: Result<T, PortError>) -> Result<T, PortError> {
    if let Err(error) = &read {
        count_attempt(&AppendEvent::ReadFailed { temporary: error.temporary });
    }
    read
}

impl Process {
    /// Truncates a page, as DynamoDB truncates a page at 1 MB.
    fn truncate_page(&self, mut page: Page) -> Page {
        let limit = usize::try_from(self.world().plan().page_entries).unwrap_or(usize::MAX);
        if limit > 0 && page.entries.len() > limit {
            page.entries.truncate(limit);
            page.more = true;
        }
        page
    }

    /// Returns the entries in a range of one segment that the replica shows, in ascending order.
    fn shown_entries(&self, log: LogId, from: Position, to: Position) -> Vec<Arc<Entry>> {
        let world = self.world();
        let shown = world.entries_shown.range((log, from)..=(log, to), world.time.elapsed_ms());
        shown.into_iter().map(|(_, entry)| entry).collect()
    }

    fn shown_page(&self, mut entries: Vec<Arc<Entry>>, limit: u32, leader: &Page) -> Page {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = entries.len() > limit;
        entries.truncate(limit);
        let broken = |pair: &[Arc<Entry>]| match pair {
            [one, other] => one.position.entry_number().abs_diff(other.position.entry_number()) > 1,
            _ => false,
        };
        let is_hole = |page: &[Arc<Entry>]| page.windows(2).any(broken);
        let page = self.count_if_stale(Page { entries, more }, leader);
        if is_hole(&page.entries) && !is_hole(&leader.entries) {
            self.world().count(RareEvent::ReplicaHole);
        }
        page
    }
}

fn segment_end(at: Position) -> Position {
    Position::new(at.segment(), u32::MAX).unwrap_or(at)
}

#[async_trait]
impl Entries for Process {
    async fn page(
        &self,
        log: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let process = self.clone();
        let effect = async move {
            let leader = process.world().tables.page(log, from, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(process.truncate_page(leader));
            }
            let shown = process.shown_entries(log, from, segment_end(from));
            Ok(process.truncate_page(process.shown_page(shown, MAX_PAGE_ENTRIES, &leader)))
        };
        let what = format!("page from {from}, {consistency:?}");
        count_failed_read(self.call(what, effect).await.and_then(|page| page))
    }

    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let process = self.clone();
        let effect = async move {
            let leader =
                process.world().tables.page_back(log, from, limit, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(process.truncate_page(leader));
            }
            let mut shown = process.shown_entries(log, from.segment_start(), from);
            shown.reverse();
            Ok(process.truncate_page(process.shown_page(shown, limit, &leader)))
        };
        let what = format!("page back from {from}, {consistency:?}");
        self.call(what, effect).await.and_then(|page| page)
    }

    async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let process = self.clone();
        let effect = async move {
            let leader = process.world().tables.last(log, segment, ReadConsistency::Strong).await?;
            let start = Position::new(segment, 0);
            match (process.is_stale(consistency), start) {
                (true, Ok(start)) => {
                    let shown = process.shown_entries(log, start, segment_end(start)).pop();
                    Ok(process.count_if_stale(shown, &leader))
                }
                _ => Ok(leader),
            }
        };
        let what = format!("last of segment {segment}, {consistency:?}");
        self.call(what, effect).await.and_then(|last| last)
    }

    async fn get(&self, log: LogId, position: Position) -> Result<Option<Arc<Entry>>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.tables.get(log, position).await };
        self.call(format!("get {position}"), effect).await.and_then(|entry| entry)
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let (process, new) = (self.clone(), entry.clone());
        let effect = async move {
            let world = process.world();
            let outcome = world.tables.put(&new).await;
            match &outcome {
                PutOutcome::Accepted => {
                    process.event(format_args!("{} is stored", new.position));
                    world.entry_changed(new.log, new.position, true).await;
                }
                PutOutcome::Refused { winner } => {
                    let is_own = **winner == new;
                    world.count(if is_own { RareEvent::OwnEntryWon } else { RareEvent::PutLost });
                    process.event(format_args!("{} is taken, own={is_own}", new.position));
                }
                PutOutcome::Unknown(_) | PutOutcome::Failed(_) => {}
            }
            outcome
        };
        let what = format!("put {}", entry.position);
        let outcome = self.call(what, effect).await.unwrap_or_else(PutOutcome::Unknown);
        count_attempt(&match &outcome {
            PutOutcome::Accepted => AppendEvent::PutAccepted,
            PutOutcome::Refused { winner } => {
                AppendEvent::PutRefused { winner: Arc::clone(winner) }
            }
            PutOutcome::Unknown(_) => AppendEvent::PutUnknown,
            PutOutcome::Failed(_) => AppendEvent::PutFailed,
        });
        outcome
    }

    async fn set_root(
        &self,
        log: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        let (process, root) = (self.clone(), root.to_owned());
        let what = format!("set root of {position} to {root}");
        let effect = {
            let root = root.clone();
            async move {
                let world = process.world();
                let before = world.tables.get(log, position).await?;
                let current_root = world.tables.set_root(log, position, &root).await?;
                if world.tables.get(log, position).await? == before {
                    world.count(RareEvent::RootStood);
                }
                if current_root != root {
                    // A worker that builds a snapshot again must produce the same objects (I7,
                    // I12).
                    let why = format_args!(
                        "I12: {position} has root {current_root}, but another worker made {root}"
                    );
                    world.report_violation(why);
                }
                world.entry_changed(log, position, false).await;
                Ok(current_root)
            }
        };
        self.call(what, effect).await.and_then(|current_root| current_root)
    }

    async fn replace_root(
        &self,
        log: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        let world = Arc::clone(self.world());
        let what = format!("replace root of {position}");
        let (replaces, root) = (replaces.map(str::to_owned), root.to_owned());
        let effect = async move {
            let replaces = replaces.as_deref();
            let current_root = world.tables.replace_root(log, position, replaces, &root).await?;
            world.entry_changed(log, position, false).await;
            Ok(current_root)
        };
        self.call(what, effect).await.and_then(|current_root| current_root)
    }

    async fn reachable(&self) -> bool {
        self.call("reachable".to_owned(), async {}).await.is_ok()
    }
}
