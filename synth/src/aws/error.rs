//! What AWS did not do, and what to do about it.

use aws_sdk_cloudformation::error::{ProvideErrorMetadata, SdkError};

/// A call of AWS that failed.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum AwsError {
    /// Nobody said where.
    #[error("no region is configured")]
    #[diagnostic(
        code(synth::aws::region),
        help("set AWS_REGION, or `region` in the profile of ~/.aws/config that AWS_PROFILE names")
    )]
    NoRegion,
    /// No credentials, or none that hold.
    #[error("cannot {what}: there are no credentials for AWS: {cause}")]
    #[diagnostic(
        code(synth::aws::credentials),
        help(
            "set AWS_PROFILE (and sign in, for example with `aws sso login`), or \
             AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    )]
    NoCredentials {
        /// What was tried.
        what: &'static str,
        /// What the provider of credentials said.
        cause: String,
    },
    /// Credentials whose time is over.
    #[error("cannot {what}: the credentials for AWS have expired")]
    #[diagnostic(code(synth::aws::expired), help("sign in again, then run the same command"))]
    Expired {
        /// What was tried.
        what: &'static str,
    },
    /// Not allowed.
    #[error("cannot {what}: {message}")]
    #[diagnostic(
        code(synth::aws::denied),
        help("whoever deploys needs that permission; nothing else was changed by this step")
    )]
    Denied {
        /// What was tried.
        what: &'static str,
        /// What AWS says, which names the action.
        message: String,
    },
    /// AWS was not reached.
    #[error("cannot {what}: AWS was not reached: {cause}")]
    #[diagnostic(
        code(synth::aws::unreachable),
        help("check the network, a proxy (HTTPS_PROXY) and --endpoint-url; then run it again")
    )]
    Unreachable {
        /// What was tried.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// A bucket with our name that somebody else has.
    #[error("the bucket {bucket} belongs to another account")]
    #[diagnostic(
        code(synth::aws::bucket),
        help("nothing was uploaded; name a bucket of your own with --artifact-bucket")
    )]
    BucketOfOthers {
        /// Its name.
        bucket: String,
    },
    /// Anything else that AWS refuses.
    #[error("cannot {what}: {code}: {message}")]
    #[diagnostic(code(synth::aws::refused), help("run the same command again when it is mended"))]
    Refused {
        /// What was tried.
        what: &'static str,
        /// AWS's word for it.
        code: String,
        /// What it says.
        message: String,
    },
    /// A reply without something that every reply has.
    #[error("AWS answered without {missing}")]
    #[diagnostic(code(synth::aws::reply), help("run the same command again"))]
    Reply {
        /// What.
        missing: &'static str,
    },
}

/// Codes of requests that are not allowed.
const DENIED: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AllAccessDisabled"];
/// Codes of credentials whose time is over.
const EXPIRED: [&str; 4] =
    ["ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"];
/// Codes of credentials that are none.
const UNKNOWN_CREDENTIALS: [&str; 4] = [
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "InvalidAccessKeyId",
];

impl AwsError {
    /// What came of a call that was for `what` (as in "cannot list the events").
    pub(super) fn of<E>(what: &'static str, error: &SdkError<E>) -> Self
    where
        E: std::error::Error + ProvideErrorMetadata + 'static,
    {
        let Some(service) = error.as_service_error() else {
            let causes = causes(error);
            let cause = causes.last().cloned().unwrap_or_default();
            // The SDK has no variant of its own for this.
            return match causes.iter().any(|cause| cause.contains("credentials")) {
                true => Self::NoCredentials { what, cause },
                false => Self::Unreachable { what, cause },
            };
        };
        let code = service.code().unwrap_or("Unknown").to_owned();
        let message = service.message().map_or_else(|| service.to_string(), str::to_owned);
        Self::refused(what, code, message)
    }

    /// What a service answered instead of doing `what`.
    pub(super) fn refused(what: &'static str, code: String, message: String) -> Self {
        match code.as_str() {
            code if DENIED.contains(&code) => Self::Denied { what, message },
            code if EXPIRED.contains(&code) => Self::Expired { what },
            code if UNKNOWN_CREDENTIALS.contains(&code) => {
                Self::NoCredentials { what, cause: message }
            }
            _ => Self::Refused { what, code, message },
        }
    }
}

/// What an error says, and what each that caused it says.
pub(super) fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let mut next = error.source();
    let mut causes = vec![error.to_string()];
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes
}
