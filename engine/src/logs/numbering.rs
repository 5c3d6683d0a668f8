//! Finds the id of a client's last mutation in a log. Clients of a sync group do not send this id
//! with their requests.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use cellar_api::sync::LookedUp;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::MAX_CACHED_CLIENTS;
use cellar_base::position::Position;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::{ClientMap, Root};
use cellar_snapshot::view;

use super::{LogError, LogHead, Logs};

/// A cached id may be too low because it is outdated. It is never too high, since a log never loses
/// entries.
#[derive(Debug, Default)]
pub(super) struct LastIdCache {
    last_ids: Mutex<HashMap<(LogId, ClientKey), u64>>,
}

impl LastIdCache {
    /// Returns the cached id of the client's last mutation, or 0 if no id is cached.
    pub(super) fn last_id(&self, log_id: LogId, client: ClientKey) -> u64 {
        let last_ids = self.last_ids.lock().unwrap_or_else(PoisonError::into_inner);
        last_ids.get(&(log_id, client)).copied().unwrap_or(0)
    }

    pub(super) fn raise_last_id(&self, log_id: LogId, client: ClientKey, last_id: u64) {
        let mut last_ids = self.last_ids.lock().unwrap_or_else(PoisonError::into_inner);
        if last_ids.len() >= MAX_CACHED_CLIENTS && !last_ids.contains_key(&(log_id, client)) {
            last_ids.clear();
        }
        let cached_id = last_ids.entry((log_id, client)).or_insert(0);
        *cached_id = last_id.max(*cached_id);
    }
}

impl Logs {
    pub(super) async fn look_up_last_id(
        &self,
        log_id: LogId,
        client: ClientKey,
    ) -> Result<LookedUp, LogError> {
        let root = self.find_root_for_read(log_id, None, None).await?;
        let mut last_id = match &root {
            None => None,
            Some(root) => {
                let root_clients = self.root_clients(log_id, root).await?;
                root_clients.get(client).map(|mutation| mutation.id)
            }
        };
        let start = root.map_or(Position::FIRST, |root| root.position);
        let mut newest = None;
        self.walk_consistently(log_id, start, |entry| {
            if let Some((entry_client, _, last_id_of_entry)) = entry.mutation_ids()
                && entry_client == client
            {
                last_id = last_id.max(Some(last_id_of_entry));
            }
            newest = Some(LogHead::of(entry));
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let LogHead { head, incarnation, .. } = newest.ok_or(LogError::NotFound)?;
        Ok(LookedUp { last_id, head, incarnation })
    }

    pub(super) async fn root_clients(
        &self,
        log_id: LogId,
        root: &Root,
    ) -> Result<ClientMap, LogError> {
        let family = self.family(log_id).await?;
        let mut objects = Objects::default();
        let read_clients = |objects: &Objects| Ok(view::read_clients(root, objects));
        let clients = self.objects.load_until_ready(family, &mut objects, read_clients).await;
        self.roots.invalidate_on_error(log_id, clients.map_err(LogError::from))
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::SubjectKey;

    use super::*;

    #[test]
    fn last_ids_never_decrease_and_are_bounded() {
        let log = LogId::derive(&SubjectKey::new("test", "numbering"), "x").unwrap();
        let client = |number: usize| ClientKey((number as u64).to_le_bytes());
        let cache = LastIdCache::default();
        assert_eq!(cache.last_id(log, client(0)), 0);
        cache.raise_last_id(log, client(0), 7);
        cache.raise_last_id(log, client(0), 6);
        assert_eq!(cache.last_id(log, client(0)), 7);
        (1..MAX_CACHED_CLIENTS).for_each(|number| cache.raise_last_id(log, client(number), 1));
        cache.raise_last_id(log, client(1), 2);
        assert_eq!(cache.last_ids.lock().unwrap().len(), MAX_CACHED_CLIENTS);
        cache.raise_last_id(log, client(MAX_CACHED_CLIENTS), 1);
        assert_eq!(cache.last_ids.lock().unwrap().len(), 1);
    }
}
