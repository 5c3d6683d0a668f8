//! Loads the newest state of a spreadsheet, which consists of the newest snapshot root and the log
//! entries after it.

use cellar_api::{wire::EntriesReply, wire::EntryView, wire::LoadReply, wire::ProblemKind};
use cellar_base::limits::{MAX_READ_BEGINNINGS, MAX_REPLAY_BYTES};
use cellar_base::position::Position;
use cellar_calculation::KeptCalculation;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::workbook::WorkbookTooLarge;
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::keys::{ObjectKey, parse_root_key};
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::Root;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::SnapshotSource;
use crate::ItemStream;

#[derive(Debug)]
pub(crate) struct ReadableState {
    pub(crate) position: Position,
    pub(crate) incarnation: u32,
    pub(crate) metadata: WorkbookMetadata,
    pub(crate) root: Option<Root>,
    /// The combined effect of the log entries after the snapshot root.
    pub(crate) tail: FoldedLevel,
    pub(crate) objects: Objects,
    /// Time of the entry at `position`, in seconds since the Unix epoch.
    pub(crate) created_s: u64,
    /// Results of formulas.
    pub(crate) calculation: KeptCalculation,
}

/// The combined effect of the log entries after the snapshot root. Further entries can be applied.
#[derive(Debug)]
pub(crate) struct EntryTail {
    pub(crate) fold: Fold,
    last_position: Option<Position>,
    /// Time of the last entry, in seconds since the Unix epoch.
    pub(crate) last_created_s: u64,
    /// Position that the next entry must have.
    next_position: Option<Position>,
}

#[derive(Debug)]
pub(crate) struct LoadedSpreadsheet {
    incarnation: u32,
    pub(crate) root_key: Option<String>,
    root: Option<Root>,
    objects: Objects,
    tail: EntryTail,
    /// The log entries at and after the position of the snapshot root. Empty unless the caller
    /// requested to keep them.
    entries: Vec<EntryView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryRetention {
    KeepEntries,
    DropEntries,
}

#[derive(Debug)]
pub(crate) struct GrowableState {
    pub(crate) readable: ReadableState,
    pub(crate) tail: EntryTail,
    pub(crate) entries: Vec<EntryView>,
}

impl ReadableState {
    /// The position of the state is at or after `min_position`.
    pub(super) async fn load(
        source: &SnapshotSource,
        min_position: Option<Position>,
    ) -> Result<Self, ReaderError> {
        let loaded =
            LoadedSpreadsheet::load(source, min_position, EntryRetention::DropEntries).await?;
        loaded.into_readable_state(source)
    }

    /// Returns the state at an earlier position, or `None` if too many entries follow its snapshot, or
    /// if an object of the root is missing.
    pub(super) async fn load_at(
        source: &SnapshotSource,
        at: Position,
    ) -> Result<Option<Self>, ReaderError> {
        Self::try_load_at(source, at).await.or_else(ReaderError::none_if_unreadable)
    }

    async fn try_load_at(
        source: &SnapshotSource,
        at: Position,
    ) -> Result<Option<Self>, ReaderError> {
        let reply = source.spreadsheet.load_at(at).await?;
        if reply.next.is_some() {
            return Ok(None);
        }
        let root = load_root(source, &reply).await?;
        let LoadReply { root: root_key, incarnation, entries, .. } = reply;
        let mut loaded =
            LoadedSpreadsheet::start_at_root(source, root_key, root, incarnation).await?;
        loaded.apply_entries(source, entries, EntryRetention::DropEntries).await?;
        loaded.check_reaches(at)?.into_readable_state(source).map(Some)
    }
}

impl LoadedSpreadsheet {
    /// The position of the state is at or after `min_position`. Loading starts over if the snapshot
    /// is replaced or the tables are restored in the meantime, if entries are appended much faster
    /// than they are loaded, or if the server returns fewer entries than it announced. At most
    /// `MAX_READ_BEGINNINGS` attempts are made.
    pub(crate) async fn load(
        source: &SnapshotSource,
        min_position: Option<Position>,
        retention: EntryRetention,
    ) -> Result<Self, ReaderError> {
        let mut previous_object = None;
        let mut attempts_left = MAX_READ_BEGINNINGS;
        loop {
            attempts_left -= 1;
            let error = match Self::try_load(source, min_position, retention).await {
                Ok(loaded) => return Ok(loaded),
                Err(error) => error,
            };
            let unreadable_object = error.unreadable_object();
            let can_retry = match &unreadable_object {
                // If the same object is missing again, it was not replaced by a newer snapshot.
                Some(_) => unreadable_object != previous_object,
                None => {
                    matches!(error, ReaderError::Changing { .. } | ReaderError::Incomplete { .. })
                }
            };
            if !can_retry || attempts_left == 0 {
                return Err(error);
            }
            previous_object = unreadable_object;
        }
    }

