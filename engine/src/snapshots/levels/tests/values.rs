//! A snapshot contains the values of its formulas.

use cellar_sheet::cell::ErrorCode;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{DeleteSpans, Spans, Undo};
use cellar_snapshot::cells::stored_cells;
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Objects;
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::root::Root;
use cellar_snapshot::view::read_window;

use super::*;

const ROWS: u32 = 1_500;

fn formula(row: u32, column: u32, text: String) -> CellEdit {
    let value = Some(Value::Empty);
    CellEdit { row, column, value, formula: Some(text), format: None }
}

fn number(row: u32, column: u32, number: f64) -> CellEdit {
    let value = Some(Value::Number(number));
    CellEdit { row, column, value, formula: None, format: None }
}

fn set(cells: impl IntoIterator<Item = CellEdit>) -> Operation {
    let cells = cells.into_iter().collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Numbers that do not compress, their doubles, and a running total from the top or from the bottom.
fn filled(is_upward: bool) -> Operation {
    set((0..ROWS).flat_map(|row| {
        let noise = f64::from(row.wrapping_mul(0x9E37_79B9)) / 7.0;
        let other = if is_upward { row + 2 } else { row };
        let total = match (is_upward, row) {
            (false, 0) => "=A1".to_owned(),
            _ => format!("=C{other}+A{}", row + 1),
        };
        [number(row, 0, noise), formula(row, 1, format!("=A{}*2", row + 1)), formula(row, 2, total)]
    }))
}

impl World {
    async fn root(&self, key: &str) -> Root {
        self.builder().store.root(key).await.unwrap()
    }

    /// Returns the stored cells of a root, without calculation.
    async fn stored(&self, root: &Root) -> Vec<(CellName, Cell)> {
        let window = Window { rows: 0..2 * ROWS, columns: 0..30 };
        let (tail, tabs) = (FoldedLevel::default(), Tabs::default());
        let read = |objects: &Objects| {
            read_window(Some(root), &tail, &tabs, SheetId::FIRST, &window, objects)
        };
        let store = self.builder().store;
        let tile = store.load_until_ready(log(), &mut Objects::default(), read).await.unwrap();
        let cells = stored_cells(&tile)
            .map(|stored| (stored.place, stored.cell.with_formula_text(stored.place, &tabs)));
        let mut cells: Vec<_> = cells.collect();
        cells.sort_unstable_by_key(|(cell, _)| *cell);
        cells
    }

    /// Builds the snapshot of a job and returns the stored values of all formulas.
    async fn built_values(&self, job: SnapshotJob, is_restless: bool) -> (Root, Vec<Value>) {
        let key = self.build(job, is_restless).await;
        let root = self.root(&key).await;
        let cells = self.stored(&root).await.into_iter();
        let formulas = cells.filter(|(_, cell)| cell.formula.is_some());
        (root, formulas.map(|(_, cell)| cell.value).collect())
    }

    /// Rebuilds a snapshot in pieces and asserts that it has this root. Returns the number of units
    /// of work.
    async fn assert_rebuilt(
        &self,
        job: SnapshotJob,
        pieces: CalculationPieces,
        root: &str,
    ) -> usize {
        let begin = LevelsBuilder::rebuild_progress(None);
        let is_restless = pieces.results_at_once == 7;
        let (key, units) = self.build_with(job, begin, is_restless, pieces).await;
        assert_eq!(key, root, "{pieces:?}");
        units
    }

    /// Asserts that the stored values of all formulas are the calculated ones. Returns the root.
    async fn assert_stored(&self, job: SnapshotJob, is_restless: bool) -> Root {
        let (root, stored) = self.built_values(job, is_restless).await;
        let shown = self.cells(Some(job.position)).await.into_iter();
        let formulas = shown.filter(|(_, cell)| cell.formula.is_some());
        let shown: Vec<Value> = formulas.map(|(_, cell)| cell.value).collect();
        assert!(shown.len() > 2_900 && !shown.contains(&Value::Empty));
        assert!(stored == shown, "stored values differ");
        assert_eq!(root.outdated, Some(OutdatedAreas::default()));
        root
    }
}

#[tokio::test]
async fn a_snapshot_has_the_values_of_all_formulas_after_each_edit() {
    for is_upward in [false, true] {
        for is_restless in [false, true] {
            let mut world = World::new().await;
            world.append(filled(is_upward)).await;
            let job = world.mark().await;
            let root = world.assert_stored(job, is_restless).await;
            assert!(!root.levels.is_empty(), "the cells are in chunks");
            let (sheet, middle) = (SheetId::FIRST, ROWS / 2);
            let edits = [
                set([number(0, 0, 5.0)]),
                set([number(ROWS - 1, 0, 7.0), formula(middle, 1, "=A1".to_owned())]),
                Operation::InsertRows(InsertBefore { sheet, before: middle, count: 2 }),
                Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(10, 1) }),
                set([number(3, 25, 1.0)]),
            ];
            for edit in edits {
                world.append(edit).await;
                let job = world.mark().await;
                world.assert_stored(job, is_restless).await;
            }
        }
    }
}

