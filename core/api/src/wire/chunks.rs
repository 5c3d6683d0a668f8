//! Download URLs of snapshot chunks: `POST /v1/spreadsheets/{id}/chunks`.

use serde::{Deserialize, Serialize};

/// Snapshot chunks to be downloaded. Chunks are immutable, so clients may cache them indefinitely.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksRequest {
    /// Up to 1,000 chunk hashes of 64 hexadecimal digits each.
    pub hashes: Vec<String>,
}

/// Download URLs of chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksReply {
    /// Download URLs, in the order of the request. The server does not check whether the chunks
    /// exist.
    pub urls: Vec<String>,
    /// Expiry time of the URLs in seconds since the Unix epoch.
    pub expires_s: u64,
}
