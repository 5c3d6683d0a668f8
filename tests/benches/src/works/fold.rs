//! Random edits of a sheet, folded into a snapshot every [`SNAPSHOT_EDITS`] edits, and the first
//! view afterwards.

use std::collections::BTreeMap;

use cellar_sheet::metadata::{Tabs, WorkbookMetadata};
use cellar_sheet::operation::{Operation, SheetId};
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::Fetch;
use cellar_snapshot::view;

use crate::clock::Stopwatch;
use crate::data::Edit;
use crate::report::Row;
use crate::worker::Worker;
use crate::{Failure, Options, peers};

/// Edits per snapshot.
pub(crate) const SNAPSHOT_EDITS: u32 = 1_000;
/// Every `SIZED_ROUNDS`-th round, the size of its edits alone is measured.
const SIZED_ROUNDS: u32 = 20;
/// Repetitions of Cellar's fold, of which the median is used.
const REPEATS: usize = 3;
/// Edits per row of the sheet: 1 M edits of 100 k × 10 cells.
const EDITS_PER_ROW: u32 = 10;
/// Prices in us-east-1, in dollars: an S3 PUT, and a DynamoDB on-demand write unit of 1 KB.
const PUT_DOLLARS: f64 = 5.0e-6;
const WRITE_DOLLARS: f64 = 0.625e-6;
/// Writes to tables per snapshot: its entry, its record, progress, `E`, `L`, and the deletion of
/// the record.
const SNAPSHOT_WRITES: f64 = 6.0;

pub(crate) fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let rounds = (options.edits / SNAPSHOT_EDITS).max(1);
    let rows = options.edits.div_ceil(EDITS_PER_ROW).max(1);
    let mut times = Vec::new();
    for _ in 1..REPEATS {
        times.push(folded(rounds, rows)?.1);
    }
    let (mut worker, cpu_s) = folded(rounds, rows)?;
    times.push(cpu_s);
    times.sort_by(f64::total_cmp);
    let cpu_s = times.get(REPEATS / 2).copied().unwrap_or_default();
    let edit_bytes = edit_bytes(rounds, rows)?;
    let view = FirstView::of(&mut worker)?;
    let levels = worker.root()?.map_or(0, |root| root.all_levels().count());
    let peers = peers::fold::measured(options.edits, rows)?;
    let bucket = &worker.bucket;
    let dollars =
        bucket.puts as f64 * PUT_DOLLARS + f64::from(rounds) * SNAPSHOT_WRITES * WRITE_DOLLARS;
    eprintln!(
        "fold: {} merges, {} GETs, {:.1} MB PUT of which {:.1} MB roots, {:.1} MB of edits",
        worker.merges,
        bucket.gets,
        bucket.put_bytes as f64 / 1e6,
        worker.root_bytes as f64 / 1e6,
        edit_bytes / 1e6,
    );
    let mut cpu = Row::new("fold of 1 M edits", "CPU s", scaled(cpu_s, options)).at_most(0.9);
    for (name, cpu_s) in peers {
        cpu = cpu.beside(name, Some(scaled(cpu_s, options)));
    }
    let amplification = bucket.put_bytes as f64 / edit_bytes;
    Ok(vec![
        cpu,
        Row::new("fold of 1 M edits", "bytes PUT a byte of edits", amplification).at_most(10.0),
        Row::new("fold of 1 M edits", "PUTs a snapshot", bucket.puts as f64 / f64::from(rounds)),
        Row::new("fold of 1 M edits", "levels", levels as f64),
        Row::new(
            "fold of 1 M edits",
            "dollars a million edits",
            dollars * 1e6 / f64::from(options.edits),
        ),
        Row::new("first view after that", "objects", view.objects as f64).at_most(7.0),
        Row::new("first view after that", "rounds", view.rounds as f64).at_most(2.0),
        Row::new("first view after that", "KB", view.bytes as f64 / 1e3),
    ])
}

/// Builds all snapshots of the edits. Returns the CPU seconds without the preparation of edits.
fn folded(rounds: u32, rows: u32) -> Result<(Worker, f64), Failure> {
    let (mut worker, mut watch) = (Worker::default(), Stopwatch::default());
    for round in 0..rounds {
        let entries = entries(round, rows);
        watch.run(|| worker.round(&entries))?;
    }
    Ok((worker, watch.total_s()))
}

fn entries(round: u32, rows: u32) -> Vec<Operation> {
    let numbers = round * SNAPSHOT_EDITS..(round + 1) * SNAPSHOT_EDITS;
    numbers.map(|number| Edit::numbered(number, rows).operation()).collect()
}

/// Estimates the bytes of all edits from a sample.
fn edit_bytes(rounds: u32, rows: u32) -> Result<f64, Failure> {
    let (mut bytes, mut sized) = (0, 0);
    for round in (0..rounds).step_by(SIZED_ROUNDS as usize) {
        bytes += bytes_alone(&entries(round, rows))?;
        sized += 1;
    }
    Ok(bytes as f64 / f64::from(sized) * f64::from(rounds))
}

/// Scales a number to a million edits.
fn scaled(measured: f64, options: &Options) -> f64 {
    measured * 1e6 / f64::from(options.edits)
}

/// Returns the bytes of a snapshot's edits in a chunk of their own.
fn bytes_alone(entries: &[Operation]) -> Result<usize, Failure> {
    let mut fold = Fold::new(WorkbookMetadata::default());
    fold.apply_operations(entries)?;
    let sheets = fold.finish().1.sheets;
    let sizes = sheets.iter().map(|sheet| Some(chunk_of(&sheet.tile)?.stored.len()));
    Ok(sizes.sum::<Option<usize>>().ok_or("a sheet is too large for a chunk")?)
}

/// The fetches of a reader that knows only the name of the root.
struct FirstView {
    objects: usize,
    bytes: u64,
    rounds: usize,
}

impl FirstView {
    fn of(worker: &mut Worker) -> Result<Self, Failure> {
        const WINDOW: Window = Window { rows: 0..50, columns: 0..20 };
        let root = worker.root()?.ok_or("there is no root")?;
        let root_bytes = root.pack()?.stored.len() as u64;
        let (_, fetched) = worker.bucket.ready(|objects| {
            let metadata = view::read_metadata(&root, objects)?;
            let tail = FoldedLevel::default();
            let cells = view::read_window(
                Some(&root),
                &tail,
                &Tabs::default(),
                SheetId::FIRST,
                &WINDOW,
                objects,
            )?;
            Ok(both(metadata, cells))
        })?;
        let bytes = root_bytes + fetched.sizes.iter().map(|bytes| u64::from(*bytes)).sum::<u64>();
        Ok(Self { objects: 1 + fetched.sizes.len(), bytes, rounds: 1 + fetched.rounds })
    }
}

/// Returns both results, or the missing objects of both.
fn both<A, B>(one: Fetch<A>, two: Fetch<B>) -> Fetch<(A, B)> {
    match (one, two) {
        (Fetch::Ready(one), Fetch::Ready(two)) => Fetch::Ready((one, two)),
        (one, two) => {
            let mut wanted = BTreeMap::new();
            if let Fetch::Missing(list) = one {
                wanted.extend(list.into_iter().map(|it| (it, ())));
            }
            if let Fetch::Missing(list) = two {
                wanted.extend(list.into_iter().map(|it| (it, ())));
            }
            Fetch::Missing(wanted.into_keys().collect())
        }
    }
}
