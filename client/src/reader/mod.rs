//! Reads cells directly from snapshots. Opening a spreadsheet of any size loads only its snapshot
//! root and the log entries after the root. Chunks are loaded when their cells are requested.
//!
//! Loaded objects are cached on disk by hash ([`ChunkCache`]). Access is controlled by the server,
//! because each [`Reader::open`] sends a request.
//!
//! The client and the server share the code that interprets snapshots: `snapshot::fold` applies
//! entries, `snapshot::view` reads windows and `snapshot::cells` computes displayed values. This
//! module adds network and disk access: `opened` opens a spreadsheet, `window` reads a rectangle in
//! bands, `objects` loads missing objects and `cache` stores them.

mod cache;
mod error;
mod objects;
mod opened;
mod window;

pub use cache::ChunkCache;
pub use error::ReaderError;

use std::sync::Arc;

use cellar_api::{wire::CellsReply, wire::ProblemKind, wire::ReplyFormats};
use cellar_base::limits::MAX_READ_BEGINNINGS;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;

use crate::Spreadsheet;
pub(crate) use objects::SnapshotSource;
pub(crate) use opened::{EntryTail, LoadedSpreadsheet, ReadableState};

/// A spreadsheet opened at its newest position.
///
/// The position stays fixed as long as all snapshot objects exist. If an object is missing because
/// a newer snapshot has replaced it, the reader advances to the newest position.
#[derive(Debug)]
pub struct Reader {
    source: SnapshotSource,
    state: ReadableState,
}

impl Reader {
    /// Opens a spreadsheet at its newest position, which is at or after `min_position`. If `cache`
    /// is `None`, each reader downloads all objects.
    ///
    /// # Errors
    ///
    /// Returns a [`ReaderError`] if the spreadsheet cannot be loaded.
    pub async fn open(
        spreadsheet: Spreadsheet,
        min_position: Option<Position>,
        cache: Option<Arc<ChunkCache>>,
    ) -> Result<Self, ReaderError> {
        let source = SnapshotSource::new(spreadsheet, cache);
        let state = ReadableState::load(&source, min_position).await?;
        Ok(Self { source, state })
    }

    /// Returns the position at which cells are read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.state.position
    }

    /// Returns the table incarnation of [`Reader::position`].
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.state.incarnation
    }

    /// Returns the cells of a rectangle like `GET …/cells`, but as a single page. Reads the sheet
    /// named `sheet` (case-insensitive), or the first sheet if `sheet` is `None`.
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
        for _ in 1..MAX_READ_BEGINNINGS {
            match self.state.read_cells(&self.source, sheet, rectangle).await {
                Err(error) if error.object().is_some() => {
                    if !self.switch_to_newest_root().await? {
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
        self.state.read_cells(&self.source, sheet, rectangle).await
    }

    /// Loads the newest state. If the snapshot root has changed, switches to the new state and
    /// returns `true`.
    async fn switch_to_newest_root(&mut self) -> Result<bool, ReaderError> {
        let newest = ReadableState::load(&self.source, Some(self.state.position)).await?;
        let has_new_root = newest.root != self.state.root;
        if has_new_root {
            self.state = newest;
        }
        Ok(has_new_root)
    }
}

impl ReadableState {
    /// Returns the cells of a rectangle. Reads the sheet named `sheet`, or the first sheet if
    /// `sheet` is `None`.
    pub(crate) async fn read_cells(
        &mut self,
        source: &SnapshotSource,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, ReaderError> {
        let (id, name, extent, formats) =
            self.sheet_metadata(sheet, rectangle).ok_or_else(|| {
                let why = format!("sheet `{}` does not exist", sheet.unwrap_or_default());
                ReaderError::from_problem(ProblemKind::SheetNotFound, why)
            })?;
        let cells = self.nonblank_cells(source, id, rectangle).await?;
        Ok(CellsReply {
            sheet: id,
            name,
            position: self.position,
            incarnation: self.incarnation,
            extent,
            formats: formats.newest,
            formats_truncated: formats.truncated,
            cells,
            next: None,
        })
    }

    /// Returns a sheet's id, name and extent, and the formats within a rectangle.
    fn sheet_metadata(
        &self,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Option<(SheetId, String, Extent, ReplyFormats)> {
        let tabs = &self.metadata.tabs;
        let id = match sheet {
            None => *tabs.order().first()?,
            Some(name) => tabs.named(name)?,
        };
        let name = tabs.name(id)?.to_owned();
        let metadata = self.metadata.sheets.get(&id)?;
        let formats = ReplyFormats::newest_of(metadata.formats.in_rectangle(rectangle));
        Some((id, name, metadata.extent, formats))
    }
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
}
