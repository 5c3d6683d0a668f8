//! Caches an OIDC issuer's public keys in one process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_catalog::oidc::{KeySetAge, KeySetStep};
use jsonwebtoken::DecodingKey;
use tokio::time::Instant;

use super::keys::KeySet;
use super::source::KeySourceFault;
use crate::token::TokenError;

/// One issuer's cached keys and their age.
#[derive(Default)]
pub(super) struct KeySetCache {
    cached: Mutex<(KeySetAge, Arc<KeySet>)>,
    /// Serializes key fetches. While one request fetches, the others wait for the lock or use the
    /// cached keys.
    fetch_lock: tokio::sync::Mutex<()>,
}

/// An in-flight fetch. Dropping it records a failure, so that a cancelled fetch counts as failed;
/// otherwise every request would call an unresponsive issuer and wait for the timeout.
struct FetchInProgress<'a> {
    cache: &'a KeySetCache,
    begun_s: u64,
    begun: Instant,
}

impl Drop for FetchInProgress<'_> {
    fn drop(&mut self) {
        // Start the backoff when the attempt fails, not when it began.
        let failed_s = self.begun_s + self.begun.elapsed().as_secs();
        let mut cached = self.cache.lock();
        cached.0 = cached.0.failed(failed_s);
    }
}

impl KeySetCache {
    /// Returns the key with the given `id` at `now_s` (Unix seconds). Fetches the issuer's keys
    /// first if the cached keys are missing, are stale or do not include the key.
    pub(super) async fn get_or_fetch<F>(
        &self,
        id: Option<&str>,
        now_s: u64,
        fetch: impl FnOnce() -> F,
    ) -> Result<DecodingKey, TokenError>
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let guard = match self.lookup(id, now_s) {
            (KeySetStep::FetchOrUse, Some(key)) => match self.fetch_lock.try_lock() {
                Ok(guard) => guard,
                // The cached key is still valid while another request fetches newer keys.
                Err(_) => return Ok(key),
            },
            (KeySetStep::Fetch, _) => self.fetch_lock.lock().await,
            (step, key) => return resolve_without_fetch(step, key),
        };
        // Another request may have fetched the keys during the wait for the lock.
        let (step, _) = self.lookup(id, now_s);
        if matches!(step, KeySetStep::Fetch | KeySetStep::FetchOrUse) {
            self.run_fetch(now_s, fetch).await;
        }
        drop(guard);
        let (step, key) = self.lookup(id, now_s);
        resolve_without_fetch(step, key)
    }

    async fn run_fetch<F>(&self, now_s: u64, fetch: impl FnOnce() -> F)
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let in_progress = FetchInProgress { cache: self, begun_s: now_s, begun: Instant::now() };
        let fetched = fetch().await;
        // Record a failure now. A successful fetch overwrites it below.
        drop(in_progress);
        match fetched {
            Ok(keys) => {
                let mut cached = self.lock();
                *cached = (cached.0.fetched(now_s), Arc::new(keys));
            }
            Err(fault) => tracing::warn!(%fault, "cannot fetch the keys of an issuer"),
        }
    }

    /// Looks up a cached key and decides whether the keys must be fetched.
    fn lookup(&self, id: Option<&str>, now_s: u64) -> (KeySetStep, Option<DecodingKey>) {
        let (age, keys) = {
            let cached = self.lock();
            (cached.0, Arc::clone(&cached.1))
        };
        let key = keys.find(id);
        (age.step(key.is_some(), now_s), key.cloned())
    }

    fn lock(&self) -> MutexGuard<'_, (KeySetAge, Arc<KeySet>)> {
        // Ignore lock poisoning; no writer leaves the value incomplete.
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the cached key, or an error if no key is usable and no fetch is due.
fn resolve_without_fetch(
    step: KeySetStep,
    key: Option<DecodingKey>,
) -> Result<DecodingKey, TokenError> {
    match (step, key) {
        (KeySetStep::Use | KeySetStep::FetchOrUse, Some(key)) => Ok(key),
        (KeySetStep::Unknown, _) => Err(TokenError::UnknownKey),
        _ => Err(TokenError::KeysUnavailable),
    }
}
