//! Minimal client for CloudWatch and CloudWatch Logs, which sends signed JSON requests. It replaces
//! the SDKs of these services, which take nearly two minutes to build, although only three read
//! operations are needed.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use cellar::{BodyFault, read_body};
use cellar_base::backoff::Backoff;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;

use super::connect::Aws;
use super::error::{AwsError, causes};

const ATTEMPTS_MAX: u32 = 5;
/// The pause is long, because CloudWatch accepts only a few requests per second.
const FIRST_PAUSE_MS: u64 = 400;
const RETRY_BACKOFF: Backoff =
    Backoff { base_ms: FIRST_PAUSE_MS, max_ms: FIRST_PAUSE_MS << ATTEMPTS_MAX };
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// CloudWatch Logs returns at most 10 MB of log lines per page.
const REPLY_BYTES_MAX: usize = 32 * 1_024 * 1_024;
/// Maximum length of the part of a non-JSON response body that an error message contains, in
/// characters.
const SHOWN_CHARS_MAX: usize = 200;
/// Error codes after which a request is retried, regardless of the HTTP status.
const RETRYABLE_CODES: [&str; 7] = [
    "InternalFailure",
    "InternalServiceError",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ServiceUnavailableException",
    "Throttling",
    "ThrottlingException",
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// Name of the service, as used in host names and in signatures.
    pub(super) service: &'static str,
    /// Value of the `X-Amz-Target` header.
    pub(super) target: &'static str,
    /// JSON protocol version, `1.0` or `1.1`.
    pub(super) json_version: &'static str,
    /// Operation name for error messages, such as "read the logs" in "cannot read the logs".
    pub(super) name: &'static str,
}

enum AttemptFailure {
    Retryable(AwsError),
    Final(AwsError),
}

impl Aws {
    /// Runs a read-only operation with retries.
    pub(super) async fn send_read_request<Reply: DeserializeOwned>(
        &self,
        operation: Operation,
        input: &impl Serialize,
    ) -> Result<Reply, AwsError> {
        let body = serde_json::to_vec(input).map_err(|error| invalid_json(operation, &error))?;
        let client = self.http_client().map_err(|error| unreachable(operation.name, &error))?;
        let mut attempt = 1;
        let reply_body = loop {
            match self.attempt_request(&client, operation, body.clone()).await {
                Ok(reply_body) => break reply_body,
                Err(AttemptFailure::Retryable(_)) if attempt < ATTEMPTS_MAX => {
                    let (_, random) = uuid::Uuid::new_v4().as_u64_pair();
                    let pause_ms = RETRY_BACKOFF.full_jitter_ms(attempt, random);
                    sleep(Duration::from_millis(pause_ms)).await;
                    attempt += 1;
                }
                Err(AttemptFailure::Retryable(error) | AttemptFailure::Final(error)) => {
                    return Err(error);
                }
            }
        };
        serde_json::from_slice(&reply_body).map_err(|error| invalid_json(operation, &error))
    }

