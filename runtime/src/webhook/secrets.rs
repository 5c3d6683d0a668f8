//! The secrets of the webhook: an object in the bucket, which no template, no configuration and no log line
//! shows, and which stays when tables are restored.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use bytes::Bytes;
use cellar_base::limits::MAX_WEBHOOK_SECRETS_BYTES;
use cellar_base::schema::WEBHOOK_SECRETS_KEY;
use cellar_engine::ports::{BlobKey, Blobs, Got, NewBlob, PortError};
use serde::{Deserialize, Serialize};

use super::signature::{SECRET_BYTES, Secret};

/// Secrets that sign at once: the present one and the one before it.
const SECRETS: usize = 2;

/// The object.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The newest first.
    secrets: Vec<String>,
}

/// Keeps the secrets of a stack's webhook.
#[derive(Clone)]
pub struct WebhookSecrets {
    blobs: Arc<dyn Blobs>,
}

impl WebhookSecrets {
    /// Those in this bucket.
    #[must_use]
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }

    /// The secrets, the newest first. Makes one if there is none: whoever needs it first.
    ///
    /// # Errors
    /// [`PortError`] if the bucket does not answer, or holds something else.
    pub async fn get(&self) -> Result<Vec<Secret>, PortError> {
        match self.read().await? {
            Some(secrets) => Ok(secrets),
            None => {
                self.write(&[generate()?]).await?;
                // Two may have made one: the one that is there is the one.
                let there = self.read().await?;
                there.ok_or_else(|| PortError::temporary("the secret is not there yet"))
            }
        }
    }

    /// Makes a new one. The one before it goes on to sign as well, until the next time.
    ///
    /// # Errors
    /// As [`WebhookSecrets::get`].
    pub async fn rotate(&self) -> Result<Vec<Secret>, PortError> {
        let former = self.read().await?.unwrap_or_default();
        let secrets: Vec<Secret> = [generate()?].into_iter().chain(former).take(SECRETS).collect();
        self.write(&secrets).await?;
        Ok(secrets)
    }

    async fn read(&self) -> Result<Option<Vec<Secret>>, PortError> {
        let bytes = match self.blobs.get(&key()?, MAX_WEBHOOK_SECRETS_BYTES).await? {
            Got::Found { bytes, .. } => bytes,
            Got::Absent => return Ok(None),
            Got::TooLong { length } => return Err(unreadable(&format!("it has {length} bytes"))),
        };
        let stored: Stored =
            serde_json::from_slice(&bytes).map_err(|_| unreadable("it is no list of secrets"))?;
        let secrets = stored.secrets.iter().map(|text| Secret::parse(text));
        let secrets: Result<Vec<Secret>, _> = secrets.collect();
        match secrets {
            Ok(secrets) if !secrets.is_empty() => Ok(Some(secrets)),
            Ok(_) => Err(unreadable("it is empty")),
            Err(error) => Err(unreadable(&error.to_string())),
        }
    }

    async fn write(&self, secrets: &[Secret]) -> Result<(), PortError> {
        let secrets = secrets.iter().map(|secret| secret.text().to_owned()).collect();
        let text = serde_json::to_vec(&Stored { secrets });
        let bytes = text.map_err(|error| PortError::permanent(error.to_string()))?;
        let hash = digest(&SHA256, &bytes);
        let sha256 = hash.as_ref().try_into().map_err(|_| PortError::permanent("no SHA-256"))?;
        let blob = NewBlob {
            key: key()?,
            bytes: Bytes::from(bytes),
            sha256,
            content_type: Some("application/json".to_owned()),
            content_encoding: None,
            pending: false,
        };
        self.blobs.put(blob).await
    }
}

fn key() -> Result<BlobKey, PortError> {
    let key = BlobKey::new(WEBHOOK_SECRETS_KEY);
    key.map_err(|error| PortError::permanent(error.to_string()))
}

fn generate() -> Result<Secret, PortError> {
    let mut bytes = [0; SECRET_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| PortError::permanent("the system's random numbers failed"))?;
    Ok(Secret::of(&bytes))
}

fn unreadable(why: &str) -> PortError {
    let advice = "delete it, and a new secret is made";
    PortError::permanent(format!("{WEBHOOK_SECRETS_KEY} cannot be read: {why}; {advice}"))
}

#[cfg(test)]
mod tests {
    use cellar_engine::memory::{ManualClock, MemoryBlobs};

    use super::*;

    fn blobs() -> Arc<dyn Blobs> {
        Arc::new(MemoryBlobs::new(Arc::new(ManualClock::at(1_795_246_133_000))))
    }

    async fn put(blobs: &Arc<dyn Blobs>, text: String) {
        let sha256 = digest(&SHA256, text.as_bytes()).as_ref().try_into().unwrap();
        let (key, bytes) = (key().unwrap(), Bytes::from(text));
        let (content_type, content_encoding, pending) = (None, None, false);
        let blob = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        blobs.put(blob).await.unwrap();
    }

    fn texts(secrets: &[Secret]) -> Vec<&str> {
        secrets.iter().map(Secret::text).collect()
    }

    #[tokio::test]
    async fn a_secret_is_made_once_and_two_are_valid_after_a_rotation() {
        let secrets = WebhookSecrets::new(blobs());
        let first = secrets.get().await.unwrap();
        assert_eq!(first.len(), 1);
        assert_eq!(texts(&secrets.get().await.unwrap()), texts(&first));
        let second = secrets.rotate().await.unwrap();
        assert_eq!(texts(&second)[1..], texts(&first));
        let third = secrets.rotate().await.unwrap();
        assert_eq!(texts(&third)[1..], texts(&second)[..1]);
        assert_eq!(texts(&secrets.get().await.unwrap()), texts(&third));
        let other = WebhookSecrets::new(blobs()).get().await.unwrap();
        assert_ne!(texts(&other), texts(&first));
    }

    #[tokio::test]
    async fn an_object_has_so_many_bytes_and_no_more() {
        let blobs = blobs();
        let text = Secret::of(&[1; SECRET_BYTES]).text().to_owned();
        let json = format!(r#"{{"secrets":["{text}"]}}"#);
        let most = usize::try_from(MAX_WEBHOOK_SECRETS_BYTES).unwrap();
        put(&blobs, format!("{json}{}", " ".repeat(most - json.len()))).await;
        assert_eq!(texts(&WebhookSecrets::new(blobs.clone()).get().await.unwrap()), [text]);
        put(&blobs, format!("{json}{}", " ".repeat(most + 1 - json.len()))).await;
        assert!(WebhookSecrets::new(blobs).get().await.is_err());
    }

    #[tokio::test]
    async fn what_holds_no_secret_is_named_and_not_replaced() {
        let blobs = blobs();
        for text in ["", "{}", r#"{"secrets":[]}"#, r#"{"secrets":["x"]}"#] {
            put(&blobs, text.to_owned()).await;
            let error = WebhookSecrets::new(blobs.clone()).get().await.err().unwrap();
            assert!(!error.temporary && error.message.contains("webhook/secrets.json"), "{error}");
        }
    }
}
