//! Where an issuer's keys come from.

use async_trait::async_trait;
use cellar_base::limits::MAX_KEY_SET_BYTES;
use cellar_catalog::oidc::{OidcIssuer, is_trustworthy};
use serde::Deserialize;

use super::keys::KeySet;

/// Reads documents that issuers publish.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// The document at this URL, at most [`MAX_KEY_SET_BYTES`]. Redirects are not followed.
    ///
    /// # Errors
    /// [`KeySourceFault`].
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault>;
}

/// Why an issuer's keys cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySourceFault {
    /// No answer, or none in time.
    #[error("{url} does not respond: {why}")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// What failed.
        why: String,
    },
    /// An answer that is none.
    #[error("{url} returned status {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// The status.
        status: u16,
    },
    /// More than anybody needs.
    #[error("{url} has more than {MAX_KEY_SET_BYTES} bytes")]
    TooLarge {
        /// What was asked for.
        url: String,
    },
    /// Something else.
    #[error("{url} returned an invalid document: {why}")]
    Malformed {
        /// What was asked for.
        url: String,
        /// What the parser said.
        why: String,
    },
    /// Somebody else's description: with it, one issuer could speak for another.
    #[error(
        "{url} describes the issuer `{found}`: configure the issuer exactly as it names itself"
    )]
    AnotherIssuer {
        /// What was asked for.
        url: String,
        /// Whom it describes.
        found: String,
    },
    /// Keys that anybody on the way can have written.
    #[error("the key set URL {url} is not HTTPS")]
    Untrusted {
        /// Where they are.
        url: String,
    },
    /// No key that fits.
    #[error("{url} has no key for the configured algorithm")]
    NoKeys {
        /// What was asked for.
        url: String,
    },
}

/// No issuer answers: for an API without any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeySource;

#[async_trait]
impl KeySource for NoKeySource {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        let why = "this process asks nobody".to_owned();
        Err(KeySourceFault::Unreachable { url: url.to_owned(), why })
    }
}

/// What is needed of an issuer's description of itself (`OpenID Connect Discovery` §3).
#[derive(Deserialize)]
struct Description {
    issuer: String,
    jwks_uri: String,
}

/// Fetches an issuer's keys.
pub(super) async fn fetch(
    source: &dyn KeySource,
    issuer: &OidcIssuer,
) -> Result<KeySet, KeySourceFault> {
    let url = match &issuer.keys_url {
        Some(url) => url.clone(),
        None => discover(source, issuer).await?,
    };
    let bytes = get(source, &url).await?;
    let set = KeySet::parse(&bytes, issuer.algorithm);
    let set = set.map_err(|error| malformed(&url, &error))?;
    if set.is_empty() { Err(KeySourceFault::NoKeys { url }) } else { Ok(set) }
}

/// Where an issuer says that its keys are.
async fn discover(source: &dyn KeySource, issuer: &OidcIssuer) -> Result<String, KeySourceFault> {
    let url = issuer.discovery_url();
    let bytes = get(source, &url).await?;
    let description: Description =
        serde_json::from_slice(&bytes).map_err(|error| malformed(&url, &error))?;
    if description.issuer != issuer.issuer {
        return Err(KeySourceFault::AnotherIssuer { url, found: description.issuer });
    }
    Ok(description.jwks_uri)
}

async fn get(source: &dyn KeySource, url: &str) -> Result<Vec<u8>, KeySourceFault> {
    if !is_trustworthy(url) {
        return Err(KeySourceFault::Untrusted { url: url.to_owned() });
    }
    source.get(url).await
}

fn malformed(url: &str, error: &serde_json::Error) -> KeySourceFault {
    KeySourceFault::Malformed { url: url.to_owned(), why: error.to_string() }
}
