//! Opening a spreadsheet at its newest position: the newest snapshot's root, and the entries behind it.

use cellar_api::{wire::EntriesReply, wire::EntryView, wire::LoadReply, wire::ProblemKind};
use cellar_base::limits::{MAX_READ_BEGINNINGS, MAX_REPLAY_BYTES};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::WorkbookTooLarge;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::keys::{ObjectKey, parse_root_key};
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::Root;
use cellar_snapshot::view;

use super::ReaderError;
use super::objects::Source;
use crate::ClientError;

/// The state of a spreadsheet at a position.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) position: Position,
    pub(crate) incarnation: u32,
    /// All of the state but cells.
    pub(crate) metadata: WorkbookMetadata,
    pub(crate) root: Option<Root>,
    /// What the entries behind the root did.
    pub(crate) tail: FoldedLevel,
    /// What was loaded of the snapshot.
    pub(crate) objects: Objects,
}

/// The entries behind the root, as far as they were read.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) fold: Fold,
    /// The last that was read, and where the one behind it stands.
    pub(crate) last: Option<Position>,
    next: Option<Position>,
}

/// A spreadsheet that was loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) incarnation: u32,
    pub(crate) root_key: Option<String>,
    root: Option<Root>,
    objects: Objects,
    pub(crate) tail: Tail,
    /// The entries behind the root, for who keeps them.
    pub(crate) entries: Vec<EntryView>,
}

impl Opened {
    /// The newest state, never older than `seen`.
    pub(super) async fn open(source: &Source, seen: Option<Position>) -> Result<Self, ReaderError> {
        Loaded::open(source, seen, false).await?.opened(source)
    }
}

impl Loaded {
    /// The newest state, never older than `seen`; with the entries behind the root if they are to be
    /// kept. Begins again, a bounded number of times, if the spreadsheet changes so that what was begun
    /// leads nowhere.
    pub(crate) async fn open(
        source: &Source,
        seen: Option<Position>,
        keeps: bool,
    ) -> Result<Self, ReaderError> {
        let mut before = None;
        for _ in 1..MAX_READ_BEGINNINGS {
            let error = match Self::begin(source, seen, keeps).await {
                Ok(loaded) => return Ok(loaded),
                Err(error) => error,
            };
            let object = error.object();
            let may_pass = object.is_some() || matches!(error, ReaderError::Changing { .. });
            // What is missing twice is missing, not replaced.
            if !may_pass || (object.is_some() && object == before) {
                return Err(error);
            }
            before = object;
        }
        Self::begin(source, seen, keeps).await
    }

    async fn begin(
        source: &Source,
        seen: Option<Position>,
        keeps: bool,
    ) -> Result<Self, ReaderError> {
        let reply = source.client.load(source.log, seen).await?;
        let root = root(source, &reply).await?;
        let mut loaded = Self::at_root(source, reply.root, root, reply.incarnation).await?;
        let LoadReply { head, incarnation, entries, next, .. } = reply;
        let mut page = EntriesReply { head, incarnation, entries, next };
        loop {
            loaded.take(source, page.entries, keeps).await?;
            // As far as it went when this began: nobody runs after those who write faster.
            let after = page.next.filter(|_| loaded.tail.last < Some(head));
            let Some(after) = after else { break };
            if loaded.tail.last != Some(after) {
                return Err(not_understood(source, "it cuts its entries at another position"));
            }
            page = match source.client.update(source.log, after).await {
                Ok(page) if page.incarnation == incarnation => page,
                Ok(_) => return Err(changing()),
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => {
                    return Err(changing());
                }
                Err(error) => return Err(error.into()),
            };
        }
        Ok(loaded)
    }

    /// What was kept of an earlier load, as far as nothing of it has to be fetched; `None` if its root
    /// is not kept any more.
    pub(crate) async fn kept(
        source: &Source,
        root_key: Option<String>,
        incarnation: u32,
        entries: Vec<EntryView>,
    ) -> Result<Option<Self>, ReaderError> {
        let root = match &root_key {
            None => None,
            Some(key) => match source.kept_root(named_root(source, key)?) {
                None => return Ok(None),
                root => root,
            },
        };
        let mut loaded = Self::at_root(source, root_key, root, incarnation).await?;
        loaded.take(source, entries, true).await?;
        Ok(Some(loaded))
    }

