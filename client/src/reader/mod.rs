//! Reads cells directly from snapshots. Opening a spreadsheet of any size loads only its snapshot
//! root and the log entries after the root. Chunks are loaded when their cells are requested.
//!
//! Loaded objects are cached on disk by hash ([`ChunkCache`]). The server controls access, because
//! each [`Reader::open`] sends a request.
//!
//! The client and the server share the code that interprets snapshots: `snapshot::fold` applies
//! entries, `snapshot::view` reads windows and `snapshot::cells` computes displayed values. This
//! module adds network and disk access: `opened` opens a spreadsheet, `window` reads a rectangle and
//! `whole_sheet` all cells of a sheet, both in `bands`, `diff` compares two positions, `dependents` searches formulas, `objects`
//! loads missing objects and `cache` stores them.

mod bands;
mod cache;
mod calculate;
mod dependents;
mod diff;
mod error;
mod objects;
mod opened;
mod spills;
mod trace;
mod whole_sheet;
mod window;

pub use cache::ChunkCache;
pub(crate) use cache::FOLDER as CHUNKS_FOLDER;
pub use diff::ListedDiff;
pub use error::ReaderError;
pub use trace::{Trace, TracedFormula};
pub(crate) use whole_sheet::{SheetPart, StoredBand};

use std::sync::Arc;

use cellar_api::{wire::CellsReply, wire::ProblemKind, wire::ReplyFormats};
use cellar_base::limits::MAX_READ_BEGINNINGS;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;

use crate::Spreadsheet;
pub(crate) use objects::SnapshotSource;
pub(crate) use opened::{
    EntryRetention, EntryTail, GrowableState, LoadedSpreadsheet, ReadableState,
};

/// A spreadsheet that was opened at its newest position, or at an earlier one.
///
/// All reads use the same position, unless a snapshot object is missing because a newer snapshot
/// has replaced it. In this case, a reader of the newest position switches to the one that is newest
/// now.
#[derive(Debug)]
pub struct Reader {
    source: Arc<SnapshotSource>,
    state: ReadableState,
    /// The earlier position that the caller requested.
    at: Option<Position>,
}

impl Reader {
    /// Opens a spreadsheet at its newest position. The position is at or after `min_position`. If
    /// `cache` is `None`, nothing is cached on disk.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the spreadsheet cannot be loaded.
    pub async fn open(
        spreadsheet: Spreadsheet,
        min_position: Option<Position>,
        cache: Option<Arc<ChunkCache>>,
    ) -> Result<Self, ReaderError> {
        Self::open_source(SnapshotSource::new(spreadsheet, cache), min_position).await
    }

    /// Opens a spreadsheet for [`Reader::read_sheet`]. Objects in the client's folder are read from
    /// there, but no others are stored.
    pub(crate) async fn open_whole(
        spreadsheet: &Spreadsheet,
        min_position: Option<Position>,
    ) -> Result<Self, ReaderError> {
        let source = SnapshotSource::read_only(spreadsheet.clone(), spreadsheet.cache());
        Self::open_source(source, min_position).await
    }

    /// Opens an earlier position. Returns `None` if it cannot be read from chunks: too many entries
    /// follow its snapshot, or its root is missing. The server can read it.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the spreadsheet cannot be loaded.
    pub async fn open_at(
        spreadsheet: Spreadsheet,
        at: Position,
        cache: Option<Arc<ChunkCache>>,
    ) -> Result<Option<Self>, ReaderError> {
        Self::open_source_at(SnapshotSource::new(spreadsheet, cache), at).await
    }

    /// Same for [`Reader::read_sheet`].
    pub(crate) async fn open_whole_at(
        spreadsheet: &Spreadsheet,
        at: Position,
    ) -> Result<Option<Self>, ReaderError> {
        let source = SnapshotSource::read_only(spreadsheet.clone(), spreadsheet.cache());
        Self::open_source_at(source, at).await
    }

    async fn open_source_at(
        source: SnapshotSource,
        at: Position,
    ) -> Result<Option<Self>, ReaderError> {
        let state = ReadableState::load_at(&source, at).await?;
        Ok(state.map(|state| Self { source: Arc::new(source), state, at: Some(at) }))
    }

    async fn open_source(
        source: SnapshotSource,
        min_position: Option<Position>,
    ) -> Result<Self, ReaderError> {
        let state = ReadableState::load(&source, min_position).await?;
        Ok(Self { source: Arc::new(source), state, at: None })
    }

