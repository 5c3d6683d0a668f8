//! `POST /v1/spreadsheets/{id}/imports/uploads` and `…/imports/checks`: the chunks of an imported
//! sheet. Afterwards, the sheet is appended as
//! [`ImportSheet`](cellar_sheet::operation::ImportSheet).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Chunks to upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsRequest {
    /// Client id; the same client checks the chunks and appends the import.
    pub client_id: String,
    /// Chunks, 1 to 256.
    pub chunks: Vec<NewChunk>,
}

/// A chunk to upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewChunk {
    /// BLAKE3 hash of the uncompressed bytes, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Size in bytes, compressed.
    pub bytes: u32,
    /// SHA-256 of the compressed bytes, hexadecimal.
    pub sha256: String,
}

/// Upload requests of chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsReply {
    /// An upload request for each chunk, in the order of the request.
    pub uploads: Vec<ChunkUpload>,
}

/// The HTTP request that uploads a chunk: valid once, for exactly these bytes, for a few minutes.
/// The response is 412 if this client has already uploaded the chunk.
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

/// Uploaded chunks to verify and publish. Only published chunks can be read; uploads are deleted
/// after three days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckRequest {
    /// Id of the client that uploaded the chunks.
    pub client_id: String,
    /// Chunks of cells, each with all long texts that it names. A chunk with more long texts than a
    /// request may check with others must be checked alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<UploadedChunk>,
    /// One uploaded chunk of the tile index, with all chunks of cells that it names. Chunks of the
    /// tile index that it names must already be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile_index_chunk: Option<UploadedChunk>,
}

/// An uploaded chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadedChunk {
    /// Hash, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Size in bytes, compressed.
    pub bytes: u32,
}

/// The chunks are valid and published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckReply {
    /// Number of chunks read, without long texts.
    pub checked: u32,
}
