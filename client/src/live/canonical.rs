//! The canonical state: the latest snapshot root that the client has loaded, plus the log entries
//! after it.

use cellar_api::rebase::Known;
use cellar_api::{wire::EntryView, wire::Head};
use cellar_base::limits::{MAX_LIVE_ENTRIES, MAX_LIVE_ENTRY_BYTES};
use cellar_base::position::Position;

use super::disk_cache;
use crate::outbox::{Outbox, OutboxState};
use crate::reader::{EntryTail, LoadedSpreadsheet, ReadableState, ReaderError, SnapshotSource};

/// The committed state of the spreadsheet up to one position.
#[derive(Debug)]
pub(super) struct CanonicalState {
    /// The state from which cells are read. Also includes the pending edits of the most recently
    /// installed view.
    pub(super) readable: ReadableState,
    /// The cumulative effect of the log entries after the root, without pending edits.
    pub(super) tail: EntryTail,
    root_key: Option<String>,
    position: Position,
    /// `entries` has no gaps after this position.
    known_after: Position,
    entries: Vec<EntryView>,
    /// Number of entries applied since the state was loaded.
    applied_entries: usize,
    /// Total size of the entries applied since the state was loaded, in bytes.
    applied_bytes: usize,
    /// Whether `entries` contains all entries after the root.
    has_all_entries: bool,
    has_unsaved_changes: bool,
    /// Set if a snapshot object is missing, probably because a newer snapshot has replaced it.
    pub(super) is_stale: bool,
}

impl CanonicalState {
    /// Opens the state from the disk cache if the cached state matches `saved` and is not older;
    /// otherwise loads the newest state.
    pub(super) async fn open(
        source: &SnapshotSource,
        outbox: &Outbox,
        saved: Option<&OutboxState>,
    ) -> Result<Self, ReaderError> {
        let Some(saved) = saved else { return Self::load(source, None).await };
        match Self::read_cached(source, outbox, saved).await {
            Some(canonical) => Ok(canonical),
            None => Self::load(source, Some(saved.seen)).await,
        }
    }

    /// Reads the state from the disk cache. Returns `None` if the cached state is missing,
    /// unreadable, older than `saved` or from another table incarnation.
    async fn read_cached(
        source: &SnapshotSource,
        outbox: &Outbox,
        saved: &OutboxState,
    ) -> Option<Self> {
        let cached = disk_cache::read(outbox)?;
        if cached.incarnation != saved.incarnation {
            return None;
        }
        let loaded =
            LoadedSpreadsheet::from_cache(source, cached.root, cached.incarnation, cached.entries)
                .await
                .ok()??;
        let mut canonical = Self::from_loaded(source, loaded).ok()?;
        if canonical.position < saved.seen {
            return None;
        }
        canonical.has_unsaved_changes = false;
        Some(canonical)
    }

    /// Loads the newest state, at or after `min_position`.
    pub(super) async fn load(
        source: &SnapshotSource,
        min_position: Option<Position>,
    ) -> Result<Self, ReaderError> {
        let keep_entries = true;
        let loaded = LoadedSpreadsheet::load(source, min_position, keep_entries).await?;
        Self::from_loaded(source, loaded)
    }

    fn from_loaded(
        source: &SnapshotSource,
        loaded: LoadedSpreadsheet,
    ) -> Result<Self, ReaderError> {
        let root_key = loaded.root_key.clone();
        let (readable, tail, entries) = loaded.into_parts(source)?;
        let position = readable.position;
        // The first entry moves no cells: it is either the root's Snapshot entry or the first log
        // entry.
        let known_after = entries.first().map_or(position, |first| first.position);
        let mut canonical = Self {
            readable,
            tail,
            root_key,
            position,
            known_after,
            entries: entries.into_iter().map(without_url).collect(),
            applied_entries: 0,
            applied_bytes: 0,
            has_all_entries: true,
            has_unsaved_changes: true,
            is_stale: false,
        };
        canonical.drop_oldest_entries();
        Ok(canonical)
    }

