//! Pulls the entries after a cookie, and the last mutation ids of the clients in a client group.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::{ClientIds, Cookie, PullPlan, plan_pull};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};

use super::{Loaded, LogError, Logs};

/// Result of a pull.
#[derive(Debug, Clone, PartialEq)]
pub enum PullOutcome {
    /// The log has no entries after the cookie.
    Nothing(Cookie),
    /// The entries after the cookie.
    Since(PullDelta),
    /// The latest snapshot and the entries after it. They replace the state of the client.
    Reset {
        /// Root key of the snapshot, or `None` if the log has no snapshot.
        root: Option<String>,
        news: PullDelta,
    },
    /// The cookie belongs to another log.
    UnknownCookie,
}

/// Entries that a client has not seen yet, and the cookie for the next pull.
#[derive(Debug, Clone, PartialEq)]
pub struct PullDelta {
    /// Cookie for the next pull.
    pub cookie: Cookie,
    /// Entries, oldest first.
    pub entries: Vec<Arc<Entry>>,
    /// Id of the last mutation of each client in the group, if `entries` contains its mutations.
    /// After a reset, clients in the snapshot root are also included.
    pub last_ids: BTreeMap<String, u64>,
    /// Whether `entries` was truncated.
    pub more: bool,
}

impl Logs {
    /// Returns the changes of a log that a client group has not seen yet. The read is strongly
    /// consistent, so it includes every acknowledged write.
    ///
    /// # Errors
    ///
    /// Returns [`LogError`] if the log does not exist or cannot be read.
    pub async fn pull(
        &self,
        log_id: LogId,
        subject: SubjectKey,
        group: &str,
        cookie: Option<Cookie>,
    ) -> Result<PullOutcome, LogError> {
        let client_ids = ClientIds::new(subject, group);
        match cookie {
            None => self.pull_from_snapshot(log_id, client_ids, None).await,
            Some(cookie) if cookie.log != log_id => Ok(PullOutcome::UnknownCookie),
            Some(cookie) => self.pull_after_cookie(client_ids, cookie).await,
        }
    }

    /// If the client has missed too many entries, returns the latest snapshot and the entries after
    /// it.
    async fn pull_after_cookie(
        &self,
        client_ids: ClientIds,
        cookie: Cookie,
    ) -> Result<PullOutcome, LogError> {
        let loaded = match self.collect_entries_consistently(cookie.log, cookie.position).await {
            Ok(loaded) => Some(loaded),
            Err(LogError::NoSuchPosition { .. }) => None,
            Err(error) => return Err(error),
        };
        let newest = loaded.as_ref().map(|loaded| newest_after(&cookie, loaded));
        let has_new_entries = newest.is_some_and(|(position, _)| position > cookie.position);
        let advice = if has_new_entries {
            self.advise_reload(cookie.log, cookie.position).await?
        } else {
            ReloadAdvice::default()
        };
        match (plan_pull(&cookie, newest, advice.snapshot), loaded) {
            (PullPlan::Unchanged, _) => Ok(PullOutcome::Nothing(cookie)),
            (PullPlan::UnknownState, _) => Ok(PullOutcome::UnknownCookie),
            (PullPlan::EntriesSince, Some(loaded)) if !advice.needs_reload => {
                let more = loaded.next.is_some();
                Ok(PullOutcome::Since(pull_delta(cookie, client_ids, loaded.entries, more)))
            }
            (PullPlan::EntriesSince | PullPlan::FromSnapshot, _) => {
                self.pull_from_snapshot(cookie.log, client_ids, Some(cookie.position)).await
            }
        }
    }

    async fn advise_reload(
        &self,
        log_id: LogId,
        client_position: Position,
    ) -> Result<ReloadAdvice, LogError> {
        let newest_segments = self.newest_segments(log_id, Some(client_position)).await?;
        let snapshot = match plan_load(&newest_segments) {
            LoadPlan::From(start) if start != Position::FIRST => Some(start),
            _ => None,
        };
        let needs_reload = plan_update(&newest_segments, client_position) == UpdatePlan::Reload;
        Ok(ReloadAdvice { snapshot, needs_reload })
    }

    async fn pull_from_snapshot(
        &self,
        log_id: LogId,
        mut client_ids: ClientIds,
        min_position: Option<Position>,
    ) -> Result<PullOutcome, LogError> {
        let Loaded { root: root_key, entries, incarnation, next, .. } =
            self.load(log_id, min_position).await?;
        let start = entries.first().map_or(Position::FIRST, |entry| entry.position);
        let snapshot = match &root_key {
            Some(root_key) => {
                let root = self.objects.root(root_key).await?;
                client_ids.add_root(&self.root_clients(log_id, &root).await?);
                Some(start)
            }
            None => None,
        };
        let cookie = Cookie { log: log_id, incarnation, position: start, snapshot };
        let news = pull_delta(cookie, client_ids, entries, next.is_some());
        Ok(PullOutcome::Reset { root: root_key, news })
    }
}

#[derive(Default)]
struct ReloadAdvice {
    snapshot: Option<Position>,
    needs_reload: bool,
}

fn pull_delta(
    cookie: Cookie,
    mut client_ids: ClientIds,
    entries: Vec<Arc<Entry>>,
    more: bool,
) -> PullDelta {
    for entry in &entries {
        client_ids.add_entry(entry);
    }
    let position = entries.last().map_or(cookie.position, |entry| entry.position);
    let next_cookie = Cookie { position, ..cookie };
    PullDelta { cookie: next_cookie, entries, last_ids: client_ids.into_ids(), more }
}

/// If no entry was loaded, returns the position of the cookie.
fn newest_after(cookie: &Cookie, loaded: &Loaded) -> (Position, u32) {
    match loaded.entries.last() {
        Some(entry) => (entry.position, entry.header.incarnation),
        None => (cookie.position, loaded.incarnation),
    }
}
