//! Pushes and pulls, which the library does not offer because they are for third-party clients.
//! Requests are sent as Replicache does: the same request is repeated until the status is 200.

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

/// Timeout of a request, the same as in the library.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection for pushes and pulls, and the state of the last pull.
pub(super) struct Wire {
    http: reqwest::Client,
    url: String,
    token: String,
    /// Cookie of the last pull.
    pub(super) cookie: Value,
    /// End of the view of the last pull.
    pub(super) base: Position,
    number: u32,
}

impl Wire {
    pub(super) fn new(
        url: &str,
        token: &str,
        spreadsheet: LogId,
        number: u32,
    ) -> Result<Self, LoadError> {
        let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build();
        let http = http.map_err(|error| LoadError::Part { why: error.to_string() })?;
        let url = format!("{url}v1/spreadsheets/{spreadsheet}/");
        let (token, cookie, base) = (token.to_owned(), Value::Null, Position::FIRST);
        Ok(Self { http, url, token, cookie, base, number })
    }

    /// Repeats a request until it is answered.
    pub(super) async fn post(
        &self,
        kind: RequestKind,
        body: &Value,
        measured: &Measured,
    ) -> Result<Value, ClientStuck> {
        let begun = Instant::now();
        for attempt in 1.. {
            let (attempted, answer, wait_ms) = self.attempt(kind, body).await;
            measured.attempt(kind, attempted);
            match (attempted, answer) {
                (AttemptOutcome::Answered { status: 200, .. }, Some(answer)) => return Ok(answer),
                (AttemptOutcome::Answered { status: 429 | 503, .. }, _)
                | (
                    AttemptOutcome::NotConnected | AttemptOutcome::TimedOut | AttemptOutcome::Lost,
                    _,
                ) => {}
                (other, answer) => {
                    return Err(ClientStuck::during(
                        kind.name(),
                        format_args!("{other:?} {answer:?}"),
                    ));
                }
            }
            if begun.elapsed() > PATIENCE {
                break;
            }
            let jitter_ms = full_jitter_ms(attempt, fastrand::u64(..));
            tokio::time::sleep(Duration::from_millis(jitter_ms.max(wait_ms))).await;
        }
        Err(ClientStuck::during(
            kind.name(),
            format_args!("client {} is not answered", self.number),
        ))
    }

    /// Makes one attempt; returns its result, the answer's body, and the requested wait in
    /// milliseconds.
    async fn attempt(
        &self,
        kind: RequestKind,
        body: &Value,
    ) -> (AttemptOutcome, Option<Value>, u64) {
        let url = format!("{}{}", self.url, kind.name());
        let sent = self.http.post(url).bearer_auth(&self.token).json(body).send().await;
        let response = match sent {
            Ok(response) => response,
            Err(error) if error.is_connect() => return (AttemptOutcome::NotConnected, None, 0),
            Err(error) if error.is_timeout() => return (AttemptOutcome::TimedOut, None, 0),
            Err(_) => return (AttemptOutcome::Lost, None, 0),
        };
        let status = response.status().as_u16();
        let wait = response.headers().get(RETRY_AFTER);
        let wait_s: Option<u64> = wait.and_then(|value| value.to_str().ok()?.parse().ok());
        let attempted = AttemptOutcome::Answered { status, has_retry_after: wait_s.is_some() };
        let wait_ms = wait_s.unwrap_or(0).saturating_mul(1_000);
        match read_body(response, MAX_REPLY_BODY_BYTES).await {
            Ok(bytes) => (attempted, serde_json::from_slice(&bytes).ok(), wait_ms),
            Err(_) => (AttemptOutcome::Lost, None, wait_ms),
        }
    }
}