    async fn try_load(
        source: &SnapshotSource,
        min_position: Option<Position>,
        retention: EntryRetention,
    ) -> Result<Self, ReaderError> {
        let reply = source.spreadsheet.load(min_position).await?;
        let root = load_root(source, &reply).await?;
        let LoadReply { root: root_key, head, incarnation, entries, next, .. } = reply;
        let mut loaded = Self::start_at_root(source, root_key, root, incarnation).await?;
        loaded.apply_entries(source, entries, retention).await?;
        let Some(after) = next else { return loaded.check_reaches(head) };
        if loaded.tail.last_position != Some(after) {
            return Err(invalid_reply(source, "`next` is not the position of the last entry"));
        }
        let mut pages = source.spreadsheet.entry_pages(after);
        // Stop at the position that was the newest when loading began. Otherwise, loading might
        // never end while another client keeps appending entries.
        while loaded.tail.last_position < Some(head) {
            let Some(entries) = load_next_entries(&mut pages, incarnation).await? else { break };
            loaded.apply_entries(source, entries, retention).await?;
        }
        loaded.check_reaches(head)
    }

    fn check_reaches(self, head: Position) -> Result<Self, ReaderError> {
        match self.tail.last_position {
            Some(reached) if reached < head => Err(ReaderError::Incomplete { reached, head }),
            _ => Ok(self),
        }
    }

    /// Returns `None` if the snapshot root is no longer cached. The bodies of large entries are
    /// downloaded if they are not cached.
    pub(crate) async fn from_cache(
        source: &SnapshotSource,
        root_key: Option<String>,
        incarnation: u32,
        entries: Vec<EntryView>,
    ) -> Result<Option<Self>, ReaderError> {
        let root = match &root_key {
            None => None,
            Some(key) => {
                let object_key = parse_key(source, key)?;
                let Some(root) = source.cached_root(object_key) else { return Ok(None) };
                Some(root)
            }
        };
        let mut loaded = Self::start_at_root(source, root_key, root, incarnation).await?;
        loaded.apply_entries(source, entries, EntryRetention::KeepEntries).await?;
        Ok(Some(loaded))
    }

    /// Creates the state at a snapshot root, or at the start of the log if there is no root. Log
    /// entries from this position on can then be applied.
    async fn start_at_root(
        source: &SnapshotSource,
        root_key: Option<String>,
        root: Option<Root>,
        incarnation: u32,
    ) -> Result<Self, ReaderError> {
        let mut objects = Objects::default();
        let metadata = match &root {
            None => WorkbookMetadata::default(),
            Some(root) => {
                let read_metadata = |objects: &Objects| view::read_metadata(root, objects);
                source.load_until_ready(&mut objects, read_metadata).await?
            }
        };
        let first_position = root.as_ref().map_or(Position::FIRST, |root| root.position);
        let tail = EntryTail {
            fold: Fold::new(metadata),
            last_position: None,
            last_created_s: 0,
            next_position: Some(first_position),
        };
        Ok(Self { incarnation, root_key, root, objects, tail, entries: Vec::new() })
    }

