//! Sending a call, with its repetitions, and reading its answer.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cellar_api::cost::{Cost, HEADER};
use cellar_api::wire::Problem;
use cellar_base::limits::MAX_TOKEN_BYTES;
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH, IF_NONE_MATCH, RETRY_AFTER,
};
use reqwest::{Method, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::address;
use super::body::{BodyFault, MAX_REPLY_BODY_BYTES, read_body};
use super::observed::Observer;
use super::retry::{Attempts, Failure, parse_retry_after_ms};
use super::tally::Tally;
use crate::ClientError;
use crate::error::advice;
use crate::table::escape;

/// Time to connect, milliseconds.
const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// Time without a byte of the answer, milliseconds: a function's first start included.
const READ_TIMEOUT_MS: u64 = 30_000;
/// As `READ_TIMEOUT_MS`, for objects: the time to send one over a slow line is in it.
const OBJECT_TIMEOUT_MS: u64 = 5 * 60 * 1_000;
/// Characters of an answer that is not understood which an error shows.
const EXCERPT_CHARACTERS: usize = 200;

/// The connection that all calls share.
#[derive(Clone)]
pub(super) struct Transport {
    http: reqwest::Client,
    /// For objects, made when the first is sent or fetched: most commands have none.
    objects: Arc<OnceLock<reqwest::Client>>,
    base: Url,
    base_text: String,
    authorization: Option<HeaderValue>,
    tally: Tally,
    observer: Observer,
}

/// A request of an object, by a URL that is permission enough.
pub(super) struct ObjectRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    /// Bytes of the answer that are read at most.
    pub(super) max_bytes: usize,
    /// What it costs: the store does not tell. The bytes that it sends are added.
    pub(super) cost: Cost,
}

/// A request that is sent until it is answered for good.
struct Outgoing<'a> {
    http: &'a reqwest::Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    max_bytes: usize,
    /// What it costs, if its answer does not tell.
    cost: Option<Cost>,
    timeout_ms: u64,
}

/// What a call was answered whose answer goes on.
pub(super) enum Opened {
    /// The head of its answer.
    Answered(reqwest::Response),
    /// It will not be answered otherwise.
    Refused,
    /// Nobody answers, for now.
    Failed,
}

/// One call of the API.
pub(super) struct Call {
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    with_token: bool,
    known: Option<String>,
    expected: Option<String>,
}

impl Call {
    pub(super) fn new(method: Method, path: &[&str]) -> Self {
        let path = path.iter().map(|segment| (*segment).to_owned()).collect();
        Self {
            method,
            path,
            query: Vec::new(),
            body: None,
            with_token: true,
            known: None,
            expected: None,
        }
    }

    pub(super) fn with_segment(mut self, segment: &str) -> Self {
        self.path.push(segment.to_owned());
        self
    }

    pub(super) fn with_text(mut self, name: &'static str, value: Option<String>) -> Self {
        self.query.extend(value.map(|value| (name, value)));
        self
    }

    pub(super) fn with_position(
        self,
        name: &'static str,
        value: Option<cellar_base::position::Position>,
    ) -> Self {
        self.with_text(name, value.map(|position| position.pack().to_string()))
    }

    pub(super) fn with_body(mut self, body: &impl Serialize) -> Result<Self, ClientError> {
        let encoded = serde_json::to_vec(body);
        // The wire types are plain data: only a bug in an encoder could fail here.
        let encoded = encoded.map_err(|error| ClientError::Setup { why: error.to_string() })?;
        self.body = Some(encoded);
        Ok(self)
    }

    /// Asks for an answer only if it is another than the one with this ETag.
    pub(super) fn unless(mut self, etag: String) -> Self {
        self.known = Some(etag);
        self
    }

    /// Asks only for a change of what has this ETag.
    pub(super) fn only_of(mut self, etag: Option<String>) -> Self {
        self.expected = etag;
        self
    }

    pub(super) fn without_token(mut self) -> Self {
        self.with_token = false;
        self
    }
}