#[tokio::test]
async fn an_edit_that_no_formula_reads_stores_one_root() {
    let mut world = World::new().await;
    world.append(filled(false)).await;
    let job = world.mark().await;
    world.build(job, false).await;
    let blobs = async |world: &World| world.blobs.list("", None, 1_000).await.unwrap().blobs.len();
    for (edit, new_objects) in [
        (set([number(3, 25, 1.0)]), 1),
        // The results are added to the root before it is stored.
        (set([number(ROWS - 1, 0, 1.0)]), 1),
    ] {
        let before = blobs(&world).await;
        world.append(edit).await;
        let job = world.mark().await;
        world.assert_stored(job, true).await;
        // The last mutations of clients are an object of their own.
        assert_eq!(blobs(&world).await - before, new_objects + 1);
    }
}

/// A snapshot changes the stored value of a formula, which is no edit.
#[tokio::test]
async fn a_formula_whose_value_was_calculated_can_be_undone() {
    let mut world = World::new().await;
    world.append(filled(false)).await;
    world.append(set([formula(0, 20, "=A1*3".to_owned())])).await;
    let edit = world.tail;
    let job = world.mark().await;
    world.build(job, false).await;
    world.append(set([number(0, 0, 4.0)])).await;
    let job = world.mark().await;
    world.build(job, false).await;
    let before = world.cells(None).await;
    assert!(before.iter().any(|((row, column), _)| (*row, *column) == (0, 20)));
    world.append(Operation::Undo(Undo { position: edit })).await;
    let mut expected = before;
    expected.retain(|((row, column), _)| (*row, *column) != (0, 20));
    assert_eq!(world.cells(None).await, expected);
}

#[tokio::test]
async fn values_do_not_depend_on_workers() {
    let mut world = World::new().await;
    world.append(filled(false)).await;
    world.append(set([number(0, 0, 4.0), formula(0, 20, "=SUM(C:C)".to_owned())])).await;
    let job = world.mark().await;
    let key = world.build(job, false).await;
    assert_eq!(world.build(job, true).await, key);
    assert_eq!(world.rebuild(job).await, key);
}

/// A chain from the top or from the bottom, other formulas beside it, and one that reads all.
fn chain(is_upward: bool, rows: u32) -> Operation {
    let total = |row: u32| match is_upward {
        true => format!("=C{}+A{}", row + 2, row + 1),
        false if row == 0 => "=A1".to_owned(),
        false => format!("=C{row}+A{}", row + 1),
    };
    let cells = (0..rows).flat_map(|row| {
        let double = formula(row, 1, format!("=A{}*2", row + 1));
        [number(row, 0, f64::from(row) / 7.0), double, formula(row, 2, total(row))]
    });
    set(cells.chain([formula(rows / 2, 4, "=SUM(C:C)".to_owned())]))
}

