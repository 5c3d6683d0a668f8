//! The client reads snapshots over HTTP from the local cloud and its bucket: it shows the same
//! cells as the server, and does not load objects again.

mod command;
mod faults;
mod forks;
mod history;
mod proxy;

use std::path::Path;
use std::sync::Arc;

use cellar::editor::Editor;
use cellar::export::{CsvStyle, fetch_csv, fetch_csv_pages, fetch_xlsx, fetch_xlsx_pages};
use cellar::reader::{ChunkCache, Reader};
use cellar::{CellsQuery, Client};
use cellar_api::{wire::CellsReply, wire::CreateRequest, wire::EntryKind, wire::EntryView};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_local::Ports;
use cellar_sheet::a1::Range;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_tests::cloud::TestCloud;
use cellar_tests::snapshots::wait_for_root;

/// A cloud with one spreadsheet, an editor, and a folder for the state of a reader.
struct World {
    cloud: TestCloud,
    client: Client,
    log: LogId,
    editor: Editor,
    folder: tempfile::TempDir,
}

impl World {
    /// Starts a cloud with frequent snapshots.
    async fn start() -> Self {
        let configured =
            TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 10);
        let (cloud, folder) = (configured.await, tempfile::tempdir().unwrap());
        let client = cloud.client("alice");
        let request = CreateRequest::new("reader".to_owned());
        let log = client.create(&request).await.unwrap().id;
        let editor = Editor::new(client.spreadsheet(log), folder.path());
        Self { cloud, client, log, editor, folder }
    }

    /// Starts a cloud with several snapshots whose cells do not fit into a root.
    async fn with_snapshots() -> Self {
        let world = Self::start().await;
        for seed in 0..45 {
            world.apply(noise(SheetId::FIRST, seed)).await;
        }
        world.settle().await;
        world
    }

    async fn apply(&self, operation: Operation) -> Position {
        self.editor.apply(operation.validated().unwrap()).await.unwrap().position
    }

    /// Returns a separate client, so that its cost is only the reader's.
    fn reader_client(&self) -> Client {
        self.cloud.client("bob")
    }

    fn cache(&self) -> Option<Arc<ChunkCache>> {
        Some(Arc::new(ChunkCache::new(self.folder.path())))
    }

    async fn open(&self, client: &Client) -> Reader {
        Reader::open(client.spreadsheet(self.log), None, self.cache()).await.unwrap()
    }

    /// Reads with the cache. Also returns the number of fetched objects.
    async fn read(&self, sheet: Option<&str>, range: &str) -> (CellsReply, u64) {
        let client = self.reader_client();
        let mut reader = self.open(&client).await;
        let reply = reader.cells(sheet, rectangle(range)).await.unwrap();
        (reply, client.cost().cost.object_gets)
    }

    /// Returns the server's cells; all pages in one reply.
    async fn shown(&self, sheet: Option<&str>, range: &str, at: Position) -> CellsReply {
        let mut query = CellsQuery::of_range(range).at_position(at);
        query.sheet = sheet.map(str::to_owned);
        let mut whole = self.client.spreadsheet(self.log).cells_page(&query).await.unwrap();
        while let Some(next) = whole.next.take() {
            query.cursor = Some(next);
            let page = self.client.spreadsheet(self.log).cells_page(&query).await.unwrap();
            whole.cells.extend(page.cells);
            whole.next = page.next;
        }
        whole
    }

    /// Returns the newest root of a finished snapshot.
    async fn root(&self) -> Option<String> {
        self.client.spreadsheet(self.log).load(None).await.unwrap().root
    }

    /// Checks that a reader shows exactly the same as the server. If a snapshot finished after the
    /// reader was opened, the server has newer values for stale formulas, and a new reader must show
    /// them.
    async fn check(&self, reader: &mut Reader, sheet: Option<&str>, range: &str) {
        let mut own = reader.cells(sheet, rectangle(range)).await.unwrap();
        let mut shown = self.shown(sheet, range, own.position).await;
        if own != shown {
            assert_same(&with_stale_of(own, &shown), &shown);
            (own, shown) = self.read_with_one_root(sheet, range).await;
        }
        assert_same(&own, &shown);
        let json = |reply| serde_json::to_string(reply).unwrap();
        assert!(json(&own) == json(&shown), "{sheet:?} {range}");
    }

    /// Returns what a new reader and the server show, read while no snapshot finished.
    async fn read_with_one_root(
        &self,
        sheet: Option<&str>,
        range: &str,
    ) -> (CellsReply, CellsReply) {
        loop {
            let root = self.root().await;
            let mut reader = self.open(&self.reader_client()).await;
            let own = reader.cells(sheet, rectangle(range)).await.unwrap();
            let shown = self.shown(sheet, range, own.position).await;
            if self.root().await == root {
                return (own, shown);
            }
        }
    }

    /// Checks that exports from chunks equal those from the server.
    async fn check_exports(&self, query: CellsQuery) {
        let spreadsheet = self.client.spreadsheet(self.log);
        for formulas in [false, true] {
            let mut style = CsvStyle::default();
            style.formulas = formulas;
            let own = fetch_csv(&spreadsheet, query.clone(), style, |_| {}).await.unwrap();
            let shown = fetch_csv_pages(&spreadsheet, query.clone(), style, |_| {}).await.unwrap();
            let [own, shown] = [own, shown].map(|export| {
                let mut file = Vec::new();
                (export.write_to(&mut file).unwrap(), String::from_utf8(file).unwrap())
            });
            assert!(own == shown, "{query:?}, formulas: {formulas}");
        }
        let own = fetch_xlsx(&spreadsheet, query.clone(), |_| {}).await.unwrap();
        let shown = fetch_xlsx_pages(&spreadsheet, query.clone(), |_| {}).await.unwrap();
        let [own, shown] = [own, shown].map(|export| {
            let mut file = std::io::Cursor::new(Vec::new());
            (export.write_to(&mut file).unwrap(), file.into_inner())
        });
        assert!(own == shown, "{query:?} as xlsx");
    }

    /// Waits until all requested snapshots are finished, so that the root no longer changes.
    async fn settle(&self) {
        let loaded = self.client.spreadsheet(self.log).load(None).await.unwrap();
        let is_snapshot = |entry: &&EntryView| entry.kind == EntryKind::Snapshot;
        let newest = loaded.entries.iter().rev().find(is_snapshot).unwrap();
        wait_for_root(&self.client, self.log, newest.position).await;
    }
}

