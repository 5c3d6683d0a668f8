//! Reads the state of a spreadsheet at a position from the nearest snapshot and the entries after
//! it. Loads only chunks that contain requested cells.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::{StateCell, Workbook, WorkbookTooLarge};
use cellar_snapshot::cells::{StoredTileCell, TileCell, stored_cells, visible_cells};
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::{Window, with_formula_texts};
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::Root;
use cellar_snapshot::tile::Tile;
use cellar_snapshot::touched::TouchedCells;
use cellar_snapshot::view;
use cellar_snapshot::{WindowEstimate, estimate_window};

use super::committed::{EntryCursor, ReadUntil};
use super::kept_calculations::{CalculationKey, ViewCalculation};
use super::{LogError, LogHead, Logs};
use crate::snapshots::{ObjectFault, ObjectStore};

/// Maximum number of decoded tiles that a view keeps in memory. If a read exceeds it, the next read
/// first drops all of them.
const MAX_VIEW_TILES: usize = 64;

/// Cells of a state with their row and column indexes.
pub(super) type StateCells = Vec<((u32, u32), StateCell)>;

/// State of a spreadsheet at a position. Cells are loaded when they are read.
pub struct View {
    /// Original log of the fork family. Snapshot objects are stored under its id.
    pub(super) family: LogId,
    pub(super) log: LogId,
    pub position: Position,
    /// How many times the tables had been restored when the entry at `position` was written.
    pub incarnation: u32,
    /// The state without cells.
    pub metadata: WorkbookMetadata,
    pub(super) root: Option<Arc<Root>>,
    pub(super) newest_level: FoldedLevel,
    pub(super) objects: Objects,
    pub(super) store: ObjectStore,
    /// Time of the entry at `position`, in seconds since the Unix epoch.
    pub(super) created_s: u64,
    /// Results of formulas.
    pub(super) calculation: ViewCalculation,
}

pub(super) enum LongText {
    Whole(String),
    Lost(ObjectFault),
}

