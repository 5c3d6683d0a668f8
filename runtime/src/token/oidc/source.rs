//! Fetches the public keys of an issuer.

use async_trait::async_trait;
use cellar_base::limits::MAX_KEY_SET_BYTES;
use cellar_catalog::oidc::{OidcIssuer, is_trustworthy};
use serde::Deserialize;

use super::keys::KeySet;

/// Fetches the documents that issuers publish.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// Returns the document at `url`. The document may have at most [`MAX_KEY_SET_BYTES`] bytes.
    /// Redirects are not followed.
    ///
    /// # Errors
    ///
    /// Returns a [`KeySourceFault`] if the document cannot be fetched.
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault>;
}

/// Reason why the public keys of an issuer cannot be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySourceFault {
    /// The server did not respond in time.
    #[error("{url} does not respond: {why}")]
    Unreachable {
        /// URL of the request.
        url: String,
        why: String,
    },
    /// The server returned a status other than success.
    #[error("{url} returned status {status}")]
    Status {
        /// URL of the request.
        url: String,
        /// Status of the response.
        status: u16,
    },
    /// The document is longer than the limit.
    #[error("{url} has more than {MAX_KEY_SET_BYTES} bytes")]
    TooLarge {
        /// URL of the request.
        url: String,
    },
    /// The document cannot be parsed.
    #[error("{url} returned an invalid document: {why}")]
    Malformed {
        /// URL of the request.
        url: String,
        /// The parser's message.
        why: String,
    },
    /// The discovery document describes another issuer. It is rejected, because one issuer could
    /// otherwise act for another.
    #[error(
        "{url} describes the issuer `{found}`; configure the issuer exactly as it names itself"
    )]
    AnotherIssuer {
        /// URL of the request.
        url: String,
        /// The issuer that the document describes.
        found: String,
    },
    /// The URL of the key set does not use HTTPS, so an attacker on the network could replace the
    /// keys.
    #[error("the key set URL {url} is not HTTPS")]
    Untrusted {
        /// URL of the key set.
        url: String,
    },
    /// The key set has no key for the configured algorithm.
    #[error("{url} has no key for the configured algorithm")]
    NoKeys {
        /// URL of the request.
        url: String,
    },
}

/// A [`KeySource`] that always fails, for an API without OIDC issuers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeySource;

#[async_trait]
impl KeySource for NoKeySource {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        let why = "this process sends no requests to issuers".to_owned();
        Err(KeySourceFault::Unreachable { url: url.to_owned(), why })
    }
}

/// The fields of an issuer's discovery document that are used (`OpenID Connect Discovery` §3).
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    jwks_uri: String,
}

/// Fetches the keys of an issuer. If no key URL is configured, fetches the discovery document
/// first.
pub(super) async fn fetch_keys(
    source: &dyn KeySource,
    issuer: &OidcIssuer,
) -> Result<KeySet, KeySourceFault> {
    let url = match &issuer.keys_url {
        Some(url) => url.clone(),
        None => discover_keys_url(source, issuer).await?,
    };
    let bytes = get_over_https(source, &url).await?;
    let set = KeySet::parse(&bytes, issuer.algorithm);
    let set = set.map_err(|error| malformed(&url, &error))?;
    if set.is_empty() { Err(KeySourceFault::NoKeys { url }) } else { Ok(set) }
}

/// Fetches the discovery document of an issuer and returns the URL of its key set.
async fn discover_keys_url(
    source: &dyn KeySource,
    issuer: &OidcIssuer,
) -> Result<String, KeySourceFault> {
    let url = issuer.discovery_url();
    let bytes = get_over_https(source, &url).await?;
    let document: DiscoveryDocument =
        serde_json::from_slice(&bytes).map_err(|error| malformed(&url, &error))?;
    if document.issuer != issuer.issuer {
        return Err(KeySourceFault::AnotherIssuer { url, found: document.issuer });
    }
    Ok(document.jwks_uri)
}

async fn get_over_https(source: &dyn KeySource, url: &str) -> Result<Vec<u8>, KeySourceFault> {
    if !is_trustworthy(url) {
        return Err(KeySourceFault::Untrusted { url: url.to_owned() });
    }
    source.get(url).await
}

fn malformed(url: &str, error: &serde_json::Error) -> KeySourceFault {
    KeySourceFault::Malformed { url: url.to_owned(), why: error.to_string() }
}
