//! The state of a spreadsheet at a position, read from the nearest snapshot and the entries behind it:
//! only the chunks of the cells that are asked for are loaded.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::cell::{Cell, ErrorCode, Value};
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{Workbook, WorkbookTooLarge};
use cellar_snapshot::cells::{TileCell, cells, held};
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::Root;
use cellar_snapshot::tile::Tile;
use cellar_snapshot::touched::Touched;
use cellar_snapshot::view;

use super::committed::Reading;
use super::{LogError, Logs};
use crate::snapshots::{ObjectFault, ObjectStore};

/// Tiles of one read that stay decoded.
const MAX_VIEW_TILES: usize = 64;

/// The state at a position.
pub struct View {
    /// Where the objects of its snapshots are.
    family: LogId,
    /// The position.
    pub position: Position,
    /// The incarnation there.
    pub incarnation: u32,
    /// All of the state but cells.
    pub metadata: WorkbookMetadata,
    root: Option<Arc<Root>>,
    tail: FoldedLevel,
    objects: Objects,
    store: ObjectStore,
}

/// A text that is an object of its own.
pub(super) enum LongText {
    /// All of it.
    Whole(String),
    /// It is gone or damaged: why.
    Lost(ObjectFault),
}

impl Logs {
    /// The state at `at`, or the newest, which is never older than `seen`.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::TooLarge`] if there is too
    /// much behind the last snapshot, [`LogError::Snapshot`], [`LogError::Corrupt`],
    /// [`LogError::Store`].
    pub async fn view(
        &self,
        log: LogId,
        at: Option<Position>,
        seen: Option<Position>,
    ) -> Result<View, LogError> {
        let root = self.root_for(log, at, seen).await?;
        let family = self.family(log).await?;
        let mut objects = Objects::default();
        let metadata = match &root {
            None => WorkbookMetadata::default(),
            Some(root) => {
                let ask = |objects: &Objects| view::metadata(root, objects);
                let metadata = self.objects.ready(family, &mut objects, ask).await;
                self.roots.heed(log, metadata.map_err(LogError::from))?
            }
        };
        let begin = root.as_ref().map(|root| root.position);
        let mut fold = Fold::new(metadata);
        let mut reading = Reading::from(begin.unwrap_or(Position::FIRST));
        let seen = seen.max(begin);
        self.committed(log, &mut reading, at, seen, |entry, committed| {
            if Some(entry.position) != begin {
                for operations in committed {
                    let applied = fold.apply_operations(operations);
                    applied.map_err(|_| LogError::Corrupt { at: entry.position })?;
                }
            }
            if fold.weight_bytes() > MAX_REPLAY_BYTES {
                return Err(LogError::TooLarge(WorkbookTooLarge));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let (position, incarnation) = reading.newest.ok_or(LogError::NotFound)?;
        if let Some(at) = at.filter(|at| position < *at) {
            return Err(LogError::NoSuchPosition { at, newest: position });
        }
        let (metadata, tail) = fold.finish();
        let store = self.objects.clone();
        Ok(View { family, position, incarnation, metadata, root, tail, objects, store })
    }
}

impl View {
    /// The cells of a window that hold something, by row and column, texts whole; those that are lost are
    /// errors.
    ///
    /// # Errors
    /// [`LogError::Snapshot`], [`LogError::Store`].
    pub async fn cells(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Vec<TileCell>, LogError> {
        let tile = self.tile(sheet, window).await?;
        let Some(own) = self.metadata.sheets.get(&sheet) else { return Ok(Vec::new()) };
        let found = cells(&tile, &own.formats);
        self.with_long_texts(found).await
    }

    /// The cells of a window as the sheet holds them: each with its own format only.
    pub(super) async fn held(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Vec<((u32, u32), Cell)>, LogError> {
        let tile = self.tile(sheet, window).await?;
        let found = self.with_long_texts(held(&tile).collect()).await?;
        Ok(found.into_iter().map(|placed| ((placed.row, placed.column), placed.cell)).collect())
    }

    /// The state with only those cells that were touched.
    pub(super) async fn touched(
        &mut self,
        touched: &BTreeMap<SheetId, Touched>,
    ) -> Result<Workbook, LogError> {
        let mut workbook = Workbook::from_metadata(&self.metadata);
        for (sheet, touched) in touched {
            for part in touched.windows() {
                let mut found = self.held(*sheet, &part.window).await?;
                found.retain(|((row, column), _)| !part.partly || touched.has(*row, *column));
                workbook.fill(*sheet, found)?;
            }
        }
        Ok(workbook)
    }

    /// A view of nothing but a level.
    pub(super) fn of_level(&self, level: FoldedLevel) -> Self {
        Self {
            family: self.family,
            position: self.position,
            incarnation: self.incarnation,
            metadata: self.metadata.clone(),
            root: None,
            tail: level,
            objects: Objects::default(),
            store: self.store.clone(),
        }
    }

    /// Whether a sheet was imported behind the snapshot.
    pub(super) fn has_imported(&self, sheet: SheetId) -> bool {
        self.tail.imported.sheet(sheet).is_some()
    }

    pub(super) async fn tile(&mut self, sheet: SheetId, window: &Window) -> Result<Tile, LogError> {
        if self.objects.tile_count() > MAX_VIEW_TILES {
            self.objects.drop_tiles();
        }
        let (root, tail) = (self.root.as_deref(), &self.tail);
        let ask = |objects: &Objects| view::window(root, tail, sheet, window, objects);
        Ok(self.store.ready(self.family, &mut self.objects, ask).await?)
    }

    async fn with_long_texts(&self, mut cells: Vec<TileCell>) -> Result<Vec<TileCell>, LogError> {
        for placed in &mut cells {
            if let Some(hash) = placed.long_text {
                placed.cell.value = match self.long_text(hash).await? {
                    LongText::Whole(text) => Value::Text(text),
                    LongText::Lost(fault) => {
                        let (row, column) = (placed.row, placed.column);
                        tracing::error!(family = %self.family, row, column, %fault, "a text is lost");
                        Value::Error(ErrorCode::Lost)
                    }
                };
            }
        }
        Ok(cells)
    }

    /// A long text, from an object of its own or from an entry after the snapshot. A lost text is no error:
    /// it concerns one cell, and all others can be read.
    pub(super) async fn long_text(&self, hash: [u8; 32]) -> Result<LongText, LogError> {
        if let Some(text) = self.tail.long_texts.iter().find(|text| text.hash == hash) {
            return Ok(LongText::Whole(text.text.clone()));
        }
        match self.store.text(self.family, ChunkHash(hash)).await {
            Ok(text) => Ok(LongText::Whole(text)),
            Err(fault @ (ObjectFault::Missing { .. } | ObjectFault::Damaged { .. })) => {
                Ok(LongText::Lost(fault))
            }
            // It may be read later.
            Err(fault @ ObjectFault::Store(_)) => Err(fault.into()),
        }
    }
}