    fn http_client(&self) -> Result<Client, reqwest::Error> {
        let builder = Client::builder()
            .user_agent(concat!("cellar/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ATTEMPT_TIMEOUT)
            // Disable redirects, because a signature is valid only for one host.
            .redirect(reqwest::redirect::Policy::none());
        // An emulator runs on this machine, so do not use a proxy. The SDKs do not use one either.
        if self.is_emulator() { builder.no_proxy().build() } else { builder.build() }
    }

    async fn attempt_request(
        &self,
        client: &Client,
        operation: Operation,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, AttemptFailure> {
        let url = self.service_url(operation.service);
        let credentials =
            self.current_credentials(operation.name).await.map_err(AttemptFailure::Final)?;
        let now = SystemTime::now();
        let headers = signed_headers(operation, &url, &self.region, &body, credentials, now)
            .map_err(|cause| AwsError::Unreachable { operation: operation.name, cause })
            .map_err(AttemptFailure::Final)?;
        let response = client
            .post(&url)
            .headers(headers)
            .body(body)
            .send()
            .await
            .map_err(|error| AttemptFailure::Retryable(unreachable(operation.name, &error)))?;
        let status = response.status();
        let response_body = read_body(response, REPLY_BYTES_MAX)
            .await
            .map_err(|fault| body_failure(operation.name, &fault))?;
        if status.is_success() {
            Ok(response_body)
        } else {
            Err(rejection(operation.name, status, &response_body))
        }
    }

    /// The credentials are resolved for each attempt, because temporary credentials expire and are
    /// refreshed.
    async fn current_credentials(&self, operation: &'static str) -> Result<Credentials, AwsError> {
        let no_credentials = |cause: String| AwsError::NoCredentials { operation, cause };
        let Some(provider) = &self.credentials else {
            return Err(no_credentials("no provider is configured".to_owned()));
        };
        let provided = provider.provide_credentials().await;
        provided.map_err(|error| no_credentials(causes(&error).pop().unwrap_or_default()))
    }

    fn service_url(&self, service: &str) -> String {
        match &self.endpoint_url {
            Some(endpoint) => format!("{endpoint}/"),
            None => format!("https://{service}.{}.{}/", self.region, self.domain()),
        }
    }
}

fn signed_headers(
    operation: Operation,
    url: &str,
    region: &str,
    body: &[u8],
    credentials: Credentials,
    now: SystemTime,
) -> Result<HeaderMap, String> {
    let content_type = format!("application/x-amz-json-{}", operation.json_version);
    let unsigned_headers =
        [("content-type", content_type.as_str()), ("x-amz-target", operation.target)];
    let request =
        SignableRequest::new("POST", url, unsigned_headers.into_iter(), SignableBody::Bytes(body))
            .map_err(|error| error.to_string())?;
    let signature_headers = sign_request(operation, request, region, credentials, now)?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, header_value(&content_type)?);
    headers.insert(HeaderName::from_static("x-amz-target"), header_value(operation.target)?);
    headers.extend(signature_headers);
    Ok(headers)
}

fn sign_request(
    operation: Operation,
    request: SignableRequest<'_>,
    region: &str,
    credentials: Credentials,
    now: SystemTime,
) -> Result<HeaderMap, String> {
    let identity = credentials.into();
    let signing_params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(operation.service)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| error.to_string())?;
    let signed = sign(request, &signing_params.into()).map_err(|error| error.to_string())?;
    let (instructions, _signature) = signed.into_parts();
    let mut signature_headers = HeaderMap::new();
    for (name, value) in instructions.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let mut value = header_value(value)?;
        value.set_sensitive(true);
        signature_headers.insert(name, value);
    }
    Ok(signature_headers)
}

fn header_value(value: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(value).map_err(|error| error.to_string())
}

struct ServiceError {
    code: String,
    message: String,
}

/// The names of the code and message fields differ between services.
fn parse_error(body: &[u8], http_status: u16) -> ServiceError {
    let default_code = format!("HTTP {http_status}");
    let Ok(error) = serde_json::from_slice::<Value>(body) else {
        let body_text = String::from_utf8_lossy(body);
        let message = body_text.chars().take(SHOWN_CHARS_MAX).collect();
        return ServiceError { code: default_code, message };
    };
    let first_field = |names: &[&str]| {
        names.iter().find_map(|name| error.get(name)?.as_str()).unwrap_or_default().to_owned()
    };
    let message = first_field(&["message", "Message"]);
    // Some services return the code in the form
    // `com.amazon.coral.service#AccessDeniedException:http://…`.
    let qualified_code = first_field(&["__type", "code", "Code"]);
    let code_and_url = qualified_code.rsplit('#').next().unwrap_or_default();
    match code_and_url.split(':').next() {
        None | Some("") => ServiceError { code: default_code, message },
        Some(code) => ServiceError { code: code.to_owned(), message },
    }
}

fn rejection(operation: &'static str, status: StatusCode, body: &[u8]) -> AttemptFailure {
    let ServiceError { code, message } = parse_error(body, status.as_u16());
    let is_retryable = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || RETRYABLE_CODES.contains(&code.as_str());
    let error = AwsError::from_code(operation, &code, message);
    if is_retryable { AttemptFailure::Retryable(error) } else { AttemptFailure::Final(error) }
}

fn invalid_json(operation: Operation, error: &serde_json::Error) -> AwsError {
    AwsError::Refused {
        operation: operation.name,
        code: "invalid JSON".to_owned(),
        message: error.to_string(),
    }
}

fn unreachable(operation: &'static str, error: &reqwest::Error) -> AwsError {
    AwsError::Unreachable { operation, cause: causes(error).pop().unwrap_or_default() }
}

fn body_failure(operation: &'static str, fault: &BodyFault) -> AttemptFailure {
    match fault {
        BodyFault::Broken(error) => AttemptFailure::Retryable(unreachable(operation, error)),
        BodyFault::TooLarge => AttemptFailure::Final(AwsError::Refused {
            operation,
            code: "too large".to_owned(),
            message: format!("the response has more than {REPLY_BYTES_MAX} bytes"),
        }),
    }
}

#[cfg(test)]
mod tests;
