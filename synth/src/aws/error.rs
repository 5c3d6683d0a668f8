//! Errors of AWS requests, each with a suggested remedy.

use aws_sdk_cloudformation::error::{ProvideErrorMetadata, SdkError};

/// The field `operation` is a verb phrase, such as "read the logs", which follows "cannot" in the
/// message.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum AwsError {
    #[error("no region is configured")]
    #[diagnostic(
        code(synth::aws::region),
        help(
            "set AWS_REGION, or `region` in the profile of ~/.aws/config that AWS_PROFILE names; then \
             run the same command again"
        )
    )]
    NoRegion,
    #[error("cannot {operation}: no AWS credentials: {cause}")]
    #[diagnostic(
        code(synth::aws::credentials),
        help(
            "set AWS_PROFILE (and sign in, for example with `aws sso login`), or \
             AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; then run the same command again"
        )
    )]
    NoCredentials {
        operation: &'static str,
        /// Error from the credentials provider.
        cause: String,
    },
    /// The credentials may still be valid in another region.
    #[error("cannot {operation}: AWS rejected the credentials: {message}")]
    #[diagnostic(
        code(synth::aws::unknown_credentials),
        help(
            "check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (test them with `aws sts \
             get-caller-identity`), and that the region is enabled in the account; then run the same \
             command again"
        )
    )]
    UnknownCredentials {
        operation: &'static str,
        /// AWS error message.
        message: String,
    },
    #[error("cannot {operation}: the AWS credentials have expired")]
    #[diagnostic(
        code(synth::aws::expired),
        help(
            "sign in again (for example with `aws sso login`), or set new values of \
             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; then run the same \
             command again"
        )
    )]
    Expired { operation: &'static str },
    #[error("cannot {operation}: {message}")]
    #[diagnostic(
        code(synth::aws::denied),
        help(
            "grant {} to the AWS identity that runs this command, then run the same command again",
            permission(message)
        )
    )]
    Denied {
        operation: &'static str,
        /// Error message of AWS, which includes the denied action.
        message: String,
    },
    #[error("cannot {operation}: AWS is unreachable: {cause}")]
    #[diagnostic(
        code(synth::aws::unreachable),
        help("check the network, then run the same command again")
    )]
    Unreachable {
        operation: &'static str,
        /// Message of the innermost cause.
        cause: String,
    },
    /// The first request of a command did not reach AWS, perhaps because of a wrong address.
    #[error("AWS is unreachable {address}: {cause}")]
    #[diagnostic(
        code(synth::aws::nowhere),
        help(
            "check the region (AWS_REGION, or `region` in the profile), --endpoint-url, the network and \
             a proxy (HTTPS_PROXY); then run the same command again"
        )
    )]
    UnreachableAddress {
        /// Description of the address, such as "in region eu-west-1" or "at http://127.0.0.1:1".
        address: String,
        cause: String,
    },
    #[error("the bucket {bucket} belongs to another account")]
    #[diagnostic(
        code(synth::aws::bucket),
        help(
            "nothing was uploaded; choose another bucket with `synth deploy --artifact-bucket NAME`; it \
             is created if it does not exist"
        )
    )]
    BucketOfOthers {
        /// Name of the bucket.
        bucket: String,
    },
    /// S3 denied access to the artifact bucket without giving a reason.
    #[error("access to the bucket {bucket} was denied: S3 returned 403 without a reason")]
    #[diagnostic(
        code(synth::aws::bucket_closed),
        help(
            "nothing was uploaded; if you own the bucket, grant s3:ListBucket on it to the AWS identity \
             that deploys; if another account owns it, choose another bucket: \
             `synth deploy --artifact-bucket NAME`"
        )
    )]
    BucketClosed {
        /// Name of the bucket.
        bucket: String,
    },
    #[error("the bucket {bucket} is in region {bucket_region}, but the stack is in {stack_region}")]
    #[diagnostic(
        code(synth::aws::bucket_elsewhere),
        help(
            "nothing was uploaded; set AWS_REGION to deploy to the region of the bucket, or choose a \
             bucket in the region of the stack: `synth deploy --artifact-bucket NAME`"
        )
    )]
    BucketElsewhere {
        bucket: String,
        /// Region of the bucket.
        bucket_region: String,
        stack_region: String,
    },
    #[error("CloudFormation rejected the changes to stack {stack}: {reason}")]
    #[diagnostic(
        code(synth::aws::change_set),
        help("nothing was changed; fix the cause, then run the same command again")
    )]
    ChangeSetFailed {
        stack: String,
        /// CloudFormation status reason.
        reason: String,
    },
    #[error("cannot {operation}: another operation changed the stack: {message}")]
    #[diagnostic(
        code(synth::aws::stack_busy),
        help(
            "this command changed nothing; run the same command again: it waits for the other \
             operation and compares again"
        )
    )]
    StackBusy {
        operation: &'static str,
        /// AWS error message.
        message: String,
    },
    #[error("cannot {operation}: {message}")]
    #[diagnostic(
        code(synth::aws::stack_protected),
        help(
            "the stack was not deleted; run `synth destroy`, which turns the protection off first, then \
             run the same command again"
        )
    )]
    StackProtected {
        operation: &'static str,
        /// AWS error message.
        message: String,
    },
    #[error("cannot {operation}: {code}: {message}")]
    #[diagnostic(code(synth::aws::refused), help("fix the cause, then run the same command again"))]
    Refused {
        operation: &'static str,
        code: String,
        /// AWS error message.
        message: String,
    },
    #[error("cannot {operation}: the response has more than {pages} pages")]
    #[diagnostic(
        code(synth::aws::endless),
        help("run the same command again, with a shorter period if it has --since")
    )]
    TooManyPages {
        operation: &'static str,
        /// Page limit.
        pages: usize,
    },
    #[error("the response from AWS lacks {missing}")]
    #[diagnostic(code(synth::aws::reply), help("run the same command again"))]
    IncompleteReply { missing: &'static str },
}

