//! `POST /v1/spreadsheets/{id}/imports/uploads` and `…/imports/checks`: upload the chunks of a
//! sheet. Afterwards, the client appends the operation
//! [`ImportSheet`](cellar_sheet::operation::ImportSheet).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Chunks that a client wants to upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsRequest {
    /// Client id. The same client must check the chunks and append the import.
    pub client_id: String,
    /// Chunks to upload, 1 to 256.
    pub chunks: Vec<NewChunk>,
}

/// A chunk that a client wants to upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewChunk {
    /// BLAKE3 hash of the uncompressed bytes, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Compressed size in bytes.
    pub bytes: u32,
    /// SHA-256 of the compressed bytes, hexadecimal.
    pub sha256: String,
}

/// HTTP requests that upload chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsReply {
    /// HTTP requests that upload the chunks, in the order of the requested chunks.
    pub uploads: Vec<ChunkUpload>,
}

/// The HTTP request that uploads a chunk. It is valid once, for a few minutes and only for the
/// announced bytes. The response has status 412 if this client has already uploaded the chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunkUpload {
    /// HTTP method.
    pub method: String,
    /// URL to send the request to.
    pub url: String,
    /// Headers to send unchanged.
    pub headers: BTreeMap<String, String>,
    /// Expiry of the URL, Unix seconds.
    pub expires_s: u64,
}

/// Uploaded chunks to check. Only checked chunks can be read and imported; unchecked chunks are
/// deleted after three days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckRequest {
    /// Id of the client that uploaded the chunks.
    pub client_id: String,
    /// Chunks of cells (tiles). The long texts that a tile names are checked with it. A tile with
    /// so many long texts that the request would exceed its limits must be checked alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<UploadedChunk>,
    /// One uploaded chunk of the tile index. The tiles that it names are checked with it; chunks of
    /// the tile index that it names must already be checked.
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

/// Confirms that the chunks are valid and can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckReply {
    /// Number of checked chunks, without long texts.
    pub checked: u32,
}
