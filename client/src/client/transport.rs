//! Sends requests with retries and reads the responses.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cellar_api::cost::{Cost, HEADER};
use cellar_api::wire::{DetailsReply, Problem};
use cellar_base::limits::MAX_TOKEN_BYTES;
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH,
    RETRY_AFTER,
};
use reqwest::{Method, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::address;
use super::body::{BodyFault, MAX_REPLY_BODY_BYTES, read_body};
use super::observed::Observer;
use super::retry::{Failure, RetryDecision, RetryState, parse_retry_after_ms};
use super::tally::Tally;
use crate::ClientError;
use crate::text::escape;

const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// Timeout for each read of an API response, in milliseconds. It allows for a Lambda cold start.
const READ_TIMEOUT_MS: u64 = 30_000;
/// Timeout for each read of an object transfer, in milliseconds. It allows for slow uploads.
const OBJECT_TIMEOUT_MS: u64 = 5 * 60 * 1_000;
const EXCERPT_CHARACTERS: usize = 200;

#[derive(Clone)]
pub(super) struct Transport {
    http: reqwest::Client,
    /// Created when it is first used, because most commands do not transfer objects.
    object_http: Arc<OnceLock<reqwest::Client>>,
    base: Url,
    base_text: String,
    authorization: Option<HeaderValue>,
    tally: Tally,
    observer: Observer,
}

/// Authorized by a presigned URL instead of a token.
pub(super) struct ObjectRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Vec<u8>>,
    /// Maximum response length, in bytes.
    pub(super) max_bytes: usize,
    /// Cost of each attempt without the received bytes. The client computes this cost because the
    /// object store reports none. The received bytes are added when the response arrives.
    pub(super) cost: Cost,
}

struct RetryableRequest<'a> {
    http: &'a reqwest::Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    max_bytes: usize,
    /// Cost of each attempt. If `None`, the cost is read from a header of the response.
    cost: Option<Cost>,
    timeout_ms: u64,
}

pub(super) enum StreamReply {
    Open(reqwest::Response),
    /// The server refused the request permanently.
    Refused,
    /// The server was unreachable or returned a temporary error.
    Failed,
}

pub(super) struct Call {
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    with_token: bool,
    if_none_match: Option<String>,
    if_match: Option<String>,
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
            if_none_match: None,
            if_match: None,
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
        // Encoding plain data never fails, except because of a bug in the encoder.
        let json = serde_json::to_vec(body)
            .map_err(|error| ClientError::Setup { why: error.to_string() })?;
        self.body = Some(json);
        Ok(self)
    }

    pub(super) fn if_none_match(mut self, etag: String) -> Self {
        self.if_none_match = Some(etag);
        self
    }

    /// The server rejects the change if `seen_version` is set and is no longer current.
    pub(super) fn if_details_version(mut self, seen_version: Option<u64>) -> Self {
        self.if_match = seen_version.map(DetailsReply::etag_of);
        self
    }

    pub(super) fn without_token(mut self) -> Self {
        self.with_token = false;
        self
    }
}