fn rectangle(range: &str) -> cellar_sheet::a1::Rectangle {
    range.parse::<Range>().unwrap().rectangle
}

/// Replaces the results of formulas that are stale in one of two replies by those of the other.
fn with_stale_of(mut reply: CellsReply, other: &CellsReply) -> CellsReply {
    for (cell, other) in reply.cells.iter_mut().zip(&other.cells) {
        if cell.stale || other.stale {
            cell.cell.value = other.cell.value.clone();
            (cell.stale, cell.note) = (other.stale, other.note.clone());
        }
    }
    reply
}

/// Fails with the first difference instead of all cells.
fn assert_same(own: &CellsReply, shown: &CellsReply) {
    let mut cells = own.cells.iter().zip(&shown.cells);
    if let Some((own, shown)) = cells.find(|(own, shown)| own != shown) {
        panic!("{own:?} instead of {shown:?}");
    }
    assert_eq!(own.cells.len(), shown.cells.len());
    let frame = |reply: &CellsReply| CellsReply { cells: Vec::new(), ..reply.clone() };
    assert_eq!(frame(own), frame(shown));
}

/// Returns the cache files in a folder.
fn cache_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder.join(".cellar/chunks")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// Returns an operation that sets incompressible cells all over the sheet.
fn noise(sheet: SheetId, seed: u32) -> Operation {
    let edit = |at: u32| {
        let mixed = (seed * 1_000 + at).wrapping_mul(0x9E37_79B9);
        CellEdit {
            row: (mixed >> 7) % 900,
            column: (mixed >> 20) % 30,
            value: Some(match at % 4 {
                0 => Value::Text(format!(
                    "{:x}",
                    u64::from(mixed).wrapping_mul(0x5851_F42D_4C95_7F2D)
                )),
                _ => Value::Number(f64::from(mixed) / 7.0),
            }),
            formula: None,
            format: None,
        }
    };
    Operation::SetCells(SetCells { sheet, cells: (0..200).map(edit).collect() })
        .validated()
        .unwrap()
}
