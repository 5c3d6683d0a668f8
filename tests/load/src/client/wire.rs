//! Pushes and pulls, which the client library does not offer because they are meant for third-party
//! clients. Like in Replicache, the same request is repeated until the response has status 200.

use std::time::{Duration, Instant};

use cellar::{AttemptOutcome, MAX_REPLY_BODY_BYTES, read_body};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use reqwest::header::RETRY_AFTER;
use serde_json::Value;

use super::{ClientStuck, PATIENCE};
use crate::LoadError;
use crate::measured::{Measured, RequestKind};

/// Request timeout, which is the same as in the client library.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection for pushes and pulls, with the state after the last pull.
pub(super) struct Wire {
    http: reqwest::Client,
    spreadsheet_url: String,
    token: String,
    /// Cookie of the last pull.
    pub(super) cookie: Value,
    /// End of the view after the last pull.
    pub(super) base: Position,
    client_number: u32,
}

/// The result of one attempt to send a request.
struct Attempt {
    outcome: AttemptOutcome,
    /// Body of the answer.
    answer: Option<Value>,
    /// Wait time that the response requests.
    wait_ms: u64,
}

impl Attempt {
    fn unanswered(outcome: AttemptOutcome) -> Self {
        Self { outcome, answer: None, wait_ms: 0 }
    }
}

impl Wire {
    pub(super) fn new(
        api_url: &str,
        token: &str,
        spreadsheet_id: LogId,
        client_number: u32,
    ) -> Result<Self, LoadError> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(REQUEST_TIMEOUT)
            .build()
            .map_err(|error| LoadError::Part { why: error.to_string() })?;
        Ok(Self {
            http,
            spreadsheet_url: format!("{api_url}/v1/spreadsheets/{spreadsheet_id}/"),
            token: token.to_owned(),
            cookie: Value::Null,
            base: Position::FIRST,
            client_number,
        })
    }

    /// Repeats a request until a response arrives.
    pub(super) async fn post(
        &self,
        kind: RequestKind,
        body: &Value,
        measured: &Measured,
    ) -> Result<Value, ClientStuck> {
        let begun_at = Instant::now();
        for attempt_number in 1.. {
            let Attempt { outcome, answer, wait_ms } = self.attempt(kind, body).await;
            measured.count_attempt(kind, outcome);
            match (outcome, answer) {
                (AttemptOutcome::Answered { status: 200, .. }, Some(answer)) => return Ok(answer),
                (outcome, _) if may_retry(outcome) => {}
                (outcome, answer) => {
                    let message = format_args!("{outcome:?} {answer:?}");
                    return Err(ClientStuck::during(kind.name(), message));
                }
            }
            if begun_at.elapsed() > PATIENCE {
                break;
            }
            let jitter_ms = full_jitter_ms(attempt_number, fastrand::u64(..));
            tokio::time::sleep(Duration::from_millis(jitter_ms.max(wait_ms))).await;
        }
        let message = format_args!("client {} is not answered", self.client_number);
        Err(ClientStuck::during(kind.name(), message))
    }

    async fn attempt(&self, kind: RequestKind, body: &Value) -> Attempt {
        let url = format!("{}{}", self.spreadsheet_url, kind.name());
        let response = match self.http.post(url).bearer_auth(&self.token).json(body).send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() => {
                return Attempt::unanswered(AttemptOutcome::NotConnected);
            }
            Err(error) if error.is_timeout() => {
                return Attempt::unanswered(AttemptOutcome::TimedOut);
            }
            Err(_) => return Attempt::unanswered(AttemptOutcome::Lost),
        };
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER);
        let wait_s: Option<u64> = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let wait_ms = wait_s.unwrap_or(0).saturating_mul(1_000);
        match read_body(response, MAX_REPLY_BODY_BYTES).await {
            Ok(bytes) => Attempt {
                outcome: AttemptOutcome::Answered { status, has_retry_after: wait_s.is_some() },
                answer: serde_json::from_slice(&bytes).ok(),
                wait_ms,
            },
            Err(_) => Attempt { outcome: AttemptOutcome::Lost, answer: None, wait_ms },
        }
    }
}

fn may_retry(outcome: AttemptOutcome) -> bool {
    match outcome {
        AttemptOutcome::Answered { status, .. } => matches!(status, 429 | 503),
        AttemptOutcome::NotConnected | AttemptOutcome::TimedOut | AttemptOutcome::Lost => true,
    }
}