impl Transport {
    pub(super) fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let base = address::parse_api_url(url)?;
        let authorization = token.map(authorization_header).transpose()?;
        if authorization.is_some() && base.scheme() == "http" && !address::is_loopback(&base) {
            return Err(ClientError::ClearText { url: address::without_trailing_slash(&base) });
        }
        Ok(Self {
            http: http_client(&base, READ_TIMEOUT_MS)?,
            object_http: Arc::default(),
            base_text: address::without_trailing_slash(&base),
            base,
            authorization,
            tally: Tally::default(),
            observer: Observer::default(),
        })
    }

    pub(super) fn observed(self, observer: Observer) -> Self {
        Self { observer, ..self }
    }

    /// Returns a transport to another URL that counts costs together with this one.
    pub(super) fn moved_to(&self, url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let (tally, observer) = (self.tally.clone(), self.observer.clone());
        Ok(Self { tally, observer, ..Self::new(url, token)? })
    }

    pub(super) fn base(&self) -> &str {
        &self.base_text
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(super) async fn send<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let request = self.prepare(call);
        let body = self.send_with_retries(&request, &self.base_text).await?;
        serde_json::from_slice(&body).map_err(|error| {
            let why = error.to_string();
            ClientError::NotUnderstood { url: self.base_text.clone(), why }
        })
    }

    /// Sends a request without retries. Returns as soon as the streaming response starts.
    pub(super) async fn open_stream(&self, call: Call) -> StreamReply {
        match self.start_response(&self.prepare(call)).await {
            Ok(response) if response.status().is_success() => StreamReply::Open(response),
            Ok(response) if response.status().is_client_error() => StreamReply::Refused,
            Ok(_) | Err(_) => StreamReply::Failed,
        }
    }

    fn prepare(&self, call: Call) -> RetryableRequest<'_> {
        let mut headers = HeaderMap::new();
        if call.with_token
            && let Some(authorization) = &self.authorization
        {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        insert_etag(&mut headers, IF_NONE_MATCH, call.if_none_match);
        insert_etag(&mut headers, IF_MATCH, call.if_match);
        RetryableRequest {
            http: &self.http,
            method: call.method,
            url: address::request_url(&self.base, &call.path, &call.query),
            headers,
            body: call.body,
            max_bytes: MAX_REPLY_BODY_BYTES,
            cost: None,
            timeout_ms: READ_TIMEOUT_MS,
        }
    }

    pub(super) async fn send_object_request(
        &self,
        request: ObjectRequest,
    ) -> Result<Vec<u8>, ClientError> {
        // Error messages contain only the URL's origin, because anyone who knows the presigned URL
        // can use it.
        let shown_url = request.url.origin().ascii_serialization();
        let request = RetryableRequest {
            http: self.object_http(&request.url)?,
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
            max_bytes: request.max_bytes,
            cost: Some(request.cost),
            timeout_ms: OBJECT_TIMEOUT_MS,
        };
        self.send_with_retries(&request, &shown_url).await
    }

    fn object_http(&self, url: &Url) -> Result<&reqwest::Client, ClientError> {
        if let Some(http) = self.object_http.get() {
            return Ok(http);
        }
        let http = http_client(url, OBJECT_TIMEOUT_MS)?;
        Ok(self.object_http.get_or_init(|| http))
    }

    async fn send_with_retries(
        &self,
        request: &RetryableRequest<'_>,
        shown_url: &str,
    ) -> Result<Vec<u8>, ClientError> {
        let started = Instant::now();
        let mut retries = RetryState::default();
        loop {
            let result = self.send_once(request).await;
            self.observer.notify(&result);
            let failure = match result {
                Ok((_, body)) => return Ok(body),
                Err(failure) => failure,
            };
            let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            match retries.record_failure(&failure, elapsed_ms, random()) {
                RetryDecision::RetryAfter { delay_ms } => {
                    tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                }
                RetryDecision::GiveUp => {
                    return Err(final_error(failure, request, shown_url, retries.uncertain));
                }
            }
        }
    }

    async fn send_once(&self, request: &RetryableRequest<'_>) -> Result<(u16, Vec<u8>), Failure> {
        let response = self.start_response(request).await?;
        let status = response.status();
        let retry_after_ms = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| parse_retry_after_ms(value.to_str().ok()?));
        let body = read_body(response, request.max_bytes).await.map_err(|fault| match fault {
            BodyFault::TooLarge => Failure::TooLarge,
            BodyFault::Broken(error) => network_failure(error),
        })?;
        if status.is_success() {
            return Ok((status.as_u16(), body));
        }
        Err(status_failure(status.as_u16(), &body, retry_after_ms))
    }

    /// Sends a request and returns when the response headers have arrived, even if the status is an
    /// error. The cost is recorded at once, because reading the body may fail.
    async fn start_response(
        &self,
        request: &RetryableRequest<'_>,
    ) -> Result<reqwest::Response, Failure> {
        let mut builder = request
            .http
            .request(request.method.clone(), request.url.clone())
            .headers(request.headers.clone());
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let attempt_cost = self.tally.start_attempt();
        let response = match builder.send().await.map_err(network_failure) {
            Ok(response) => response,
            Err(failure) => {
                if !failure.may_have_been_executed() {
                    attempt_cost.record_not_sent();
                }
                return Err(failure);
            }
        };
        match request.cost {
            Some(cost) => {
                attempt_cost.record(add_received_bytes(cost, &response, request.max_bytes));
            }
            None => attempt_cost.record_header(response.headers().get(HEADER)),
        }
        Ok(response)
    }
}

