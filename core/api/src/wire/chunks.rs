//! `POST /v1/spreadsheets/{id}/chunks`: download URLs of snapshot chunks.

use serde::{Deserialize, Serialize};

/// The chunks that a client needs. Chunks are immutable, so a client may cache them by hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksRequest {
    /// Hashes, 64 hexadecimal digits each; at most 1,000.
    pub hashes: Vec<String>,
}

/// Download URLs of chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksReply {
    /// A URL for each hash, in the order of the request. The server does not check that the chunks
    /// exist.
    pub urls: Vec<String>,
    /// Expiry of the URLs, Unix seconds.
    pub expires_s: u64,
}
