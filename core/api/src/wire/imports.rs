//! Importing a sheet. The client uploads chunks (`POST /v1/spreadsheets/{id}/imports/uploads`), has
//! them checked (`…/imports/checks`), and appends the operation
//! [`ImportSheet`](cellar_sheet::operation::ImportSheet).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Chunks to be uploaded by a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsRequest {
    /// Client id. The same client must have the chunks checked and append the import.
    pub client_id: String,
    /// Chunks to be uploaded, 1 to 256.
    pub chunks: Vec<NewChunk>,
}

/// A chunk to be uploaded by a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewChunk {
    /// BLAKE3 hash of the uncompressed bytes, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Compressed size in bytes.
    pub bytes: u32,
    /// SHA-256 hash of the compressed bytes, in hexadecimal.
    pub sha256: String,
}

/// HTTP requests that upload chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsReply {
    /// HTTP requests that upload the chunks, in the order of the request.
    pub uploads: Vec<ChunkUpload>,
}

/// An HTTP request that uploads a chunk. It is valid for a few minutes, can be sent once, and
/// accepts only the declared content. The response has status 412 if this client has already
/// uploaded the chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunkUpload {
    /// HTTP method.
    pub method: String,
    /// Target URL of the request.
    pub url: String,
    /// Headers that must be sent unchanged.
    pub headers: BTreeMap<String, String>,
    /// Expiry time of the URL in seconds since the Unix epoch.
    pub expires_s: u64,
}

/// Uploaded chunks to be checked. Only checked chunks can be read or imported. Other chunks are
/// deleted after three days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckRequest {
    /// Id of the client that uploaded the chunks.
    pub client_id: String,
    /// Chunks that contain cells. A chunk is checked together with the long texts that it
    /// references. If the long texts exceed the limits of the request, send the chunk in a separate
    /// request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<UploadedChunk>,
    /// An uploaded chunk of the tile index. It is checked together with the cell chunks that it
    /// references. Other tile index chunks that it references must already have been checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile_index_chunk: Option<UploadedChunk>,
}

/// An uploaded chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadedChunk {
    /// BLAKE3 hash of the uncompressed bytes, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Compressed size in bytes.
    pub bytes: u32,
}

/// The chunks are valid and can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckReply {
    /// Number of checked chunks, excluding long texts.
    pub checked: u32,
}
