//! Reads all cells of a sheet from top to bottom. Several tasks load and encode rows at once, and
//! their results are handled in the order of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::wire::CellAt;
use cellar_calculation::{CellWindow, KeptCalculation};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::metadata::{FormatLayer, WorkbookMetadata};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::dependents::SearchedState;
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::root::Root;
use cellar_snapshot::tile::{Tile, TileColumn};
use tokio::task::JoinSet;

use super::bands::{BandSize, Bands, load_next_band};
use super::objects::SnapshotSource;
use super::opened::ReadableState;
use super::window::clip_to_extent;
use super::{Reader, ReaderError};
use crate::concurrent::task_error;

/// Number of tasks that read rows at once. While one waits for objects, the others compute.
const READ_TASKS: usize = 3;

/// Rows whose stored cells are what a reader sees.
#[derive(Debug)]
pub(crate) struct StoredBand<'a> {
    pub(crate) tile: &'a Tile,
    /// Formats of ranges, which apply to cells without a format of their own.
    pub(crate) formats: &'a FormatLayer,
}

/// Cells of some rows.
#[derive(Debug)]
pub(crate) enum SheetPart<T> {
    /// Cells that a task has encoded.
    Encoded(T),
    /// Cells of rows with formulas, results of several cells or long texts.
    Displayed(Vec<CellAt>),
}

/// A sheet that was read.
#[derive(Debug)]
pub(crate) struct ReadSheet {
    pub(crate) sheet: SheetId,
    pub(crate) name: String,
}

/// A band that a task has read.
enum TaskPart<T> {
    Encoded(T),
    Stored(Window, Tile),
}

struct TaskParts<T> {
    parts: Vec<TaskPart<T>>,
    cell_count: usize,
}

/// The sheet and the objects that all tasks use.
struct SharedSheet {
    source: Arc<SnapshotSource>,
    root: Option<Root>,
    tail: FoldedLevel,
    metadata: WorkbookMetadata,
    /// Index chunks that are already loaded.
    objects: Objects,
    sheet: SheetId,
    has_spills: bool,
}

impl Reader {
    /// Reads all cells of the sheet named `sheet_name`, or of the first sheet. Tasks pass stored cells
    /// to `encode`. `handle` gets all cells in the order of rows.
    pub(crate) async fn read_sheet<T: Send + 'static, E: From<ReaderError>>(
        &mut self,
        sheet_name: Option<&str>,
        encode: impl Fn(&StoredBand<'_>) -> T + Clone + Send + Sync + 'static,
        mut handle: impl FnMut(SheetPart<T>) -> Result<(), E>,
    ) -> Result<ReadSheet, E> {
        let Self { source, state, .. } = self;
        let header = state.sheet_header(sheet_name, Rectangle::EVERYTHING)?;
        let read_sheet = ReadSheet { sheet: header.sheet, name: header.name };
        let Some(extent) = state.used_range(source, header.sheet).await? else {
            return Ok(read_sheet);
        };
        let (rows, columns) = clip_to_extent(Rectangle::EVERYTHING, extent);
        if columns.is_empty() {
            return Ok(read_sheet);
        }
        let shared = Arc::new(state.share(source, header.sheet));
        let mut task_bands = Bands::new(BandSize::OF_TASK, rows, columns);
        let mut tasks = OrderedTasks::new();
        loop {
            while tasks.has_room()
                && let Some(window) = task_bands.take_next()
            {
                tasks.spawn(read_rows(Arc::clone(&shared), window, encode.clone()));
            }
            let Some(TaskParts { parts, cell_count }) = tasks.next().await? else {
                return Ok(read_sheet);
            };
            task_bands.adapt_height(cell_count);
            for part in parts {
                handle(match part {
                    TaskPart::Encoded(encoded) => SheetPart::Encoded(encoded),
                    TaskPart::Stored(window, tile) => {
                        let band = CellWindow { sheet: header.sheet, window };
                        SheetPart::Displayed(state.displayed_cells(source, &band, &tile).await?)
                    }
                })?;
            }
        }
    }
}

