//! Blocking file operations for S3 requests.

use std::io;

use axum::http::StatusCode;
use cellar_runtime::STORAGE_FULL_CODE;
use s3s::{S3Error, S3ErrorCode, S3Result};

use crate::disk_space;

pub(super) async fn run_blocking<T, F>(operation: F) -> S3Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(operation)
        .await
        .map_err(S3Error::internal_error)?
        .map_err(to_s3_error)
}

/// Logs a file system error and converts it to S3's `InternalError`, or to an error of its own if the
/// disk is full.
pub(super) fn to_s3_error(error: io::Error) -> S3Error {
    tracing::error!(%error, "the local S3 cannot access its files");
    if !disk_space::is_full(&error) {
        return S3Error::internal_error(error);
    }
    let code = S3ErrorCode::Custom(STORAGE_FULL_CODE.into());
    let mut full = S3Error::with_message(code, disk_space::FULL_MESSAGE);
    full.set_status_code(StatusCode::INSUFFICIENT_STORAGE);
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_its_own_code_and_status() {
        let full = to_s3_error(io::ErrorKind::StorageFull.into());
        assert_eq!(full.code().as_str(), STORAGE_FULL_CODE);
        assert_eq!(full.status_code(), Some(StatusCode::INSUFFICIENT_STORAGE));
        let other = to_s3_error(io::ErrorKind::PermissionDenied.into());
        assert_eq!(other.code().as_str(), "InternalError");
    }
}
