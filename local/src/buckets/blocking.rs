//! Blocking file operations for S3 requests.

use std::io;

use s3s::{S3Error, S3Result};

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

/// Logs a file system error and converts it to S3's `InternalError`.
pub(super) fn to_s3_error(error: io::Error) -> S3Error {
    tracing::error!(%error, "the local S3 cannot access its files");
    S3Error::internal_error(error)
}