impl ReadableState {
    /// Results of several cells must be known.
    fn share(&self, source: &Arc<SnapshotSource>, sheet: SheetId) -> SharedSheet {
        SharedSheet {
            source: Arc::clone(source),
            root: self.root.clone(),
            tail: self.tail.clone(),
            metadata: self.metadata.clone(),
            objects: self.objects.clone(),
            sheet,
            has_spills: matches!(self.calculation, KeptCalculation::Started(_)),
        }
    }
}

async fn read_rows<T>(
    shared: Arc<SharedSheet>,
    rows: Window,
    encode: impl Fn(&StoredBand<'_>) -> T,
) -> Result<TaskParts<T>, ReaderError> {
    let SharedSheet { source, root, tail, metadata, sheet, .. } = shared.as_ref();
    let state = SearchedState { root: root.as_ref(), tail, metadata };
    let no_formats = FormatLayer::default();
    let formats = metadata.sheets.get(sheet).map_or(&no_formats, |sheet| &sheet.formats);
    let mut objects = shared.objects.clone();
    let mut bands = Bands::new(BandSize::IN_MEMORY, rows.rows, rows.columns);
    let mut read = TaskParts { parts: Vec::new(), cell_count: 0 };
    while let Some((window, tile)) =
        load_next_band(source, state, *sheet, &mut bands, &mut objects).await?
    {
        let cell_count = tile.cell_count();
        bands.adapt_height(cell_count);
        read.cell_count += cell_count;
        read.parts.push(if shared.has_spills || needs_more_than_tile(&tile) {
            TaskPart::Stored(window, tile)
        } else {
            TaskPart::Encoded(encode(&StoredBand { tile: &tile, formats }))
        });
    }
    Ok(read)
}

/// Formulas may have to be calculated, and long texts are stored elsewhere.
fn needs_more_than_tile(tile: &Tile) -> bool {
    let needs_more =
        |column: &TileColumn| column.formula_count() > 0 || !column.values.long_texts().is_empty();
    tile.columns.iter().any(needs_more)
}

/// Tasks whose results are taken in the order in which the tasks were spawned.
struct OrderedTasks<T> {
    running: JoinSet<(usize, Result<T, ReaderError>)>,
    /// Results of tasks that ended before earlier ones.
    ended: BTreeMap<usize, Result<T, ReaderError>>,
    spawned_count: usize,
    taken_count: usize,
}

impl<T: Send + 'static> OrderedTasks<T> {
    fn new() -> Self {
        let (running, ended) = (JoinSet::new(), BTreeMap::new());
        Self { running, ended, spawned_count: 0, taken_count: 0 }
    }

    fn has_room(&self) -> bool {
        self.spawned_count - self.taken_count < READ_TASKS
    }

    fn spawn(&mut self, task: impl Future<Output = Result<T, ReaderError>> + Send + 'static) {
        let number = self.spawned_count;
        self.spawned_count += 1;
        self.running.spawn(async move { (number, task.await) });
    }

    /// Returns `None` if the results of all tasks were taken.
    async fn next(&mut self) -> Result<Option<T>, ReaderError> {
        while !self.ended.contains_key(&self.taken_count) {
            let Some(joined) = self.running.join_next().await else { return Ok(None) };
            let (number, result) = joined.map_err(|error| task_error(&error))?;
            self.ended.insert(number, result);
        }
        let result = self.ended.remove(&self.taken_count);
        self.taken_count += 1;
        result.transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn results_are_taken_in_the_order_of_the_tasks() {
        let mut tasks = OrderedTasks::new();
        let spawn = |tasks: &mut OrderedTasks<u64>, delay_ms: u64| {
            tasks.spawn(async move {
                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                Ok(delay_ms)
            });
        };
        for delay_ms in [60, 20, 40] {
            assert!(tasks.has_room());
            spawn(&mut tasks, delay_ms);
        }
        assert!(!tasks.has_room());
        assert_eq!(tasks.next().await.unwrap(), Some(60));
        assert!(tasks.has_room());
        spawn(&mut tasks, 0);
        for expected in [Some(20), Some(40), Some(0), None] {
            assert_eq!(tasks.next().await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn the_first_error_ends_reading() {
        let mut tasks = OrderedTasks::<()>::new();
        tasks.spawn(async { Err(ReaderError::Changing { attempts: 1 }) });
        assert!(matches!(tasks.next().await, Err(ReaderError::Changing { attempts: 1 })));
    }
}
