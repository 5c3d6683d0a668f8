//! Pull: returns the entries since a cookie and the last mutation ids of a client group.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::{ClientIds, Cookie, PullPlan, plan_pull};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};

use super::{LogError, Logs};

/// Result of a pull.
#[derive(Debug, Clone, PartialEq)]
pub enum PullOutcome {
    /// The log has no entries after the cookie.
    Nothing(Cookie),
    /// The entries after the cookie.
    Since(PullDelta),
    /// The latest snapshot and the entries after it, which replace the client's state.
    Reset {
        /// Root key of the snapshot, or `None` if the log has no snapshot.
        root: Option<String>,
        news: PullDelta,
    },
    /// The cookie belongs to another log.
    UnknownCookie,
}

/// Entries of a pull, and the next cookie.
#[derive(Debug, Clone, PartialEq)]
pub struct PullDelta {
    /// Cookie for the next pull.
    pub cookie: Cookie,
    /// Entries, oldest first.
    pub entries: Vec<Arc<Entry>>,
    /// Last mutation id of each client in the group that has new mutations.
    pub last_ids: BTreeMap<String, u64>,
    /// Whether `entries` was truncated.
    pub more: bool,
}

impl Logs {
    /// Pulls a log's changes for a subject's client group. The read is strongly consistent, so it
    /// includes every acknowledged write.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::load`].
    pub async fn pull(
        &self,
        log: LogId,
        subject: SubjectKey,
        group: &str,
        cookie: Option<Cookie>,
    ) -> Result<PullOutcome, LogError> {
        let ids = ClientIds::new(subject, group);
        let Some(cookie) = cookie else { return self.pull_from_snapshot(log, ids, None).await };
        if cookie.log != log {
            return Ok(PullOutcome::UnknownCookie);
        }
        let loaded = match self.collect_consistently(log, cookie.position).await {
            Ok(loaded) => Some(loaded),
            Err(LogError::NoSuchPosition { .. }) => None,
            Err(error) => return Err(error),
        };
        let newest = loaded.as_ref().map(|loaded| {
            let last = loaded.entries.last();
            last.map_or((cookie.position, loaded.incarnation), |last| {
                (last.position, last.header.incarnation)
            })
        });
        let has_news = newest.is_some_and(|(newest, _)| newest > cookie.position);
        let (snapshot, needs_reload) = if has_news {
            self.snapshot_and_distance(log, cookie.position).await?
        } else {
            (None, false)
        };
        match (plan_pull(&cookie, newest, snapshot), loaded) {
            (PullPlan::Unchanged, _) => Ok(PullOutcome::Nothing(cookie)),
            (PullPlan::EntriesSince, Some(loaded)) if !needs_reload => {
                let more = loaded.next.is_some();
                Ok(PullOutcome::Since(pull_delta(cookie, ids, loaded.entries, more)))
            }
            (PullPlan::EntriesSince | PullPlan::FromSnapshot, _) => {
                self.pull_from_snapshot(log, ids, Some(cookie.position)).await
            }
            (PullPlan::UnknownState, _) => Ok(PullOutcome::UnknownCookie),
        }
    }

    /// Returns the latest finished snapshot, and whether a client at `after` must reload from it
    /// because too many entries follow `after`.
    async fn snapshot_and_distance(
        &self,
        log: LogId,
        after: Position,
    ) -> Result<(Option<Position>, bool), LogError> {
        let newest = self.newest_segments(log, Some(after)).await?;
        let snapshot = match plan_load(&newest) {
            LoadPlan::From(from) if from != Position::FIRST => Some(from),
            _ => None,
        };
        Ok((snapshot, plan_update(&newest, after) == UpdatePlan::Reload))
    }

    async fn pull_from_snapshot(
        &self,
        log: LogId,
        mut ids: ClientIds,
        min_position: Option<Position>,
    ) -> Result<PullOutcome, LogError> {
        let loaded = self.load(log, min_position).await?;
        let first = loaded.entries.first().map_or(Position::FIRST, |first| first.position);
        if let Some(root) = &loaded.root {
            let root = self.objects.root(root).await?;
            ids.add_root(&self.root_clients(log, &root).await?);
        }
        let snapshot = loaded.root.is_some().then_some(first);
        let cookie = Cookie { log, incarnation: loaded.incarnation, position: first, snapshot };
        let news = pull_delta(cookie, ids, loaded.entries, loaded.next.is_some());
        Ok(PullOutcome::Reset { root: loaded.root, news })
    }
}

/// Builds the response with the entries after `cookie` and the next cookie.
fn pull_delta(
    cookie: Cookie,
    mut ids: ClientIds,
    entries: Vec<Arc<Entry>>,
    more: bool,
) -> PullDelta {
    entries.iter().for_each(|entry| ids.add_entry(entry));
    let position = entries.last().map_or(cookie.position, |last| last.position);
    PullDelta { cookie: Cookie { position, ..cookie }, entries, last_ids: ids.into_ids(), more }
}