const DENIED_CODES: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AllAccessDisabled"];
/// The code for a missing change set is included, because a stack operation deletes all other
/// change sets of the stack.
const BUSY_CODES: [&str; 3] =
    ["ChangeSetNotFound", "InvalidChangeSetStatus", "OperationInProgressException"];
/// Part of the message with which CloudFormation refuses to delete a protected stack. The error has
/// no code of its own.
const PROTECTED_STACK: &str = "TerminationProtection is enabled";
const IN_PROGRESS_SUFFIX: &str = "_IN_PROGRESS";
/// Text that precedes the name of the denied action in the AWS error message for a missing
/// permission.
const BEFORE_ACTION: &str = "not authorized to perform: ";
/// Prefix of the error message of the SDK if it finds no credentials.
const NO_CREDENTIALS_FOUND: &str = "no credentials found";
const HTTP_FORBIDDEN: u16 = 403;
const EXPIRED_CODES: [&str; 4] =
    ["ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"];
const UNKNOWN_CREDENTIALS_CODES: [&str; 4] = [
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "InvalidAccessKeyId",
];

impl AwsError {
    pub(super) fn from_sdk<E>(operation: &'static str, error: &SdkError<E>) -> Self
    where
        E: std::error::Error + ProvideErrorMetadata + 'static,
    {
        let Some(service_error) = error.as_service_error() else {
            return Self::from_causes(operation, &causes(error));
        };
        let http_status = error.raw_response().map(|response| response.status().as_u16());
        let service_message =
            service_error.message().map_or_else(|| service_error.to_string(), str::to_owned);
        match (service_error.code(), http_status) {
            (Some(code), _) => Self::from_code(operation, code, service_message),
            // An error response to a HEAD request has no body and therefore no error code.
            (None, Some(HTTP_FORBIDDEN)) => {
                let message = "AWS returned 403 without a reason".to_owned();
                Self::Denied { operation, message }
            }
            (None, Some(http_status)) => {
                Self::Refused { operation, code: http_status.to_string(), message: service_message }
            }
            (None, None) => {
                let code = "Unknown".to_owned();
                Self::Refused { operation, code, message: service_message }
            }
        }
    }

    /// `causes` contains the messages of the SDK error and its causes.
    fn from_causes(operation: &'static str, causes: &[String]) -> Self {
        let innermost = causes.last().cloned().unwrap_or_default();
        // Missing credentials are recognized by the message, because the SDK has no error variant
        // for them.
        if causes.iter().any(|cause| cause.contains("credentials")) {
            return Self::NoCredentials { operation, cause: shorten_credentials_error(innermost) };
        }
        Self::Unreachable { operation, cause: innermost }
    }

    pub(super) fn from_code(operation: &'static str, code: &str, message: String) -> Self {
        let is_busy = BUSY_CODES.contains(&code)
            || (code == "ValidationError" && message.contains(IN_PROGRESS_SUFFIX));
        if DENIED_CODES.contains(&code) {
            Self::Denied { operation, message }
        } else if EXPIRED_CODES.contains(&code) {
            Self::Expired { operation }
        } else if UNKNOWN_CREDENTIALS_CODES.contains(&code) {
            Self::UnknownCredentials { operation, message }
        } else if is_busy {
            Self::StackBusy { operation, message }
        } else if message.contains(PROTECTED_STACK) {
            Self::StackProtected { operation, message }
        } else {
            Self::Refused { operation, code: code.to_owned(), message }
        }
    }

    /// Adds the address to an [`AwsError::Unreachable`] error. This is done for the first request
    /// of a command, because a wrong address is then the likely cause.
    pub(super) fn with_address(self, address: String) -> Self {
        match self {
            Self::Unreachable { cause, .. } => Self::UnreachableAddress { address, cause },
            other => other,
        }
    }

    /// Returns the remedy as a short imperative phrase, such as "check the network".
    pub(crate) fn remedy(&self) -> String {
        match self {
            Self::Unreachable { .. } => "check the network".to_owned(),
            Self::Expired { .. } | Self::NoCredentials { .. } => "sign in again".to_owned(),
            Self::Denied { message, .. } => format!("grant {}", permission(message)),
            _ => "fix the cause".to_owned(),
        }
    }

    /// Returns whether the error is permanent, so that retrying is pointless.
    pub(crate) fn is_final(&self) -> bool {
        !matches!(
            self,
            Self::Unreachable { .. } | Self::Refused { .. } | Self::IncompleteReply { .. }
        )
    }
}

pub(crate) fn denied_action(message: &str) -> Option<&str> {
    let (_, action) = message.split_once(BEFORE_ACTION)?;
    let action = action.split_whitespace().next()?.trim_end_matches(['.', ',']);
    (!action.is_empty()).then_some(action)
}

/// Replaces the long list of credential sources in the SDK's message with a short text, which
/// includes the profile name.
fn shorten_credentials_error(cause: String) -> String {
    if !cause.starts_with(NO_CREDENTIALS_FOUND) {
        return cause;
    }
    match std::env::var("AWS_PROFILE") {
        Ok(profile) => format!(
            "the profile {profile} (AWS_PROFILE) is missing from ~/.aws/config and ~/.aws/credentials, \
             or contains no credentials"
        ),
        Err(_) => {
            "none found in the environment, in ~/.aws, or in the instance metadata".to_owned()
        }
    }
}

fn permission(message: &str) -> String {
    match denied_action(message) {
        Some(action) => format!("the permission {action}"),
        None => "the missing permission".to_owned(),
    }
}

/// Returns the messages of an error and all its causes, outermost first.
pub(super) fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let mut messages = vec![error.to_string()];
    let mut next_cause = error.source();
    while let Some(cause) = next_cause {
        messages.push(cause.to_string());
        next_cause = cause.source();
    }
    messages
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    #[test]
    fn finds_the_denied_action_in_a_message() {
        let message = "User: arn:aws:iam::1:user/u is not authorized to perform: s3:PutObject on \
                    resource: \"arn:aws:s3:::b\" because no identity-based policy allows it";
        assert_eq!(denied_action(message), Some("s3:PutObject"));
        let at_end = "u is not authorized to perform: sqs:CreateQueue.";
        assert_eq!(denied_action(at_end), Some("sqs:CreateQueue"));
        assert_eq!(denied_action("not authorized to perform: "), None);
        assert_eq!(denied_action("Access Denied"), None);
        let denied = AwsError::Denied { operation: "x", message: message.to_owned() };
        assert!(denied.help().unwrap().to_string().contains("the permission s3:PutObject"));
    }

    #[test]
    fn classifies_error_codes() {
        let of = |code: &str, message: &str| AwsError::from_code("x", code, message.to_owned());
        assert!(matches!(of("ExpiredToken", ""), AwsError::Expired { .. }));
        assert!(matches!(of("AccessDenied", ""), AwsError::Denied { .. }));
        assert!(matches!(of("InvalidClientTokenId", ""), AwsError::UnknownCredentials { .. }));
        for code in BUSY_CODES {
            assert!(matches!(of(code, ""), AwsError::StackBusy { .. }), "{code}");
        }
        let busy = "Stack:arn is in UPDATE_IN_PROGRESS state and can not be updated.";
        assert!(matches!(of("ValidationError", busy), AwsError::StackBusy { .. }));
        let protected = "Stack [cellar] cannot be deleted while TerminationProtection is enabled";
        assert!(matches!(of("ValidationError", protected), AwsError::StackProtected { .. }));
        assert!(matches!(of("ValidationError", "No."), AwsError::Refused { .. }));
        assert!(of("ExpiredToken", "").is_final() && !of("Throttling", "").is_final());
    }
}
