//! `POST /v1/spreadsheets/{id}/chunks`: where the chunks of snapshots are read, many at once.

use serde::{Deserialize, Serialize};

/// The chunks that a client has not got yet: it keeps each by its hash, as long as it likes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksRequest {
    /// Their hashes, 64 hexadecimal digits each; at most 1,000.
    pub hashes: Vec<String>,
}

/// Where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunksReply {
    /// A URL for each hash, in the order of the request. Whether the chunk is there is not looked up.
    pub urls: Vec<String>,
    /// When the URLs end, Unix seconds.
    pub expires_s: u64,
}
