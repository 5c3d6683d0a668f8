//! Pull: what is new since a cookie, and whose mutations that acknowledges.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::{ClientIds, Cookie, PullPlan, plan_pull};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};

use super::{LogError, Logs};

/// The answer to a pull.
#[derive(Debug, Clone, PartialEq)]
pub enum Pulled {
    /// Nothing is new.
    Nothing(Cookie),
    /// Entries since the cookie.
    Since(News),
    /// Everything from a root on.
    Anew {
        /// Its object; none if the log has no snapshot.
        root: Option<String>,
        /// The entries.
        news: News,
    },
    /// What the client has read is not of this log.
    Lost,
}

/// What is new.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// What comes back with the next pull.
    pub cookie: Cookie,
    /// The entries, oldest first.
    pub entries: Vec<Arc<Entry>>,
    /// The last mutation of each client of the group that has new ones.
    pub last_ids: BTreeMap<String, u64>,
    /// Whether the entries were cut.
    pub more: bool,
}

impl Logs {
    /// Pulls for a group of a subject, seeing every acknowledged write.
    ///
    /// # Errors
    /// [`LogError`] as of a load.
    pub async fn pull(
        &self,
        log: LogId,
        subject: SubjectKey,
        group: &str,
        cookie: Option<Cookie>,
    ) -> Result<Pulled, LogError> {
        let ids = ClientIds::new(subject, group);
        let Some(cookie) = cookie else { return self.pull_anew(log, ids, None).await };
        if cookie.log != log {
            return Ok(Pulled::Lost);
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
        let is_news = newest.is_some_and(|(newest, _)| newest > cookie.position);
        let (snapshot, too_far) = match is_news {
            true => self.snapshot_and_distance(log, cookie.position).await?,
            false => (None, false),
        };
        match (plan_pull(&cookie, newest, snapshot), loaded) {
            (PullPlan::Unchanged, _) => Ok(Pulled::Nothing(cookie)),
            (PullPlan::EntriesSince, Some(loaded)) if !too_far => {
                let more = loaded.next.is_some();
                Ok(Pulled::Since(news(cookie, ids, loaded.entries, more)))
            }
            (PullPlan::EntriesSince | PullPlan::FromSnapshot, _) => {
                self.pull_anew(log, ids, Some(cookie.position)).await
            }
            (PullPlan::UnknownState, _) => Ok(Pulled::Lost),
        }
    }

    /// The newest finished snapshot, and whether a client at `after` is too far behind for entries
    /// alone.
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

    async fn pull_anew(
        &self,
        log: LogId,
        mut ids: ClientIds,
        seen: Option<Position>,
    ) -> Result<Pulled, LogError> {
        let loaded = self.load(log, seen).await?;
        let first = loaded.entries.first().map_or(Position::FIRST, |first| first.position);
        if let Some(root) = &loaded.root {
            let root = self.objects.root(root).await?;
            ids.add_root(&self.root_clients(log, &root).await?);
        }
        let snapshot = loaded.root.is_some().then_some(first);
        let cookie = Cookie { log, incarnation: loaded.incarnation, position: first, snapshot };
        let news = news(cookie, ids, loaded.entries, loaded.next.is_some());
        Ok(Pulled::Anew { root: loaded.root, news })
    }
}

/// The entries behind a cookie, and the cookie behind them.
fn news(cookie: Cookie, mut ids: ClientIds, entries: Vec<Arc<Entry>>, more: bool) -> News {
    entries.iter().for_each(|entry| ids.add_entry(entry));
    let position = entries.last().map_or(cookie.position, |last| last.position);
    News { cookie: Cookie { position, ..cookie }, entries, last_ids: ids.into_ids(), more }
}
