//! Calculates the outdated formulas of a snapshot.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cellar_base::limits::{
    MAX_CALCULATED_WINDOW_CELLS, MAX_CALCULATED_WINDOW_ROWS, MAX_RESULTS_AT_ONCE,
};
use cellar_calculation::{Calculation, StoredResults};
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::fold::FoldedSheet;
use cellar_snapshot::level::SheetMoves;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::outdated::{OutdatedAreas, OutdatedBy, areas_of_formulas};
use cellar_snapshot::tile::{Tile, TileColumn};

use super::{LogError, View};

/// Results of outdated formulas.
#[derive(Debug, Default)]
pub(crate) struct CalculatedResults {
    /// The cells whose results differ from their stored values.
    pub(crate) sheets: Vec<FoldedSheet>,
    /// The cells whose values are still outdated.
    pub(crate) outdated: OutdatedAreas,
}

/// The pieces in which a snapshot worker calculates formulas and stores their results.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalculationPieces {
    /// Number of formulas after which the results are stored.
    pub(crate) results_at_once: usize,
    /// Maximum number of cells that are calculated together.
    pub(crate) window_cells: u64,
    /// Maximum number of rows that are calculated together.
    pub(crate) window_rows: u32,
}

impl Default for CalculationPieces {
    fn default() -> Self {
        Self {
            results_at_once: MAX_RESULTS_AT_ONCE,
            window_cells: MAX_CALCULATED_WINDOW_CELLS,
            window_rows: MAX_CALCULATED_WINDOW_ROWS,
        }
    }
}

impl View {
    /// Calculates outdated formulas of a root, which has no entries after it: as many as one step of
    /// a snapshot worker may. The result only depends on the root and the pieces.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Snapshot`] if a snapshot object is missing or damaged, or
    /// [`LogError::Store`] if the store fails.
    pub(crate) async fn calculate_outdated(
        &mut self,
        pieces: CalculationPieces,
    ) -> Result<CalculatedResults, LogError> {
        let Some(root) = self.root.clone() else { return Ok(CalculatedResults::default()) };
        let outdated = root.outdated.clone().unwrap_or_else(OutdatedAreas::everything);
        if outdated.is_empty() {
            return Ok(CalculatedResults::default());
        }
        let Self { metadata, objects, store, family, .. } = self;
        let find = |objects: &Objects| areas_of_formulas(&root, metadata, &outdated, objects);
        let formulas = store.load_until_ready(*family, objects, find).await?;
        self.find_spills().await?;
        let filled = std::mem::take(&mut *self.calculation).changed_by_spills();
        let unstored = self.find_outdated(OutdatedBy::UnstoredInputs, &filled).await?;
        let mut all = formulas.clone();
        all.add_all(&unstored);
        let mut calculation = Calculation::new(self.calculated_workbook(), all);
        let to_calculate = formulas.without(&unstored);
        let mut results = CalculatedResults {
            outdated: formulas.without(&to_calculate),
            ..CalculatedResults::default()
        };
        self.calculate_areas(&to_calculate, pieces, &mut calculation, &mut results).await?;
        Ok(results)
    }

    async fn calculate_areas(
        &mut self,
        areas: &OutdatedAreas,
        pieces: CalculationPieces,
        calculation: &mut Calculation,
        results: &mut CalculatedResults,
    ) -> Result<(), LogError> {
        let mut windows: VecDeque<SheetArea> =
            areas.iter().flat_map(|area| windows_of(area, pieces)).collect();
        let mut tiles = ResultTiles::default();
        let mut stale = VecDeque::new();
        while let Some(area) = windows.pop_front() {
            if tiles.formula_count >= pieces.results_at_once {
                windows.push_front(area);
                break;
            }
            if self.calculate_area(area, calculation, &mut tiles).await? {
                stale.push_front(area);
            }
        }
        // A formula may depend on others below it. These have results now.
        for area in std::mem::take(&mut stale) {
            if self.calculate_area(area, calculation, &mut tiles).await? {
                stale.push_back(area);
            }
        }
        windows.into_iter().chain(stale).for_each(|area| results.outdated.add(area));
        results.sheets = tiles.finish();
        Ok(())
    }

