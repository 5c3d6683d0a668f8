//! Imports over the in-memory object store: accepted imports, and all kinds of invalid ones.

mod appends;
mod changes;
mod lost;
mod references;
mod refusals;
mod search;
pub(crate) mod texts;

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_UPLOAD_AGE_S, MIN_STRIPE_COLUMNS};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Span};
use cellar_snapshot::PackLimits;
use cellar_snapshot::chunk;
use cellar_snapshot::index::{IndexChunk, StripeIndex, pack_level};
use cellar_snapshot::keys::{chunk_key, staged_chunk_key};
use cellar_snapshot::level::{
    ChunkHash, ChunkRef, Level, LevelSheet, SheetMoves, StoredTile, Stripe, StripeTile,
};
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

use super::*;
use crate::memory::ManualClock;
use crate::ports::{BlobKey, GetOutcome, NewBlob};
use crate::sha256::sha256;

/// Number of rows of a tile.
const ROWS: u32 = 10;
const SHEET: SheetId = SheetId(1);
/// The importing client.
const CLIENT: ClientKey = ClientKey([1; 8]);
/// Limits that are so small that a few tiles need every kind of index chunk.
pub(crate) const DEEP: PackLimits = PackLimits {
    inline_bytes: 60,
    inline_total_bytes: 60,
    chunk_bytes: 150,
    referenced_bytes: u64::MAX,
};
/// Like [`DEEP`], but the list of parts is in the operation.
pub(crate) const FLAT: PackLimits = PackLimits {
    inline_bytes: 4_096,
    inline_total_bytes: 4_096,
    chunk_bytes: 4_096,
    referenced_bytes: u64::MAX,
};

/// Returns a tile with a single number, in its last row.
fn tile(number: u32) -> PackedObject {
    let mut column = TileColumn::new(0);
    column.values.push(ROWS - 1, TileValue::Number(number.into()));
    packed_tile(&Tile { columns: vec![column] })
}

fn packed_tile(tile: &Tile) -> PackedObject {
    pack(&chunk::encode(tile).unwrap(), Bounds::CHUNK).unwrap()
}

fn place(row: u32, chunk: ChunkRef) -> StripeTile {
    let rows = Span { first: row, count: ROWS };
    StripeTile { rows, cells: 1, stored: StoredTile::Chunk(chunk), formulas: None }
}

fn columns(number: u32) -> Span {
    Span { first: number * MIN_STRIPE_COLUMNS, count: MIN_STRIPE_COLUMNS }
}

/// A sheet to import.
#[derive(Clone)]
pub(crate) struct Sheet {
    tiles: Vec<PackedObject>,
    /// The chunks of its tile index, in the order of their checks.
    pub(crate) chunks: Vec<PackedObject>,
    stripes: StripeIndex,
    rows: u32,
    columns: u32,
}

impl Sheet {
    /// Returns a sheet of `stripes` stripes of `tiles` tiles each.
    pub(crate) fn new(stripes: u32, tiles: u32, limits: PackLimits) -> Self {
        let objects: Vec<PackedObject> = (0..stripes * tiles).map(tile).collect();
        let stripe = |number: u32| {
            let tiles = (0..tiles).map(|at| {
                place(at * ROWS, objects[usize::try_from(number * tiles + at).unwrap()].chunk)
            });
            Stripe { columns: columns(number), tiles: tiles.collect() }
        };
        let mut sheet = Self::of((0..stripes).map(stripe).collect(), limits);
        sheet.tiles = objects;
        (sheet.rows, sheet.columns) = (tiles * ROWS, stripes * MIN_STRIPE_COLUMNS);
        sheet
    }

    /// Returns a sheet of these stripes.
    fn of(stripes: Vec<Stripe>, limits: PackLimits) -> Self {
        let sheet = LevelSheet { sheet: SHEET, moves: SheetMoves::default(), stripes };
        let (mut packed, chunks) = pack_level(&Level { sheets: vec![sheet] }, limits).unwrap();
        let stripes = packed.sheets.remove(0).stripes;
        Self { tiles: vec![], chunks, stripes, rows: 100, columns: 100 }
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation_for(SHEET)
    }

    pub(crate) fn operation_for(&self, sheet: SheetId) -> Operation {
        Operation::ImportSheet(ImportSheet {
            sheet,
            name: "Imported".to_owned(),
            replaces: None,
            extent: Extent { rows: self.rows, columns: self.columns },
            cells: 1,
            formulas: None,
            sheets: BTreeMap::new(),
            tile_index: self.stripes.to_import().unwrap(),
        })
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = &PackedObject> {
        self.tiles.iter().chain(&self.chunks)
    }

    /// Returns the numbers in the tiles, in reading order.
    fn numbers(&self) -> Vec<String> {
        let stripes = self.columns / MIN_STRIPE_COLUMNS;
        let tiles = self.rows / ROWS;
        let by_row = (0..tiles).flat_map(|at| (0..stripes).map(move |s| s * tiles + at));
        by_row.map(|number| number.to_string()).collect()
    }
}

/// The state of a chunk of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The chunk is uploaded under the client's own key.
    Staged,
    /// The chunk is published under the family's key.
    Published,
}