/// The object's size is taken from the `Content-Length` header.
fn add_received_bytes(cost: Cost, response: &reqwest::Response, max_bytes: usize) -> Cost {
    if cost.object_gets == 0 {
        return cost;
    }
    let max_bytes = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let object_bytes_received = response.content_length().unwrap_or(0).min(max_bytes);
    Cost { object_bytes_received, ..cost }
}

/// No-op if `etag` is `None` or not a valid header value.
fn insert_etag(headers: &mut HeaderMap, name: HeaderName, etag: Option<String>) {
    if let Some(value) = etag.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
        headers.insert(name, value);
    }
}

/// Creates an HTTP client for requests to `url` that carry a token. It follows no redirects, and it
/// bypasses the proxy for requests to this machine.
///
/// # Errors
///
/// Returns [`ClientError::Setup`] if the client cannot be created.
pub fn http_client(url: &Url, read_timeout_ms: u64) -> Result<reqwest::Client, ClientError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("cellar/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS))
        .read_timeout(Duration::from_millis(read_timeout_ms))
        // Do not follow redirects: the client would send the token to another host.
        .redirect(reqwest::redirect::Policy::none());
    if address::is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ClientError::Setup { why: innermost_cause(&error) })
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

fn authorization_header(token: &str) -> Result<HeaderValue, ClientError> {
    const UNEXPECTED_CHARACTERS: &str = "the token contains spaces or other invalid characters";
    let fault = |why| ClientError::InvalidToken { why };
    if token.is_empty() {
        return Err(fault("the token is empty"));
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(fault("the token is longer than any valid token"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(fault(UNEXPECTED_CHARACTERS));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| fault(UNEXPECTED_CHARACTERS))?;
    value.set_sensitive(true);
    Ok(value)
}

fn network_failure(error: reqwest::Error) -> Failure {
    let error = error.without_url();
    if error.is_connect() {
        Failure::NotConnected { why: innermost_cause(&error) }
    } else if error.is_timeout() {
        Failure::TimedOut
    } else {
        Failure::Lost { why: innermost_cause(&error) }
    }
}

/// Returns the innermost cause of an error, such as "Connection refused", because it is the most
/// specific one.
fn innermost_cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn status_failure(status: u16, body: &[u8], retry_after_ms: Option<u64>) -> Failure {
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => {
            // Escape control characters, because the problem may be printed to a terminal.
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

/// `failure` is that of the last attempt. `uncertain` states whether the server may have executed
/// one of the attempts.
fn final_error(
    failure: Failure,
    request: &RetryableRequest<'_>,
    shown_url: &str,
    uncertain: bool,
) -> ClientError {
    let url = shown_url.to_owned();
    match failure {
        Failure::NotConnected { why } => ClientError::Unreachable { url, why, uncertain },
        Failure::TimedOut => ClientError::TimedOut { url, timeout_ms: request.timeout_ms },
        Failure::Lost { why } => ClientError::ConnectionLost { url, why },
        Failure::Problem { problem, .. } => ClientError::Problem { problem, uncertain },
        Failure::Status { status, excerpt, .. } => {
            ClientError::UnexpectedStatus { url, status, excerpt, uncertain }
        }
        Failure::TooLarge => ClientError::ReplyTooLarge { url, max_bytes: request.max_bytes },
    }
}

/// Returns a random number for the jitter of retry delays. It consists of the low bits of a version
/// 4 UUID.
pub(crate) fn random() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_validated_and_never_printed() {
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
    fn control_characters_in_replies_are_escaped() {
        let Failure::Status { excerpt, .. } = status_failure(500, b"\x1b[2Jgone", None) else {
            panic!("no status");
        };
        assert!(!excerpt.contains('\x1b'), "{excerpt}");
        let json = serde_json::json!({
            "type": "urn:cellar:problem:internal", "title": "t\u{1b}", "status": 500,
            "detail": "\u{202e}d",
        });
        let Failure::Problem { problem, .. } =
            status_failure(500, json.to_string().as_bytes(), None)
        else {
            panic!("no problem");
        };
        assert!(!problem.to_string().contains(['\u{1b}', '\u{202e}']), "{problem}");
    }
}
