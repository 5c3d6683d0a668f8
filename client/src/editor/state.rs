//! What an editor keeps on disk, and its transitions.

use cellar_core::api::{AppendReply, AppendRequest, SentMutation};
use cellar_core::identity::LogId;
use cellar_core::operation::Operation;
use cellar_core::position::Position;
use serde::{Deserialize, Serialize};

use crate::describe;

/// The version of the file that is written and read.
const STATE_VERSION: u32 = 1;

/// One client's numbering in one spreadsheet, and its edits on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditorState {
    version: u32,
    /// Which cloud: [`crate::Client::identity`]. Older files call it `url`.
    #[serde(alias = "url")]
    cloud: String,
    spreadsheet: LogId,
    /// The client's name: random, so that no two installations share a numbering.
    client: String,
    /// The epoch that `seen` and the bases are of.
    epoch: u32,
    /// The id of the next edit.
    next_id: u64,
    /// The last id known to be in the log.
    ack: u64,
    /// The highest position seen: the base of the next edit.
    pub(super) seen: Position,
    /// Edits that were saved and perhaps sent, with consecutive ids from `ack + 1`.
    pub(super) pending: Vec<SentMutation>,
}

impl EditorState {
    /// A client that has not made an edit.
    pub(super) fn fresh(
        (cloud, spreadsheet): (String, LogId),
        client: String,
        epoch: u32,
        seen: Position,
    ) -> Self {
        Self {
            version: STATE_VERSION,
            cloud,
            spreadsheet,
            client,
            epoch,
            next_id: 1,
            ack: 0,
            seen,
            pending: Vec::new(),
        }
    }