    async fn apply_entries(
        &mut self,
        source: &SnapshotSource,
        entries: Vec<EntryView>,
        retention: EntryRetention,
    ) -> Result<(), ReaderError> {
        for entry in entries {
            self.tail.apply_entry(source, &entry).await?;
            if retention == EntryRetention::KeepEntries {
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    fn into_readable_state(self, source: &SnapshotSource) -> Result<ReadableState, ReaderError> {
        let Self { incarnation, root, objects, tail, .. } = self;
        let position = tail.position(source)?;
        let created_s = tail.last_created_s;
        let (metadata, tail) = tail.fold.finish();
        Ok(ReadableState {
            position,
            incarnation,
            metadata,
            root,
            tail,
            objects,
            created_s,
            calculation: KeptCalculation::None,
        })
    }

    pub(crate) fn into_growable_state(
        self,
        source: &SnapshotSource,
    ) -> Result<GrowableState, ReaderError> {
        let Self { incarnation, root, objects, tail, entries, .. } = self;
        let position = tail.position(source)?;
        let (metadata, folded_tail) = tail.fold.clone().finish();
        let readable = ReadableState {
            position,
            incarnation,
            metadata,
            root,
            tail: folded_tail,
            objects,
            created_s: tail.last_created_s,
            calculation: KeptCalculation::None,
        };
        Ok(GrowableState { readable, tail, entries })
    }
}

impl EntryTail {
    /// Fails if no entry was applied, because a response without entries is invalid.
    fn position(&self, source: &SnapshotSource) -> Result<Position, ReaderError> {
        self.last_position.ok_or_else(|| invalid_reply(source, "the reply has no entries"))
    }

    /// Nothing changes if the entry is not the next one or its body cannot be loaded.
    pub(crate) async fn apply_entry(
        &mut self,
        source: &SnapshotSource,
        entry: &EntryView,
    ) -> Result<(), ReaderError> {
        if Some(entry.position) != self.next_position {
            let why = format!("entry {} is out of order", entry.position);
            return Err(invalid_reply(source, why));
        }
        let mutations = source.mutations_of(entry).await?;
        for mutation in mutations.iter() {
            self.fold
                .apply_operations(mutation.committed_operations())
                .map_err(|error| invalid_reply(source, error.to_string()))?;
        }
        self.last_position = Some(entry.position);
        self.last_created_s = entry.created_s;
        self.next_position = entry.next_position();
        if self.fold.memory_bytes() > MAX_REPLAY_BYTES {
            let why = WorkbookTooLarge.to_string();
            return Err(ReaderError::from_problem(ProblemKind::RangeTooLarge, why));
        }
        Ok(())
    }
}

/// Returns `None` after the last page. Returns [`ReaderError::Changing`] if the tables were
/// restored since loading began, or if the requested entries are no longer available.
async fn load_next_entries(
    pages: &mut ItemStream<EntriesReply>,
    incarnation: u32,
) -> Result<Option<Vec<EntryView>>, ReaderError> {
    let changing = ReaderError::Changing { attempts: MAX_READ_BEGINNINGS };
    match pages.try_next().await {
        Ok(Some(page)) if page.incarnation != incarnation => Err(changing),
        Ok(page) => Ok(page.map(|page| page.entries)),
        Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => Err(changing),
        Err(error) => Err(error.into()),
    }
}

/// Returns `None` if the spreadsheet has no snapshot.
async fn load_root(
    source: &SnapshotSource,
    reply: &LoadReply,
) -> Result<Option<Root>, ReaderError> {
    let Some(key) = &reply.root else { return Ok(None) };
    let object_key = parse_key(source, key)?;
    let Some(url) = reply.root_url.as_deref() else {
        return Err(invalid_reply(source, "the root has no URL"));
    };
    Ok(Some(source.load_root(object_key, url).await?))
}

/// The key of a fork's root may contain the id of the spreadsheet from which the fork descends.
fn parse_key(source: &SnapshotSource, key: &str) -> Result<ObjectKey, ReaderError> {
    parse_root_key(key)
        .map_err(|_| invalid_reply(source, format!("`{key}` is not the key of a snapshot root")))
}

pub(super) fn invalid_reply(source: &SnapshotSource, why: impl Into<String>) -> ReaderError {
    source.spreadsheet.client().unexpected_reply(why).into()
}
