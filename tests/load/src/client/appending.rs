//! Sends edits with `POST …/entries`, using the client library.

use std::time::{Duration, Instant};

use cellar::ClientError;
use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::AppendedMutation, wire::SentMutation,
};
use cellar_base::position::Position;

use super::operations::unique_operation;
use super::{ClientStuck, Intent, KnownOutcome, LoadClient, MAX_IMPATIENCE_MS, PATIENCE};
use crate::measured::RequestKind;

/// One of this number of edits is abandoned: the client closes the connection before the response
/// and sends the same request again.
const ABANDONED_STEP: u64 = 16;
/// An edit is abandoned if its id modulo [`ABANDONED_STEP`] has this value.
const ABANDONED_REMAINDER: u64 = 3;
/// Pause between two calls of the client library, each of which already retries a few times.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Returns the client id for a client's appends.
pub(super) fn client_name(number: u32) -> String {
    format!("writer {number}")
}

impl LoadClient {
    /// Creates an edit and repeats its request until a response arrives.
    pub(super) async fn append(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        let id = next_id(&self.appended.intents);
        let operation = unique_operation(&self.appended.name, id, &mut self.random);
        let mutation = SentMutation { id, base: self.base, op: operation.clone() };
        let request = AppendRequest {
            client_id: self.appended.name.clone(),
            incarnation: self.spreadsheet.incarnation,
            acked_id: id.saturating_sub(1),
            refuse_unchanged: false,
            mutations: vec![mutation],
        };
        self.appended.intents.push(Intent { operation, known: KnownOutcome::Unanswered });
        let is_impatient = id % ABANDONED_STEP == ABANDONED_REMAINDER;
        let early_reply = if is_impatient { self.send_and_abandon(&request).await } else { None };
        let reply = match early_reply {
            Some(reply) => reply,
            None => self.send_until_answered(&request).await?,
        };
        let latency = if is_impatient { None } else { Some(due_at.elapsed()) };
        self.measured.count_answer(RequestKind::Append, latency);
        self.record_answer(id, &reply)
    }

    /// Sends a request and closes the connection shortly afterwards, usually before the response.
    async fn send_and_abandon(&mut self, request: &AppendRequest) -> Option<AppendReply> {
        let impatience = Duration::from_millis(self.random.u64(..MAX_IMPATIENCE_MS));
        let api = self.api(RequestKind::Append);
        let spreadsheet = api.spreadsheet(self.spreadsheet.id);
        match tokio::time::timeout(impatience, spreadsheet.append(request)).await {
            Ok(Ok(reply)) => Some(reply),
            // The result is ignored, because the request is sent again in any case.
            Ok(Err(_)) => None,
            Err(_) => {
                self.measured.count_abandoned(RequestKind::Append);
                None
            }
        }
    }

    /// Repeats a request until a response arrives.
    async fn send_until_answered(
        &self,
        request: &AppendRequest,
    ) -> Result<AppendReply, ClientStuck> {
        let api = self.api(RequestKind::Append);
        let begun_at = Instant::now();
        loop {
            match api.spreadsheet(self.spreadsheet.id).append(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.wait_before_retry(RequestKind::Append, begun_at, error).await?,
            }
        }
    }

    /// Waits before a call is repeated. Fails if repeating the call cannot help.
    pub(super) async fn wait_before_retry(
        &self,
        kind: RequestKind,
        begun_at: Instant,
        error: ClientError,
    ) -> Result<(), ClientStuck> {
        if !error.is_offline() || begun_at.elapsed() > PATIENCE {
            return Err(ClientStuck::during(kind.name(), error));
        }
        tokio::time::sleep(RETRY_PAUSE).await;
        Ok(())
    }

    /// Records the outcome of an edit and updates the base of the next edit.
    fn record_answer(&mut self, id: u64, reply: &AppendReply) -> Result<(), ClientStuck> {
        let position = match reply.results.as_slice() {
            [AppendedMutation { id: result_id, position, rejection: None, .. }]
                if *result_id == id =>
            {
                *position
            }
            results => {
                return Err(ClientStuck::during("append", format_args!("edit {id}: {results:?}")));
            }
        };
        record_position(&mut self.appended.intents, position);
        self.record_seen(RequestKind::Append, self.seen.max(reply.head))?;
        // A truncated response omits entries, so the client has seen the log at most up to its own
        // entry.
        let seen_position = if reply.next.is_none() { Some(reply.head) } else { position };
        if let Some(seen_position) = seen_position {
            self.base = self.base.max(seen_position);
        }
        Ok(())
    }
}

/// Returns the id for the next edit.
pub(super) fn next_id(intents: &[Intent]) -> u64 {
    u64::try_from(intents.len()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Records that the newest edit is in the log.
pub(super) fn record_position(intents: &mut [Intent], position: Option<Position>) {
    if let Some(newest_intent) = intents.last_mut() {
        newest_intent.known = KnownOutcome::InTheLog(position);
    }
}
