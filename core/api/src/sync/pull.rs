//! What a pull answers with, and whose mutations that acknowledges.

use std::collections::BTreeMap;

use super::cookie::Cookie;
use cellar_base::identity::{ClientKey, ClientName, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::{Edits, Entry};
use cellar_snapshot::root::ClientMap;

/// What to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPlan {
    /// Nothing is new: the cookie that came.
    Nothing,
    /// The entries since.
    Since,
    /// Everything from the newest root on: it is newer than the one that the client's view begins with.
    Anew,
    /// What the client has read is not of this log: it has to begin anew itself.
    Lost,
}

/// Decides, from the newest entry behind the cookie, itself included, with its incarnation – none if the log
/// does not have that position –, and the newest finished snapshot.
#[must_use]
pub fn plan_pull(
    cookie: &Cookie,
    newest: Option<(Position, u32)>,
    snapshot: Option<Position>,
) -> PullPlan {
    match newest {
        Some((newest, incarnation)) if incarnation == cookie.incarnation => {
            if newest <= cookie.position {
                PullPlan::Nothing
            } else if snapshot > cookie.snapshot {
                PullPlan::Anew
            } else {
                PullPlan::Since
            }
        }
        _ => PullPlan::Lost,
    }
}

/// The key under which a client's view has an entry: keys ascend as positions do.
#[must_use]
pub fn entry_key(position: Position) -> String {
    format!("entry/{:016x}", position.pack())
}

/// The last mutations of the clients of one group.
#[derive(Debug, Clone)]
pub struct ClientIds {
    subject: SubjectKey,
    group: String,
    ids: BTreeMap<String, u64>,
}

impl ClientIds {
    /// None of them, yet.
    #[must_use]
    pub fn of(subject: SubjectKey, group: &str) -> Self {
        Self { subject, group: group.to_owned(), ids: BTreeMap::new() }
    }

    /// Learns from a root.
    pub fn learn_root(&mut self, clients: &ClientMap) {
        clients.named().for_each(|(client, name, last)| self.note(client, name, last.id));
    }

    /// Learns from an entry.
    pub fn learn(&mut self, entry: &Entry) {
        if let Some(edits @ Edits { name: Some(name), .. }) = entry.edits() {
            self.note(edits.client, name, edits.last_id());
        }
    }

    /// Another subject may call a group and a client the same: its keys are others.
    fn note(&mut self, client: ClientKey, name: &ClientName, last_id: u64) {
        if name.group() == self.group && name.key(&self.subject) == client {
            let known = self.ids.entry(name.client().to_owned()).or_insert(0);
            *known = (*known).max(last_id);
        }
    }

    /// Each client's last mutation, by its name.
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
    fn a_pull_is_answered_with_what_is_new() {
        let plan = |newest, snapshot| plan_pull(&cookie(), newest, snapshot);
        assert_eq!(plan(Some((at(0, 9), 1)), Some(at(0, 8))), PullPlan::Nothing);
        assert_eq!(plan(Some((at(0, 10), 1)), Some(at(0, 4))), PullPlan::Since);
        assert_eq!(plan(Some((at(0, 10), 1)), None), PullPlan::Since);
        assert_eq!(plan(Some((at(1, 0), 1)), Some(at(0, 5))), PullPlan::Anew);
        for lost in [None, Some((at(0, 10), 0)), Some((at(0, 10), 2)), Some((at(0, 9), 2))] {
            assert_eq!(plan(lost, None), PullPlan::Lost);
        }
    }

    #[test]
    fn only_the_clients_of_the_subjects_own_group_are_told() {
        let (alice, bob) = (SubjectKey::new("i", "alice"), SubjectKey::new("i", "bob"));
        let named = |subject: &SubjectKey, group: &str, client: &str, num, first_id| {
            let name = ClientName::new(group, client).unwrap();
            let mut entry = edits_entry(at(0, num), 0, first_id).as_ref().clone();
            if let Content::Edits(edits) = &mut entry.content {
                (edits.client, edits.name) = (name.key(subject), Some(name));
            }
            entry
        };
        let mut ids = ClientIds::of(alice, "g");
        ids.learn(&named(&alice, "g", "a", 1, 3));
        ids.learn(&named(&alice, "g", "a", 2, 1));
        ids.learn(&named(&alice, "g2", "b", 3, 5));
        ids.learn(&named(&bob, "g", "a", 4, 9));
        ids.learn(&edits_entry(at(0, 5), 1, 7));
        let mut root = ClientMap::default();
        for (subject, client, id) in [(&alice, "c", 8), (&bob, "d", 9)] {
            let name = ClientName::new("g", client).unwrap();
            root.note(name.key(subject), id, 0);
            root.note_name(name.key(subject), &name);
        }
        ids.learn_root(&root);
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
