//! The refusals of this process, by who was refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{LISTING_REFUSAL_AGE_MS, MAX_CACHED_REFUSALS};
use cellar_catalog::spreadsheet::Listing;

/// A subject, and the spreadsheet that it asked for.
type Asked = (SubjectKey, LogId);

/// The listing by which a request was refused.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    /// The listing; `None` if there is none.
    pub(super) listing: Option<Arc<Listing>>,
    /// When it was read, Unix milliseconds.
    pub(super) read_ms: u64,
}

/// At most `MAX_CACHED_REFUSALS`, each for `LISTING_REFUSAL_AGE_MS`; the oldest makes room. A missing
/// spreadsheet has its refusal as an existing one has: the time of an answer does not tell them apart.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    refusals: Mutex<HashMap<Asked, Refusal>>,
}

impl Refusals {
    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Refusal>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last refusal of this request, if it is not too old.
    pub(super) fn get(&self, asked: Asked, now_ms: u64) -> Option<Refusal> {
        let refusals = self.lock();
        let refusal = refusals.get(&asked)?;
        let is_old = now_ms.saturating_sub(refusal.read_ms) > LISTING_REFUSAL_AGE_MS;
        (!is_old).then(|| refusal.clone())
    }

    /// Learns of a refusal.
    pub(super) fn learn(&self, asked: Asked, listing: Option<Arc<Listing>>, read_ms: u64) {
        let mut refusals = self.lock();
        if refusals.len() >= MAX_CACHED_REFUSALS && !refusals.contains_key(&asked) {
            let oldest = refusals.iter().min_by_key(|(_, refusal)| refusal.read_ms);
            if let Some(oldest) = oldest.map(|(asked, _)| *asked) {
                refusals.remove(&oldest);
            }
        }
        refusals.insert(asked, Refusal { listing, read_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_refusals_are_known_and_no_more() {
        let refusals = Refusals::default();
        let log = LogId::from_uuid(uuid::Uuid::nil());
        let asked = |number: usize| (SubjectKey::new("cellar", &number.to_string()), log);
        for number in 0..MAX_CACHED_REFUSALS {
            refusals.learn(asked(number), None, 1_000 + number as u64);
        }
        assert!(refusals.get(asked(0), 1_000).is_some());
        refusals.learn(asked(1), None, 5_000);
        refusals.learn(asked(MAX_CACHED_REFUSALS), None, 5_000);
        assert_eq!(refusals.lock().len(), MAX_CACHED_REFUSALS);
        assert!(refusals.get(asked(0), 1_000).is_none());
        assert!(refusals.get(asked(1), 5_000).is_some());
    }
}
