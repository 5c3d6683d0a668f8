//! Caches the public keys of an issuer in one process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_catalog::oidc::{KeySetAge, KeySetStep};
use jsonwebtoken::DecodingKey;
use tokio::time::Instant;

use super::keys::KeySet;
use super::source::KeySourceFault;
use crate::token::TokenError;

/// The cached keys of one issuer and their age.
#[derive(Default)]
pub(super) struct KeySetCache {
    cached: Mutex<(KeySetAge, Arc<KeySet>)>,
    /// Lock of the request that fetches keys. Other requests wait for the lock or use the cached
    /// keys.
    fetch_lock: tokio::sync::Mutex<()>,
}

/// A fetch in progress. Dropping it records a failure, so that a cancelled fetch counts as failed.
/// Otherwise, every request would call an issuer that does not respond and wait for the timeout.
struct FetchInProgress<'a> {
    cache: &'a KeySetCache,
    begun_s: u64,
    begun: Instant,
}

impl Drop for FetchInProgress<'_> {
    fn drop(&mut self) {
        // The pause before the next attempt begins when this attempt fails, not when this attempt
        // began.
        let failed_s = self.begun_s + self.begun.elapsed().as_secs();
        let mut cached = self.cache.lock();
        cached.0 = cached.0.failed(failed_s);
    }
}

impl KeySetCache {
    /// Returns the key with the given `id` at the time `now_s` (Unix seconds). If the cached keys
    /// are missing, too old or do not include the key, fetches the keys first.
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
                // Another request is fetching newer keys, but the cached key is still valid.
                Err(_) => return Ok(key),
            },
            (KeySetStep::Fetch, _) => self.fetch_lock.lock().await,
            (step, key) => return resolve_without_fetch(step, key),
        };
        // Another request may have fetched the keys while this one waited for the lock.
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

    /// Searches the cached keys, and decides whether the keys must be fetched.
    fn lookup(&self, id: Option<&str>, now_s: u64) -> (KeySetStep, Option<DecodingKey>) {
        let (age, keys) = {
            let cached = self.lock();
            (cached.0, Arc::clone(&cached.1))
        };
        let key = keys.find(id);
        (age.step(key.is_some(), now_s), key.cloned())
    }

    fn lock(&self) -> MutexGuard<'_, (KeySetAge, Arc<KeySet>)> {
        // Ignore a poisoned lock, because no writer leaves the value incomplete.
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the cached key, or the error if no key is usable and no fetch is due.
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
