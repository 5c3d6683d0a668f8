//! The canonical state: the newest snapshot root that the client has loaded, and the log entries
//! after it.

use cellar_api::rebase::Known;
use cellar_api::{wire::EntryView, wire::Head};
use cellar_base::limits::{LIVE_RELOAD_ENTRIES, MAX_LIVE_ENTRIES, MAX_LIVE_ENTRY_BYTES};
use cellar_base::position::Position;

use super::disk_cache::{self, CachedState};
use crate::outbox::{Outbox, OutboxState};
use crate::reader::{
    EntryRetention, EntryTail, GrowableState, LoadedSpreadsheet, ReadableState, ReaderError,
    SnapshotSource,
};

/// The committed state of the spreadsheet up to one position.
#[derive(Debug)]
pub(super) struct CanonicalState {
    /// The state from which cells are read. It includes the pending edits of the most recently
    /// installed view.
    pub(super) readable: ReadableState,
    /// The combined effect of the log entries after the snapshot root, without pending edits.
    pub(super) tail: EntryTail,
    root_key: Option<String>,
    position: Position,
    /// `entries` contains every log entry after this position.
    known_after: Position,
    entries: Vec<EntryView>,
    /// Number of entries that were loaded together with the snapshot root.
    loaded_entries: usize,
    /// Number of entries applied since the root was loaded.
    applied_entries: usize,
    /// Total size of the entries applied since the state was loaded, in bytes.
    applied_bytes: usize,
    /// Whether `entries` contains all entries after the snapshot root.
    has_all_entries: bool,
    has_unsaved_changes: bool,
    /// Whether a snapshot object is missing, probably because a newer snapshot has replaced it.
    pub(super) is_stale: bool,
}

impl CanonicalState {
    /// Opens the state in the disk cache if it is at least as new as `saved_state`. Otherwise,
    /// loads the newest state.
    pub(super) async fn open(
        source: &SnapshotSource,
        outbox: &Outbox,
        saved_state: Option<&OutboxState>,
    ) -> Result<Self, ReaderError> {
        let Some(saved_state) = saved_state else { return Self::load(source, None).await };
        match Self::read_cached(source, outbox, saved_state).await {
            Some(cached_state) => Ok(cached_state),
            None => Self::load(source, Some(saved_state.seen)).await,
        }
    }

    /// Returns `None` if the cached state is missing, unreadable, older than `saved_state` or from
    /// another table incarnation.
    async fn read_cached(
        source: &SnapshotSource,
        outbox: &Outbox,
        saved_state: &OutboxState,
    ) -> Option<Self> {
        let CachedState { root, incarnation, loaded_entries, entries, .. } =
            disk_cache::read_state(outbox)?;
        let entry_count = entries.len();
        if incarnation != saved_state.incarnation {
            return None;
        }
        let load_result = LoadedSpreadsheet::from_cache(source, root, incarnation, entries).await;
        let Ok(Some(loaded)) = load_result else { return None };
        let mut canonical = Self::from_loaded(source, loaded).ok()?;
        if canonical.position < saved_state.seen {
            return None;
        }
        canonical.loaded_entries = loaded_entries;
        canonical.applied_entries = entry_count.saturating_sub(loaded_entries);
        canonical.has_unsaved_changes = false;
        Some(canonical)
    }

    /// The state is at or after `min_position`.
    pub(super) async fn load(
        source: &SnapshotSource,
        min_position: Option<Position>,
    ) -> Result<Self, ReaderError> {
        let loaded =
            LoadedSpreadsheet::load(source, min_position, EntryRetention::KeepEntries).await?;
        Self::from_loaded(source, loaded)
    }

    fn from_loaded(
        source: &SnapshotSource,
        loaded: LoadedSpreadsheet,
    ) -> Result<Self, ReaderError> {
        let root_key = loaded.root_key.clone();
        let GrowableState { readable, tail, entries } = loaded.into_growable_state(source)?;
        let position = readable.position;
        let loaded_entries = entries.len();
        // The first entry is the Snapshot entry of the root or the first entry of the log. Neither
        // moves cells, so it is not needed to rebase edits.
        let known_after = entries.first().map_or(position, |first| first.position);
        let mut canonical = Self {
            readable,
            tail,
            root_key,
            position,
            known_after,
            entries: entries.into_iter().map(without_url).collect(),
            loaded_entries,
            applied_entries: 0,
            applied_bytes: 0,
            has_all_entries: true,
            has_unsaved_changes: true,
            is_stale: false,
        };
        canonical.evict_oldest_entries();
        Ok(canonical)
    }

    /// Without limits on the number and total size of the entries, a spreadsheet without a snapshot
    /// could fill the memory.
    fn evict_oldest_entries(&mut self) {
        let evicted_count = self.entries.len() - count_newest_within_limits(&self.entries);
        if let Some(last_evicted) = self.entries.drain(..evicted_count).next_back() {
            self.known_after = last_evicted.position;
            self.has_all_entries = false;
        }
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn incarnation(&self) -> u32 {
        self.readable.incarnation
    }

    pub(super) fn head(&self) -> Head {
        Head { head: self.position, incarnation: self.incarnation() }
    }

    pub(super) fn known(&self) -> Known<'_> {
        let state = Some(self.tail.fold.metadata());
        Known { after: self.known_after, entries: &self.entries, state }
    }

