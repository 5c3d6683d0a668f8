//! Fetches an OIDC issuer's public keys.

use async_trait::async_trait;
use cellar_base::limits::MAX_KEY_SET_BYTES;
use cellar_catalog::oidc::{OidcIssuer, is_trustworthy};
use serde::Deserialize;

use super::keys::KeySet;

/// Fetches documents published by OIDC issuers.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// Returns the document at `url`. Does not follow redirects.
    ///
    /// # Errors
    ///
    /// Returns a [`KeySourceFault`] if the document cannot be fetched or is longer than
    /// [`MAX_KEY_SET_BYTES`].
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault>;
}

/// Reason why an issuer's public keys cannot be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySourceFault {
    #[error("{url} does not respond: {why}")]
    Unreachable { url: String, why: String },
    #[error("{url} returned status {status}")]
    Status { url: String, status: u16 },
    #[error("{url} has more than {MAX_KEY_SET_BYTES} bytes")]
    TooLarge { url: String },
    #[error("{url} returned an invalid document: {why}")]
    Malformed { url: String, why: String },
    /// The discovery document names another issuer. If this were accepted, one issuer could
    /// impersonate another.
    #[error("{url} belongs to the issuer `{found}`; configure the issuer by exactly this name")]
    AnotherIssuer { url: String, found: String },
    /// The key set URL does not use HTTPS, so a network attacker could replace the keys.
    #[error("the key set URL {url} is not HTTPS")]
    Untrusted { url: String },
    #[error("{url} has no key for the configured algorithm")]
    NoKeys { url: String },
}

/// A [`KeySource`] that always fails. It is used by an API that accepts no tokens of other issuers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeySource;

#[async_trait]
impl KeySource for NoKeySource {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        let why = "this process does not fetch the public keys of issuers".to_owned();
        Err(KeySourceFault::Unreachable { url: url.to_owned(), why })
    }
}

/// The parts of an issuer's discovery document (OpenID Connect Discovery §3) that are used.
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    jwks_uri: String,
}

/// If the configuration does not contain the URL of the keys, fetches the discovery document first.
pub(super) async fn fetch_keys(
    source: &dyn KeySource,
    issuer: &OidcIssuer,
) -> Result<KeySet, KeySourceFault> {
    let url = match &issuer.keys_url {
        Some(url) => url.clone(),
        None => discover_keys_url(source, issuer).await?,
    };
    let bytes = get_over_https(source, &url).await?;
    let key_set =
        KeySet::parse(&bytes, issuer.algorithm).map_err(|error| malformed(&url, &error))?;
    if key_set.is_empty() {
        return Err(KeySourceFault::NoKeys { url });
    }
    Ok(key_set)
}

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
