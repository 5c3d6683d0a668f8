//! Authenticates and authorizes requests to the local tables and queues. A request must be signed
//! either with the operator's secret from the state directory, or with the secret of a function
//! whose role permits the request. Requests from web pages are rejected.
//!
//! Without these checks, any web page open in a browser on this machine could find the port by
//! trial and then read and delete the stored data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials as SigningCredentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use subtle::ConstantTimeEq as _;

use crate::aws_json::{TARGET, error_response};
use crate::error::LocalError;
use crate::roles::{Caller, Denied, RequestParser, Roles};
use crate::server::ServerThread;
use crate::state::Credentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256 ";
const DATE: &str = "x-amz-date";
/// HTTP headers that every request signature must cover. Otherwise, an attacker could reuse a
/// signature for a request with different headers. The signature always covers the body.
const REQUIRED_SIGNED_HEADERS: [&str; 3] = ["host", DATE, TARGET];
/// Maximum difference between a request's time and the local clock.
const MAX_SKEW: Duration = Duration::from_secs(15 * 60);
/// Matches DynamoDB's limit.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy)]
pub(crate) struct Service {
    /// Service name in the scope of signatures.
    pub(crate) name: &'static str,
    pub(crate) read_access_requests: RequestParser,
    pub(crate) denied_status: StatusCode,
}

#[derive(Clone)]
pub(crate) struct Access {
    service: Service,
    own_hosts: Arc<[String]>,
    roles: Arc<Roles>,
}

/// An AWS error code, such as `AccessDeniedException`, and an error message.
type AuthError = (&'static str, &'static str);

const SENT_BY_WEB_PAGE: AuthError =
    ("AccessDeniedException", "Web pages cannot call the services of the local stack");
const WRONG_HOST: AuthError =
    ("AccessDeniedException", "The Host header does not contain this server's address");
const UNSIGNED: AuthError =
    ("MissingAuthenticationTokenException", "A signature of version 4 is required");
const UNKNOWN_KEY: AuthError = (
    "UnrecognizedClientException",
    "The access key belongs neither to the operator of the local stack nor to a function",
);
const WRONG_TIME: AuthError = (
    "InvalidSignatureException",
    "The time of the request differs from the local clock by more than 15 minutes",
);
const WRONG_SIGNATURE: AuthError =
    ("InvalidSignatureException", "The signature does not match the request");
/// Serves a service on a free port until the returned server is dropped. Requests must be signed
/// with a known key, and the caller's role must permit them.
pub(crate) fn serve_guarded(
    server_name: &'static str,
    service: Service,
    roles: Arc<Roles>,
    router: Router,
) -> Result<ServerThread, LocalError> {
    let create_service = |address| {
        let access = Access::new(service, address, roles);
        // Axum's body limit is not needed, because `Access::guard` already limits the body length.
        router.layer(DefaultBodyLimit::disable()).layer(from_fn_with_state(access, Access::guard))
    };
    ServerThread::start(server_name, create_service, std::future::ready(()))
}

impl Access {
    pub(crate) fn new(service: Service, address: SocketAddr, roles: Arc<Roles>) -> Self {
        let own_hosts = [address.to_string(), format!("localhost:{}", address.port())];
        Self { service, own_hosts: Arc::new(own_hosts), roles }
    }

    pub(crate) async fn guard(
        State(access): State<Self>,
        request: Request,
        next: Next,
    ) -> Response {
        let (parts, body) = request.into_parts();
        if let Err(auth_error) = access.check_sender(&parts.headers) {
            return forbidden_response(auth_error);
        }
        let Ok(body_bytes) = to_bytes(body, MAX_BODY_BYTES).await else {
            let message = format!("the request body is longer than {MAX_BODY_BYTES} bytes");
            return error_response(
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestEntityTooLargeException",
                &message,
            );
        };
        let caller = match access.check_signature(&parts, &body_bytes, SystemTime::now()) {
            Ok(caller) => caller,
            Err(auth_error) => return forbidden_response(auth_error),
        };
        if let Err(denial) = access.check_permissions(caller, &parts.headers, &body_bytes) {
            return denial;
        }
        next.run(Request::from_parts(parts, Body::from(body_bytes))).await
    }

    /// The operator may perform all actions.
    #[allow(clippy::result_large_err, reason = "the response is returned to the client")]
    fn check_permissions(
        &self,
        caller: Caller,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), Response> {
        if caller == Caller::Operator {
            return Ok(());
        }
        // Reject a request that cannot be parsed, because the service might interpret it
        // differently than this access check.
        let access_requests =
            (self.service.read_access_requests)(headers, body).map_err(|message| {
                error_response(StatusCode::BAD_REQUEST, "SerializationException", &message)
            })?;
        for access_request in &access_requests {
            if let Err(Denied(message)) = self.roles.authorize(caller, access_request) {
                let status = self.service.denied_status;
                return Err(error_response(status, "AccessDeniedException", &message));
            }
        }
        Ok(())
    }