    pub(super) fn entries(&self) -> &[EntryView] {
        &self.entries
    }

    /// On error, the state is unchanged.
    pub(super) async fn apply_entry(
        &mut self,
        source: &SnapshotSource,
        entry: EntryView,
    ) -> Result<(), ReaderError> {
        self.tail.apply_entry(source, &entry).await?;
        self.position = entry.position;
        self.applied_entries += 1;
        self.applied_bytes = self.applied_bytes.saturating_add(entry.weight_bytes());
        self.entries.push(without_url(entry));
        self.has_unsaved_changes = true;
        Ok(())
    }

    /// A newer root is needed if an object of the current root is missing, or if too many entries
    /// were applied since the state was loaded.
    pub(super) fn needs_newer_root(&self) -> bool {
        self.is_stale
            || self.applied_entries > LIVE_RELOAD_ENTRIES.max(self.loaded_entries)
            || self.applied_bytes > MAX_LIVE_ENTRY_BYTES
    }

    /// Fetches the log entries between `after` and the oldest known entry, so that pending edits
    /// with an older base can be rebased. Returns `false` and changes nothing if the entries cannot
    /// be fetched or exceed the limits.
    pub(super) async fn add_earlier_entries(
        &mut self,
        source: &SnapshotSource,
        after: Position,
    ) -> bool {
        let Some(earlier) = self.fetch_earlier_entries(source, after).await else { return false };
        self.prepend_entries(earlier.entries, after);
        self.applied_bytes = self.applied_bytes.max(earlier.total_bytes);
        true
    }

    /// Returns `None` if the entries cannot be fetched, are not contiguous or exceed the limits.
    async fn fetch_earlier_entries(
        &self,
        source: &SnapshotSource,
        after: Position,
    ) -> Option<EarlierEntries> {
        let mut earlier = EarlierEntries::default();
        let mut fetched_until = after;
        while fetched_until < self.known_after {
            let page = source.spreadsheet.entries_page(fetched_until).await.ok()?;
            let is_other_incarnation = page.incarnation != self.incarnation();
            if is_other_incarnation || has_gap_between(&earlier.entries, &page.entries) {
                return None;
            }
            fetched_until = page.entries.last()?.position;
            for entry in page.entries {
                earlier.total_bytes = earlier.total_bytes.saturating_add(entry.weight_bytes());
                earlier.entries.push(without_url(entry));
            }
            let has_too_many = earlier.entries.len() > MAX_LIVE_ENTRIES;
            if has_too_many || earlier.total_bytes > MAX_LIVE_ENTRY_BYTES {
                return None;
            }
        }
        Some(earlier)
    }

    /// Skips entries that are already known. From now on, all entries after position `after` are
    /// known.
    fn prepend_entries(&mut self, mut earlier_entries: Vec<EntryView>, after: Position) {
        let oldest_known = self.entries.first().map_or(self.known_after, |first| first.position);
        earlier_entries.retain(|entry| entry.position < oldest_known);
        earlier_entries.append(&mut self.entries);
        self.entries = earlier_entries;
        self.known_after = after;
        self.has_unsaved_changes = true;
    }

    pub(super) fn has_unsaved_changes(&self) -> bool {
        self.has_unsaved_changes
    }

    /// Writes the state to the disk cache, so that the spreadsheet can be opened without a request
    /// next time.
    pub(super) fn update_disk_cache(&mut self, outbox: &Outbox) {
        if !self.has_unsaved_changes {
            return;
        }
        self.has_unsaved_changes = false;
        // Omit the entries before the snapshot root. They are needed only for pending edits, and
        // may not be contiguous.
        let root = self.readable.root.as_ref();
        let root_position = root.map_or(Position::FIRST, |root| root.position);
        let count_before_root =
            self.entries.partition_point(|entry| entry.position < root_position);
        match self.entries.get(count_before_root..) {
            Some(entries_after_root) if self.has_all_entries => {
                let root_key = self.root_key.as_deref();
                disk_cache::write_state(
                    outbox,
                    root_key,
                    self.incarnation(),
                    self.loaded_entries,
                    entries_after_root,
                );
            }
            _ => disk_cache::delete_state(outbox),
        }
    }
}

#[derive(Default)]
struct EarlierEntries {
    entries: Vec<EntryView>,
    total_bytes: usize,
}

fn count_newest_within_limits(entries: &[EntryView]) -> usize {
    let mut total_bytes = 0_usize;
    let mut count = 0;
    for entry in entries.iter().rev().take(MAX_LIVE_ENTRIES) {
        total_bytes = total_bytes.saturating_add(entry.weight_bytes());
        if total_bytes > MAX_LIVE_ENTRY_BYTES {
            break;
        }
        count += 1;
    }
    count
}

fn has_gap_between(page: &[EntryView], next_page: &[EntryView]) -> bool {
    let (Some(last_entry), Some(next_entry)) = (page.last(), next_page.first()) else {
        return false;
    };
    let next_position = last_entry.next_position();
    next_position.is_some_and(|next_position| next_position != next_entry.position)
}

/// The URL grants access without a token and expires within minutes, so it must not be stored.
fn without_url(mut entry: EntryView) -> EntryView {
    if let Some(external) = &mut entry.external_body {
        external.url = None;
    }
    entry
}
