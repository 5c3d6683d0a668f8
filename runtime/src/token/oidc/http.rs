//! Fetches the documents of OpenID Connect issuers over HTTP.

use async_trait::async_trait;
use cellar_base::limits::{KEY_SET_TIMEOUT_MS, MAX_KEY_SET_BYTES};

use super::source::{KeySource, KeySourceFault};
use crate::http::{HttpClient, HttpFault};

/// A [`KeySource`] over HTTP.
#[derive(Debug)]
pub struct HttpKeySource {
    client: HttpClient,
}

impl Default for HttpKeySource {
    fn default() -> Self {
        Self { client: HttpClient::new(KEY_SET_TIMEOUT_MS) }
    }
}

#[async_trait]
impl KeySource for HttpKeySource {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        match self.client.get(url, MAX_KEY_SET_BYTES).await {
            Ok(document) => Ok(document),
            Err(fault) => Err(to_key_source_fault(url.to_owned(), fault)),
        }
    }
}

fn to_key_source_fault(url: String, fault: HttpFault) -> KeySourceFault {
    match fault {
        HttpFault::Unreachable(why) => KeySourceFault::Unreachable { url, why },
        HttpFault::Status(status) => KeySourceFault::Status { url, status },
        HttpFault::TooLong => KeySourceFault::TooLarge { url },
    }
}