/// A spreadsheet into which a client imports.
struct World {
    tables: Arc<MemoryTables>,
    blobs: Arc<FaultyPorts>,
    clock: Arc<ManualClock>,
    logs: Logs,
}

impl World {
    async fn new() -> Self {
        Self::with_fault(usize::MAX, Fault::Refused).await
    }

    async fn with_fault(request: usize, fault: Fault) -> Self {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let blobs = over(vec![(request, fault)], clock.clone());
        let tables = Arc::new(MemoryTables::default());
        let logs = process(&tables, &blobs, &clock);
        logs.create(log(), None).await.unwrap();
        Self { tables, blobs, clock, logs }
    }

    /// Returns a log service of another process.
    fn another(&self) -> Logs {
        process(&self.tables, &self.blobs, &self.clock)
    }

    /// Uploads bytes with a granted request; returns the HTTP status.
    async fn upload_as(&self, hash: ChunkHash, bytes: &[u8]) -> u16 {
        let chunk = ChunkRef { hash, bytes: u32::try_from(bytes.len()).unwrap() };
        let upload = ChunkToUpload { chunk, sha256: sha256(bytes) };
        let granted = self.logs.grant_chunks(log(), CLIENT, &[upload]).await.unwrap().remove(0);
        self.blobs.upload(granted, bytes)
    }

    async fn upload(&self, object: &PackedObject) {
        assert_eq!(self.upload_as(object.chunk.hash, &object.stored).await, 200);
    }

    async fn upload_all(&self, sheet: &Sheet) {
        for object in sheet.objects() {
            self.upload(object).await;
        }
    }

    async fn check(&self, chunk: ChunkRef) -> Result<u32, LogError> {
        self.logs.publish_chunks(log(), CLIENT, &[], Some(&chunk)).await
    }

    async fn check_all(&self, sheet: &Sheet) -> Result<(), LogError> {
        for object in &sheet.chunks {
            self.check(object.chunk).await?;
        }
        Ok(())
    }

    /// Appends operations as the first mutations of a client.
    async fn append(&self, operations: Vec<Operation>) -> Result<Appended, LogError> {
        self.logs.append(import_request(operations, Position::FIRST)).await
    }

    /// Returns the state of a chunk.
    async fn state(&self, hash: ChunkHash) -> Option<State> {
        let head = async |key| self.blobs.blobs.head(&key).await.unwrap();
        if head(key(hash)).await.is_some() {
            return Some(State::Published);
        }
        head(staged_key(CLIENT, hash)).await.map(|_| State::Staged)
    }

    async fn modified_s(&self, hash: ChunkHash) -> u64 {
        self.blobs.blobs.head(&key(hash)).await.unwrap().unwrap().modified_s
    }

    /// Publishes an object like a snapshot worker.
    async fn put(&self, object: &PackedObject) {
        self.blobs.blobs.put(stored_by_worker(object)).await.unwrap();
    }

    /// Deletes a published chunk and its upload.
    async fn delete(&self, hash: ChunkHash) {
        self.blobs.blobs.delete(&key(hash)).await.unwrap();
        self.blobs.blobs.delete(&staged_key(CLIENT, hash)).await.unwrap();
    }

    /// Deletes expired uploads, like the bucket's lifecycle rule.
    async fn expire(&self, sheet: &Sheet) {
        for object in sheet.objects() {
            self.blobs.blobs.delete(&staged_key(CLIENT, object.chunk.hash)).await.unwrap();
        }
    }

    /// Advances the clock, so that the last upload has this age.
    fn age_s(&self, by_s: u64) {
        self.clock.advance_ms(by_s * 1_000);
    }

    async fn head(&self) -> Position {
        self.another().head(log(), None).await.unwrap().head
    }

    async fn shown(&self) -> Vec<String> {
        let query = CellsQuery { sheet: SheetName::Number(SHEET), ..everything(None) };
        let read = self.another().cells(log(), &query).await.unwrap();
        read.cells.iter().map(|placed| placed.cell.text()).collect()
    }
}

fn process(tables: &Arc<MemoryTables>, blobs: &Arc<FaultyPorts>, clock: &Arc<ManualClock>) -> Logs {
    let random = Arc::new(Counter::default());
    Logs::new(tables.clone(), tables.clone(), blobs.clone(), clock.clone(), random)
}

fn import_request(operations: Vec<Operation>, base: Position) -> Request {
    let mutations = (1..).zip(operations);
    let mutations = mutations.map(|(id, operation)| NewMutation { id, base, operation }).collect();
    Request::new(log(), CLIENT, None, FIRST_INCARNATION, 0, mutations).unwrap()
}

fn key(hash: ChunkHash) -> BlobKey {
    BlobKey::new(chunk_key(log(), hash)).unwrap()
}

fn staged_key(client: ClientKey, hash: ChunkHash) -> BlobKey {
    BlobKey::new(staged_chunk_key(log(), client, hash)).unwrap()
}

fn stored_by_worker(object: &PackedObject) -> NewBlob {
    crate::snapshots::new_object(key(object.chunk.hash), object.stored.clone().into())
}

fn fault<T: std::fmt::Debug>(result: Result<T, LogError>) -> ImportFault {
    match result {
        Err(LogError::Import(fault)) => fault,
        other => panic!("{other:?}"),
    }
}
