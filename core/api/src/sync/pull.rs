//! Determines what a pull response contains, and collects the last mutation ids of a client group.

use std::collections::BTreeMap;

use super::cookie::Cookie;
use cellar_base::identity::{ClientKey, ClientName, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::{Edits, Entry};
use cellar_snapshot::root::ClientMap;

/// Type of a pull response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPlan {
    /// The log has not changed, so the response contains the same cookie as the request.
    Unchanged,
    /// The response contains the entries after the cookie's position.
    EntriesSince,
    /// A newer snapshot exists. The response replaces the client's view with that snapshot and the
    /// entries after it.
    FromSnapshot,
    /// The cookie does not match the log. The client must start over with a new client group.
    UnknownState,
}

/// Determines what the response to a pull with this cookie contains.
///
/// `newest_entry` is the position and incarnation of the newest entry, or `None` if the log does
/// not contain the cookie's position. `newest_snapshot` is the position of the newest finished
/// snapshot.
#[must_use]
pub fn plan_pull(
    cookie: &Cookie,
    newest_entry: Option<(Position, u32)>,
    newest_snapshot: Option<Position>,
) -> PullPlan {
    let Some((newest_position, incarnation)) = newest_entry else {
        return PullPlan::UnknownState;
    };
    if incarnation != cookie.incarnation {
        return PullPlan::UnknownState;
    }
    if newest_position <= cookie.position {
        return PullPlan::Unchanged;
    }
    let has_newer_snapshot = newest_snapshot > cookie.snapshot;
    if has_newer_snapshot { PullPlan::FromSnapshot } else { PullPlan::EntriesSince }
}

/// Returns the key of an entry in a client's view. Keys sort in the order of positions.
#[must_use]
pub fn entry_key(position: Position) -> String {
    format!("entry/{:016x}", position.pack())
}

/// Collects the last mutation ids of the clients in a client group.
#[derive(Debug, Clone)]
pub struct ClientIds {
    subject: SubjectKey,
    group: String,
    ids: BTreeMap<String, u64>,
}

impl ClientIds {
    /// Creates an empty collection for the client group with the id `group` of the user `subject`.
    #[must_use]
    pub fn new(subject: SubjectKey, group: &str) -> Self {
        Self { subject, group: group.to_owned(), ids: BTreeMap::new() }
    }

    /// Adds the last mutation ids that a snapshot contains.
    pub fn add_root(&mut self, clients: &ClientMap) {
        for (client, name, last) in clients.named() {
            self.add(client, name, last.id);
        }
    }

    /// Adds the mutation ids in an entry.
    pub fn add_entry(&mut self, entry: &Entry) {
        if let Some(edits @ Edits { name: Some(name), .. }) = entry.edits() {
            self.add(edits.client, name, edits.last_id());
        }
    }

    /// Adds a mutation id if the client belongs to the group. Different users may use the same ids
    /// for clients and groups, so the client key, which depends on the user, is compared too.
    fn add(&mut self, client: ClientKey, name: &ClientName, last_id: u64) {
        if name.group() == self.group && name.key(&self.subject) == client {
            let newest_id = self.ids.entry(name.client().to_owned()).or_insert(0);
            *newest_id = (*newest_id).max(last_id);
        }
    }

    /// Returns the last mutation ids by client id.
    #[must_use]
    pub fn into_ids(self) -> BTreeMap<String, u64> {
        self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_log::entry::Content;
    use cellar_log::testing::support::{at, edits_entry, log};

    fn cookie() -> Cookie {
        Cookie { log: log(), incarnation: 1, position: at(0, 9), snapshot: Some(at(0, 4)) }
    }

    #[test]
    fn plans_the_reply_from_cookie_and_log() {
        let plan = |newest, snapshot| plan_pull(&cookie(), newest, snapshot);
        assert_eq!(plan(Some((at(0, 9), 1)), Some(at(0, 8))), PullPlan::Unchanged);
        assert_eq!(plan(Some((at(0, 10), 1)), Some(at(0, 4))), PullPlan::EntriesSince);
        assert_eq!(plan(Some((at(0, 10), 1)), None), PullPlan::EntriesSince);
        assert_eq!(plan(Some((at(1, 0), 1)), Some(at(0, 5))), PullPlan::FromSnapshot);
        for lost in [None, Some((at(0, 10), 0)), Some((at(0, 10), 2)), Some((at(0, 9), 2))] {
            assert_eq!(plan(lost, None), PullPlan::UnknownState);
        }
    }

    #[test]
    fn collects_only_the_clients_of_the_group_and_subject() {
        let (alice, bob) = (SubjectKey::new("i", "alice"), SubjectKey::new("i", "bob"));
        let named = |subject: &SubjectKey, group: &str, client: &str, num, first_id| {
            let name = ClientName::new(group, client).unwrap();
            let mut entry = edits_entry(at(0, num), 0, first_id).as_ref().clone();
            if let Content::Edits(edits) = &mut entry.content {
                (edits.client, edits.name) = (name.key(subject), Some(name));
            }
            entry
        };
        let mut ids = ClientIds::new(alice, "g");
        ids.add_entry(&named(&alice, "g", "a", 1, 3));
        ids.add_entry(&named(&alice, "g", "a", 2, 1));
        ids.add_entry(&named(&alice, "g2", "b", 3, 5));
        ids.add_entry(&named(&bob, "g", "a", 4, 9));
        ids.add_entry(&edits_entry(at(0, 5), 1, 7));
        let mut root = ClientMap::default();
        for (subject, client, id) in [(&alice, "c", 8), (&bob, "d", 9)] {
            let name = ClientName::new("g", client).unwrap();
            root.record_mutation(name.key(subject), id, 0);
            root.record_name(name.key(subject), &name);
        }
        ids.add_root(&root);
        let ids = ids.into_ids();
        assert_eq!(ids, BTreeMap::from([("a".to_owned(), 3), ("c".to_owned(), 8)]));
    }

    #[test]
    fn keys_of_entries_ascend() {
        let keys = [at(0, 9), at(0, 10), at(0, 256), at(1, 0), at(16, 0)].map(entry_key);
        assert!(keys.is_sorted());
        assert_eq!(keys[3], "entry/0000000100000000");
    }
}
