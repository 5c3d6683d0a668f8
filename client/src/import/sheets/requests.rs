//! From the sheets of a file to the requests that append them.

use cellar_api::{wire::AppendRequest, wire::SentMutation};
use cellar_base::limits::{
    IMPORT_NAMED_BYTES, MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_REQUEST_BYTES,
};
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, TileIndex};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::index::Stripes;
use cellar_snapshot::index::{IndexChunk, pack_import, pack_import_apart};
use cellar_snapshot::packed::{Bounds, PackedObject, unpack};

use super::read::FoundSheet;

/// Objects that the entries of an import may name directly before each further sheet names only one:
/// half of what one request may, so that the other half is for further sheets.
const DIRECT_OBJECTS: usize = MAX_IMPORT_OBJECTS / 2;
/// Bytes of indexes in one request: as Base64 with all around, well below `MAX_REQUEST_BYTES`, and so
/// few that they fit one entry.
const REQUEST_INDEX_BYTES: usize = MAX_REQUEST_BYTES / 8;

/// The sheets of a file, as they will be appended.
#[derive(Debug, Default)]
pub(super) struct FileSheets {
    sheets: Vec<FileSheet>,
    direct: Named,
}

/// Objects that indexes name directly.
#[derive(Debug, Clone, Copy, Default)]
struct Named {
    count: usize,
    /// As stored.
    bytes: u64,
}

impl Named {
    fn by(index: &TileIndex) -> Result<Self, SnapshotError> {
        let children = Stripes::of_import(index)?.children()?;
        Ok(Self { count: children.count(), bytes: children.bytes() })
    }

    fn and(self, other: Self) -> Self {
        let count = self.count.saturating_add(other.count);
        Self { count, bytes: self.bytes.saturating_add(other.bytes) }
    }
}

/// A sheet of a file.
#[derive(Debug, Clone)]
pub(super) struct FileSheet {
    /// As the file has it.
    pub(super) name: Option<String>,
    pub(super) hidden: bool,
    pub(super) extent: Extent,
    pub(super) cells: u64,
    index: TileIndex,
    named: Named,
}

/// A chunk of an index.
#[derive(Debug, Clone)]
pub(super) struct IndexObject {
    pub(super) packed: PackedObject,
    /// It names only chunks of cells.
    pub(super) is_leaf: bool,
}

impl IndexObject {
    fn of(packed: PackedObject) -> Result<Self, SnapshotError> {
        let bytes = unpack(packed.chunk.hash, &packed.stored, Bounds::CHUNK)?;
        let children = IndexChunk::decode(&bytes)?.children()?;
        let is_leaf = children.is_some_and(|children| children.index.is_empty());
        Ok(Self { packed, is_leaf })
    }
}

/// Where the sheets go.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) incarnation: u32,
    pub(super) base: Position,
    /// The number of the first new sheet.
    pub(super) next_sheet: SheetId,
    /// What the first new sheet takes the place of.
    pub(super) replaces: Option<SheetId>,
}

impl FileSheets {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &FileSheet> {
        self.sheets.iter()
    }

    /// Takes a sheet in. Gives the chunks of its index, those first that others name.
    pub(super) fn add(&mut self, found: FoundSheet) -> Result<Vec<IndexObject>, SnapshotError> {
        let FoundSheet { start, written } = found;
        let (mut index, mut chunks) = pack_import(&written.stripes)?;
        let direct = self.direct.and(Named::by(&index)?);
        if direct.count > DIRECT_OBJECTS || direct.bytes > IMPORT_NAMED_BYTES {
            (index, chunks) = pack_import_apart(&written.stripes)?;
        }
        let named = Named::by(&index)?;
        self.direct = self.direct.and(named);
        let (extent, cells) = (written.extent, written.cells);
        let (name, hidden) = (start.name, start.hidden);
        self.sheets.push(FileSheet { name, hidden, extent, cells, index, named });
        chunks.into_iter().map(IndexObject::of).collect()
    }

