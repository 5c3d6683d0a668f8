//! Uploads the chunks of an imported sheet directly to the object store (S3), and requests their
//! verification by the server.

use cellar_api::{
    wire::ChunkUpload, wire::ImportCheckReply, wire::ImportCheckRequest, wire::ImportUploadsReply,
    wire::ImportUploadsRequest,
};
use reqwest::Method;

use super::objects::UploadGrant;
use super::{Client, Spreadsheet};
use crate::ClientError;

/// HTTP status of an upload if the object store already contains the object.
const PRECONDITION_FAILED: u16 = 412;

impl Spreadsheet {
    /// Returns one upload URL per chunk, in the order of the chunks
    /// (`POST /v1/spreadsheets/{id}/imports/uploads`). Does not change the spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular [`ClientError::NotUnderstood`]
    /// if the response does not contain one URL per chunk.
    pub async fn request_import_uploads(
        &self,
        request: ImportUploadsRequest,
    ) -> Result<Vec<ChunkUpload>, ClientError> {
        let count = request.chunks.len();
        let call = self
            .call(Method::POST)
            .with_segment("imports")
            .with_segment("uploads")
            .with_body(&request)?;
        let reply: ImportUploadsReply = self.client.transport.send(call).await?;
        if reply.uploads.len() != count {
            let why = format!("{} upload URLs for {count} chunks", reply.uploads.len());
            return Err(self.client.unexpected_reply(why));
        }
        Ok(reply.uploads)
    }

    /// Lets the server verify uploaded chunks and protect them from expiry (`POST
    /// /v1/spreadsheets/{id}/imports/checks`). The request is idempotent.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. If a chunk is missing or invalid, the error
    /// contains a problem that identifies the first such chunk.
    pub async fn check_import(
        &self,
        request: &ImportCheckRequest,
    ) -> Result<ImportCheckReply, ClientError> {
        let call = self
            .call(Method::POST)
            .with_segment("imports")
            .with_segment("checks")
            .with_body(request)?;
        self.client.transport.send(call).await
    }
}

impl Client {
    /// Uploads a chunk to its upload URL. Succeeds if the chunk was already uploaded.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular
    /// [`ClientError::UnexpectedStatus`] if the URL has expired. In this case, request a new URL.
    pub async fn upload_chunk(
        &self,
        grant: &ChunkUpload,
        stored: Vec<u8>,
    ) -> Result<(), ClientError> {
        let ChunkUpload { method, url, headers, .. } = grant;
        match self.put_object(UploadGrant { method, url, headers }, stored).await {
            Err(ClientError::UnexpectedStatus { status: PRECONDITION_FAILED, .. }) => Ok(()),
            result => result,
        }
    }
}
