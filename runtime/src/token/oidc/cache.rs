//! A process's copy of an issuer's keys.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_catalog::oidc::{KeySetAge, KeySetStep};
use jsonwebtoken::DecodingKey;
use tokio::time::Instant;

use super::keys::KeySet;
use super::source::KeySourceFault;
use crate::token::TokenError;

/// The keys, and when they were fetched.
#[derive(Default)]
pub(super) struct KeySetCache {
    copy: Mutex<(KeySetAge, Arc<KeySet>)>,
    /// Whoever fetches holds it: everybody else waits, or uses what is there.
    fetching: tokio::sync::Mutex<()>,
}

/// A fetch in progress. Dropping it records a failure, so that a fetch that is cancelled counts as one:
/// otherwise every request would ask an issuer that does not answer, and wait for it.
struct Fetching<'a> {
    cache: &'a KeySetCache,
    begun_s: u64,
    begun: Instant,
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        // The pause before the next attempt begins when this one fails, not when it began.
        let failed_s = self.begun_s + self.begun.elapsed().as_secs();
        let mut copy = self.cache.copy();
        copy.0 = copy.0.failed(failed_s);
    }
}

impl KeySetCache {
    /// The key of that name, at this time, Unix seconds.
    pub(super) async fn key<F>(
        &self,
        id: Option<&str>,
        now_s: u64,
        fetch: impl FnOnce() -> F,
    ) -> Result<DecodingKey, TokenError>
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let guard = match self.look(id, now_s) {
            (KeySetStep::FetchOrUse, Some(key)) => match self.fetching.try_lock() {
                Ok(guard) => guard,
                Err(_) => return Ok(key),
            },
            (KeySetStep::Fetch, _) => self.fetching.lock().await,
            (step, key) => return settled(step, key),
        };
        // Somebody else may have fetched them meanwhile.
        let (step, _) = self.look(id, now_s);
        if matches!(step, KeySetStep::Fetch | KeySetStep::FetchOrUse) {
            self.fetch(now_s, fetch).await;
        }
        drop(guard);
        let (step, key) = self.look(id, now_s);
        settled(step, key)
    }

    async fn fetch<F>(&self, now_s: u64, fetch: impl FnOnce() -> F)
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let fetching = Fetching { cache: self, begun_s: now_s, begun: Instant::now() };
        let fetched = fetch().await;
        drop(fetching);
        match fetched {
            Ok(keys) => {
                let mut copy = self.copy();
                *copy = (copy.0.fetched(now_s), Arc::new(keys));
            }
            Err(fault) => tracing::warn!(%fault, "an issuer's keys cannot be had"),
        }
    }

    fn look(&self, id: Option<&str>, now_s: u64) -> (KeySetStep, Option<DecodingKey>) {
        let (age, keys) = {
            let copy = self.copy();
            (copy.0, Arc::clone(&copy.1))
        };
        let key = keys.find(id);
        (age.step(key.is_some(), now_s), key.cloned())
    }

    fn copy(&self) -> MutexGuard<'_, (KeySetAge, Arc<KeySet>)> {
        // Each write leaves it whole.
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is left to say where nothing is to be fetched.
fn settled(step: KeySetStep, key: Option<DecodingKey>) -> Result<DecodingKey, TokenError> {
    match (step, key) {
        (KeySetStep::Use | KeySetStep::FetchOrUse, Some(key)) => Ok(key),
        (KeySetStep::Unknown, _) => Err(TokenError::UnknownKey),
        _ => Err(TokenError::KeysUnavailable),
    }
}
