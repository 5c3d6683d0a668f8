//! Opening a spreadsheet at its newest position: the newest snapshot's root, and the entries behind it.

use cellar_core::api::{EntryKind, EntryView, LoadReply, ProblemKind, UpdateReply};
use cellar_core::limits::{MAX_READ_BEGINNINGS, MAX_REPLAY_BYTES};
use cellar_core::operation::Operation;
use cellar_core::position::Position;
use cellar_core::snapshot::fold::{Fold, FoldedLevel};
use cellar_core::snapshot::keys::parse_root_key;
use cellar_core::snapshot::objects::Objects;
use cellar_core::snapshot::outline::Outline;
use cellar_core::snapshot::root::Root;
use cellar_core::snapshot::view;
use cellar_core::workbook::WorkbookTooLarge;

use super::ReaderError;
use super::objects::Source;
use crate::ClientError;

/// The state of a spreadsheet at a position.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) position: Position,
    pub(super) epoch: u32,
    /// All of the state but cells.
    pub(super) outline: Outline,
    pub(super) root: Option<Root>,
    /// What the entries behind the root did.
    pub(super) tail: FoldedLevel,
    /// What was loaded of the snapshot.
    pub(super) objects: Objects,
}

/// The entries behind the root, as far as they were read.
struct Tail {
    fold: Fold,
    /// The last that was read, and where the one behind it stands.
    last: Option<Position>,
    next: Option<Position>,
}

impl Opened {
    /// The newest state, never older than `seen`. Begins again, a bounded number of times, if the
    /// spreadsheet changes so that what was begun leads nowhere.
    pub(super) async fn open(source: &Source, seen: Option<Position>) -> Result<Self, ReaderError> {
        let mut before = None;
        for _ in 1..MAX_READ_BEGINNINGS {
            let error = match Self::begin(source, seen).await {
                Ok(opened) => return Ok(opened),
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
        Self::begin(source, seen).await
    }

    async fn begin(source: &Source, seen: Option<Position>) -> Result<Self, ReaderError> {
        let loaded = source.client.load(source.log, seen).await?;
        let root = root(source, &loaded).await?;
        let mut objects = Objects::default();
        let outline = match &root {
            None => Outline::default(),
            Some(root) => {
                source.ready(&mut objects, |objects| view::outline(root, objects)).await?
            }
        };
        let next = Some(root.as_ref().map_or(Position::FIRST, |root| root.position));
        let mut tail = Tail { fold: Fold::new(outline), last: None, next };
        let LoadReply { head, epoch, entries, next, .. } = loaded;
        let mut page = UpdateReply { head, epoch, entries, next };
        loop {
            tail.take(source, &page).await?;
            // As far as it went when this began: nobody runs after those who write faster.
            let after = page.next.filter(|_| tail.last < Some(head));
            let Some(after) = after else { break };
            if tail.last != Some(after) {
                return Err(not_understood(source, "it cuts its entries at another position"));
            }
            page = match source.client.update(source.log, after).await {
                Ok(page) if page.epoch == epoch => page,
                Ok(_) => return Err(changing()),
                Err(error) if error.problem_kind() == Some(ProblemKind::Reload) => {
                    return Err(changing());
                }
                Err(error) => return Err(error.into()),
            };
        }
        let nothing = || not_understood(source, "it has no entries");
        let position = tail.last.ok_or_else(nothing)?;
        let (outline, tail) = tail.fold.finish();
        Ok(Self { position, epoch, outline, root, tail, objects })
    }
}

impl Tail {
    /// Folds a page of entries.
    async fn take(&mut self, source: &Source, page: &UpdateReply) -> Result<(), ReaderError> {
        for entry in &page.entries {
            if Some(entry.position) != self.next {
                let why = format!("its entry {} stands where another should", entry.position);
                return Err(not_understood(source, why));
            }
            match &entry.external {
                None => self.apply(entry.mutations.iter().map(|mutation| mutation.effective())),
                Some(external) => {
                    let mutations = source.large_entry(entry.position, external).await?;
                    self.apply(mutations.iter().map(|mutation| mutation.effective()));
                }
            }
            if self.fold.weight_bytes() > MAX_REPLAY_BYTES {
                let why = WorkbookTooLarge.to_string();
                return Err(ReaderError::refused(ProblemKind::RangeTooLarge, why));
            }
            (self.last, self.next) = (Some(entry.position), behind(entry));
        }
        Ok(())
    }

    fn apply<'a>(&mut self, committed: impl Iterator<Item = &'a [Operation]>) {
        committed.for_each(|operations| self.fold.apply_operations(operations));
    }
}

/// Where the entry behind an entry stands.
fn behind(entry: &EntryView) -> Option<Position> {
    match entry.kind {
        EntryKind::EndSegment => entry.position.next_segment(),
        EntryKind::Snapshot | EntryKind::Edits => entry.position.next_in_segment(),
    }
}

/// The root that a load names.
async fn root(source: &Source, loaded: &LoadReply) -> Result<Option<Root>, ReaderError> {
    let Some(key) = &loaded.root else { return Ok(None) };
    let fault = |why: &str| not_understood(source, why);
    // Of a fork, the objects are those of its family.
    let named = parse_root_key(key).ok();
    let named = named.ok_or_else(|| fault("it names another thing than a root"))?;
    let url = loaded.root_url.as_deref().ok_or_else(|| fault("it gives no URL of the root"))?;
    Ok(Some(source.root(named, url).await?))
}

fn not_understood(source: &Source, why: impl Into<String>) -> ReaderError {
    let url = source.client.url().to_owned();
    ClientError::NotUnderstood { url, why: why.into() }.into()
}

fn changing() -> ReaderError {
    ReaderError::Changing { beginnings: MAX_READ_BEGINNINGS }
}
