//! Manages the secrets that sign webhook deliveries. The secrets are stored as an object in the
//! bucket, which keeps them out of templates, configuration and logs, and unchanged when the tables
//! are restored.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use bytes::Bytes;
use cellar_base::limits::MAX_WEBHOOK_SECRETS_BYTES;
use cellar_base::table_attributes::WEBHOOK_SECRETS_KEY;
use cellar_engine::ports::{BlobKey, Blobs, GetOutcome, NewBlob, PortError};
use serde::{Deserialize, Serialize};

use super::signature::{SECRET_BYTES, Secret};

/// Number of secrets that sign each delivery: the current and the previous one.
const ACTIVE_SECRETS: usize = 2;

/// Contents of the stored secrets object.
#[derive(Serialize, Deserialize)]
struct StoredSecrets {
    /// Newest first.
    secrets: Vec<String>,
}

/// Reads and rotates the webhook's signing secrets.
#[derive(Clone)]
pub struct WebhookSecrets {
    blobs: Arc<dyn Blobs>,
}

impl WebhookSecrets {
    #[must_use]
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }

    /// Returns the secrets, newest first. Creates the first secret if none exists.
    ///
    /// # Errors
    /// Returns a [`PortError`] if the bucket does not respond or the object cannot be parsed.
    pub async fn get(&self) -> Result<Vec<Secret>, PortError> {
        if let Some(secrets) = self.read().await? {
            return Ok(secrets);
        }
        self.write(&[generate()?]).await?;
        // A concurrent caller may have stored another secret, so use the stored one.
        let stored = self.read().await?;
        stored.ok_or_else(|| PortError::temporary("the new webhook secret is not readable yet"))
    }

    /// Rotates the secrets: creates a new secret and keeps the previous one, which also signs
    /// deliveries until the next rotation.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`WebhookSecrets::get`].
    pub async fn rotate(&self) -> Result<Vec<Secret>, PortError> {
        let previous = self.read().await?.unwrap_or_default();
        let secrets = [generate()?].into_iter().chain(previous).take(ACTIVE_SECRETS);
        let secrets: Vec<Secret> = secrets.collect();
        self.write(&secrets).await?;
        Ok(secrets)
    }

    async fn read(&self) -> Result<Option<Vec<Secret>>, PortError> {
        let bytes = match self.blobs.get(&key()?, MAX_WEBHOOK_SECRETS_BYTES).await? {
            GetOutcome::Found { bytes, .. } => bytes,
            GetOutcome::Absent => return Ok(None),
            GetOutcome::TooLong { length } => {
                return Err(unreadable(&format!("it has {length} bytes")));
            }
        };
        let stored: StoredSecrets = serde_json::from_slice(&bytes)
            .map_err(|_| unreadable("it is not a JSON list of secrets"))?;
        let secrets = stored.secrets.iter().map(|text| Secret::parse(text));
        let secrets: Result<Vec<Secret>, _> = secrets.collect();
        match secrets {
            Ok(secrets) if !secrets.is_empty() => Ok(Some(secrets)),
            Ok(_) => Err(unreadable("the list is empty")),
            Err(error) => Err(unreadable(&error.to_string())),
        }
    }

    async fn write(&self, secrets: &[Secret]) -> Result<(), PortError> {
        let secrets = secrets.iter().map(|secret| secret.text().to_owned()).collect();
        let bytes = serde_json::to_vec(&StoredSecrets { secrets })
            .map_err(|error| PortError::permanent(error.to_string()))?;
        let hash = digest(&SHA256, &bytes);
        let sha256 = hash
            .as_ref()
            .try_into()
            .map_err(|_| PortError::permanent("the SHA-256 digest has an unexpected length"))?;
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
    filled.map_err(|_| PortError::permanent("the system's random number generator failed"))?;
    Ok(Secret::from_bytes(&bytes))
}

fn unreadable(why: &str) -> PortError {
    let help = "delete the object to have a new secret created";
    PortError::permanent(format!("cannot read {WEBHOOK_SECRETS_KEY}: {why}; {help}"))
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
    async fn creates_one_secret_and_keeps_two_after_a_rotation() {
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
    async fn limits_the_length_of_the_object() {
        let blobs = blobs();
        let text = Secret::from_bytes(&[1; SECRET_BYTES]).text().to_owned();
        let json = format!(r#"{{"secrets":["{text}"]}}"#);
        let most = usize::try_from(MAX_WEBHOOK_SECRETS_BYTES).unwrap();
        put(&blobs, format!("{json}{}", " ".repeat(most - json.len()))).await;
        assert_eq!(texts(&WebhookSecrets::new(blobs.clone()).get().await.unwrap()), [text]);
        put(&blobs, format!("{json}{}", " ".repeat(most + 1 - json.len()))).await;
        assert!(WebhookSecrets::new(blobs).get().await.is_err());
    }

    #[tokio::test]
    async fn reports_an_invalid_object_without_replacing_it() {
        let blobs = blobs();
        for text in ["", "{}", r#"{"secrets":[]}"#, r#"{"secrets":["x"]}"#] {
            put(&blobs, text.to_owned()).await;
            let error = WebhookSecrets::new(blobs.clone()).get().await.err().unwrap();
            assert!(!error.temporary && error.message.contains("webhook/secrets.json"), "{error}");
        }
    }
}
