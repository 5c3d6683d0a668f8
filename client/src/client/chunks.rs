//! The objects of snapshots: where they are, and fetching them from the store directly.

use cellar_api::cost::Cost;
use cellar_api::{wire::ChunksReply, wire::ChunksRequest};
use cellar_base::identity::LogId;
use cellar_snapshot::level::ChunkHash;
use reqwest::Method;
use reqwest::header::HeaderMap;

use super::objects::object_url;
use super::transport::ObjectRequest;
use super::{Client, spreadsheet};
use crate::ClientError;

impl Client {
    /// `POST /v1/spreadsheets/{id}/chunks`: where chunks are read, in the order of their hashes, at
    /// most `MAX_CHUNK_URLS`. See [`crate::reader`], which fetches, verifies and keeps them.
    ///
    /// # Errors
    /// [`ClientError`]; [`ClientError::NotUnderstood`] for another number of URLs.
    pub async fn chunk_urls(
        &self,
        id: LogId,
        hashes: &[ChunkHash],
    ) -> Result<ChunksReply, ClientError> {
        let request = ChunksRequest { hashes: hashes.iter().map(ChunkHash::to_string).collect() };
        let call = spreadsheet(Method::POST, id, Some("chunks")).with_body(&request)?;
        let reply: ChunksReply = self.transport.send(call).await?;
        if reply.urls.len() != hashes.len() {
            let why = format!("it gives {} URLs for {} chunks", reply.urls.len(), hashes.len());
            return Err(ClientError::NotUnderstood { url: self.url().to_owned(), why });
        }
        Ok(reply)
    }

    /// Fetches an object of a snapshot, as it is stored. Who reads it verifies it.
    pub(crate) async fn stored_object(
        &self,
        url: &str,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let fault = || ClientError::NotUnderstood {
            url: self.url().to_owned(),
            why: "it gives no URL for an object of a snapshot".to_owned(),
        };
        let url = object_url(url).ok_or_else(fault)?;
        let (method, headers, body) = (Method::GET, HeaderMap::new(), None);
        let cost = Cost { object_gets: 1, ..Cost::default() };
        let request = ObjectRequest { method, url, headers, body, max_bytes, cost };
        self.transport.object(request).await
    }
}