    /// Returns the position at which cells are read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.state.position
    }

    /// Returns the table incarnation to which [`Reader::position`] belongs.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.state.incarnation
    }

    /// Returns whether there is a sheet with this name, ignoring case.
    pub(crate) fn has_sheet(&self, name: &str) -> bool {
        self.state.metadata.tabs.named(name).is_some()
    }

    /// Returns all cells of a rectangle. The result has the form of a response to `GET …/cells`,
    /// but is never split into pages. The cells are those of the sheet named `sheet`
    /// (case-insensitive), or of the first sheet if `sheet` is `None`.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the cells cannot be read, in particular a problem of kind
    /// `SheetNotFound` if the sheet does not exist.
    pub async fn cells(
        &mut self,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, ReaderError> {
        let mut beginnings_left = MAX_READ_BEGINNINGS;
        loop {
            let result = self.state.read_cells(&self.source, sheet, rectangle).await;
            let is_object_missing =
                result.as_ref().is_err_and(|error| error.unreadable_object().is_some());
            if !is_object_missing || !self.begin_again(&mut beginnings_left).await? {
                return result;
            }
        }
    }

    /// Called when an object is missing. If a newer snapshot has replaced the one with the object,
    /// switches to it and returns `true`, unless an earlier position is read. `beginnings_left`
    /// contains the beginning that failed.
    pub(crate) async fn begin_again(
        &mut self,
        beginnings_left: &mut u32,
    ) -> Result<bool, ReaderError> {
        *beginnings_left -= 1;
        Ok(self.at.is_none() && *beginnings_left > 0 && self.switch_to_newest_root().await?)
    }

    /// Loads the newest state. If it has another snapshot root, switches to the newest state and
    /// returns `true`. Otherwise, returns `false`.
    async fn switch_to_newest_root(&mut self) -> Result<bool, ReaderError> {
        let newest = ReadableState::load(&self.source, Some(self.state.position)).await?;
        let has_new_root = newest.root != self.state.root;
        if has_new_root {
            self.state = newest;
        }
        Ok(has_new_root)
    }
}

impl Spreadsheet {
    /// Opens the newest state, from which any number of windows can be read. The snapshot objects
    /// are cached in the client's folder.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the spreadsheet cannot be loaded.
    pub async fn reader(&self) -> Result<Reader, ReaderError> {
        Reader::open(self.clone(), None, self.cache()).await
    }

    /// Without a folder, snapshot objects are not cached on disk.
    pub(crate) fn cache(&self) -> Option<Arc<ChunkCache>> {
        let folder = self.client().folder().ok();
        folder.map(|folder| Arc::new(ChunkCache::new(folder)))
    }
}

impl ReadableState {
    /// `sheet_name` is `None` for the first sheet.
    pub(crate) async fn read_cells(
        &mut self,
        source: &SnapshotSource,
        sheet_name: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, ReaderError> {
        let header = self.sheet_header(sheet_name, rectangle)?;
        let cells = self.nonblank_cells(source, header.sheet, rectangle).await?;
        let extent = self.calculation.used_range(header.sheet, header.extent);
        Ok(CellsReply {
            sheet: header.sheet,
            name: header.name,
            position: self.position,
            incarnation: self.incarnation,
            extent,
            formats: header.formats.newest,
            formats_truncated: header.formats.truncated,
            cells,
            next: None,
        })
    }

    fn sheet_header(
        &self,
        sheet_name: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<SheetHeader, ReaderError> {
        self.find_sheet_header(sheet_name, rectangle).ok_or_else(|| {
            let message = format!("sheet `{}` does not exist", sheet_name.unwrap_or_default());
            ReaderError::from_problem(ProblemKind::SheetNotFound, message)
        })
    }

    fn find_sheet_header(
        &self,
        sheet_name: Option<&str>,
        rectangle: Rectangle,
    ) -> Option<SheetHeader> {
        let tabs = &self.metadata.tabs;
        let sheet = match sheet_name {
            None => *tabs.order().first()?,
            Some(sheet_name) => tabs.named(sheet_name)?,
        };
        let metadata = self.metadata.sheets.get(&sheet)?;
        Some(SheetHeader {
            sheet,
            name: tabs.name(sheet)?.to_owned(),
            extent: metadata.extent,
            formats: ReplyFormats::newest_of(metadata.formats.in_rectangle(rectangle)),
        })
    }
}

struct SheetHeader {
    sheet: SheetId,
    name: String,
    extent: Extent,
    formats: ReplyFormats,
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;

    use super::*;

    fn is_send(_: impl Send) {}

    #[test]
    fn reading_can_run_in_a_spawned_task() {
        let client = crate::Client::new("http://127.0.0.1:1", None).unwrap();
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([1; 16]));
        is_send(async move {
            let mut reader = Reader::open(client.spreadsheet(log), None, None).await?;
            reader.cells(None, Rectangle::EVERYTHING).await
        });
    }

    #[test]
    fn exports_can_run_in_a_spawned_task() {
        let client = crate::Client::new("http://127.0.0.1:1", None).unwrap();
        let spreadsheet = client.spreadsheet(LogId::from_uuid(uuid::Uuid::from_bytes([1; 16])));
        is_send(spreadsheet.export_csv("out.csv"));
        is_send(crate::export::fetch_xlsx(&spreadsheet, crate::CellsQuery::default(), |_| {}));
    }
}
