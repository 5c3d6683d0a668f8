//! Reading a reply's body, never more of it than a Cellar API sends.

use cellar_core::limits::MAX_REPLY_BYTES;

/// Bytes of a reply's body that are read at most: list replies end at `MAX_REPLY_BYTES`, by
/// weight; the rest is room for JSON's escapes, up to the 6 MB of a Lambda reply.
pub const MAX_REPLY_BODY_BYTES: usize = MAX_REPLY_BYTES + 2 * 1024 * 1024;

/// A body that could not be read whole.
#[derive(Debug)]
pub(super) enum BodyFault {
    /// It goes on beyond the bound.
    TooLarge,
    /// The connection failed.
    Broken(reqwest::Error),
}

/// Reads the body in chunks and stops at the bound.
pub(super) async fn read(
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