    /// Evicts the oldest entries until the limits on entry count and bytes are met. Without this,
    /// the number of entries would be unbounded in a spreadsheet without snapshots.
    fn drop_oldest_entries(&mut self) {
        let mut kept_bytes = 0_usize;
        let mut first_kept = self.entries.len();
        for entry in self.entries.iter().rev().take(MAX_LIVE_ENTRIES) {
            kept_bytes = kept_bytes.saturating_add(entry.weight_bytes());
            if kept_bytes > MAX_LIVE_ENTRY_BYTES {
                break;
            }
            first_kept = first_kept.saturating_sub(1);
        }
        if let Some(last_dropped) = self.entries.drain(..first_kept).next_back() {
            self.known_after = last_dropped.position;
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

    /// Returns the known entries and the workbook metadata, as required for a rebase.
    pub(super) fn known(&self) -> Known<'_> {
        let state = Some(self.tail.fold.metadata());
        Known { after: self.known_after, entries: &self.entries, state }
    }

    pub(super) fn entries(&self) -> &[EntryView] {
        &self.entries
    }

    /// Applies the next log entry. On error, the state is unchanged.
    pub(super) async fn apply_entry(
        &mut self,
        source: &SnapshotSource,
        entry: EntryView,
    ) -> Result<(), ReaderError> {
        self.tail.apply_entry(source, &entry).await?;
        self.position = entry.position;
        self.applied_entries = self.applied_entries.saturating_add(1);
        self.applied_bytes = self.applied_bytes.saturating_add(entry.weight_bytes());
        self.entries.push(without_url(entry));
        self.has_unsaved_changes = true;
        Ok(())
    }

    /// Returns whether to load a newer root: an object of the current root is missing, or too many
    /// entries were applied after it.
    pub(super) fn needs_newer_root(&self) -> bool {
        self.is_stale
            || self.applied_entries > MAX_LIVE_ENTRIES
            || self.applied_bytes > MAX_LIVE_ENTRY_BYTES
    }

    /// Fetches the entries between `after` and the oldest known entry, so that pending edits with
    /// an older base can be rebased. Returns `false` and leaves the state unchanged if the entries
    /// cannot be fetched or exceed the limits.
    pub(super) async fn fetch_earlier_entries(
        &mut self,
        source: &SnapshotSource,
        after: Position,
    ) -> bool {
        let mut earlier = Vec::<EntryView>::new();
        let mut earlier_bytes = 0_usize;
        let mut fetched_until = after;
        while fetched_until < self.known_after {
            let Ok(page) = source.spreadsheet.entries_page(fetched_until).await else {
                return false;
            };
            let (Some(first), Some(last)) = (page.entries.first(), page.entries.last()) else {
                return false;
            };
            let expected = earlier.last().and_then(EntryView::next_position);
            let has_gap = expected.is_some_and(|expected| expected != first.position);
            if has_gap || page.incarnation != self.incarnation() {
                return false;
            }
            fetched_until = last.position;
            earlier.extend(page.entries.into_iter().map(without_url));
            earlier_bytes =
                earlier.iter().map(EntryView::weight_bytes).fold(0, usize::saturating_add);
            if earlier.len() > MAX_LIVE_ENTRIES || earlier_bytes > MAX_LIVE_ENTRY_BYTES {
                return false;
            }
        }
        self.prepend_entries(earlier, after);
        self.applied_bytes = self.applied_bytes.max(earlier_bytes);
        true
    }

    /// Prepends `earlier` to the known entries, without duplicating entries that are in both.
    fn prepend_entries(&mut self, mut earlier: Vec<EntryView>, after: Position) {
        let oldest_known = self.entries.first().map_or(self.known_after, |first| first.position);
        earlier.retain(|entry| entry.position < oldest_known);
        earlier.append(&mut self.entries);
        self.entries = earlier;
        self.known_after = after;
        self.has_unsaved_changes = true;
    }

    /// Returns whether the state differs from the one in the disk cache.
    pub(super) fn has_unsaved_changes(&self) -> bool {
        self.has_unsaved_changes
    }

    /// Writes the state to the disk cache, from which the next start can open the spreadsheet
    /// without a request.
    pub(super) fn save(&mut self, outbox: &Outbox) {
        if !self.has_unsaved_changes {
            return;
        }
        self.has_unsaved_changes = false;
        // Omit the entries before the root: they are needed only for pending edits and may have
        // gaps.
        let root_position =
            self.readable.root.as_ref().map_or(Position::FIRST, |root| root.position);
        let first = self.entries.partition_point(|entry| entry.position < root_position);
        match self.entries.get(first..) {
            Some(entries) if self.has_all_entries => {
                let root_key = self.root_key.as_deref();
                disk_cache::write(outbox, root_key, self.incarnation(), entries);
            }
            _ => disk_cache::delete(outbox),
        }
    }
}

/// Removes the download URL from an entry with an external body. The URL expires within minutes and
/// grants access without a token.
fn without_url(mut entry: EntryView) -> EntryView {
    if let Some(external) = &mut entry.external_body {
        external.url = None;
    }
    entry
}
