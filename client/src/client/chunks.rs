//! Downloads snapshot objects directly from the object store (S3).

use cellar_api::cost::Cost;
use cellar_api::{wire::ChunksReply, wire::ChunksRequest};
use cellar_snapshot::level::ChunkHash;
use reqwest::Method;
use reqwest::header::HeaderMap;

use super::objects::parse_object_url;
use super::transport::ObjectRequest;
use super::{Client, Spreadsheet};
use crate::ClientError;

impl Spreadsheet {
    /// Returns the download URLs of snapshot chunks, in the order of `hashes` (`POST
    /// /v1/spreadsheets/{id}/chunks`). At most `MAX_CHUNK_URLS` hashes are allowed. To download,
    /// verify and cache chunks, use [`crate::reader`].
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular [`ClientError::NotUnderstood`]
    /// if the response does not contain one URL per hash.
    pub async fn chunk_urls(&self, hashes: &[ChunkHash]) -> Result<ChunksReply, ClientError> {
        let request = ChunksRequest { hashes: hashes.iter().map(ChunkHash::to_string).collect() };
        let call = self.call(Method::POST).with_segment("chunks").with_body(&request)?;
        let reply: ChunksReply = self.client.transport.send(call).await?;
        if reply.urls.len() != hashes.len() {
            let why = format!("{} URLs for {} chunks", reply.urls.len(), hashes.len());
            return Err(self.client.unexpected_reply(why));
        }
        Ok(reply)
    }
}

impl Client {
    /// The caller must verify the hash of the object.
    pub(crate) async fn download_object(
        &self,
        url: &str,
        max_bytes: usize,
    ) -> Result<Vec<u8>, ClientError> {
        let Some(url) = parse_object_url(url) else {
            return Err(self.unexpected_reply("the URL of a snapshot object is invalid"));
        };
        let request = ObjectRequest {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            max_bytes,
            cost: Cost { object_gets: 1, ..Cost::default() },
        };
        self.transport.send_object_request(request).await
    }
}