    /// Checks the `Origin` header, the `Host` header and the access key, but not the signature. A
    /// web page can make its own domain resolve to 127.0.0.1 (DNS rebinding). Its requests then
    /// have no `Origin` header, but their `Host` header contains the page's domain.
    fn check_sender(&self, headers: &HeaderMap) -> Result<(), AuthError> {
        if headers.contains_key(ORIGIN) {
            return Err(SENT_BY_WEB_PAGE);
        }
        match single_header(headers, HOST.as_str()) {
            Some(host) if self.own_hosts.iter().any(|own_host| own_host == host) => {}
            _ => return Err(WRONG_HOST),
        }
        let authorization = Authorization::parse(headers).ok_or(UNSIGNED)?;
        if self.roles.signer(authorization.access_key).is_none() {
            return Err(UNKNOWN_KEY);
        }
        Ok(())
    }

    /// Returns the owner of the access key with which the request is signed.
    fn check_signature(
        &self,
        parts: &Parts,
        body: &[u8],
        now: SystemTime,
    ) -> Result<Caller, AuthError> {
        let authorization = Authorization::parse(&parts.headers).ok_or(UNSIGNED)?;
        let (caller, credentials) =
            self.roles.signer(authorization.access_key).ok_or(UNKNOWN_KEY)?;
        let signed_headers: Vec<&str> = authorization.signed_headers.split(';').collect();
        if REQUIRED_SIGNED_HEADERS.iter().any(|header| !signed_headers.contains(header)) {
            return Err(WRONG_SIGNATURE);
        }
        let signed_at =
            single_header(&parts.headers, DATE).and_then(parse_time).ok_or(WRONG_TIME)?;
        let skew = match now.duration_since(signed_at) {
            Ok(age) => age,
            Err(signed_in_future) => signed_in_future.duration(),
        };
        if skew > MAX_SKEW {
            return Err(WRONG_TIME);
        }
        let signer = Signer { credentials, region: authorization.region, signed_at };
        let expected_signature =
            self.compute_signature(parts, body, &signed_headers, &signer).ok_or(WRONG_SIGNATURE)?;
        if !is_equal_in_constant_time(&expected_signature, authorization.signature) {
            return Err(WRONG_SIGNATURE);
        }
        Ok(caller)
    }

    /// Returns `None` if the request cannot be signed.
    fn compute_signature(
        &self,
        parts: &Parts,
        body: &[u8],
        signed_headers: &[&str],
        signer: &Signer<'_>,
    ) -> Option<String> {
        let Credentials { access_key, secret_key } = signer.credentials;
        let identity =
            SigningCredentials::new(access_key, secret_key, None, None, "state folder").into();
        let mut settings = SigningSettings::default();
        settings.excluded_headers = None;
        let params = SigningParams::builder()
            .identity(&identity)
            .region(signer.region)
            .name(self.service.name)
            .time(signer.signed_at)
            .settings(settings)
            .build()
            .ok()?;
        // Repeated headers are rejected here rather than joined, because clients never repeat a
        // header.
        let mut headers = Vec::new();
        for header_name in signed_headers {
            headers.push((*header_name, single_header(&parts.headers, header_name)?));
        }
        let host = single_header(&parts.headers, HOST.as_str())?;
        let path_and_query = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let signable_request = SignableRequest::new(
            parts.method.as_str(),
            format!("http://{host}{path_and_query}"),
            headers.into_iter(),
            SignableBody::Bytes(body),
        )
        .ok()?;
        let signed = sign(signable_request, &params.into()).ok()?;
        Some(signed.signature().to_owned())
    }
}

struct Signer<'a> {
    credentials: &'a Credentials,
    region: &'a str,
    signed_at: SystemTime,
}

/// Fields of an AWS Signature Version 4 `Authorization` header.
struct Authorization<'a> {
    access_key: &'a str,
    region: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
}

impl<'a> Authorization<'a> {
    fn parse(headers: &'a HeaderMap) -> Option<Self> {
        let field_list = single_header(headers, AUTHORIZATION.as_str())?.strip_prefix(ALGORITHM)?;
        // The format is `KEY/DAY/REGION/SERVICE/aws4_request`. The day and the service are not
        // checked here: if either is wrong, the signature does not match.
        let mut credential_parts = field_value(field_list, "Credential")?.split('/');
        let access_key = credential_parts.next()?;
        let _day = credential_parts.next()?;
        let region = credential_parts.next()?;
        Some(Self {
            access_key,
            region,
            signed_headers: field_value(field_list, "SignedHeaders")?,
            signature: field_value(field_list, "Signature")?,
        })
    }
}

/// Returns the value of the field `name` in a list such as `NAME=VALUE, NAME=VALUE`.
fn field_value<'a>(field_list: &'a str, name: &str) -> Option<&'a str> {
    for field in field_list.split(',') {
        match field.trim().split_once('=') {
            Some((field_name, value)) if field_name == name => return Some(value),
            _ => {}
        }
    }
    None
}

/// Returns `None` unless the header occurs exactly once.
fn single_header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    value.to_str().ok()
}

/// Parses a timestamp such as `20261121T080000Z`.
fn parse_time(timestamp: &str) -> Option<SystemTime> {
    let (date, time) = timestamp.split_once('T')?;
    let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..)?);
    let rfc3339_timestamp = format!("{year}-{month}-{day}T{hour}:{minute}:{second}");
    humantime::parse_rfc3339(&rfc3339_timestamp).ok()
}

/// Prevents timing attacks.
fn is_equal_in_constant_time(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Adds no CORS headers, so that a web page cannot read the response.
fn forbidden_response((code, message): AuthError) -> Response {
    error_response(StatusCode::FORBIDDEN, code, message)
}

#[cfg(test)]
mod tests;
