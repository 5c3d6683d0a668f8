//! Edits by the protocol of Replicache: push and pull.

use std::time::Instant;

use cellar_base::identity::{BadLength, ClientName};
use cellar_base::position::Position;
use serde::Deserialize;
use serde_json::json;

use super::appending::{next_id, record_position};
use super::operations::operation;
use super::{ClientStuck, Intent, KnownOutcome, LoadClient};
use crate::measured::RequestKind;

/// Client id of the only client in each group.
const CLIENT: &str = "tab";

/// Returns the group and client id of a client's pushes.
pub(super) fn client_name(number: u32) -> Result<ClientName, BadLength> {
    ClientName::new(&group(number), CLIENT)
}

/// Returns the id of a client's group.
pub(super) fn group(number: u32) -> String {
    format!("group {number}")
}

/// The checked part of an answer to a push.
#[derive(Deserialize)]
struct Pushed {
    #[serde(default)]
    results: Vec<PushedOne>,
}

#[derive(Debug, Deserialize)]
struct PushedOne {
    id: u64,
    status: String,
    position: Option<Position>,
}

/// The checked part of an answer to a pull.
#[derive(Deserialize)]
struct Pulled {
    cookie: serde_json::Value,
    patch: Vec<serde_json::Value>,
    #[serde(default)]
    more: bool,
}

impl LoadClient {
    /// Makes an edit, and pushes it until it is answered.
    pub(super) async fn push(&mut self, due: Instant) -> Result<(), ClientStuck> {
        let id = next_id(&self.pushed.intents);
        let operation = operation(&self.pushed.name, id, &mut self.random);
        let arguments = json!({"base": self.wire.base, "incarnation": self.spreadsheet.incarnation, "op": operation});
        let mutation = json!({
            "clientID": CLIENT, "id": id, "name": "edit", "args": arguments, "timestamp": 0,
        });
        self.pushed.intents.push(Intent { operation, known: KnownOutcome::Unanswered });
        let body = json!({
            "pushVersion": 1, "clientGroupID": group(self.number), "profileID": "load",
            "schemaVersion": "", "mutations": [mutation],
        });
        let answer = self.wire.post(RequestKind::Push, &body, &self.measured).await?;
        self.measured.count_answer(RequestKind::Push, Some(due.elapsed()));
        let pushed: Pushed = read(RequestKind::Push, &answer)?;
        match pushed.results.as_slice() {
            [PushedOne { id: told, status, position }]
                if *told == id && matches!(status.as_str(), "appended" | "duplicate") =>
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
    pub(super) async fn pull(&mut self, due: Instant) -> Result<(), ClientStuck> {
        self.pull_page(Some(due)).await.map(drop)
    }

    /// Pulls until nothing is new; returns the end of the client's view.
    pub(crate) async fn pull_all(&mut self) -> Result<Position, ClientStuck> {
        while self.pull_page(None).await? {}
        Ok(self.wire.base)
    }

    /// Pulls one page; returns whether more is available.
    async fn pull_page(&mut self, due: Option<Instant>) -> Result<bool, ClientStuck> {
        let body = json!({
            "pullVersion": 1, "clientGroupID": group(self.number), "profileID": "load",
            "schemaVersion": "", "cookie": self.wire.cookie,
        });
        let answer = self.wire.post(RequestKind::Pull, &body, &self.measured).await?;
        if let Some(due) = due {
            self.measured.count_answer(RequestKind::Pull, Some(due.elapsed()));
        }
        let Pulled { cookie, patch, more } = read(RequestKind::Pull, &answer)?;
        self.wire.cookie = cookie;
        let head = patch.iter().find(|put| put.get("key").is_some_and(|key| key == "head"));
        if let Some(position) = head.and_then(|head| head.get("value")?.get("position")) {
            let position = serde_json::from_value(position.clone());
            let position: Position =
                position.map_err(|error| ClientStuck::during("pull", error))?;
            if position < self.wire.base {
                let base = self.wire.base;
                return Err(ClientStuck::during("pull", format_args!("{position} after {base}")));
            }
            self.wire.base = position;
        }
        Ok(more)
    }
}

fn read<T: for<'a> Deserialize<'a>>(
    kind: RequestKind,
    answer: &serde_json::Value,
) -> Result<T, ClientStuck> {
    if let Some(error) = answer.get("error") {
        return Err(ClientStuck::during(kind.name(), error));
    }
    T::deserialize(answer.clone()).map_err(|error| ClientStuck::during(kind.name(), error))
}
