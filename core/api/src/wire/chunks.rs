//! `POST /v1/spreadsheets/{id}/chunks`: download URLs of snapshot chunks.

use serde::{Deserialize, Serialize};

/// Chunks to download. Chunks are immutable, so clients may cache them by hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksRequest {
    /// Hashes of the chunks, 64 hexadecimal digits each; at most 1,000.
    pub hashes: Vec<String>,
}

/// Download URLs of chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksReply {
    /// URLs in the order of the requested hashes. The server does not check that the chunks exist.
    pub urls: Vec<String>,
    /// Expiry of the URLs, Unix seconds.
    pub expires_s: u64,
}