impl Transport {
    pub(super) fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let base = address::parse(url)?;
        let authorization = token.map(authorization).transpose()?;
        if authorization.is_some() && base.scheme() == "http" && !address::is_loopback(&base) {
            return Err(ClientError::ClearText { url: address::base_text(&base) });
        }
        let http = connection(&base, READ_TIMEOUT_MS)?;
        let base_text = address::base_text(&base);
        let (objects, tally, observer) = (Arc::default(), Tally::default(), Observer::default());
        Ok(Self { http, objects, base, base_text, authorization, tally, observer })
    }

    pub(super) fn observed(self, observer: Observer) -> Self {
        Self { observer, ..self }
    }

    pub(super) fn base(&self) -> &str {
        &self.base_text
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Sends a call until it is answered for good, and reads the answer.
    pub(super) async fn send<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let outgoing = self.outgoing(call);
        let body = self.repeat(&outgoing, &self.base_text).await?;
        serde_json::from_slice(&body).map_err(|error| {
            let why = error.to_string();
            ClientError::NotUnderstood { url: self.base_text.clone(), why }
        })
    }

    /// Sends a call once, for an answer that goes on.
    pub(super) async fn open(&self, call: Call) -> Opened {
        let Outgoing { http, method, url, headers, .. } = self.outgoing(call);
        let tally = self.tally.attempt();
        match http.request(method, url).headers(headers).send().await {
            Ok(response) => {
                tally.told(response.headers().get(HEADER));
                match response.status() {
                    status if status.is_success() => Opened::Answered(response),
                    status if status.is_client_error() => Opened::Refused,
                    _ => Opened::Failed,
                }
            }
            Err(error) => {
                if !network_failure(error).may_have_been_done() {
                    tally.not_sent();
                }
                Opened::Failed
            }
        }
    }

    fn outgoing(&self, call: Call) -> Outgoing<'_> {
        let mut headers = HeaderMap::new();
        if let Some(authorization) = self.authorization.as_ref().filter(|_| call.with_token) {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(known) = call.known.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
            headers.insert(IF_NONE_MATCH, known);
        }
        if let Some(expected) = call.expected.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
            headers.insert(IF_MATCH, expected);
        }
        Outgoing {
            http: &self.http,
            method: call.method,
            url: address::join(&self.base, &call.path, &call.query),
            headers,
            body: call.body,
            max_bytes: MAX_REPLY_BODY_BYTES,
            cost: None,
            timeout_ms: READ_TIMEOUT_MS,
        }
    }

    /// Sends or fetches an object, without the token: the URL is for this one request.
    pub(super) async fn object(&self, request: ObjectRequest) -> Result<Vec<u8>, ClientError> {
        // Whoever has the rest of the URL may do what it is for: it is never shown.
        let shown = request.url.origin().ascii_serialization();
        let http = match self.objects.get() {
            Some(http) => http,
            None => {
                let http = connection(&request.url, OBJECT_TIMEOUT_MS)?;
                self.objects.get_or_init(|| http)
            }
        };
        let ObjectRequest { method, url, headers, body, max_bytes, cost } = request;
        let (cost, timeout_ms) = (Some(cost), OBJECT_TIMEOUT_MS);
        let outgoing = Outgoing { http, method, url, headers, body, max_bytes, cost, timeout_ms };
        self.repeat(&outgoing, &shown).await
    }

    async fn repeat(&self, outgoing: &Outgoing<'_>, shown: &str) -> Result<Vec<u8>, ClientError> {
        let begun = Instant::now();
        let mut attempts = Attempts::default();
        loop {
            let tried = self.attempt(outgoing).await;
            self.observer.tell(&tried);
            let failure = match tried {
                Ok((_, body)) => return Ok(body),
                Err(failure) => failure,
            };
            let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            match attempts.after(&failure, elapsed_ms, random()) {
                Some(delay_ms) => tokio::time::sleep(Duration::from_millis(delay_ms)).await,
                None => return Err(error(failure, outgoing, shown, attempts.uncertain)),
            }
        }
    }

    /// The status of a success and its body.
    async fn attempt(&self, outgoing: &Outgoing<'_>) -> Result<(u16, Vec<u8>), Failure> {
        let request = outgoing.http.request(outgoing.method.clone(), outgoing.url.clone());
        let mut request = request.headers(outgoing.headers.clone());
        if let Some(body) = &outgoing.body {
            request = request.body(body.clone());
        }
        let tally = self.tally.attempt();
        let response = match request.send().await.map_err(network_failure) {
            Ok(response) => response,
            Err(failure) => {
                if !failure.may_have_been_done() {
                    tally.not_sent();
                }
                return Err(failure);
            }
        };
        // With the head of the answer, so that it counts whatever becomes of the body.
        match outgoing.cost {
            Some(cost) => tally.cost(with_received(cost, &response, outgoing.max_bytes)),
            None => tally.told(response.headers().get(HEADER)),
        }
        let status = response.status();
        let retry_after_ms = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| parse_retry_after_ms(value.to_str().ok()?));
        let body = read_body(response, outgoing.max_bytes).await.map_err(|fault| match fault {
            BodyFault::TooLarge => Failure::TooLarge,
            BodyFault::Broken(error) => network_failure(error),
        })?;
        if status.is_success() {
            return Ok((status.as_u16(), body));
        }
        Err(refusal(status.as_u16(), &body, retry_after_ms))
    }
}