impl Logs {
    /// Returns the state at `requested_position`. If `requested_position` is `None`, returns the
    /// latest state, and `min_position` is a position that the log is known to contain.
    ///
    /// # Errors
    ///
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::NoSuchPosition`] if the log has no entry at `requested_position`.
    /// - [`LogError::TooLarge`] if the entries after the last snapshot are too large.
    /// - [`LogError::Snapshot`] if a snapshot object is missing or damaged.
    /// - [`LogError::Corrupt`] or [`LogError::Store`] if an entry cannot be read.
    pub async fn open_view(
        &self,
        log_id: LogId,
        requested_position: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<View, LogError> {
        let root = self.find_root_for_read(log_id, requested_position, min_position).await?;
        let family = self.family(log_id).await?;
        let mut objects = Objects::default();
        let root_metadata = match &root {
            None => WorkbookMetadata::default(),
            Some(root) => self.root_metadata(log_id, family, root, &mut objects).await?,
        };
        let root_position = root.as_ref().map(|root| root.position);
        let mut fold = Fold::new(root_metadata);
        let until = ReadUntil::requested(requested_position, min_position.max(root_position));
        let LogHead { head: position, incarnation, created_s } =
            self.fold_entries_after(log_id, root_position, until, &mut fold).await?;
        if let Some(at) = requested_position
            && position < at
        {
            return Err(LogError::NoSuchPosition { at, newest: position });
        }
        let (metadata, newest_level) = fold.finish();
        let store = self.objects.clone();
        let key = CalculationKey { log: log_id, position, incarnation, root: root_position };
        Ok(View {
            family,
            log: log_id,
            position,
            incarnation,
            metadata,
            root,
            newest_level,
            objects,
            store,
            created_s,
            calculation: self.calculations.take(key),
        })
    }

    /// If there is no snapshot, folds all entries from the first one on. Returns the position of
    /// the last entry.
    async fn fold_entries_after(
        &self,
        log_id: LogId,
        root_position: Option<Position>,
        until: ReadUntil,
        fold: &mut Fold,
    ) -> Result<LogHead, LogError> {
        let mut cursor = EntryCursor::from(root_position.unwrap_or(Position::FIRST));
        self.visit_committed(log_id, &mut cursor, until, |entry, mutations| {
            let is_in_snapshot = Some(entry.position) == root_position;
            if !is_in_snapshot {
                apply_mutations(fold, entry, mutations)?;
            }
            if fold.memory_bytes() > MAX_REPLAY_BYTES {
                return Err(LogError::TooLarge(WorkbookTooLarge));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        cursor.newest.ok_or(LogError::NotFound)
    }

    async fn root_metadata(
        &self,
        log_id: LogId,
        family: LogId,
        root: &Root,
        objects: &mut Objects,
    ) -> Result<WorkbookMetadata, LogError> {
        let read_metadata = |objects: &Objects| view::read_metadata(root, objects);
        let metadata = self.objects.load_until_ready(family, objects, read_metadata).await;
        self.roots.invalidate_on_error(log_id, metadata.map_err(LogError::from))
    }
}

fn apply_mutations(
    fold: &mut Fold,
    entry: &Entry,
    mutations: &[&[Operation]],
) -> Result<(), LogError> {
    for operations in mutations {
        let applied = fold.apply_operations(operations);
        applied.map_err(|_| LogError::Corrupt { at: entry.position })?;
    }
    Ok(())
}

impl View {
    /// Returns the state of a snapshot root. `metadata` is that of the root.
    pub(crate) fn of_root(
        (store, log, family): (ObjectStore, LogId, LogId),
        root: Root,
        metadata: WorkbookMetadata,
    ) -> Self {
        Self {
            family,
            log,
            position: root.position,
            incarnation: FIRST_INCARNATION,
            metadata,
            root: Some(Arc::new(root)),
            newest_level: FoldedLevel::default(),
            objects: Objects::default(),
            store,
            created_s: 0,
            calculation: ViewCalculation::default(),
        }
    }

    /// Returns the non-blank cells in a window. A cell whose text is lost has the value `#LOST!`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Snapshot`] if a snapshot object is missing or damaged, or
    /// [`LogError::Store`] if the store fails.
    pub async fn cells(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Vec<TileCell>, LogError> {
        let tile = self.merged_tile(sheet, window).await?;
        let Some(metadata) = self.metadata.sheets.get(&sheet) else { return Ok(Vec::new()) };
        let mut cells = visible_cells(&tile, &metadata.formats);
        self.calculate(sheet, window, &mut cells).await?;
        self.fill_in_long_texts(cells).await
    }

    /// Like [`View::cells`], but long texts are not read: the value of such a cell is a preview.
    pub(super) async fn cells_with_previews(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Vec<TileCell>, LogError> {
        let tile = self.merged_tile(sheet, window).await?;
        let Some(metadata) = self.metadata.sheets.get(&sheet) else { return Ok(Vec::new()) };
        let mut cells = visible_cells(&tile, &metadata.formats);
        self.calculate(sheet, window, &mut cells).await?;
        Ok(cells)
    }

    /// Loads no tile.
    pub(super) async fn estimate(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<WindowEstimate, LogError> {
        let (root, newest_level) = (self.root.as_deref(), &self.newest_level);
        let estimate =
            |objects: &Objects| estimate_window(root, newest_level, sheet, window, objects);
        let mut estimate =
            self.store.load_until_ready(self.family, &mut self.objects, estimate).await?;
        estimate.cells += self.calculation.spilled_cell_count(sheet, window);
        Ok(estimate)
    }

    /// Returns the cells in a window without applying range formats.
    pub(super) async fn read_stored_cells(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<StateCells, LogError> {
        let tile = self.merged_tile_with_templates(sheet, window).await?;
        let mut cells = StateCells::new();
        for StoredTileCell { place, mut cell, long_text } in stored_cells(&tile) {
            if let Some(hash) = long_text {
                cell.value = self.long_text_value(hash, place).await?;
            }
            cells.push(((place.row, place.column), cell));
        }
        Ok(cells)
    }

    pub(super) async fn read_touched_cells(
        &mut self,
        touched_cells: &BTreeMap<SheetId, TouchedCells>,
    ) -> Result<Workbook, LogError> {
        let mut workbook = Workbook::from_metadata(&self.metadata);
        self.add_touched_cells(touched_cells, &mut workbook).await?;
        Ok(workbook)
    }

    /// The workbook must have the metadata of this view.
    pub(super) async fn add_touched_cells(
        &mut self,
        touched_cells: &BTreeMap<SheetId, TouchedCells>,
        workbook: &mut Workbook,
    ) -> Result<(), LogError> {
        for (sheet, touched) in touched_cells {
            for part in touched.windows() {
                let mut cells = self.read_stored_cells(*sheet, &part.window).await?;
                if part.has_untouched_cells {
                    cells.retain(|((row, column), _)| touched.has_single_cell(*row, *column));
                }
                workbook.fill(*sheet, cells)?;
            }
        }
        Ok(())
    }

    /// Returns a view with the same sheets whose cells are those of the LSM level `level` instead
    /// of the snapshot.
    pub(super) fn with_only_level(&self, level: FoldedLevel) -> Self {
        Self {
            family: self.family,
            log: self.log,
            position: self.position,
            incarnation: self.incarnation,
            metadata: self.metadata.clone(),
            root: None,
            newest_level: level,
            objects: Objects::default(),
            store: self.store.clone(),
            created_s: self.created_s,
            calculation: ViewCalculation::default(),
        }
    }

    pub(super) fn has_imported(&self, sheet: SheetId) -> bool {
        self.newest_level.imported.sheet(sheet).is_some()
    }

    pub(super) async fn merged_tile(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Tile, LogError> {
        let tile = self.merged_tile_with_templates(sheet, window).await?;
        Ok(with_formula_texts(tile, &self.metadata.tabs))
    }

    /// Like [`View::merged_tile`], but formulas are templates.
    pub(super) async fn merged_tile_with_templates(
        &mut self,
        sheet: SheetId,
        window: &Window,
    ) -> Result<Tile, LogError> {
        if self.objects.tile_count() > MAX_VIEW_TILES {
            self.objects.drop_tiles();
        }
        let (root, newest_level) = (self.root.as_deref(), &self.newest_level);
        let tabs = &self.metadata.tabs;
        let read_window = |objects: &Objects| {
            view::read_window_with_templates(root, newest_level, tabs, sheet, window, objects)
        };
        Ok(self.store.load_until_ready(self.family, &mut self.objects, read_window).await?)
    }

    async fn fill_in_long_texts(
        &self,
        mut cells: Vec<TileCell>,
    ) -> Result<Vec<TileCell>, LogError> {
        for tile_cell in &mut cells {
            self.fill_in_long_text(tile_cell).await?;
        }
        Ok(cells)
    }

    pub(super) async fn fill_in_long_text(&self, tile_cell: &mut TileCell) -> Result<(), LogError> {
        let Some(hash) = tile_cell.long_text else { return Ok(()) };
        let place = CellName { row: tile_cell.row, column: tile_cell.column };
        tile_cell.cell.value = self.long_text_value(hash, place).await?;
        Ok(())
    }

    async fn long_text_value(&self, hash: [u8; 32], place: CellName) -> Result<Value, LogError> {
        Ok(match self.long_text(hash).await? {
            LongText::Whole(text) => Value::Text(text),
            LongText::Lost(fault) => {
                tracing::error!(family = %self.family, %place, %fault, "the text of a cell is lost");
                Value::Error(ErrorCode::Lost)
            }
        })
    }

    /// A lost text is not an error, so that the other cells can still be read.
    pub(super) async fn long_text(&self, hash: [u8; 32]) -> Result<LongText, LogError> {
        let mut new_texts = self.newest_level.long_texts.iter();
        if let Some(new_text) = new_texts.find(|long_text| long_text.hash == hash) {
            return Ok(LongText::Whole(new_text.text.clone()));
        }
        match self.store.text(self.family, ChunkHash(hash)).await {
            Ok(stored_text) => Ok(LongText::Whole(stored_text)),
            Err(fault @ (ObjectFault::Missing { .. } | ObjectFault::Damaged { .. })) => {
                Ok(LongText::Lost(fault))
            }
            // The store failed, so a later read may succeed.
            Err(fault @ ObjectFault::Store(_)) => Err(fault.into()),
        }
    }
}
