//! Reading a reply's body, never more of it than a Cellar API sends.

use cellar_base::limits::MAX_REPLY_BYTES;

/// Bytes of a reply's body that are read at most: list replies end at `MAX_REPLY_BYTES`, by
/// weight; the rest is room for JSON's escapes, up to the 6 MB of a Lambda reply.
pub const MAX_REPLY_BODY_BYTES: usize = MAX_REPLY_BYTES + 2 * 1024 * 1024;

/// A body that could not be read whole.
#[derive(Debug, thiserror::Error)]
pub enum BodyFault {
    /// It goes on beyond the bound.
    #[error("the reply is longer than what is read of one")]
    TooLarge,
    /// The connection failed.
    #[error(transparent)]
    Broken(reqwest::Error),
}

/// Reads the body of a reply in chunks, of whatever service, and stops at the bound.
///
/// # Errors
/// [`BodyFault`], whatever was read by then.
pub async fn read_body(
    mut response: reqwest::Response,
    max_bytes: usize,
) -> Result<Vec<u8>, BodyFault> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    if announced.is_some_and(|length| length > max_bytes) {
        return Err(BodyFault::TooLarge);
    }
    let mut body = Vec::with_capacity(announced.unwrap_or(0));
    while let Some(chunk) = response.chunk().await.map_err(BodyFault::Broken)? {
        if body.len().saturating_add(chunk.len()) > max_bytes {
            return Err(BodyFault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
