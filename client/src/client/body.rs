//! Reads response bodies and limits their size.

use cellar_base::limits::MAX_REPLY_BYTES;

/// Maximum length of a response body, in bytes. It exceeds `MAX_REPLY_BYTES`, the server's limit
/// for lists, because the server applies that limit before JSON escaping. Escaping may extend a
/// list up to the maximum size of a Lambda response.
pub const MAX_REPLY_BODY_BYTES: usize = MAX_REPLY_BYTES + 2 * 1024 * 1024;

/// Error that occurs when reading a response body.
#[derive(Debug, thiserror::Error)]
pub enum BodyFault {
    /// The body exceeds the size limit.
    #[error("the response body is too long")]
    TooLarge,
    /// The connection was lost before the body was complete.
    #[error(transparent)]
    Broken(reqwest::Error),
}

/// Reads the response body of any service, up to `max_bytes`.
///
/// # Errors
/// Returns a [`BodyFault`] if the body is too long or incomplete.
pub async fn read_body(
    mut response: reqwest::Response,
    max_bytes: usize,
) -> Result<Vec<u8>, BodyFault> {
    let declared_length = response.content_length().and_then(|length| usize::try_from(length).ok());
    if declared_length.is_some_and(|length| length > max_bytes) {
        return Err(BodyFault::TooLarge);
    }
    let mut body = Vec::with_capacity(declared_length.unwrap_or(0));
    while let Some(chunk) = response.chunk().await.map_err(BodyFault::Broken)? {
        if body.len().saturating_add(chunk.len()) > max_bytes {
            return Err(BodyFault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
