//! Calls that no SDK makes: a signed POST of JSON. The two SDKs of CloudWatch would take nearly two
//! minutes to build, for three operations that only read.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use cellar::{BodyFault, read_body};
use cellar_base::backoff::Backoff;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;

use super::error::causes;
use super::{Aws, AwsError};

/// How often a call is tried: they only read.
const ATTEMPTS: u32 = 5;
/// First upper bound of a pause between attempts, milliseconds. The services allow a few requests a
/// second.
const PAUSE_MS: u64 = 400;
/// The pauses between attempts.
const PAUSES: Backoff = Backoff { base_ms: PAUSE_MS, max_ms: PAUSE_MS << ATTEMPTS };
/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one attempt may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a reply: ten thousand lines of a log are at most 10 MB.
const REPLY_BYTES_MAX: usize = 32 * 1_024 * 1_024;
/// Characters of a reply that is no JSON, in a message.
const SHOWN_CHARS: usize = 200;
/// Codes of refusals that pass, whatever the status.
const PASSING: [&str; 7] = [
    "InternalFailure",
    "InternalServiceError",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailableException",
    "Throttling",
    "ThrottlingException",
];

/// An operation of a service that speaks JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// The service as its domain and its signatures name it.
    pub(super) service: &'static str,
    /// `X-Amz-Target`.
    pub(super) target: &'static str,
    /// `1.0` or `1.1`.
    pub(super) json: &'static str,
    /// What it is for, as in "cannot read the logs".
    pub(super) what: &'static str,
}

/// Why an attempt failed.
enum Failure {
    /// It may go better next time.
    Passing(AwsError),
    /// It will not.
    Lasting(AwsError),
}

impl Aws {
    /// Calls an operation that only reads, and so may be repeated.
    ///
    /// # Errors
    /// [`AwsError`], if it is refused, or failed five times.
    pub(super) async fn read<Reply: DeserializeOwned>(
        &self,
        operation: Operation,
        input: &impl Serialize,
    ) -> Result<Reply, AwsError> {
        let Operation { what, .. } = operation;
        let unreadable = |cause: serde_json::Error| AwsError::Refused {
            what,
            code: "unreadable".to_owned(),
            message: cause.to_string(),
        };
        let body = serde_json::to_vec(input).map_err(unreadable)?;
        let client = self.http_client().map_err(|error| unreachable(what, &error))?;
        let mut attempt = 1;
        loop {
            match self.attempt(&client, operation, body.clone()).await {
                Ok(reply) => return serde_json::from_slice(&reply).map_err(unreadable),
                Err(Failure::Passing(_)) if attempt < ATTEMPTS => {
                    let random = uuid::Uuid::new_v4().as_u64_pair().1;
                    sleep(Duration::from_millis(PAUSES.full_jitter_ms(attempt, random))).await;
                    attempt += 1;
                }
                Err(Failure::Passing(error) | Failure::Lasting(error)) => return Err(error),
            }
        }
    }

    fn http_client(&self) -> Result<Client, reqwest::Error> {
        let builder = Client::builder()
            .user_agent(concat!("cellar/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            // A signature is for one host.
            .redirect(reqwest::redirect::Policy::none());
        // As the SDKs do, which ask no proxy for an emulator on this machine.
        if self.is_emulator() { builder.no_proxy().build() } else { builder.build() }
    }

    async fn attempt(
        &self,
        client: &Client,
        operation: Operation,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, Failure> {
        let what = operation.what;
        let url = self.service_url(operation.service);
        let credentials = self.current_credentials(what).await.map_err(Failure::Lasting)?;
        let now = SystemTime::now();
        let headers = signed_headers(operation, &url, &self.region, &body, credentials, now)
            .map_err(|cause| Failure::Lasting(AwsError::Unreachable { what, cause }))?;
        let sent = client.post(&url).headers(headers).body(body).send().await;
        let reply = sent.map_err(|error| Failure::Passing(unreachable(what, &error)))?;
        let status = reply.status();
        let bytes = read_body(reply, REPLY_BYTES_MAX).await;
        let bytes = bytes.map_err(|fault| unread(what, &fault))?;
        if status.is_success() {
            return Ok(bytes);
        }
        let (code, message) = fault(&bytes, status.as_u16());
        let passes =
            status.is_server_error() || status.as_u16() == 429 || PASSING.contains(&code.as_str());
        let error = AwsError::of_code(what, &code, message);
        Err(if passes { Failure::Passing(error) } else { Failure::Lasting(error) })
    }

    /// Asked for each time: they may have been renewed.
    async fn current_credentials(&self, what: &'static str) -> Result<Credentials, AwsError> {
        let none = |cause: String| AwsError::NoCredentials { what, cause };
        let provider = self.credentials.as_ref();
        let provider = provider.ok_or_else(|| none("nobody provides any".to_owned()))?;
        let provided = provider.provide_credentials().await;
        provided.map_err(|error| none(causes(&error).pop().unwrap_or_default()))
    }

    fn service_url(&self, service: &str) -> String {
        match &self.endpoint_url {
            Some(endpoint) => format!("{endpoint}/"),
            None => format!("https://{service}.{}.{}/", self.region, self.domain()),
        }
    }
}

/// The headers of a request, its signature among them.
fn signed_headers(
    operation: Operation,
    url: &str,
    region: &str,
    body: &[u8],
    credentials: Credentials,
    now: SystemTime,
) -> Result<HeaderMap, String> {
    let content_type = format!("application/x-amz-json-{}", operation.json);
    let identity = credentials.into();
    let params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(operation.service)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| error.to_string())?;
    let own = [("content-type", content_type.as_str()), ("x-amz-target", operation.target)];
    let request = SignableRequest::new("POST", url, own.into_iter(), SignableBody::Bytes(body))
        .map_err(|error| error.to_string())?;
    let signed = sign(request, &params.into()).map_err(|error| error.to_string())?;
    let (instructions, _) = signed.into_parts();
    let mut headers = HeaderMap::new();
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
    headers.insert(CONTENT_TYPE, value(&content_type)?);
    headers.insert(HeaderName::from_static("x-amz-target"), value(operation.target)?);
    for (name, text) in instructions.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let mut value = value(text)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The code and the message of a refusal: services write them in several ways.
fn fault(body: &[u8], status: u16) -> (String, String) {
    let unnamed = format!("HTTP {status}");
    let Ok(fault) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        return (unnamed, text.chars().take(SHOWN_CHARS).collect());
    };
    let text = |names: &[&str]| {
        names.iter().find_map(|name| fault.get(name)?.as_str()).unwrap_or_default().to_owned()
    };
    // `com.amazon.coral.service#AccessDeniedException:http://…`
    let code = text(&["__type", "code", "Code"]);
    let code = code.rsplit('#').next().and_then(|code| code.split(':').next()).unwrap_or_default();
    let code = if code.is_empty() { unnamed } else { code.to_owned() };
    (code, text(&["message", "Message"]))
}

fn unreachable(what: &'static str, error: &reqwest::Error) -> AwsError {
    AwsError::Unreachable { what, cause: causes(error).pop().unwrap_or_default() }
}

/// A reply that came, and could not be read.
fn unread(what: &'static str, fault: &BodyFault) -> Failure {
    match fault {
        BodyFault::Broken(error) => Failure::Passing(unreachable(what, error)),
        BodyFault::TooLarge => Failure::Lasting(AwsError::Refused {
            what,
            code: "too long".to_owned(),
            message: format!("the reply has more than {REPLY_BYTES_MAX} bytes"),
        }),
    }
}

#[cfg(test)]
mod tests;