    /// What is wrong with a state that was read, if anything is.
    pub(super) fn fault(&self, key: &(String, LogId)) -> Option<&'static str> {
        if self.version != STATE_VERSION {
            return Some("another version of cellar wrote it");
        }
        if (&self.cloud, self.spreadsheet) != (&key.0, key.1) {
            return Some("it is about another spreadsheet");
        }
        let ids = (self.ack.saturating_add(1)..).zip(&self.pending);
        let numbered = ids.clone().all(|(id, edit)| edit.id == id);
        let pending = u64::try_from(self.pending.len()).unwrap_or(u64::MAX);
        if !numbered || self.next_id != self.ack.saturating_add(pending).saturating_add(1) {
            return Some("its edits are not numbered without gaps");
        }
        None
    }

    /// Adds an edit: its id and its base never change from here on.
    pub(super) fn author(&mut self, op: Operation) {
        self.pending.push(SentMutation { id: self.next_id, base: self.seen, op });
        self.next_id = self.next_id.saturating_add(1);
    }

    /// All pending edits as they are to be sent, the same whenever they are sent.
    pub(super) fn request(&self) -> AppendRequest {
        AppendRequest {
            client: self.client.clone(),
            epoch: self.epoch,
            ack: self.ack,
            mutations: self.pending.clone(),
        }
    }

    /// Takes an answer: everything that was sent is in the log. Gives the position of the last
    /// edit, if the server still knows it; `None` if the answer is not about these edits.
    pub(super) fn acknowledge(&mut self, reply: &AppendReply) -> Option<Option<Position>> {
        let sent = self.pending.iter().map(|edit| edit.id);
        if !sent.eq(reply.results.iter().map(|result| result.id)) {
            return None;
        }
        let last = reply.results.last()?;
        self.ack = last.id;
        self.pending.clear();
        self.seen = self.seen.max(reply.head);
        Some(last.position)
    }

    /// Takes back the newest edit, which is certainly not in the log: its id is free again.
    pub(super) fn withdraw_newest(&mut self) {
        if let Some(edit) = self.pending.pop() {
            self.next_id = edit.id;
        }
    }

    /// Becomes a new client that makes the pending edits again, on a new base. Only for edits
    /// that are certainly not in the log.
    pub(super) fn start_over(&mut self, client: String, epoch: u32, seen: Position) {
        let edits = std::mem::take(&mut self.pending);
        let key = (std::mem::take(&mut self.cloud), self.spreadsheet);
        *self = Self::fresh(key, client, epoch, seen);
        for edit in edits {
            self.author(edit.op);
        }
    }

    /// Takes note of a position that was seen; says whether that changed anything. A new epoch
    /// begins a new client, unless edits of the old one are still on their way.
    pub(super) fn saw(&mut self, position: Position, epoch: u32, new_client: String) -> bool {
        if epoch == self.epoch {
            let newer = position > self.seen;
            self.seen = self.seen.max(position);
            return newer;
        }
        let settled = self.pending.is_empty();
        if settled {
            self.start_over(new_client, epoch, position);
        }
        settled
    }

    /// The pending edits, for a person: `B2 = "new", 3 cells A1:C1`.
    pub(super) fn describe_pending(&self) -> String {
        let edits: Vec<String> =
            self.pending.iter().map(|edit| describe::operation(&edit.op)).collect();
        edits.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::api::{AppendedMutation, MutationStatus};
    use cellar_core::cell::Value;
    use cellar_core::operation::{CellEdit, SetCells, SheetId};

    use super::*;

    fn key() -> (String, LogId) {
        ("http://localhost".into(), LogId::from_uuid(uuid::Uuid::from_bytes([1; 16])))
    }

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn set(row: u32) -> Operation {
        let value = Some(Value::Bool(true));
        let edit = CellEdit { row, column: 0, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
    }

    fn state() -> EditorState {
        EditorState::fresh(key(), "one".into(), 7, at(3))
    }

    fn reply(ids: &[u64], head: u32) -> AppendReply {
        let result = |id: &u64| AppendedMutation {
            id: *id,
            status: MutationStatus::Appended,
            position: Some(at(head)),
        };
        let results = ids.iter().map(result).collect();
        AppendReply { results, head: at(head), entries: Vec::new(), next: None }
    }

    #[test]
    fn an_edit_is_sent_the_same_whatever_is_seen_meanwhile() {
        let mut state = state();
        state.author(set(0));
        let first = state.request();
        assert_eq!((first.epoch, first.ack), (7, 0));
        assert_eq!(first.mutations[0].base, at(3));
        assert!(state.saw(at(9), 7, "two".into()));
        assert!(!state.saw(at(9), 8, "two".into()), "a new epoch waits for pending edits");
        assert_eq!(state.request(), first);
        let json = serde_json::to_string(&state).unwrap();
        let read: EditorState = serde_json::from_str(&json).unwrap();
        assert_eq!(read.request(), first);
        assert_eq!(read.fault(&key()), None);
    }

    #[test]
    fn an_answer_drops_what_is_in_the_log_and_moves_the_base() {
        let mut state = state();
        state.author(set(0));
        assert_eq!(state.acknowledge(&reply(&[2], 4)), None);
        assert_eq!(state.acknowledge(&reply(&[], 4)), None);
        assert_eq!(state.acknowledge(&reply(&[1], 4)), Some(Some(at(4))));
        assert!(state.pending.is_empty());
        state.author(set(1));
        let next = state.request();
        assert_eq!((next.ack, next.mutations[0].id, next.mutations[0].base), (1, 2, at(4)));
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn a_withdrawn_edit_leaves_no_gap() {
        let mut state = state();
        state.author(set(0));
        state.withdraw_newest();
        state.author(set(1));
        assert_eq!(state.request().mutations[0].id, 1);
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn starting_over_makes_the_same_edits_as_a_new_client() {
        let mut state = state();
        state.author(set(0));
        state.acknowledge(&reply(&[1], 4));
        state.author(set(5));
        state.start_over("two".into(), 8, at(1));
        let request = state.request();
        assert_eq!((request.client.as_str(), request.epoch, request.ack), ("two", 8, 0));
        let edit = &request.mutations[0];
        assert_eq!((edit.id, edit.base, &edit.op), (1, at(1), &set(5)));
        assert_eq!(state.fault(&key()), None);
    }

    #[test]
    fn a_new_epoch_begins_a_new_client_if_nothing_is_on_its_way() {
        let mut state = state();
        assert!(state.saw(at(1), 8, "two".into()));
        assert_eq!((state.client.as_str(), state.seen), ("two", at(1)));
        assert!(!state.saw(at(0), 8, "three".into()));
        assert_eq!(state.seen, at(1));
    }

    #[test]
    fn a_state_that_calls_its_cloud_url_is_read() {
        let json = serde_json::to_string(&state()).unwrap().replace("\"cloud\"", "\"url\"");
        assert_eq!(serde_json::from_str::<EditorState>(&json).unwrap(), state());
    }

    #[test]
    fn a_state_that_does_not_fit_is_found() {
        let mut gap = state();
        gap.author(set(0));
        gap.pending[0].id = 2;
        assert!(gap.fault(&key()).is_some());
        let other = ("http://other".into(), key().1);
        assert!(state().fault(&other).is_some());
        assert!(EditorState { version: 2, ..state() }.fault(&key()).is_some());
        assert!(EditorState { next_id: 9, ..state() }.fault(&key()).is_some());
    }
}
