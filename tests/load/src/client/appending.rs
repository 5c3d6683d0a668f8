//! Edits by `POST …/entries`, sent by the client of the library.

use std::time::{Duration, Instant};

use cellar::ClientError;
use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::AppendedMutation, wire::SentMutation,
};
use cellar_base::position::Position;

use super::operations::operation;
use super::{ClientStuck, GIVEN_UP_MS, Intent, KnownOutcome, LoadClient, PATIENCE};
use crate::measured::RequestKind;

/// Of this number of edits, a client abandons the answer to one: it closes the connection and sends
/// the same request again.
const GIVEN_UP_STEP: u64 = 16;
/// Wait between two calls of the library, each of which already retries a few times.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns the client id of a client's appends.
pub(super) fn client_name(number: u32) -> String {
    format!("writer {number}")
}

impl LoadClient {
    /// Makes an edit, and sends the same request until it is answered.
    pub(super) async fn append(&mut self, due: Instant) -> Result<(), ClientStuck> {
        let id = next_id(&self.appended.intents);
        let operation = operation(&self.appended.name, id, &mut self.random);
        let mutation = SentMutation { id, base: self.base, op: operation.clone() };
        let request = AppendRequest {
            client_id: self.appended.name.clone(),
            incarnation: self.spreadsheet.incarnation,
            acked_id: id.saturating_sub(1),
            mutations: vec![mutation],
        };
        self.appended.intents.push(Intent { operation, known: KnownOutcome::Unanswered });
        let is_impatient = id % GIVEN_UP_STEP == 3;
        let answer = if is_impatient { self.send_and_give_up(&request).await } else { None };
        let reply = match answer {
            Some(reply) => reply,
            None => self.send(&request).await?,
        };
        self.measured.count_answer(RequestKind::Append, (!is_impatient).then(|| due.elapsed()));
        self.record_answer(id, &reply)
    }

    /// Sends a request and closes the connection shortly afterwards, mostly before an answer.
    async fn send_and_give_up(&mut self, request: &AppendRequest) -> Option<AppendReply> {
        let impatience = Duration::from_millis(self.random.u64(..GIVEN_UP_MS));
        let (api, id) = (self.api(RequestKind::Append), self.spreadsheet.id);
        match tokio::time::timeout(impatience, api.spreadsheet(id).append(request)).await {
            Ok(Ok(reply)) => Some(reply),
            // The request is sent again in any case.
            Ok(Err(_)) => None,
            Err(_) => {
                self.measured.count_abandoned(RequestKind::Append);
                None
            }
        }
    }

    /// Repeats a request until it is answered.
    async fn send(&self, request: &AppendRequest) -> Result<AppendReply, ClientStuck> {
        let (api, begun) = (self.api(RequestKind::Append), Instant::now());
        loop {
            match api.spreadsheet(self.spreadsheet.id).append(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.wait_before_retry(RequestKind::Append, begun, error).await?,
            }
        }
    }

    /// Waits before a call is repeated; fails if a repetition cannot help.
    pub(super) async fn wait_before_retry(
        &self,
        kind: RequestKind,
        begun: Instant,
        error: ClientError,
    ) -> Result<(), ClientStuck> {
        if !error.is_offline() || begun.elapsed() > PATIENCE {
            return Err(ClientStuck::during(kind.name(), error));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    /// Records the outcome of an edit, and updates the base of the next one.
    fn record_answer(&mut self, id: u64, reply: &AppendReply) -> Result<(), ClientStuck> {
        let position = match reply.results.as_slice() {
            [AppendedMutation { id: told, position, rejection: None, .. }] if *told == id => {
                *position
            }
            results => {
                return Err(ClientStuck::during("append", format_args!("edit {id}: {results:?}")));
            }
        };
        record_position(&mut self.appended.intents, position);
        self.record_seen(RequestKind::Append, self.seen.max(reply.head))?;
        // A truncated answer lacks entries, so the client has seen at most its own entry.
        let base = if reply.next.is_none() { Some(reply.head) } else { position };
        self.base = self.base.max(base.unwrap_or(self.base));
        Ok(())
    }
}

/// Returns the id of the next edit.
pub(super) fn next_id(intents: &[Intent]) -> u64 {
    u64::try_from(intents.len()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Records that the newest edit is in the log.
pub(super) fn record_position(intents: &mut [Intent], position: Option<Position>) {
    if let Some(newest) = intents.last_mut() {
        newest.known = KnownOutcome::InTheLog(position);
    }
}
