//! The last mutations of clients of sync groups, which acknowledge nothing themselves.

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

use super::{LogError, Logs};

/// What this process knows to be in logs: never too much, since no entry ever goes.
#[derive(Debug, Default)]
pub(super) struct KnownClients {
    last: Mutex<HashMap<(LogId, ClientKey), u64>>,
}

impl KnownClients {
    /// The last mutation of a client that is surely in the log; 0 if none is known.
    pub(super) fn last_id(&self, log: LogId, client: ClientKey) -> u64 {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.get(&(log, client)).copied().unwrap_or(0)
    }

    pub(super) fn raise(&self, log: LogId, client: ClientKey, last_id: u64) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= MAX_CACHED_CLIENTS && !last.contains_key(&(log, client)) {
            last.clear();
        }
        let known = last.entry((log, client)).or_insert(0);
        *known = last_id.max(*known);
    }
}

impl Logs {
    /// A client's last mutation, from the newest root and every entry behind it.
    pub(super) async fn look_up(
        &self,
        log: LogId,
        client: ClientKey,
    ) -> Result<LookedUp, LogError> {
        let root = self.root_for(log, None, None).await?;
        let mut last_id = match &root {
            None => None,
            Some(root) => self.root_clients(log, root).await?.get(client).map(|last| last.id),
        };
        let begin = root.map_or(Position::FIRST, |root| root.position);
        let mut head = None;
        self.walk_consistently(log, begin, |entry| {
            if let Some((_, _, last)) = entry.mutation_ids().filter(|(whose, ..)| *whose == client)
            {
                last_id = last_id.max(Some(last));
            }
            head = Some((entry.position, entry.header.incarnation));
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let (head, incarnation) = head.ok_or(LogError::NotFound)?;
        Ok(LookedUp { last_id, head, incarnation })
    }

    /// The last mutations of clients at a root.
    pub(super) async fn root_clients(
        &self,
        log: LogId,
        root: &Root,
    ) -> Result<ClientMap, LogError> {
        let (mut objects, family) = (Objects::default(), self.family(log).await?);
        let clients = self
            .objects
            .ready(family, &mut objects, |objects| Ok(view::clients(root, objects)))
            .await;
        self.roots.heed(log, clients.map_err(LogError::from))
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::SubjectKey;

    use super::*;

    #[test]
    fn what_is_known_never_falls_and_is_bounded() {
        let log = LogId::derive(&SubjectKey::new("test", "numbering"), "x").unwrap();
        let client = |number: usize| ClientKey((number as u64).to_le_bytes());
        let known = KnownClients::default();
        assert_eq!(known.last_id(log, client(0)), 0);
        known.raise(log, client(0), 7);
        known.raise(log, client(0), 6);
        assert_eq!(known.last_id(log, client(0)), 7);
        (1..MAX_CACHED_CLIENTS).for_each(|number| known.raise(log, client(number), 1));
        known.raise(log, client(1), 2);
        assert_eq!(known.last.lock().unwrap().len(), MAX_CACHED_CLIENTS);
        known.raise(log, client(MAX_CACHED_CLIENTS), 1);
        assert_eq!(known.last.lock().unwrap().len(), 1);
    }
}