    /// Calculates all formulas of a window. Returns whether any of them has no result.
    async fn calculate_area(
        &mut self,
        area: SheetArea,
        calculation: &mut Calculation,
        tiles: &mut ResultTiles,
    ) -> Result<bool, LogError> {
        let SheetArea { sheet, cells: Rectangle { first, last } } = area;
        let window = Window {
            rows: first.row..last.row.saturating_add(1),
            columns: first.column..last.column.saturating_add(1),
        };
        let tile = self.merged_tile_with_templates(sheet, &window).await?;
        let formula_count = tile.formula_count();
        if formula_count == 0 {
            return Ok(false);
        }
        tiles.formula_count += formula_count;
        calculation.start_area(sheet, &window);
        self.run(calculation).await?;
        let StoredResults { changed, has_stale } =
            calculation.stored_results(sheet, &window, &tile);
        tiles.add(sheet, changed);
        Ok(has_stale)
    }
}

/// Divides an area into windows of a bounded size.
fn windows_of(
    SheetArea { sheet, cells }: SheetArea,
    pieces: CalculationPieces,
) -> impl Iterator<Item = SheetArea> {
    let Rectangle { first, last } = cells;
    let columns = u64::from(last.column - first.column) + 1;
    let rows = u32::try_from(pieces.window_cells / columns).unwrap_or(u32::MAX);
    let rows = rows.clamp(1, pieces.window_rows);
    let starts = (first.row..=last.row).step_by(rows as usize);
    starts.map(move |row| {
        let last_row = row.saturating_add(rows - 1).min(last.row);
        let cells = Rectangle {
            first: CellName { row, ..first },
            last: CellName { row: last_row, ..last },
        };
        SheetArea { sheet, cells }
    })
}

/// The results of the windows of all sheets.
#[derive(Debug, Default)]
struct ResultTiles {
    /// Results of each column. Several windows may contain the same cell.
    columns: BTreeMap<(SheetId, u32), Vec<TileColumn>>,
    formula_count: usize,
}

impl ResultTiles {
    fn add(&mut self, sheet: SheetId, tile: Tile) {
        for column in tile.columns {
            self.columns.entry((sheet, column.index)).or_default().push(column);
        }
    }

    fn finish(self) -> Vec<FoldedSheet> {
        let mut tiles: BTreeMap<SheetId, Tile> = BTreeMap::new();
        for ((sheet, index), parts) in self.columns {
            tiles.entry(sheet).or_default().columns.push(united_column(index, &parts));
        }
        let to_folded = |(sheet, tile): (SheetId, Tile)| {
            let (moves, tile) = (SheetMoves::default(), Arc::new(tile));
            FoldedSheet { sheet, moves, tile }
        };
        tiles.into_iter().map(to_folded).collect()
    }
}

/// Returns the cells of several columns. If a row is in several of them, its results are equal.
fn united_column(index: u32, parts: &[TileColumn]) -> TileColumn {
    let mut places: Vec<(u32, usize, usize)> = Vec::new();
    for (part, column) in parts.iter().enumerate() {
        let rows = column.values.rows().iter().enumerate();
        places.extend(rows.map(|(value, row)| (*row, part, value)));
    }
    places.sort_unstable();
    places.dedup_by_key(|(row, ..)| *row);
    let mut united = TileColumn::new(index);
    for (row, part, value) in places {
        let Some(column) = parts.get(part) else { continue };
        united.values.push_from(row, &column.values, value);
        if let Some(template) = column.templates.at(row) {
            united.templates.push(row, template);
        } else if let Some(text) = column.formulas.at(row) {
            united.formulas.push(row, text);
        }
    }
    united
}