    /// The requests that append them, under their names: one, unless there are hundreds of sheets.
    pub(super) fn requests(
        &self,
        client: &str,
        ground: &Ground,
        name: impl Fn(&FileSheet) -> String,
    ) -> Vec<AppendRequest> {
        let (mut requests, mut named, mut bytes) = (Vec::new(), Named::default(), 0_usize);
        let mut mutations: Vec<SentMutation> = Vec::new();
        let mut replaces = ground.replaces;
        let request = |mutations: Vec<SentMutation>| {
            let first = mutations.first().map_or(1, |sent| sent.id);
            let (client, incarnation) = (client.to_owned(), ground.incarnation);
            AppendRequest {
                client_id: client,
                incarnation,
                acked_id: first.saturating_sub(1),
                mutations,
            }
        };
        for ((id, number), sheet) in (1..).zip(ground.next_sheet.0..).zip(&self.sheets) {
            let index_bytes = sheet.index.bytes().len();
            let with = named.and(sheet.named);
            let full = with.count > MAX_IMPORT_OBJECTS
                || with.bytes > MAX_IMPORT_OBJECT_BYTES
                || bytes.saturating_add(index_bytes) > REQUEST_INDEX_BYTES;
            if full && !mutations.is_empty() {
                requests.push(request(std::mem::take(&mut mutations)));
                (named, bytes) = (Named::default(), 0);
            }
            named = named.and(sheet.named);
            bytes = bytes.saturating_add(index_bytes);
            let op = Operation::ImportSheet(ImportSheet {
                sheet: SheetId(number),
                name: name(sheet),
                replaces: replaces.take(),
                extent: sheet.extent,
                cells: sheet.cells,
                tile_index: sheet.index.clone(),
            });
            mutations.push(SentMutation { id, base: ground.base, op });
        }
        requests.push(request(mutations));
        requests
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::{MAX_SHEETS, MAX_STORED_CHUNK_BYTES};
    use cellar_exchange::SheetStart;
    use cellar_sheet::operation::Span;
    use cellar_snapshot::level::{ChunkHash, ChunkRef, StoredTile, Stripe, TilePlace};
    use cellar_snapshot::merge::WrittenSheet;

    use super::*;

    fn sheet(number: u32, tiles: u32) -> FoundSheet {
        sheet_of(number, tiles, 100)
    }

    fn sheet_of(number: u32, tiles: u32, bytes: u32) -> FoundSheet {
        let tile = |row: u32| TilePlace {
            rows: Span { first: row, count: 1 },
            cells: 1,
            stored: StoredTile::Chunk(ChunkRef {
                hash: ChunkHash::of(&[number, row].map(u32::to_le_bytes).concat()),
                bytes,
            }),
        };
        let tiles: Vec<TilePlace> = (0..tiles).map(tile).collect();
        let stripe = Stripe { columns: Span { first: 0, count: 128 }, tiles };
        let extent = Extent { rows: 1, columns: 1 };
        FoundSheet {
            start: SheetStart { name: Some(format!("Sheet {number}")), hidden: false },
            written: WrittenSheet { stripes: vec![stripe], extent, cells: 1 },
        }
    }

    fn requests(sheets: &FileSheets) -> Vec<AppendRequest> {
        let ground = Ground {
            incarnation: 7,
            base: Position::FIRST,
            next_sheet: SheetId(4),
            replaces: Some(SheetId(2)),
        };
        sheets.requests("client", &ground, |sheet| sheet.name.clone().unwrap())
    }

    fn imports(requests: &[AppendRequest]) -> Vec<ImportSheet> {
        let mutations = requests.iter().flat_map(|request| &request.mutations);
        let import = |sent: &SentMutation| match &sent.op {
            Operation::ImportSheet(import) => import.clone(),
            other => panic!("{other:?}"),
        };
        mutations.map(import).collect()
    }

    #[test]
    fn sheets_of_a_file_are_one_request_with_numbers_in_a_row() {
        let mut sheets = FileSheets::default();
        assert!(sheets.add(sheet(0, 3)).unwrap().is_empty());
        assert!(sheets.add(sheet(1, 0)).unwrap().is_empty());
        let requests = requests(&sheets);
        let [request] = requests.as_slice() else { panic!("{requests:?}") };
        assert_eq!(
            (request.incarnation, request.acked_id, request.client_id.as_str()),
            (7, 0, "client")
        );
        let ids: Vec<u64> = request.mutations.iter().map(|sent| sent.id).collect();
        assert_eq!(ids, [1, 2]);
        let imports = imports(&requests);
        let places: Vec<_> = imports.iter().map(|it| (it.sheet.0, it.replaces)).collect();
        assert_eq!(places, [(4, Some(SheetId(2))), (5, None)]);
        assert_eq!(imports[1].name, "Sheet 1");
    }

    #[test]
    fn what_names_only_cells_stands_before_what_names_it() {
        let mut sheets = FileSheets::default();
        let chunks = sheets.add(sheet(0, 20_000)).unwrap();
        let leaves = chunks.iter().filter(|chunk| chunk.is_leaf).count();
        assert!(leaves > 100 && leaves < chunks.len(), "{leaves}");
        assert!(chunks.is_sorted_by_key(|chunk| !chunk.is_leaf));
    }

    #[test]
    fn however_many_sheets_there_are_no_request_names_too_many_objects() {
        let long = u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap();
        let cases = [(MAX_SHEETS, 1), (MAX_SHEETS, 90), (3, 60), (2, 2_000), (1, 0)];
        let cases = cases.map(|(count, tiles)| (count, tiles, 100));
        for (count, tiles, bytes) in cases.into_iter().chain([(3, 60, long), (MAX_SHEETS, 1, long)])
        {
            let mut sheets = FileSheets::default();
            for number in 0..u32::try_from(count).unwrap() {
                sheets.add(sheet_of(number, tiles, bytes)).unwrap();
            }
            let requests = requests(&sheets);
            let mut next = 1;
            for request in &requests {
                let named = imports(std::slice::from_ref(request))
                    .iter()
                    .map(|import| Named::by(&import.tile_index).unwrap())
                    .fold(Named::default(), Named::and);
                assert!(named.count <= MAX_IMPORT_OBJECTS, "{named:?}");
                assert!(named.bytes <= MAX_IMPORT_OBJECT_BYTES, "{named:?}");
                assert!(serde_json::to_vec(request).unwrap().len() <= MAX_REQUEST_BYTES / 2);
                assert_eq!(request.acked_id + 1, request.mutations[0].id);
                assert_eq!(request.mutations[0].id, next);
                next += u64::try_from(request.mutations.len()).unwrap();
            }
            assert_eq!(next, u64::try_from(count).unwrap() + 1);
            assert!(requests.len() <= count.div_ceil(100), "{}", requests.len());
        }
    }
}
