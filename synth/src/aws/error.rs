//! What AWS did not do, and what to do about it.

use aws_sdk_cloudformation::error::{ProvideErrorMetadata, SdkError};

/// A call of AWS that failed.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum AwsError {
    /// Nobody said where.
    #[error("no region is configured")]
    #[diagnostic(
        code(synth::aws::region),
        help(
            "set AWS_REGION, or `region` in the profile of ~/.aws/config that AWS_PROFILE names; then \
             run the same command again"
        )
    )]
    NoRegion,
    /// No credentials, or none that hold.
    #[error("cannot {what}: there are no credentials for AWS: {cause}")]
    #[diagnostic(
        code(synth::aws::credentials),
        help(
            "set AWS_PROFILE (and sign in, for example with `aws sso login`), or \
             AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; then run the same command again"
        )
    )]
    NoCredentials {
        /// What was tried.
        what: &'static str,
        /// What the provider of credentials said.
        cause: String,
    },
    /// Credentials that AWS does not have, or not here.
    #[error("cannot {what}: AWS does not accept the credentials: {message}")]
    #[diagnostic(
        code(synth::aws::unknown_credentials),
        help(
            "check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (`aws sts \
             get-caller-identity` tries them), and that the account has enabled the region; then run \
             the same command again"
        )
    )]
    UnknownCredentials {
        /// What was tried.
        what: &'static str,
        /// What AWS says.
        message: String,
    },
    /// Credentials whose time is over.
    #[error("cannot {what}: the credentials for AWS have expired")]
    #[diagnostic(
        code(synth::aws::expired),
        help(
            "sign in again (for example with `aws sso login`), or take new ones into \
             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; then run the same \
             command again"
        )
    )]
    Expired {
        /// What was tried.
        what: &'static str,
    },
    /// Not allowed.
    #[error("cannot {what}: {message}")]
    #[diagnostic(
        code(synth::aws::denied),
        help(
            "whoever deploys needs {}: have it added, then run the same command again",
            permission(message)
        )
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
        help("check the network, then run the same command again")
    )]
    Unreachable {
        /// What was tried.
        what: &'static str,
        /// Why not.
        cause: String,
    },
    /// AWS was not reached by the very first call.
    #[error("AWS was not reached {place}: {cause}")]
    #[diagnostic(
        code(synth::aws::nowhere),
        help(
            "check the region (AWS_REGION, or `region` in the profile), --endpoint-url, the network and \
             a proxy (HTTPS_PROXY); then run the same command again"
        )
    )]
    Nowhere {
        /// Where it was looked for: "in the region eu-west-1", "at http://127.0.0.1:1".
        place: String,
        /// Why not.
        cause: String,
    },
    /// A bucket with our name that somebody else has.
    #[error("the bucket {bucket} belongs to another account")]
    #[diagnostic(
        code(synth::aws::bucket),
        help(
            "nothing was uploaded; name a bucket of your own: \
             `synth deploy --artifact-bucket NAME` makes it if it is not there"
        )
    )]
    BucketOfOthers {
        /// Its name.
        bucket: String,
    },
    /// A bucket that we may not look at, which is all that S3 says.
    #[error("the bucket {bucket} is not open to you: S3 answers 403 without a reason")]
    #[diagnostic(
        code(synth::aws::bucket_closed),
        help(
            "nothing was uploaded; if it is yours, whoever deploys needs the permission s3:ListBucket \
             on it; if another account has that name, use one of your own: \
             `synth deploy --artifact-bucket NAME`"
        )
    )]
    BucketClosed {
        /// Its name.
        bucket: String,
    },
    /// A bucket from which CloudFormation cannot deploy here.
    #[error("the bucket {bucket} is in the region {there}, and the stack goes to {here}")]
    #[diagnostic(
        code(synth::aws::bucket_elsewhere),
        help(
            "nothing was uploaded; set AWS_REGION if the stack is meant to be there, or use a bucket of \
             this region: `synth deploy --artifact-bucket NAME`"
        )
    )]
    BucketElsewhere {
        /// Its name.
        bucket: String,
        /// Its region.
        there: String,
        /// The stack's region.
        here: String,
    },
    /// CloudFormation cannot make what is wanted of the stack.
    #[error("CloudFormation cannot change the stack {stack} so: {reason}")]
    #[diagnostic(
        code(synth::aws::change_set),
        help(
            "nothing was changed, and the change set is deleted; mend what the reason names, then run \
             the same command again"
        )
    )]
    ChangeSetFailed {
        /// The stack's name.
        stack: String,
        /// What CloudFormation says.
        reason: String,
    },
    /// Somebody else was faster.
    #[error("cannot {what}: somebody else changes the stack, or has just done so: {message}")]
    #[diagnostic(
        code(synth::aws::stack_busy),
        help(
            "nothing was changed by this command; run the same command again: it waits for the other, \
             and looks anew what is to be done"
        )
    )]
    StackBusy {
        /// What was tried.
        what: &'static str,
        /// What AWS says.
        message: String,
    },
    /// Anything else that AWS refuses.
    #[error("cannot {what}: {code}: {message}")]
    #[diagnostic(
        code(synth::aws::refused),
        help("mend what it names, then run the same command again")
    )]
    Refused {
        /// What was tried.
        what: &'static str,
        /// AWS's word for it.
        code: String,
        /// What it says.
        message: String,
    },
    /// A list that goes on and on.
    #[error("cannot {what}: the answer goes on beyond {pages} pages")]
    #[diagnostic(
        code(synth::aws::endless),
        help("run the same command again, for a shorter time if that can be said")
    )]
    Endless {
        /// What was tried.
        what: &'static str,
        /// Pages that are read at most.
        pages: usize,
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
/// Codes of what cannot be begun because something else is under way, or was meanwhile: with that, all
/// other change sets of a stack are gone.
const BUSY: [&str; 3] =
    ["ChangeSetNotFound", "InvalidChangeSetStatus", "OperationInProgressException"];
/// How the names of the states end that a stack passes through.
const UNDER_WAY: &str = "_IN_PROGRESS";
/// What comes before the action in what AWS says of a permission that is missing.
const BEFORE_ACTION: &str = "not authorized to perform: ";
/// How it begins what the SDK says if it found no credentials anywhere.
const NOT_FOUND: &str = "no credentials found";
/// What a request is answered that is not allowed.
const FORBIDDEN: u16 = 403;
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
                true => Self::NoCredentials { what, cause: in_short(cause) },
                false => Self::Unreachable { what, cause },
            };
        };
        let status = error.raw_response().map(|response| response.status().as_u16());
        let message = service.message().map_or_else(|| service.to_string(), str::to_owned);
        match service.code() {
            Some(code) => Self::of_code(what, code, message),
            // The answer to a HEAD has no body to say more in.
            None if status == Some(FORBIDDEN) => {
                let message = "AWS answers 403 without a reason".to_owned();
                Self::Denied { what, message }
            }
            None => {
                let code = status.map_or_else(|| "Unknown".to_owned(), |status| status.to_string());
                Self::Refused { what, code, message }
            }
        }
    }

    /// What a service answered instead of doing `what`.
    pub(super) fn of_code(what: &'static str, code: &str, message: String) -> Self {
        if DENIED.contains(&code) {
            Self::Denied { what, message }
        } else if EXPIRED.contains(&code) {
            Self::Expired { what }
        } else if UNKNOWN_CREDENTIALS.contains(&code) {
            Self::UnknownCredentials { what, message }
        } else if BUSY.contains(&code) || (code == "ValidationError" && message.contains(UNDER_WAY))
        {
            Self::StackBusy { what, message }
        } else {
            Self::Refused { what, code: code.to_owned(), message }
        }
    }

    /// The same, if it was the first call of all: then AWS is looked for at the wrong place.
    pub(super) fn looked_for(self, place: impl FnOnce() -> String) -> Self {
        match self {
            Self::Unreachable { cause, .. } => Self::Nowhere { place: place(), cause },
            other => other,
        }
    }

    /// What helps against it, in a few words.
    pub(crate) fn remedy(&self) -> String {
        match self {
            Self::Unreachable { .. } => "check the network".to_owned(),
            Self::Expired { .. } | Self::NoCredentials { .. } => "sign in again".to_owned(),
            Self::Denied { message, .. } => format!("have {} added", permission(message)),
            _ => "mend what the reason names".to_owned(),
        }
    }

    /// Whether the same call has no better chance in a moment.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(self, Self::Unreachable { .. } | Self::Refused { .. } | Self::Reply { .. })
    }
}

