//! The canonical state: the newest root that is known, and the entries behind it.

use cellar_api::rebase::Known;
use cellar_api::{wire::EntryView, wire::Head};
use cellar_base::limits::{MAX_LIVE_ENTRIES, MAX_LIVE_ENTRY_BYTES};
use cellar_base::position::Position;

use super::kept;
use super::shown::Shown;
use crate::outbox::{Outbox, OutboxState};
use crate::reader::{Loaded, Opened, ReaderError, Source, Tail};

/// The state up to a position that the server has given.
#[derive(Debug)]
pub(super) struct Canonical {
    /// Where cells are read from: with the edits on top that are shown.
    pub(super) opened: Opened,
    /// What the entries behind the root did, those alone.
    pub(super) tail: Tail,
    root_key: Option<String>,
    position: Position,
    /// All entries behind this position are in `entries`.
    known_after: Position,
    entries: Vec<EntryView>,
    /// Entries, and their bytes, that were taken since it was loaded.
    taken: usize,
    taken_bytes: usize,
    /// `entries` are all behind the root: whoever has both has everything.
    is_whole: bool,
    /// It changed since it was kept.
    is_changed: bool,
    /// A newer snapshot has replaced what it reads from.
    pub(super) is_stale: bool,
}

impl Canonical {
    /// What was kept, if it belongs to `state` and is not older; otherwise the newest.
    pub(super) async fn open(
        source: &Source,
        outbox: &Outbox,
        state: Option<&OutboxState>,
    ) -> Result<Self, ReaderError> {
        if let Some(state) = state
            && let Some(canonical) = Self::read(source, outbox, state).await
        {
            return Ok(canonical);
        }
        Self::load(source, state.map(|state| state.seen)).await
    }

    /// What was kept. It is a help and no fault: what cannot be used is not there.
    async fn read(source: &Source, outbox: &Outbox, state: &OutboxState) -> Option<Self> {
        let kept = kept::read(outbox)?;
        if kept.incarnation != state.incarnation {
            return None;
        }
        let loaded =
            Loaded::kept(source, kept.root, kept.incarnation, kept.entries).await.ok()??;
        let canonical = Self::of(source, loaded).ok()?;
        (canonical.position >= state.seen).then_some(Self { is_changed: false, ..canonical })
    }

    /// The newest, never older than `seen`.
    pub(super) async fn load(source: &Source, seen: Option<Position>) -> Result<Self, ReaderError> {
        Self::of(source, Loaded::open(source, seen, true).await?)
    }

    fn of(source: &Source, loaded: Loaded) -> Result<Self, ReaderError> {
        let root_key = loaded.root_key.clone();
        let (opened, tail, entries) = loaded.split(source)?;
        let position = opened.position;
        // The first is the Snapshot entry of the root, or of the beginning: it moves nothing.
        let known_after = entries.first().map_or(position, |first| first.position);
        let mut canonical = Self {
            opened,
            tail,
            root_key,
            position,
            known_after,
            entries: Vec::new(),
            taken: 0,
            taken_bytes: 0,
            is_whole: true,
            is_changed: true,
            is_stale: false,
        };
        canonical.entries = entries.into_iter().map(without_url).collect();
        canonical.bound();
        Ok(canonical)
    }

    /// Without snapshots there may be any number: the newest are kept.
    fn bound(&mut self) {
        let (mut bytes, mut first) = (0_usize, self.entries.len());
        for entry in self.entries.iter().rev().take(MAX_LIVE_ENTRIES) {
            bytes = bytes.saturating_add(entry.weight_bytes());
            if bytes > MAX_LIVE_ENTRY_BYTES {
                break;
            }
            first = first.saturating_sub(1);
        }
        if let Some(last) = self.entries.drain(..first).next_back() {
            (self.known_after, self.is_whole) = (last.position, false);
        }
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn incarnation(&self) -> u32 {
        self.opened.incarnation
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

    /// Takes the next entry: all of it, or nothing if that fails.
    pub(super) async fn take(
        &mut self,
        source: &Source,
        entry: EntryView,
    ) -> Result<(), ReaderError> {
        self.tail.take(source, &entry).await?;
        self.position = entry.position;
        self.taken = self.taken.saturating_add(1);
        self.taken_bytes = self.taken_bytes.saturating_add(entry.weight_bytes());
        self.entries.push(without_url(entry));
        self.is_changed = true;
        Ok(())
    }

    /// Whether it is time to look for a newer root.
    pub(super) fn wants_root(&self) -> bool {
        self.is_stale || self.taken > MAX_LIVE_ENTRIES || self.taken_bytes > MAX_LIVE_ENTRY_BYTES
    }

    /// Has the entries behind `after` as well, if they can be had.
    pub(super) async fn reach_back(&mut self, source: &Source, after: Position) -> bool {
        let (mut earlier, mut from) = (Vec::<EntryView>::new(), after);
        let mut bytes = 0_usize;
        while from < self.known_after {
            let Ok(page) = source.client.update(source.log, from).await else { return false };
            let Some(last) = page.entries.last() else { return false };
            let begins = earlier.last().and_then(EntryView::next_position);
            let first = page.entries.first().map(|first| first.position);
            if page.incarnation != self.incarnation() || (begins.is_some() && begins != first) {
                return false;
            }
            from = last.position;
            earlier.extend(page.entries.into_iter().map(without_url));
            bytes = earlier.iter().map(EntryView::weight_bytes).fold(0, usize::saturating_add);
            if earlier.len() > MAX_LIVE_ENTRIES || bytes > MAX_LIVE_ENTRY_BYTES {
                return false;
            }
        }
        let first = self.entries.first().map_or(self.known_after, |first| first.position);
        earlier.retain(|entry| entry.position < first);
        earlier.append(&mut self.entries);
        (self.entries, self.known_after, self.is_changed) = (earlier, after, true);
        self.taken_bytes = self.taken_bytes.max(bytes);
        true
    }

    /// Whether it is another one than is kept on disk.
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Reads from what is shown.
    pub(super) fn show(&mut self, shown: &mut Shown) {
        if !shown.is_read {
            (self.opened.metadata, self.opened.tail) = shown.fold.clone().finish();
            self.opened.position = self.position;
            shown.is_read = true;
        }
    }

    /// Keeps it on disk, so that it opens without a request.
    pub(super) fn keep(&mut self, outbox: &Outbox) {
        if std::mem::take(&mut self.is_changed) {
            // Of older ones, only those that the waiting edits need are there.
            let root = self.opened.root.as_ref().map_or(Position::FIRST, |root| root.position);
            let first = self.entries.partition_point(|entry| entry.position < root);
            let entries = self.entries.get(first..).filter(|_| self.is_whole);
            kept::write(outbox, self.root_key.as_deref(), self.incarnation(), entries);
        }
    }
}

/// An entry without the URL of its object: it ends within minutes, and is a permission.
fn without_url(mut entry: EntryView) -> EntryView {
    if let Some(external) = &mut entry.external_body {
        external.url = None;
    }
    entry
}
