//! `POST /v1/spreadsheets/{id}/imports/uploads` and `…/imports/checks`: the chunks of a sheet that is
//! imported (design `3-snapshots.md` §8). The sheet itself is then appended as
//! [`ImportSheet`](cellar_sheet::operation::ImportSheet).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Chunks that are to be uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsRequest {
    /// The client that uploads them: the one that will check them and append the import.
    pub client_id: String,
    /// At least one, at most 256.
    pub chunks: Vec<NewChunk>,
}

/// A chunk that is to be uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewChunk {
    /// Its name: BLAKE3 of its bytes before compression, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Its bytes as stored, compressed.
    pub bytes: u32,
    /// SHA-256 of these, hexadecimal.
    pub sha256: String,
}

/// The requests by which the chunks may be uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportUploadsReply {
    /// One for each chunk, in their order.
    pub uploads: Vec<ChunkUpload>,
}

/// The one request by which a chunk may be uploaded: once, these bytes, within minutes. It answers 412 if
/// this client has uploaded the chunk before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChunkUpload {
    /// The method of the request.
    pub method: String,
    /// Where to.
    pub url: String,
    /// Headers that the request must have, as they are.
    pub headers: BTreeMap<String, String>,
    /// When the URL ends, Unix seconds.
    pub expires_s: u64,
}

/// Uploaded chunks to verify and publish. Only published chunks can be read; uploads are deleted after
/// three days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckRequest {
    /// The client that uploaded them.
    pub client_id: String,
    /// Chunks of cells, with all long texts that they name. One that names more texts than a request may
    /// check beside others is checked by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<UploadedChunk>,
    /// One chunk of an index, with all chunks of cells that it names. Chunks of an index that it names
    /// must have been checked before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile_index_chunk: Option<UploadedChunk>,
}

/// A chunk that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UploadedChunk {
    /// Its name, 64 lowercase hexadecimal digits.
    pub hash: String,
    /// Its bytes as stored.
    pub bytes: u32,
}

/// All of it is sound, and published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportCheckReply {
    /// How many chunks were read, long texts not counted.
    pub checked: u32,
}
