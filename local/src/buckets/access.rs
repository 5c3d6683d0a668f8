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
/// Maximum lifetime of a presigned URL: one week, as in S3.
const MAX_VALID_S: u64 = 7 * 24 * 60 * 60;

/// Only these credentials may sign requests.
pub(super) fn known_credentials(roles: &Roles) -> SimpleAuth {
    let mut auth = SimpleAuth::new();
    for credentials in roles.keys() {
        auth.register(credentials.access_key.clone(), credentials.secret_key.as_str().into());
    }
    auth
}

/// A request with a presigned URL has the permissions of the person or function that signed the
/// URL.
pub(super) fn check_permission(
    roles: &Roles,
    signer: Option<&Credentials>,
    request: &AccessRequest,
) -> S3Result<()> {
    let signer = signer.and_then(|signer| roles.signer(&signer.access_key));
    let Some((caller, _credentials)) = signer else {
        return Err(s3_error!(InvalidAccessKeyId));
    };
    roles.authorize(caller, request).map_err(|Denied(message)| s3_error!(AccessDenied, "{message}"))
}

/// The s3s crate verifies the signature.
pub(super) struct SignedOnly {
    pub(super) roles: Arc<Roles>,
}

#[async_trait::async_trait]
impl S3Access for SignedOnly {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        check_signed_headers(context)?;
        check_expiry(context)?;
        let access_requests = objects::access_requests(
            context.s3_op().name(),
            context.s3_path(),
            context.uri().query(),
            context.headers(),
        );
        for access_request in &access_requests {
            check_permission(&self.roles, context.credentials(), access_request)?;
        }
        Ok(())
    }
}

/// Checks that the signature covers every header that S3 interprets.
fn check_signed_headers(context: &S3AccessContext<'_>) -> S3Result<()> {
    let is_signed = context.credentials().is_some();
    let signed_headers = if is_signed { signed_headers(context) } else { None };
    let Some(signed_headers) = signed_headers else {
        // The request is unsigned, or its signature version is obsolete.
        return Err(s3_error!(AccessDenied, "A signature of version 4 is required"));
    };
    for header_name in context.headers().keys().map(|name| name.as_str()) {
        let is_covered = signed_headers.split(';').any(|signed_name| signed_name == header_name);
        if header_name.starts_with(MEANINGFUL_PREFIX) && !is_covered {
            return Err(s3_error!(
                AccessDenied,
                "There were headers present in the request which were not signed: {header_name}"
            ));
        }
    }
    Ok(())
}

fn check_expiry(context: &S3AccessContext<'_>) -> S3Result<()> {
    let Some(lifetime) = query_parameter(context, EXPIRES) else { return Ok(()) };
    match lifetime.parse::<u64>() {
        Ok(0..=MAX_VALID_S) => Ok(()),
        _ => Err(s3_error!(
            AuthorizationQueryParametersError,
            "X-Amz-Expires must be less than a week (in seconds)"
        )),
    }
}

/// Accepts every bucket name, even if it is longer than S3 allows, because a long stack name
/// results in long bucket names. A request for an unknown bucket fails later with a "not found"
/// error.
pub(super) struct AnyName;

impl NameValidation for AnyName {
    fn validate_bucket_name(&self, name: &str) -> bool {
        !name.is_empty()
    }
}

/// Returns the signed header names, separated by `;`.
fn signed_headers(context: &S3AccessContext<'_>) -> Option<String> {
    if let Some(names) = query_parameter(context, &format!("X-Amz-{SIGNED_HEADERS}")) {
        return Some(names);
    }
    let authorization = context.headers().get("authorization")?.to_str().ok()?;
    let mut fields = authorization.split([',', ' ']).filter_map(|field| field.split_once('='));
    let (_, names) = fields.find(|(field_name, _)| *field_name == SIGNED_HEADERS)?;
    Some(names.to_owned())
}

fn query_parameter(context: &S3AccessContext<'_>, name: &str) -> Option<String> {
    let query = context.uri().query().unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, value) = parameters.find(|(parameter_name, _)| parameter_name == name)?;
    Some(value.into_owned())
}
