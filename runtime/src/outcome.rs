//! What an error of an SDK says about the request: did it fail for good, or is its outcome
//! unknown?

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use cellar_engine::ports::PortError;

/// Error codes after which the same request may succeed.
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
    // S3's, besides its 5xx.
    "ConditionalRequestConflict",
    "OperationAborted",
    "RequestTimeout",
    "SlowDown",
    "TooManyRequests",
];

/// Whether a request with this error may have happened, or may succeed when repeated.
pub(crate) fn port_error<E>(error: &SdkError<E>) -> PortError
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let message = DisplayErrorContext(error).to_string();
    let temporary = match error {
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
    PortError { temporary, message }
}
