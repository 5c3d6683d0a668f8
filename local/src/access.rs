//! Who may send a request to the tables and the queues: whoever signed it with the secret of the state folder, or
//! with that of a function whose role permits it, and no web page.
//!
//! Without this, any page that is open in a browser on this machine could read and delete what is
//! stored: it needs no account, only the port.

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

use crate::aws_json::{TARGET, error};
use crate::error::LocalError;
use crate::roles::{Asks, Caller, Denied, Roles};
use crate::server::{ServerThread, Stopped};
use crate::serving;
use crate::state::Credentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256 ";
const DATE: &str = "x-amz-date";
/// What a signature must cover, besides the body: else it could be used for another request.
const MUST_BE_SIGNED: [&str; 3] = ["host", DATE, TARGET];
/// How far a request's time may be from ours.
const MAX_SKEW: Duration = Duration::from_secs(15 * 60);
/// Bytes of a request, as in `DynamoDB`.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// A service, as its requests are checked.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    /// As signatures name it.
    pub(crate) name: &'static str,
    /// What a request asks for.
    pub(crate) asks: Asks,
    /// The status of what a role does not permit.
    pub(crate) denied: StatusCode,
}

/// What requests are checked against.
#[derive(Clone)]
pub(crate) struct Access {
    service: Service,
    hosts: Arc<[String]>,
    roles: Arc<Roles>,
}

/// Why a request is refused: the name and the message of the error.
type Refused = (&'static str, &'static str);

const FROM_A_PAGE: Refused =
    ("AccessDeniedException", "Web pages may not talk to the local cloud's services");
const OTHER_HOST: Refused = ("AccessDeniedException", "The request is for another host");
const UNSIGNED: Refused =
    ("MissingAuthenticationTokenException", "A signature of version 4 is required");
const OTHER_KEY: Refused = (
    "UnrecognizedClientException",
    "The access key is neither the one of the state folder nor a function's",
);
const WRONG_TIME: Refused =
    ("InvalidSignatureException", "The request's time is more than 15 minutes from now");
const WRONG_SIGNATURE: Refused =
    ("InvalidSignatureException", "The signature does not match the request");

/// Serves a service on a free port until what is returned is dropped, to whoever has a key and may do what he
/// asks for.
pub(crate) async fn serve_guarded(
    what: &'static str,
    service: Service,
    roles: Arc<Roles>,
    router: Router,
) -> Result<ServerThread, LocalError> {
    ServerThread::start(what, async move |listener, stopped: Stopped| {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let access = Access::new(service, address, roles);
        // The guard has bounded the body.
        let router = router
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(access, Access::guard));
        serving::serve(listener, router, async { drop(stopped.await) }).await;
        Ok(())
    })
    .await
}

impl Access {
    /// For a server of this service at this address.
    pub(crate) fn new(service: Service, address: SocketAddr, roles: Arc<Roles>) -> Self {
        let hosts = [address.to_string(), format!("localhost:{}", address.port())];
        Self { service, hosts: Arc::new(hosts), roles }
    }

    /// Lets a request through, or answers it.
    pub(crate) async fn guard(
        State(access): State<Self>,
        request: Request,
        next: Next,
    ) -> Response {
        let (parts, body) = request.into_parts();
        if let Err(refused) = access.check_sender(&parts.headers) {
            return refuse(refused);
        }
        let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
            let why = format!("a request is at most {MAX_BODY_BYTES} bytes");
            return error(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLargeException", &why);
        };
        let caller = match access.check_signature(&parts, &body, SystemTime::now()) {
            Ok(caller) => caller,
            Err(refused) => return refuse(refused),
        };
        match access.denial(caller, &parts.headers, &body) {
            None => next.run(Request::from_parts(parts, Body::from(body))).await,
            Some(answer) => answer,
        }
    }

    /// What to answer if the caller's role does not permit the request. An operator's needs no look: it
    /// may be anything.
    fn denial(&self, caller: Caller, headers: &HeaderMap, body: &[u8]) -> Option<Response> {
        if caller == Caller::Operator {
            return None;
        }
        let asks = match (self.service.asks)(headers, body) {
            Ok(asks) => asks,
            // What cannot be read is not let through: others might read it in another way.
            Err(why) => {
                return Some(error(StatusCode::BAD_REQUEST, "SerializationException", &why));
            }
        };
        let Denied(why) = asks.iter().find_map(|ask| self.roles.check(caller, ask).err())?;
        Some(error(self.service.denied, "AccessDeniedException", &why))
    }

