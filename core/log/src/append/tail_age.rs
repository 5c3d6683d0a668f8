//! How old the cached entries of a log may be.
//!
//! A process that relied on old entries could put an entry into a segment that was closed and
//! trimmed in the meantime: the keys of trimmed entries are free again. All callers that cache
//! entries follow the two rules of this module.

use crate::entry::Entry;
use cellar_base::limits::{CACHED_ENTRY_AGE_S, CACHED_TAIL_AGE_MS};

/// Returns whether the cached entries of a log must be dropped: the first of them was cached more
/// than `CACHED_TAIL_AGE_MS` ago. Use of the entries does not extend this time. Both times are in
/// milliseconds since the Unix epoch.
#[must_use]
pub fn has_expired(cached_since_ms: u64, now_ms: u64) -> bool {
    now_ms.saturating_sub(cached_since_ms) > CACHED_TAIL_AGE_MS
}

/// Returns whether an entry may be put directly after the cached entry `tail`, without reading the
/// log first. `tail` must be younger than `CACHED_ENTRY_AGE_S`, so that its segment cannot have
/// been trimmed yet. `now_s` is in seconds since the Unix epoch.
#[must_use]
pub fn may_be_followed_unread(tail: &Entry, now_s: u64) -> bool {
    now_s < tail.created_s.saturating_add(CACHED_ENTRY_AGE_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::LogId;

    #[test]
    fn cached_entries_expire_after_their_maximum_age() {
        assert!(!has_expired(1_000, 1_000 + CACHED_TAIL_AGE_MS));
        assert!(has_expired(1_000, 1_000 + CACHED_TAIL_AGE_MS + 1));
        assert!(!has_expired(1_000, 0), "a clock that was set back");
    }

    #[test]
    fn only_a_young_entry_is_followed_unread() {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let tail = Entry { created_s: 500, ..Entry::first(log, None, 0) };
        assert!(may_be_followed_unread(&tail, 500 + CACHED_ENTRY_AGE_S - 1));
        assert!(!may_be_followed_unread(&tail, 500 + CACHED_ENTRY_AGE_S));
        assert!(may_be_followed_unread(&tail, 0), "a clock that was set back");
    }
}
