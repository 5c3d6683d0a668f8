//! Who may send a request: whoever signed it, and with it every header that means something to S3, and may do
//! what it asks for.

use std::sync::Arc;

use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{Credentials, SimpleAuth};
use s3s::validation::NameValidation;
use s3s::{S3Result, s3_error};

use crate::roles::{Ask, Denied, Roles, objects};

const MEANINGFUL_PREFIX: &str = "x-amz-";
const SIGNED_HEADERS: &str = "SignedHeaders";
const EXPIRES: &str = "X-Amz-Expires";
/// Seconds that a presigned URL may be valid for: a week, as in S3.
const MAX_VALID_S: u64 = 7 * 24 * 60 * 60;

/// All keys that requests may be signed with.
pub(super) fn keys(roles: &Roles) -> SimpleAuth {
    let mut keys = SimpleAuth::new();
    for own in roles.keys() {
        keys.register(own.access_key.clone(), own.secret_key.as_str().into());
    }
    keys
}

/// Says no as S3 does to what the signer of a request may not do. A presigned URL has the rights of whoever
/// signed it.
pub(super) fn check(roles: &Roles, signer: Option<&Credentials>, ask: &Ask) -> S3Result<()> {
    let signer = signer.and_then(|signer| roles.signer(&signer.access_key));
    let caller = signer.map(|(caller, _)| caller).ok_or_else(|| s3_error!(InvalidAccessKeyId))?;
    roles.check(caller, ask).map_err(|Denied(why)| s3_error!(AccessDenied, "{why}"))
}

/// Lets signed requests through, and no others. The signature itself is checked before.
pub(super) struct SignedOnly {
    pub(super) roles: Arc<Roles>,
}

#[async_trait::async_trait]
impl S3Access for SignedOnly {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let signed = context.credentials().and_then(|_| signed_headers(context));
        let Some(signed) = signed else {
            // Not signed at all, or in a way that S3 has given up.
            return Err(s3_error!(AccessDenied, "A signature of version 4 is required"));
        };
        let is_signed = |name: &str| signed.split(';').any(|signed| signed == name);
        let mut names = context.headers().keys().map(|name| name.as_str());
        if let Some(name) =
            names.find(|name| name.starts_with(MEANINGFUL_PREFIX) && !is_signed(name))
        {
            return Err(s3_error!(
                AccessDenied,
                "There were headers present in the request which were not signed: {name}"
            ));
        }
        match parameter(context, EXPIRES).map(|valid_s| valid_s.parse::<u64>()) {
            Some(Ok(0..=MAX_VALID_S)) | None => {}
            Some(_) => {
                return Err(s3_error!(
                    AuthorizationQueryParametersError,
                    "X-Amz-Expires must be less than a week (in seconds)"
                ));
            }
        }
        let (operation, query) = (context.s3_op().name(), context.uri().query());
        let asks = objects::asks(operation, context.s3_path(), query, context.headers());
        asks.iter().try_for_each(|ask| check(&self.roles, context.credentials(), ask))
    }
}

/// Lets any name of a bucket through: one that the template does not have is not found, and a long
/// stack's name is no reason to stop here.
pub(super) struct AnyName;

impl NameValidation for AnyName {
    fn validate_bucket_name(&self, name: &str) -> bool {
        !name.is_empty()
    }
}

/// The names of the signed headers, separated by `;`.
fn signed_headers(context: &S3AccessContext<'_>) -> Option<String> {
    parameter(context, &format!("X-Amz-{SIGNED_HEADERS}")).or_else(|| {
        let header = context.headers().get("authorization")?.to_str().ok()?;
        let mut parts = header.split([',', ' ']).filter_map(|part| part.split_once('='));
        parts.find(|(name, _)| *name == SIGNED_HEADERS).map(|(_, names)| names.to_owned())
    })
}

fn parameter(context: &S3AccessContext<'_>, name: &str) -> Option<String> {
    let query = context.uri().query().unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    parameters.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}
