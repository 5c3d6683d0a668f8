//! Manages the secrets with which webhook deliveries are signed. The secrets are stored as an
//! object in the stack's bucket, so that they do not appear in templates, configuration or logs,
//! and so that a restore of the tables does not change them.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use bytes::Bytes;
use cellar_base::limits::MAX_WEBHOOK_SECRETS_BYTES;
use cellar_base::table_attributes::WEBHOOK_SECRETS_KEY;
use cellar_engine::ports::{BlobKey, Blobs, GetOutcome, NewBlob, PortError, PutNewOutcome};
use serde::{Deserialize, Serialize};

use super::signature::{SECRET_BYTES, Secret};

/// Number of secrets with which each delivery is signed: the current and the previous one.
const ACTIVE_SECRETS: usize = 2;

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
        if let Some(secrets) = self.read_secrets().await? {
            return Ok(secrets);
        }
        let first_secret = generate_secret()?;
        let object = secrets_object(std::slice::from_ref(&first_secret))?;
        if self.blobs.put_new(object).await? == PutNewOutcome::Stored {
            return Ok(vec![first_secret]);
        }
        // Another process has created the first secret in the meantime.
        match self.read_secrets().await? {
            Some(secrets) => Ok(secrets),
            None => Err(PortError::temporary("the new webhook secret is not readable yet")),
        }
    }

    /// Creates a new secret. Until the next rotation, deliveries are also signed with the previous
    /// secret.
    ///
    /// # Errors
    ///
    /// Returns a [`PortError`] if the bucket does not respond or the object cannot be parsed.
    pub async fn rotate(&self) -> Result<Vec<Secret>, PortError> {
        let mut secrets = vec![generate_secret()?];
        let previous_secrets = self.read_secrets().await?.unwrap_or_default();
        secrets.extend(previous_secrets);
        secrets.truncate(ACTIVE_SECRETS);
        self.blobs.put(secrets_object(&secrets)?).await?;
        Ok(secrets)
    }

    async fn read_secrets(&self) -> Result<Option<Vec<Secret>>, PortError> {
        let object = self.blobs.get(&secrets_key()?, MAX_WEBHOOK_SECRETS_BYTES).await?;
        let bytes = match object {
            GetOutcome::Found { bytes, .. } => bytes,
            GetOutcome::Absent => return Ok(None),
            GetOutcome::TooLong { length } => {
                return Err(unreadable(&format!("it has {length} bytes")));
            }
        };
        let stored: StoredSecrets = serde_json::from_slice(&bytes)
            .map_err(|_| unreadable("it is not a JSON list of secrets"))?;
        if stored.secrets.is_empty() {
            return Err(unreadable("the list is empty"));
        }
        let mut secrets = Vec::new();
        for secret_text in &stored.secrets {
            let secret =
                Secret::parse(secret_text).map_err(|error| unreadable(&error.to_string()))?;
            secrets.push(secret);
        }
        Ok(Some(secrets))
    }
}

fn secrets_object(secrets: &[Secret]) -> Result<NewBlob, PortError> {
    let secret_texts = secrets.iter().map(|secret| secret.text().to_owned()).collect();
    let bytes = serde_json::to_vec(&StoredSecrets { secrets: secret_texts })
        .map_err(|error| PortError::permanent(error.to_string()))?;
    let sha256 = digest(&SHA256, &bytes)
        .as_ref()
        .try_into()
        .map_err(|_| PortError::permanent("the SHA-256 digest has an unexpected length"))?;
    Ok(NewBlob {
        key: secrets_key()?,
        bytes: Bytes::from(bytes),
        sha256,
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
        pending: false,
    })
}

fn secrets_key() -> Result<BlobKey, PortError> {
    BlobKey::new(WEBHOOK_SECRETS_KEY).map_err(|error| PortError::permanent(error.to_string()))
}

fn generate_secret() -> Result<Secret, PortError> {
    let mut bytes = [0; SECRET_BYTES];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        return Err(PortError::permanent("the system's random number generator failed"));
    }
    Ok(Secret::from_bytes(&bytes))
}

fn unreadable(reason: &str) -> PortError {
    let help = "delete the object, so that a new secret is created";
    PortError::permanent(format!("cannot read {WEBHOOK_SECRETS_KEY}: {reason}; {help}"))
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
        let (key, bytes) = (secrets_key().unwrap(), Bytes::from(text));
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
    async fn a_first_secret_that_another_process_created_is_kept() {
        let blobs = blobs();
        let first = WebhookSecrets::new(blobs.clone()).get().await.unwrap();
        let late = secrets_object(&[generate_secret().unwrap()]).unwrap();
        assert_eq!(blobs.put_new(late).await, Ok(PutNewOutcome::AlreadyExists));
        assert_eq!(texts(&WebhookSecrets::new(blobs).get().await.unwrap()), texts(&first));
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