#[tokio::test]
async fn values_do_not_depend_on_the_pieces_in_which_they_are_calculated() {
    for is_upward in [false, true] {
        let mut world = World::new().await;
        world.append(chain(is_upward, 120)).await;
        world.append(set([number(0, 0, 4.0), number(119, 0, 5.0)])).await;
        let job = world.mark().await;
        let whole = world.build(job, false).await;
        let root = world.root(&whole).await;
        assert_eq!(root.outdated, Some(OutdatedAreas::default()));
        let mut fewest_units = 0;
        for results_at_once in [100, 7, 1] {
            for (window_rows, window_cells) in [(1, 1), (16, 64), (8_192, 1_000_000)] {
                let pieces = CalculationPieces { results_at_once, window_cells, window_rows };
                let units = world.assert_rebuilt(job, pieces, &whole).await;
                if window_rows == 1 {
                    assert!(units > fewest_units, "{units} units of work: {pieces:?}");
                    fewest_units = units;
                }
            }
        }
    }
}

/// Results that do not fit into a root are merged into chunks with each step, so that the chunks
/// depend on the pieces. Their values do not.
#[tokio::test]
async fn values_in_chunks_do_not_depend_on_the_pieces_in_which_they_are_stored() {
    for is_upward in [false, true] {
        let mut world = World::new().await;
        world.append(filled(is_upward)).await;
        let job = world.mark().await;
        let root = world.assert_stored(job, false).await;
        assert!(!root.levels.is_empty(), "the cells are in chunks");
        let whole = world.stored(&root).await;
        for (results_at_once, window_rows) in [(1, 100), (7, 128), (100, 20), (3_000, 8_192)] {
            let pieces =
                CalculationPieces { results_at_once, window_rows, ..CalculationPieces::default() };
            let begin = LevelsBuilder::rebuild_progress(None);
            let (key, _) = world.build_with(job, begin, true, pieces).await;
            let root = world.root(&key).await;
            assert_eq!(root.outdated, Some(OutdatedAreas::default()), "{pieces:?}");
            assert!(world.stored(&root).await == whole, "{pieces:?}");
        }
    }
}

#[tokio::test]
async fn results_that_a_value_does_not_describe_are_not_stored() {
    let mut world = World::new().await;
    let dated = CellEdit { format: Some("yyyy-mm-dd".to_owned()), ..number(0, 0, 46_000.0) };
    let formulas = [
        ("=A1+0", None),
        ("=A1*1", Some(Value::Number(46_000.0))),
        ("=NOW()*0", None),
        ("=B3+1", None),
        ("=B5", None),
        ("=REPT(\"x\",20000)", None),
        ("=LEN(B6)", Some(Value::Number(20_000.0))),
        ("=1/0", Some(Value::Error(ErrorCode::Div0))),
        ("=SEQUENCE(3)", None),
        ("=INDIRECT(\"A1\")*1", None),
        ("=Nowhere!A1", None),
        ("=\"a\"&B2", Some(Value::Text("a46000".to_owned()))),
        ("=B2>1", Some(Value::Bool(true))),
    ];
    let edits = (0..).zip(&formulas).map(|(row, (text, _))| formula(row, 1, (*text).to_owned()));
    world.append(set(edits.chain([dated]))).await;
    let job = world.mark().await;
    let (root, stored) = world.built_values(job, false).await;
    let expected = formulas.clone().map(|(_, value)| value.unwrap_or_default());
    assert_eq!(stored, expected);
    let outdated = root.outdated.unwrap();
    assert!(!outdated.is_empty(), "formulas with the time stay outdated");
    // The values of an import are replaced by calculated ones, or removed.
    let with_values = (0..).zip(&formulas).map(|(row, (text, _))| CellEdit {
        value: Some(Value::Number(-1.0)),
        ..formula(row, 1, (*text).to_owned())
    });
    world.append(set(with_values)).await;
    let job = world.mark().await;
    let (_, stored) = world.built_values(job, false).await;
    let is_calculated = |(stored, expected): (&Value, &Value)| {
        stored == expected || (*expected == Value::Empty && *stored == Value::Number(-1.0))
    };
    assert!(stored.iter().zip(&expected).all(is_calculated), "{stored:?}");
    assert_eq!(stored[0], Value::Empty, "a calculated date");
}
