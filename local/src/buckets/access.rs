//! Authenticates and authorizes S3 requests. The signature must cover every header that S3
//! interprets, and the signer's role must permit the request.

use std::sync::Arc;

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{Credentials, SimpleAuth};
use s3s::validation::NameValidation;
use s3s::{S3Result, s3_error};

use crate::roles::{AccessRequest, Denied, Roles, objects};

const MEANINGFUL_PREFIX: &str = "x-amz-";
const SIGNED_HEADERS: &str = "SignedHeaders";
const EXPIRES: &str = "X-Amz-Expires";
/// Maximum lifetime of a presigned URL. Matches S3's limit of one week.
const MAX_VALID_S: u64 = 7 * 24 * 60 * 60;

/// Returns all credentials that may sign requests.
pub(super) fn known_credentials(roles: &Roles) -> SimpleAuth {
    let mut auth = SimpleAuth::new();
    for credentials in roles.keys() {
        auth.register(credentials.access_key.clone(), credentials.secret_key.as_str().into());
    }
    auth
}

/// Checks the permissions of a request's signer. A presigned URL has its signer's permissions.
pub(super) fn check(
    roles: &Roles,
    signer: Option<&Credentials>,
    request: &AccessRequest,
) -> S3Result<()> {
    let signer = signer.and_then(|signer| roles.signer(&signer.access_key));
    let caller = signer.map(|(caller, _)| caller).ok_or_else(|| s3_error!(InvalidAccessKeyId))?;
    roles.check(caller, request).map_err(|Denied(why)| s3_error!(AccessDenied, "{why}"))
}

/// Accepts only signed requests that the signer's role permits. The s3s crate verifies the
/// signature.
pub(super) struct SignedOnly {
    pub(super) roles: Arc<Roles>,
}

#[async_trait::async_trait]
impl S3Access for SignedOnly {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let signed_headers = context.credentials().and_then(|_| signed_headers(context));
        let Some(signed_headers) = signed_headers else {
            // The request is unsigned or uses an obsolete signature version.
            return Err(s3_error!(AccessDenied, "A signature of version 4 is required"));
        };
        let is_signed = |name: &str| signed_headers.split(';').any(|signed| signed == name);
        let mut names = context.headers().keys().map(|name| name.as_str());
        if let Some(name) =
            names.find(|name| name.starts_with(MEANINGFUL_PREFIX) && !is_signed(name))
        {
            return Err(s3_error!(
                AccessDenied,
                "There were headers present in the request which were not signed: {name}"
            ));
        }
        match query_parameter(context, EXPIRES).map(|valid_s| valid_s.parse::<u64>()) {
            Some(Ok(0..=MAX_VALID_S)) | None => {}
            Some(_) => {
                return Err(s3_error!(
                    AuthorizationQueryParametersError,
                    "X-Amz-Expires must be less than a week (in seconds)"
                ));
            }
        }
        let (operation, query) = (context.s3_op().name(), context.uri().query());
        let requests =
            objects::access_requests(operation, context.s3_path(), query, context.headers());
        requests.iter().try_for_each(|request| check(&self.roles, context.credentials(), request))
    }
}

/// Accepts every bucket name, so that long stack names work. A request for an unknown bucket fails
/// with a "not found" error.
pub(super) struct AnyName;

impl NameValidation for AnyName {
    fn validate_bucket_name(&self, name: &str) -> bool {
        !name.is_empty()
    }
}

/// Returns the signed header names, separated by `;`.
fn signed_headers(context: &S3AccessContext<'_>) -> Option<String> {
    query_parameter(context, &format!("X-Amz-{SIGNED_HEADERS}")).or_else(|| {
        let header = context.headers().get("authorization")?.to_str().ok()?;
        let mut parts = header.split([',', ' ']).filter_map(|part| part.split_once('='));
        parts.find(|(name, _)| *name == SIGNED_HEADERS).map(|(_, names)| names.to_owned())
    })
}

fn query_parameter(context: &S3AccessContext<'_>, name: &str) -> Option<String> {
    let query = context.uri().query().unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    parameters.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}