/// A cost with the bytes of an answer: as many as it announces, of which no more are read.
fn with_received(cost: Cost, response: &reqwest::Response, max_bytes: usize) -> Cost {
    let max_bytes = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let received = response.content_length().unwrap_or(0).min(max_bytes);
    let received = if cost.object_gets > 0 { received } else { 0 };
    Cost { object_bytes_received: received, ..cost }
}

/// Connections to the host of `url`.
fn connection(url: &Url, read_timeout_ms: u64) -> Result<reqwest::Client, ClientError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("cellar/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS))
        .read_timeout(Duration::from_millis(read_timeout_ms))
        // The token is for this host and no other.
        .redirect(reqwest::redirect::Policy::none());
    if address::is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ClientError::Setup { why: causes(&error) })
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Transport")
            .field("base", &self.base_text)
            .field("has_token", &self.authorization.is_some())
            .finish()
    }
}

fn authorization(token: &str) -> Result<HeaderValue, ClientError> {
    let fault = |why| ClientError::InvalidToken { why };
    if token.is_empty() {
        return Err(fault("it is empty"));
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(fault("it is longer than any token of Cellar"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(fault("it has characters that no token has"));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| fault("it has characters that no token has"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn network_failure(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    if error.is_connect() {
        Failure::NotConnected { why: causes(&error) }
    } else if error.is_timeout() {
        Failure::TimedOut
    } else {
        Failure::Lost { why: causes(&error) }
    }
}

/// The innermost cause says what happened: `Connection refused`, say.
fn causes(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn refusal(status: u16, body: &[u8], retry_after_ms: Option<u64>) -> Failure {
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => {
            // What a server sends is shown on a terminal: it must not control it.
            let title = escape(&problem.title);
            let detail = escape(&problem.detail);
            let problem = Box::new(Problem { title, detail, status, ..problem });
            Failure::Problem { problem, retry_after_ms }
        }
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let start: String = text.trim().chars().take(EXCERPT_CHARACTERS).collect();
            let excerpt = if start.is_empty() { "no text".to_owned() } else { escape(&start) };
            Failure::Status { status, excerpt, retry_after_ms }
        }
    }
}

fn error(failure: Failure, outgoing: &Outgoing<'_>, shown: &str, uncertain: bool) -> ClientError {
    let url = shown.to_owned();
    match failure {
        Failure::NotConnected { why } => ClientError::Unreachable { url, why, uncertain },
        Failure::TimedOut => ClientError::TimedOut { url, timeout_ms: outgoing.timeout_ms },
        Failure::Lost { why } => ClientError::ConnectionLost { url, why },
        Failure::Problem { problem, .. } => {
            let advice = advice(problem.kind);
            ClientError::Problem { problem, uncertain, advice }
        }
        Failure::Status { status, excerpt, .. } => {
            ClientError::UnexpectedStatus { url, status, excerpt, uncertain }
        }
        Failure::TooLarge => ClientError::ReplyTooLarge { url, max_bytes: outgoing.max_bytes },
    }
}

/// A random number for the jitter; the low half of a random UUID is random in its low bits.
pub(crate) fn random() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_checked_and_never_shown() {
        let long = "x".repeat(MAX_TOKEN_BYTES + 1);
        for token in ["", "a b", "a\nb", "ä", long.as_str()] {
            let error = Transport::new("http://localhost", Some(token)).unwrap_err();
            assert!(matches!(error, ClientError::InvalidToken { .. }));
        }
        let longest = "x".repeat(MAX_TOKEN_BYTES);
        let transport = Transport::new("http://localhost", Some(&longest)).unwrap();
        let shown = format!("{transport:?}{:?}", transport.authorization);
        assert!(!shown.contains("xx"), "{shown}");
    }

    #[test]
    fn a_hostile_answer_cannot_reach_the_terminal() {
        let Failure::Status { excerpt, .. } = refusal(500, b"\x1b[2Jgone", None) else {
            panic!("no status");
        };
        assert!(!excerpt.contains('\x1b'), "{excerpt}");
        let json = serde_json::json!({
            "type": "urn:cellar:problem:internal", "title": "t\u{1b}", "status": 500,
            "detail": "\u{202e}d",
        });
        let Failure::Problem { problem, .. } = refusal(500, json.to_string().as_bytes(), None)
        else {
            panic!("no problem");
        };
        assert!(!problem.to_string().contains(['\u{1b}', '\u{202e}']), "{problem}");
    }
}