/// The action that AWS names in what it says of a permission that is missing.
pub(crate) fn denied_action(message: &str) -> Option<&str> {
    let (_, action) = message.split_once(BEFORE_ACTION)?;
    let action = action.split_whitespace().next()?.trim_end_matches(['.', ',']);
    (!action.is_empty()).then_some(action)
}

/// The SDK lists all places where it has looked, and not which profile.
fn in_short(cause: String) -> String {
    if !cause.starts_with(NOT_FOUND) {
        return cause;
    }
    match std::env::var("AWS_PROFILE") {
        Ok(profile) => format!(
            "the profile {profile} (AWS_PROFILE) is not in ~/.aws/config or ~/.aws/credentials, or has \
             none in it"
        ),
        Err(_) => "none in the environment, in ~/.aws, or from the machine".to_owned(),
    }
}

fn permission(message: &str) -> String {
    match denied_action(message) {
        Some(action) => format!("the permission {action}"),
        None => "the permission for that".to_owned(),
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

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    #[test]
    fn the_action_is_taken_out_of_what_aws_says() {
        let said = "User: arn:aws:iam::1:user/u is not authorized to perform: s3:PutObject on \
                    resource: \"arn:aws:s3:::b\" because no identity-based policy allows it";
        assert_eq!(denied_action(said), Some("s3:PutObject"));
        let ends = "u is not authorized to perform: sqs:CreateQueue.";
        assert_eq!(denied_action(ends), Some("sqs:CreateQueue"));
        assert_eq!(denied_action("not authorized to perform: "), None);
        assert_eq!(denied_action("Access Denied"), None);
        let denied = AwsError::Denied { what: "x", message: said.to_owned() };
        assert!(denied.help().unwrap().to_string().contains("the permission s3:PutObject"));
    }

    #[test]
    fn codes_become_what_can_be_done_about_them() {
        let of = |code: &str, message: &str| AwsError::of_code("x", code, message.to_owned());
        assert!(matches!(of("ExpiredToken", ""), AwsError::Expired { .. }));
        assert!(matches!(of("AccessDenied", ""), AwsError::Denied { .. }));
        assert!(matches!(of("InvalidClientTokenId", ""), AwsError::UnknownCredentials { .. }));
        for code in BUSY {
            assert!(matches!(of(code, ""), AwsError::StackBusy { .. }), "{code}");
        }
        let busy = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated.";
        assert!(matches!(of("ValidationError", busy), AwsError::StackBusy { .. }));
        assert!(matches!(of("ValidationError", "No."), AwsError::Refused { .. }));
        assert!(of("ExpiredToken", "").is_final() && !of("Throttling", "").is_final());
    }
}