    async fn at_root(
        source: &Source,
        root_key: Option<String>,
        root: Option<Root>,
        incarnation: u32,
    ) -> Result<Self, ReaderError> {
        let mut objects = Objects::default();
        let metadata = match &root {
            None => WorkbookMetadata::default(),
            Some(root) => {
                source.ready(&mut objects, |objects| view::metadata(root, objects)).await?
            }
        };
        let next = Some(root.as_ref().map_or(Position::FIRST, |root| root.position));
        let tail = Tail { fold: Fold::new(metadata), last: None, next };
        Ok(Self { incarnation, root_key, root, objects, tail, entries: Vec::new() })
    }

    async fn take(
        &mut self,
        source: &Source,
        entries: Vec<EntryView>,
        keeps: bool,
    ) -> Result<(), ReaderError> {
        for entry in entries {
            self.tail.take(source, &entry).await?;
            if keeps {
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    fn opened(self, source: &Source) -> Result<Opened, ReaderError> {
        let Self { incarnation, root, objects, tail, .. } = self;
        let position = tail.position(source)?;
        let (metadata, tail) = tail.fold.finish();
        Ok(Opened { position, incarnation, metadata, root, tail, objects })
    }

    /// The state to read from, and the tail to go on with.
    pub(crate) fn split(
        self,
        source: &Source,
    ) -> Result<(Opened, Tail, Vec<EntryView>), ReaderError> {
        let Self { incarnation, root, objects, tail, entries, .. } = self;
        let position = tail.position(source)?;
        let (metadata, folded) = tail.fold.clone().finish();
        Ok((Opened { position, incarnation, metadata, root, tail: folded, objects }, tail, entries))
    }
}

impl Tail {
    fn position(&self, source: &Source) -> Result<Position, ReaderError> {
        self.last.ok_or_else(|| not_understood(source, "it has no entries"))
    }

    /// Folds the next entry: all of it, or nothing if that fails.
    pub(crate) async fn take(
        &mut self,
        source: &Source,
        entry: &EntryView,
    ) -> Result<(), ReaderError> {
        if Some(entry.position) != self.next {
            let why = format!("its entry {} stands where another should", entry.position);
            return Err(not_understood(source, why));
        }
        let applied = match &entry.external_body {
            None => self.apply(entry.mutations.iter().map(|mutation| mutation.effective())),
            Some(external) => {
                let mutations = source.large_entry(entry.position, external).await?;
                self.apply(mutations.iter().map(|mutation| mutation.effective()))
            }
        };
        applied.map_err(|error| not_understood(source, error.to_string()))?;
        (self.last, self.next) = (Some(entry.position), entry.next_position());
        if self.fold.memory_bytes() > MAX_REPLAY_BYTES {
            let why = WorkbookTooLarge.to_string();
            return Err(ReaderError::refused(ProblemKind::RangeTooLarge, why));
        }
        Ok(())
    }

    fn apply<'a>(
        &mut self,
        mut committed: impl Iterator<Item = &'a [Operation]>,
    ) -> Result<(), SnapshotError> {
        committed.try_for_each(|operations| self.fold.apply_operations(operations))
    }
}

/// The root that a load names.
async fn root(source: &Source, loaded: &LoadReply) -> Result<Option<Root>, ReaderError> {
    let Some(key) = &loaded.root else { return Ok(None) };
    let named = named_root(source, key)?;
    let fault = || not_understood(source, "it gives no URL of the root");
    let url = loaded.root_url.as_deref().ok_or_else(fault)?;
    Ok(Some(source.root(named, url).await?))
}

/// Of a fork, the objects are those of its family.
fn named_root(source: &Source, key: &str) -> Result<ObjectKey, ReaderError> {
    let fault = |_| not_understood(source, "it names another thing than a root");
    parse_root_key(key).map_err(fault)
}

fn not_understood(source: &Source, why: impl Into<String>) -> ReaderError {
    let url = source.client.url().to_owned();
    ClientError::NotUnderstood { url, why: why.into() }.into()
}

fn changing() -> ReaderError {
    ReaderError::Changing { beginnings: MAX_READ_BEGINNINGS }
}
