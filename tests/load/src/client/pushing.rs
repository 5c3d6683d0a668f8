//! Sends edits over the Replicache protocol, with pushes and pulls.

use std::time::Instant;

use cellar_base::identity::{BadLength, ClientName};
use cellar_base::position::Position;
use serde::Deserialize;
use serde_json::json;

use super::appending::{next_id, record_position};
use super::operations::unique_operation;
use super::{ClientStuck, Intent, KnownOutcome, LoadClient};
use crate::measured::RequestKind;

/// Client id. Each client group has only one client.
const CLIENT: &str = "tab";

/// Returns the group id and client id for a client's pushes.
pub(super) fn client_name(number: u32) -> Result<ClientName, BadLength> {
    ClientName::new(&group_id(number), CLIENT)
}

/// Returns the id of a client's group.
pub(super) fn group_id(number: u32) -> String {
    format!("group {number}")
}

/// The part of a push response that is checked.
#[derive(Deserialize)]
struct PushAnswer {
    #[serde(default)]
    results: Vec<PushResult>,
}

#[derive(Debug, Deserialize)]
struct PushResult {
    id: u64,
    status: String,
    position: Option<Position>,
}

/// The part of a pull response that is checked.
#[derive(Deserialize)]
struct PullAnswer {
    cookie: serde_json::Value,
    patch: Vec<serde_json::Value>,
    #[serde(default)]
    more: bool,
}

impl LoadClient {
    /// Creates an edit and pushes it until a response arrives.
    pub(super) async fn push(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        let id = next_id(&self.pushed.intents);
        let operation = unique_operation(&self.pushed.name, id, &mut self.random);
        let incarnation = self.spreadsheet.incarnation;
        let arguments =
            json!({"base": self.wire.base, "incarnation": incarnation, "op": operation});
        let mutation = json!({
            "clientID": CLIENT, "id": id, "name": "edit", "args": arguments, "timestamp": 0,
        });
        self.pushed.intents.push(Intent { operation, known: KnownOutcome::Unanswered });
        let body = json!({
            "pushVersion": 1, "clientGroupID": group_id(self.number), "profileID": "load",
            "schemaVersion": "", "mutations": [mutation],
        });
        let answer = self.wire.post(RequestKind::Push, &body, &self.measured).await?;
        self.measured.count_answer(RequestKind::Push, Some(due_at.elapsed()));
        let push_answer: PushAnswer = parse_answer(RequestKind::Push, &answer)?;
        match push_answer.results.as_slice() {
            [PushResult { id: result_id, status, position }]
                if *result_id == id && matches!(status.as_str(), "appended" | "duplicate") =>
            {
                record_position(&mut self.pushed.intents, *position);
                Ok(())
            }
            results => {
                Err(ClientStuck::during("push", format_args!("edit {id}: {results:?} {answer}")))
            }
        }
    }

    /// Pulls once.
    pub(super) async fn pull(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        self.pull_page(Some(due_at)).await?;
        Ok(())
    }

    /// Pulls until there are no new entries. Returns the end of the client's view.
    pub(crate) async fn pull_all(&mut self) -> Result<Position, ClientStuck> {
        while self.pull_page(None).await? {}
        Ok(self.wire.base)
    }

    /// Pulls one page. Returns whether there are more pages.
    async fn pull_page(&mut self, due_at: Option<Instant>) -> Result<bool, ClientStuck> {
        let body = json!({
            "pullVersion": 1, "clientGroupID": group_id(self.number), "profileID": "load",
            "schemaVersion": "", "cookie": self.wire.cookie,
        });
        let answer = self.wire.post(RequestKind::Pull, &body, &self.measured).await?;
        if let Some(due_at) = due_at {
            self.measured.count_answer(RequestKind::Pull, Some(due_at.elapsed()));
        }
        let PullAnswer { cookie, patch, more } = parse_answer(RequestKind::Pull, &answer)?;
        self.wire.cookie = cookie;
        if let Some(head) = find_head(&patch)? {
            let base = self.wire.base;
            if head < base {
                return Err(ClientStuck::during("pull", format_args!("{head} after {base}")));
            }
            self.wire.base = head;
        }
        Ok(more)
    }
}

/// Returns the position that a patch writes under the key `head`.
fn find_head(patch: &[serde_json::Value]) -> Result<Option<Position>, ClientStuck> {
    let head_operation =
        patch.iter().find(|operation| operation.get("key").is_some_and(|key| key == "head"));
    let Some(position) =
        head_operation.and_then(|operation| operation.get("value")?.get("position"))
    else {
        return Ok(None);
    };
    match Position::deserialize(position) {
        Ok(head) => Ok(Some(head)),
        Err(error) => Err(ClientStuck::during("pull", error)),
    }
}

fn parse_answer<T: for<'a> Deserialize<'a>>(
    kind: RequestKind,
    answer: &serde_json::Value,
) -> Result<T, ClientStuck> {
    if let Some(error) = answer.get("error") {
        return Err(ClientStuck::during(kind.name(), error));
    }
    T::deserialize(answer.clone()).map_err(|error| ClientStuck::during(kind.name(), error))
}
