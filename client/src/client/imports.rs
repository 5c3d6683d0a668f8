//! The objects of an imported sheet: they go to the store directly, and the server checks them.

use cellar_api::{
    wire::ChunkUpload, wire::ImportCheckReply, wire::ImportCheckRequest, wire::ImportUploadsReply,
    wire::ImportUploadsRequest,
};
use cellar_base::identity::LogId;
use reqwest::Method;

use super::objects::Grant;
use super::{Client, spreadsheet};
use crate::ClientError;

impl Client {
    /// `POST /v1/spreadsheets/{id}/imports/uploads`: asks for the requests by which chunks may be
    /// uploaded, one for each, in their order. Nothing is changed by it.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::NotUnderstood`] for another number of requests.
    pub async fn request_import_uploads(
        &self,
        id: LogId,
        request: ImportUploadsRequest,
    ) -> Result<Vec<ChunkUpload>, ClientError> {
        let count = request.chunks.len();
        let call = spreadsheet(Method::POST, id, Some("imports"))
            .with_segment("uploads")
            .with_body(&request)?;
        let reply: ImportUploadsReply = self.transport.send(call).await?;
        if reply.uploads.len() != count {
            let why = format!("it grants {} uploads of {count} chunks", reply.uploads.len());
            return Err(ClientError::NotUnderstood { url: self.url().to_owned(), why });
        }
        Ok(reply.uploads)
    }

    /// Uploads a chunk as it was granted. One that this client uploaded before is fine.
    ///
    /// # Errors
    /// [`ClientError`]; a refusal of the store if the URL has ended: ask for a new one.
    pub async fn upload_chunk(
        &self,
        grant: &ChunkUpload,
        stored: Vec<u8>,
    ) -> Result<(), ClientError> {
        let ChunkUpload { method, url, headers, .. } = grant;
        match self.put_object(Grant { method, url, headers }, stored).await {
            Err(ClientError::UnexpectedStatus { status: 412, .. }) => Ok(()),
            done => done,
        }
    }

    /// `POST /v1/spreadsheets/{id}/imports/checks`: has uploaded chunks verified and published. May be
    /// repeated.
    ///
    /// # Errors
    /// [`ClientError`]; a problem that names a chunk which is missing or not what it should be.
    pub async fn check_import(
        &self,
        id: LogId,
        request: &ImportCheckRequest,
    ) -> Result<ImportCheckReply, ClientError> {
        let call = spreadsheet(Method::POST, id, Some("imports"))
            .with_segment("checks")
            .with_body(request)?;
        self.transport.send(call).await
    }
}
