//! Presence: which cells the clients that have a spreadsheet open have selected. It is not part of the
//! log, and it is lost without harm.
//!
//! A spreadsheet has `PRESENCE_SLOTS` slots. A client keeps its slot while it announces its selection,
//! and otherwise takes the first free one. Few clients therefore need few items, and no client hides
//! another one while a slot is free.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use cellar_base::identity::ClientKey;
use cellar_base::limits::{PRESENCE_AGE_MS, PRESENCE_ATTEMPTS, PRESENCE_SLOTS};
use cellar_base::position::Position;
use cellar_sheet::a1::SheetArea;

/// The cells that a client has selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    pub area: SheetArea,
    /// Position whose rows and columns `area` states.
    pub at: Position,
}

/// The last announcement of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    pub client: ClientKey,
    /// Author of the client's entries.
    pub author: String,
    pub selection: Selection,
    /// Time of the announcement, in milliseconds since the Unix epoch.
    pub seen_ms: u64,
}

/// A presence in its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPresence {
    pub slot: u32,
    pub presence: Presence,
}

/// Another client, as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherClient {
    pub presence: Presence,
    /// Age of the announcement in milliseconds.
    pub seen_ms_ago: u64,
}

/// The times of announcements that are still shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownTimes {
    pub first_ms: u64,
    /// Later than now, because clocks of processes differ.
    pub last_ms: u64,
}

/// Time of the announcement of a client that has left. It is never shown.
const LEFT_MS: u64 = 0;

impl ShownTimes {
    #[must_use]
    pub fn at(now_ms: u64) -> Self {
        let first_ms = now_ms.saturating_sub(PRESENCE_AGE_MS).max(LEFT_MS + 1);
        Self { first_ms, last_ms: now_ms.saturating_add(PRESENCE_AGE_MS) }
    }

    #[must_use]
    pub fn includes(&self, seen_ms: u64) -> bool {
        (self.first_ms..=self.last_ms).contains(&seen_ms)
    }
}

impl Presence {
    /// Returns the presence of a client that has left, with as little data as possible.
    #[must_use]
    pub fn left(&self) -> Self {
        Self { author: String::new(), seen_ms: LEFT_MS, ..self.clone() }
    }

    /// Whether a client may store its presence in place of this one.
    #[must_use]
    pub fn may_be_replaced_by(&self, client: ClientKey, shown: ShownTimes) -> bool {
        self.client == client || !shown.includes(self.seen_ms)
    }
}

/// Returns the slots in which a client may store its presence, best first. The table checks each again,
/// because `stored` may be outdated.
#[must_use]
pub fn slots_to_try(stored: &[StoredPresence], client: ClientKey, now_ms: u64) -> Vec<u32> {
    let shown = ShownTimes::at(now_ms);
    let own = stored.iter().filter(|stored| stored.presence.client == client);
    let newest_own = own.max_by_key(|stored| stored.presence.seen_ms).map(|stored| stored.slot);
    let is_taken = |stored: &&StoredPresence| !stored.presence.may_be_replaced_by(client, shown);
    let taken: BTreeSet<u32> = stored.iter().filter(is_taken).map(|stored| stored.slot).collect();
    let free = (0..PRESENCE_SLOTS).filter(|slot| !taken.contains(slot));
    let others = free.filter(|slot| Some(*slot) != newest_own);
    newest_own.into_iter().chain(others).take(PRESENCE_ATTEMPTS).collect()
}

/// Returns the items that a client stores when it leaves. It has several slots if it did not find its
/// own one.
#[must_use]
pub fn leave(stored: &[StoredPresence], client: ClientKey, now_ms: u64) -> Vec<StoredPresence> {
    let shown = ShownTimes::at(now_ms);
    let is_shown = |presence: &Presence| shown.includes(presence.seen_ms);
    let own = stored
        .iter()
        .filter(|stored| stored.presence.client == client && is_shown(&stored.presence));
    own.map(|stored| StoredPresence { slot: stored.slot, presence: stored.presence.left() })
        .collect()
}

/// Returns the other clients, each once, newest announcement first.
#[must_use]
pub fn others(stored: &[StoredPresence], client: ClientKey, now_ms: u64) -> Vec<OtherClient> {
    let shown = ShownTimes::at(now_ms);
    let is_shown =
        |presence: &&Presence| presence.client != client && shown.includes(presence.seen_ms);
    let mut presences: Vec<&Presence> =
        stored.iter().map(|stored| &stored.presence).filter(is_shown).collect();
    presences.sort_by_key(|presence| (u64::MAX - presence.seen_ms, presence.client));
    let mut seen_clients = BTreeSet::new();
    presences.retain(|presence| seen_clients.insert(presence.client));
    let to_other = |presence: &Presence| OtherClient {
        presence: presence.clone(),
        seen_ms_ago: now_ms.saturating_sub(presence.seen_ms),
    };
    presences.into_iter().map(to_other).collect()
}
