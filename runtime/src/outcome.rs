//! Classifies errors of the AWS SDK: a permanent failure, or an unknown outcome that may be
//! retried.

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use cellar_engine::ports::PortError;

/// Error codes of requests that may succeed when they are repeated unchanged.
const TEMPORARY_CODES: [&str; 15] = [
    "InternalServerError",
    "InternalFailure",
    "ServiceUnavailable",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "ThrottlingException",
    "LimitExceededException",
    "TransactionConflictException",
    "TransactionInProgressException",
    // Codes of S3, in addition to its 5xx responses.
    "ConditionalRequestConflict",
    "OperationAborted",
    "RequestTimeout",
    "SlowDown",
    "TooManyRequests",
];

/// Converts an SDK error. The result is temporary if the request may have taken effect or may
/// succeed when it is retried.
pub(crate) fn port_error<E>(error: &SdkError<E>) -> PortError
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let message = DisplayErrorContext(error).to_string();
    let is_temporary = match error {
        SdkError::ConstructionFailure(_) => false,
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => {
            true
        }
        SdkError::ServiceError(service) => {
            let status = service.raw().status();
            let code = error.code().unwrap_or_default();
            status.is_server_error() || TEMPORARY_CODES.contains(&code)
        }
        _ => true,
    };
    PortError { temporary: is_temporary, message }
}
