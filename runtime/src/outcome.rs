//! Classifies AWS SDK errors as permanent or temporary. After a temporary error, the request may
//! have taken effect, or a retry may succeed.

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use cellar_engine::ports::PortError;

/// Code of an error of the local stack whose disk is full. AWS never returns it.
pub const STORAGE_FULL_CODE: &str = "StorageFullException";

/// Codes of errors after which retrying the same request may succeed.
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
    // Additional retryable S3 error codes. S3's 5xx responses are classified by status.
    "ConditionalRequestConflict",
    "OperationAborted",
    "RequestTimeout",
    "SlowDown",
    "TooManyRequests",
];

/// The error is temporary if the request may have taken effect or if a retry may succeed.
pub(crate) fn port_error<E>(error: &SdkError<E>) -> PortError
where
    E: ProvideErrorMetadata + std::error::Error + RequestId + 'static,
{
    let error_message = DisplayErrorContext(error).to_string();
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
    if error.code() == Some(STORAGE_FULL_CODE) {
        return PortError::storage_full(error_message);
    }
    if is_temporary {
        PortError::temporary(error_message)
    } else {
        PortError::permanent(error_message)
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::config::http::HttpResponse;
    use aws_sdk_dynamodb::error::ErrorMetadata;
    use aws_sdk_dynamodb::operation::put_item::PutItemError;
    use aws_sdk_s3::primitives::SdkBody;

    use super::*;

    fn refused_put(code: &str) -> PortError {
        let response = HttpResponse::new(400.try_into().unwrap(), SdkBody::empty());
        let metadata = ErrorMetadata::builder().code(code).build();
        port_error(&SdkError::service_error(PutItemError::generic(metadata), response))
    }

    /// With a write limit on the Entry table, these errors are part of normal operation.
    #[test]
    fn a_throttled_write_is_temporary() {
        for code in [
            "ThrottlingException",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
        ] {
            let error = refused_put(code);
            assert!(error.temporary, "{error:?}");
        }
        assert!(!refused_put("ValidationException").temporary);
    }

    #[test]
    fn a_full_disk_is_neither_temporary_nor_a_fault_of_the_program() {
        let full = refused_put(STORAGE_FULL_CODE);
        assert!(full.storage_full && !full.temporary, "{full:?}");
        assert!(!refused_put("InternalServerError").storage_full);
    }
}