    /// What needs no look at the body. A page that had a name of its own point to 127.0.0.1 would
    /// send no `Origin`, but that name as `Host`.
    fn check_sender(&self, headers: &HeaderMap) -> Result<(), Refused> {
        if headers.contains_key(ORIGIN) {
            return Err(FROM_A_PAGE);
        }
        let host = the_one(headers, HOST.as_str());
        if !host.is_some_and(|host| self.hosts.iter().any(|own| own == host)) {
            return Err(OTHER_HOST);
        }
        let signature = Authorization::of(headers).ok_or(UNSIGNED)?;
        self.roles.signer(signature.access_key).ok_or(OTHER_KEY).map(drop)
    }

    /// Signs the request once more, and compares; says whose key it was.
    fn check_signature(
        &self,
        parts: &Parts,
        body: &[u8],
        now: SystemTime,
    ) -> Result<Caller, Refused> {
        let claimed = Authorization::of(&parts.headers).ok_or(UNSIGNED)?;
        let (caller, credentials) = self.roles.signer(claimed.access_key).ok_or(OTHER_KEY)?;
        let signed: Vec<&str> = claimed.signed_headers.split(';').collect();
        if MUST_BE_SIGNED.iter().any(|name| !signed.contains(name)) {
            return Err(WRONG_SIGNATURE);
        }
        let time = the_one(&parts.headers, DATE).and_then(read_time).ok_or(WRONG_TIME)?;
        let skew = now.duration_since(time).unwrap_or_else(|earlier| earlier.duration());
        if skew > MAX_SKEW {
            return Err(WRONG_TIME);
        }
        let by = Signer { credentials, region: claimed.region, time };
        let own = self.sign(parts, body, &signed, &by).ok_or(WRONG_SIGNATURE)?;
        if same(&own, claimed.signature) { Ok(caller) } else { Err(WRONG_SIGNATURE) }
    }

    fn sign(&self, parts: &Parts, body: &[u8], signed: &[&str], by: &Signer<'_>) -> Option<String> {
        let Credentials { access_key, secret_key } = by.credentials;
        let identity =
            SigningCredentials::new(access_key, secret_key, None, None, "state folder").into();
        // A header that comes twice would have to be joined as its sender did: nobody sends one.
        let headers = signed.iter().map(|name| Some((*name, the_one(&parts.headers, name)?)));
        let headers: Vec<(&str, &str)> = headers.collect::<Option<_>>()?;
        let mut settings = SigningSettings::default();
        settings.excluded_headers = None;
        let params = SigningParams::builder()
            .identity(&identity)
            .region(by.region)
            .name(self.service.name)
            .time(by.time)
            .settings(settings)
            .build()
            .ok()?;
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let url = format!("http://{}{path}", the_one(&parts.headers, HOST.as_str())?);
        let request = SignableRequest::new(
            parts.method.as_str(),
            url,
            headers.into_iter(),
            SignableBody::Bytes(body),
        )
        .ok()?;
        Some(sign(request, &params.into()).ok()?.signature().to_owned())
    }
}

/// With what a request is signed, and when.
struct Signer<'a> {
    credentials: &'a Credentials,
    region: &'a str,
    time: SystemTime,
}

/// The parts of an `Authorization` header of version 4.
struct Authorization<'a> {
    access_key: &'a str,
    region: &'a str,
    signed_headers: &'a str,
    signature: &'a str,
}

impl<'a> Authorization<'a> {
    fn of(headers: &'a HeaderMap) -> Option<Self> {
        let fields = the_one(headers, AUTHORIZATION.as_str())?.strip_prefix(ALGORITHM)?;
        let field = |name: &str| {
            let mut fields = fields.split(',').filter_map(|field| field.trim().split_once('='));
            fields.find(|(found, _)| *found == name).map(|(_, value)| value)
        };
        // The key, the day, the region, the service, and `aws4_request`; what of this is not the
        // request's own leads to another signature.
        let mut scope = field("Credential")?.split('/');
        let (access_key, _day, region) = (scope.next()?, scope.next()?, scope.next()?);
        let (signed_headers, signature) = (field("SignedHeaders")?, field("Signature")?);
        Some(Self { access_key, region, signed_headers, signature })
    }
}

/// The value of a header that comes once.
fn the_one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    value.to_str().ok()
}

/// Reads a time such as `20261121T080000Z`.
fn read_time(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once('T')?;
    let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..)?);
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}");
    humantime::parse_rfc3339(&text).ok()
}

/// In a time that tells nothing of where they differ.
fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Without CORS headers: no page is to learn more than that it was refused.
fn refuse((kind, message): Refused) -> Response {
    error(StatusCode::FORBIDDEN, kind, message)
}

#[cfg(test)]
mod tests;
