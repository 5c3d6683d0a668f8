//! Caches the public keys of an OpenID Connect issuer in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_catalog::oidc::{KeySetAge, KeySetStep};
use jsonwebtoken::DecodingKey;
use tokio::time::Instant;

use super::keys::KeySet;
use super::source::KeySourceFault;
use crate::token::TokenError;

#[derive(Default)]
pub(super) struct KeySetCache {
    cached: Mutex<CachedKeys>,
    /// Allows only one request at a time to fetch keys. Other requests use the cached keys or, if
    /// they need newer keys, wait for the lock.
    fetch_lock: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CachedKeys {
    age: KeySetAge,
    keys: Arc<KeySet>,
}

/// The result of looking up the public key for a token in the cache. `step` says whether the
/// issuer's keys must be fetched before the cached key is used.
struct KeyLookup {
    step: KeySetStep,
    key: Option<DecodingKey>,
}

/// A request to the issuer that has not ended yet. Dropping this value records a failure, even if
/// the request was cancelled. Otherwise, every API request would call an unresponsive issuer again
/// and wait for the timeout.
struct FetchInProgress<'a> {
    cache: &'a KeySetCache,
    started_s: u64,
    started_at: Instant,
}

impl Drop for FetchInProgress<'_> {
    fn drop(&mut self) {
        // The backoff starts when the attempt has failed, not when it was started.
        let failed_s = self.started_s + self.started_at.elapsed().as_secs();
        let mut cached = self.cache.lock();
        cached.age = cached.age.failed(failed_s);
    }
}

impl KeySetCache {
    /// Fetches the issuer's keys first if the cached keys are missing, stale, or do not contain
    /// `key_id`.
    pub(super) async fn get_or_fetch<F>(
        &self,
        key_id: Option<&str>,
        now_s: u64,
        fetch_keys: impl FnOnce() -> F,
    ) -> Result<DecodingKey, TokenError>
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let lookup = self.look_up(key_id, now_s);
        let fetch_guard = match lookup.step {
            KeySetStep::Fetch => self.fetch_lock.lock().await,
            KeySetStep::FetchOrUse => match self.fetch_lock.try_lock() {
                Ok(fetch_guard) => fetch_guard,
                // Another request is fetching newer keys. The cached key may still be used in the
                // meantime.
                Err(_) => return lookup.into_key(),
            },
            KeySetStep::Use | KeySetStep::Unknown | KeySetStep::Unavailable => {
                return lookup.into_key();
            }
        };
        // Look again, because another request may have fetched the keys while this one waited for
        // the lock.
        let lookup_under_lock = self.look_up(key_id, now_s);
        if matches!(lookup_under_lock.step, KeySetStep::Fetch | KeySetStep::FetchOrUse) {
            self.fetch_and_cache(now_s, fetch_keys).await;
        }
        drop(fetch_guard);
        self.look_up(key_id, now_s).into_key()
    }

    async fn fetch_and_cache<F>(&self, now_s: u64, fetch_keys: impl FnOnce() -> F)
    where
        F: Future<Output = Result<KeySet, KeySourceFault>>,
    {
        let in_progress =
            FetchInProgress { cache: self, started_s: now_s, started_at: Instant::now() };
        let fetch_result = fetch_keys().await;
        // Dropping `in_progress` records a failure. If the keys were fetched, the success that is
        // recorded below replaces the failure.
        drop(in_progress);
        match fetch_result {
            Ok(keys) => {
                let mut cached = self.lock();
                cached.age = cached.age.fetched(now_s);
                cached.keys = Arc::new(keys);
            }
            Err(fault) => tracing::warn!(%fault, "cannot fetch the keys of an issuer"),
        }
    }

    fn look_up(&self, key_id: Option<&str>, now_s: u64) -> KeyLookup {
        let cached = self.lock();
        let key = cached.keys.find_key(key_id).cloned();
        KeyLookup { step: cached.age.step(key.is_some(), now_s), key }
    }

    fn lock(&self) -> MutexGuard<'_, CachedKeys> {
        // Ignore that the lock is poisoned, because a panic cannot leave the value incomplete.
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyLookup {
    /// Returns the cached key. Returns an error if the key is unknown, or if the issuer's keys must
    /// be fetched first or are unavailable.
    fn into_key(self) -> Result<DecodingKey, TokenError> {
        match (self.step, self.key) {
            (KeySetStep::Use | KeySetStep::FetchOrUse, Some(key)) => Ok(key),
            (KeySetStep::Unknown, _) => Err(TokenError::UnknownKey),
            _ => Err(TokenError::KeysUnavailable),
        }
    }
}
