//! Builds the requests that append the sheets of a file to a spreadsheet.

use cellar_api::{wire::AppendRequest, wire::NameView, wire::SentMutation};
use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::{
    IMPORT_NAMED_BYTES, MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_IMPORT_SHEET_NAMES_BYTES,
    MAX_REQUEST_BYTES, MAX_SHEETS,
};
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, TileIndex};
use cellar_snapshot::SnapshotError;
use cellar_snapshot::index::StripeIndex;
use cellar_snapshot::index::{IndexChunk, pack_import, pack_import_as_chunk};
use cellar_snapshot::level::Stripe;
use cellar_snapshot::packed::{Bounds, PackedObject, unpack};

use super::read::PackedSheet;

/// Maximum number of objects to which the sheets of an import refer directly. A sheet that would
/// exceed this limit refers to a single index object instead. The limit is half of
/// `MAX_IMPORT_OBJECTS`, so that the other half remains for index objects.
const MAX_DIRECT_OBJECTS: usize = MAX_IMPORT_OBJECTS / 2;
/// Encoded as Base64, indexes of this size fit in one log entry and are much shorter than
/// `MAX_REQUEST_BYTES`.
const MAX_INDEX_BYTES: usize = MAX_REQUEST_BYTES / 8;

#[derive(Debug, Default)]
pub(super) struct FileSheets {
    sheets: Vec<FileSheet>,
    direct_objects: ReferencedObjects,
}

/// Number and total size of objects to which tile indexes refer directly.
#[derive(Debug, Clone, Copy, Default)]
struct ReferencedObjects {
    count: usize,
    /// Stored size.
    bytes: u64,
}

impl ReferencedObjects {
    fn of_index(index: &TileIndex) -> Result<Self, SnapshotError> {
        let children = StripeIndex::of_import(index)?.children()?;
        Ok(Self { count: children.count(), bytes: children.bytes() })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The part of a request's size that depends on the sheets in the request.
#[derive(Debug, Clone, Copy, Default)]
struct RequestSize {
    objects: ReferencedObjects,
    /// Includes the names of sheets in formulas.
    index_bytes: usize,
}

impl RequestSize {
    fn plus_sheet(self, (sheet, import): &(&FileSheet, ImportSheet)) -> Self {
        /// Approximate length of a number and the characters around a name in JSON.
        const NUMBER_BYTES: usize = 16;
        let name_bytes: usize =
            import.sheets.keys().map(|name| name.len().saturating_add(NUMBER_BYTES)).sum();
        let index_bytes = import.tile_index.bytes().len().saturating_add(name_bytes);
        Self {
            objects: self.objects.plus(sheet.objects),
            index_bytes: self.index_bytes.saturating_add(index_bytes),
        }
    }

    fn exceeds_limits(self) -> bool {
        self.objects.count > MAX_IMPORT_OBJECTS
            || self.objects.bytes > MAX_IMPORT_OBJECT_BYTES
            || self.index_bytes > MAX_INDEX_BYTES
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileSheet {
    /// Sheet name in the file, or `None` for a CSV file.
    pub(super) name: Option<String>,
    pub(super) hidden: bool,
    pub(super) extent: Extent,
    pub(super) cells: u64,
    pub(super) formulas: u64,
    /// Names of sheets in formulas, in lower case.
    named_sheets: BTreeSet<String>,
    index: TileIndex,
    objects: ReferencedObjects,
}

#[derive(Debug, Clone)]
pub(super) struct IndexObject {
    pub(super) packed: PackedObject,
    /// Whether the tile index chunk refers only to tiles and not to other index chunks.
    pub(super) is_leaf: bool,
}

impl IndexObject {
    fn new(packed: PackedObject) -> Result<Self, SnapshotError> {
        let bytes = unpack(packed.chunk.hash, &packed.stored, Bounds::CHUNK)?;
        let children = IndexChunk::decode(&bytes)?.children()?;
        let is_leaf = children.is_some_and(|children| children.index.is_empty());
        Ok(Self { packed, is_leaf })
    }
}

#[derive(Debug, Clone)]
pub(super) struct ImportTarget {
    pub(super) incarnation: u32,
    pub(super) base: Position,
    pub(super) next_sheet: SheetId,
    /// The existing sheet that is replaced by the first imported sheet, if any.
    pub(super) replaces: Option<SheetId>,
    /// The name of the replaced sheet, if the imported sheet keeps that name.
    pub(super) kept_name: Option<String>,
    /// Names that the import does not define again.
    pub(super) existing_names: Vec<NameView>,
    /// The sheets that are not replaced, by name. Formulas of the file may name them.
    pub(super) other_sheets: Vec<(String, SheetId)>,
}

impl ImportTarget {
    /// `sheet_index` is the number of preceding sheets in the file. Only the first sheet can
    /// replace an existing sheet.
    fn import_operation(
        &self,
        sheet: &FileSheet,
        sheet_index: u32,
        name_in_file: String,
        known_sheets: &KnownSheets,
    ) -> ImportSheet {
        ImportSheet {
            sheet: SheetId(self.next_sheet.0 + sheet_index),
            name: self.kept_name.clone().unwrap_or(name_in_file),
            replaces: if sheet_index == 0 { self.replaces } else { None },
            extent: sheet.extent,
            cells: sheet.cells,
            formulas: Some(sheet.formulas),
            sheets: known_sheets.named_in(sheet),
            tile_index: sheet.index.clone(),
        }
    }
}

/// The sheets that formulas of the file can name: names and numbers by lower-case names.
struct KnownSheets(BTreeMap<String, (String, SheetId)>);

impl KnownSheets {
    /// Sheets of the file have precedence over those of the spreadsheet.
    fn new(sheets: &[FileSheet], target: &ImportTarget) -> Self {
        let in_file = (target.next_sheet.0..)
            .map(SheetId)
            .zip(sheets)
            .map(|(number, sheet)| (sheet.name.clone().unwrap_or_default(), number));
        let replaced = target.kept_name.clone().map(|name| (name, target.next_sheet));
        let all = target.other_sheets.iter().cloned().chain(replaced).chain(in_file);
        Self(all.map(|(name, number)| (name.to_lowercase(), (name, number))).collect())
    }

    /// Returns the sheets that the formulas of a sheet name, as many as an import can contain.
    fn named_in(&self, sheet: &FileSheet) -> BTreeMap<String, SheetId> {
        let mut bytes = 0_usize;
        let fits = |(name, _): &&(String, SheetId)| {
            bytes = bytes.saturating_add(name.len());
            bytes <= MAX_IMPORT_SHEET_NAMES_BYTES
        };
        let known = sheet.named_sheets.iter().filter_map(|name| self.0.get(name));
        known.take(MAX_SHEETS).take_while(fits).cloned().collect()
    }
}

impl FileSheets {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &FileSheet> {
        self.sheets.iter()
    }

    /// Returns the chunks of the sheet's tile index. A chunk never precedes the chunks to which it
    /// refers.
    pub(super) fn add_sheet(
        &mut self,
        sheet: PackedSheet,
    ) -> Result<Vec<IndexObject>, SnapshotError> {
        let PackedSheet { start, written, named_sheets } = sheet;
        let (index, index_chunks) = self.pack_tile_index(&written.stripes)?;
        let objects = ReferencedObjects::of_index(&index)?;
        self.direct_objects = self.direct_objects.plus(objects);
        self.sheets.push(FileSheet {
            name: start.name,
            hidden: start.hidden,
            extent: written.extent,
            cells: written.cells,
            formulas: written.formulas,
            named_sheets,
            index,
            objects,
        });
        index_chunks.into_iter().map(IndexObject::new).collect()
    }

    /// If all sheets together would refer directly to too many objects, or to too large objects,
    /// the next sheet refers to a single index chunk instead.
    fn pack_tile_index(
        &self,
        stripes: &[Stripe],
    ) -> Result<(TileIndex, Vec<PackedObject>), SnapshotError> {
        let (index, index_chunks) = pack_import(stripes)?;
        let direct_objects = self.direct_objects.plus(ReferencedObjects::of_index(&index)?);
        let are_too_many = direct_objects.count > MAX_DIRECT_OBJECTS;
        if are_too_many || direct_objects.bytes > IMPORT_NAMED_BYTES {
            return pack_import_as_chunk(stripes);
        }
        Ok((index, index_chunks))
    }

    /// A single request is sufficient unless the file has hundreds of sheets.
    pub(super) fn build_append_requests(
        &self,
        client_id: &str,
        target: &ImportTarget,
        name_of: impl Fn(&FileSheet) -> String,
    ) -> Vec<AppendRequest> {
        let known_sheets = KnownSheets::new(&self.sheets, target);
        let to_import = |(sheet_index, sheet)| {
            let name = name_of(sheet);
            (sheet, target.import_operation(sheet, sheet_index, name, &known_sheets))
        };
        let imports: Vec<(&FileSheet, ImportSheet)> =
            (0..).zip(&self.sheets).map(to_import).collect();
        let mut last_id = 0_u64;
        let mut requests = Vec::new();
        for group in split_by_request_limits(&imports) {
            let acked_id = last_id;
            let mut mutations = Vec::with_capacity(group.len());
            for (_, import) in group {
                last_id += 1;
                let op = Operation::ImportSheet(import.clone());
                mutations.push(SentMutation { id: last_id, base: target.base, op });
            }
            requests.push(AppendRequest {
                client_id: client_id.to_owned(),
                incarnation: target.incarnation,
                acked_id,
                refuse_unchanged: false,
                mutations,
            });
        }
        requests
    }
}

/// The order of the sheets does not change. Returns at least one group.
fn split_by_request_limits<'i, 's>(
    imports: &'i [(&'s FileSheet, ImportSheet)],
) -> Vec<&'i [(&'s FileSheet, ImportSheet)]> {
    let mut groups = Vec::new();
    let mut group_start = 0;
    let mut group_size = RequestSize::default();
    for (sheet_index, sheet) in imports.iter().enumerate() {
        let is_full = group_size.plus_sheet(sheet).exceeds_limits();
        if is_full && sheet_index > group_start {
            groups.extend(imports.get(group_start..sheet_index));
            group_start = sheet_index;
            group_size = RequestSize::default();
        }
        group_size = group_size.plus_sheet(sheet);
    }
    groups.extend(imports.get(group_start..));
    groups
}

#[cfg(test)]
pub(super) mod tests {
    use cellar_base::limits::MAX_STORED_CHUNK_BYTES;
    use cellar_exchange::SheetStart;
    use cellar_sheet::operation::Span;
    use cellar_snapshot::level::{ChunkHash, ChunkRef, StoredTile, StripeTile};
    use cellar_snapshot::merge::WrittenSheet;

    use super::*;

    pub(crate) fn sheets_named(names: &[&str]) -> FileSheets {
        let mut sheets = FileSheets::default();
        for name in names {
            let start = SheetStart { name: Some((*name).to_owned()), hidden: false };
            sheets.add_sheet(PackedSheet { start, ..sheet(0, 1) }).unwrap();
        }
        sheets
    }

    fn sheet(number: u32, tiles: u32) -> PackedSheet {
        sheet_of(number, tiles, 100)
    }

    fn sheet_of(number: u32, tiles: u32, bytes: u32) -> PackedSheet {
        let tile = |row: u32| StripeTile {
            rows: Span { first: row, count: 1 },
            cells: 1,
            formulas: None,
            stored: StoredTile::Chunk(ChunkRef {
                hash: ChunkHash::of(&[number, row].map(u32::to_le_bytes).concat()),
                bytes,
            }),
        };
        let tiles: Vec<StripeTile> = (0..tiles).map(tile).collect();
        let stripe = Stripe { columns: Span { first: 0, count: 128 }, tiles };
        let extent = Extent { rows: 1, columns: 1 };
        PackedSheet {
            start: SheetStart { name: Some(format!("Sheet {number}")), hidden: false },
            written: WrittenSheet { stripes: vec![stripe], extent, cells: 1, formulas: 0 },
            named_sheets: BTreeSet::new(),
        }
    }

    fn target() -> ImportTarget {
        ImportTarget {
            incarnation: 7,
            base: Position::FIRST,
            next_sheet: SheetId(4),
            replaces: Some(SheetId(2)),
            kept_name: None,
            existing_names: Vec::new(),
            other_sheets: Vec::new(),
        }
    }

    fn requests(sheets: &FileSheets) -> Vec<AppendRequest> {
        let target = target();
        sheets.build_append_requests("client", &target, |sheet| sheet.name.clone().unwrap())
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
    fn sheets_of_a_file_are_one_request_with_consecutive_numbers() {
        let mut sheets = FileSheets::default();
        assert!(sheets.add_sheet(sheet(0, 3)).unwrap().is_empty());
        assert!(sheets.add_sheet(sheet(1, 0)).unwrap().is_empty());
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
    fn imports_contain_the_numbers_of_the_sheets_that_formulas_name() {
        let mut sheets = sheets_named(&["Costs", "Sum"]);
        for sheet in &mut sheets.sheets {
            let names = ["sum", "costs", "missing", "old"].map(str::to_owned);
            sheet.named_sheets = BTreeSet::from(names);
            sheet.formulas = 7;
        }
        sheets.sheets[1].named_sheets.remove("costs");
        let other_sheets =
            [("Old", 1), ("COSTS", 2)].map(|(name, number)| (name.to_owned(), SheetId(number)));
        let target = ImportTarget { other_sheets: other_sheets.to_vec(), ..target() };
        let name_of = |sheet: &FileSheet| sheet.name.clone().unwrap();
        let requests = sheets.build_append_requests("client", &target, name_of);
        let [costs, sum] = <[ImportSheet; 2]>::try_from(imports(&requests)).unwrap();
        let named = |import: &ImportSheet| -> Vec<(String, u32)> {
            import.sheets.iter().map(|(name, number)| (name.clone(), number.0)).collect()
        };
        let expected = [("Costs", 4), ("Old", 1), ("Sum", 5)];
        let expected = expected.map(|(name, number)| (name.to_owned(), number));
        assert_eq!((named(&costs), costs.formulas), (expected.to_vec(), Some(7)));
        assert_eq!(named(&sum), expected[1..]);
    }

    #[test]
    fn requests_with_many_names_are_split() {
        let name = |number: u32| format!("{number:0>31}");
        let mut sheets = FileSheets::default();
        for number in 0..400 {
            sheets.add_sheet(sheet(number, 0)).unwrap();
        }
        for (number, sheet) in (0..).zip(&mut sheets.sheets) {
            sheet.name = Some(name(number));
            sheet.named_sheets = (0..400).map(name).collect();
        }
        let requests = requests(&sheets);
        assert!(requests.len() > 10);
        for request in &requests {
            assert!(serde_json::to_vec(request).unwrap().len() <= MAX_REQUEST_BYTES / 2);
        }
        for import in imports(&requests) {
            assert_eq!(import.sheets.len(), 400);
            assert!(Operation::ImportSheet(import).validated().is_ok());
        }
    }

    #[test]
    fn leaf_index_chunks_come_first() {
        let mut sheets = FileSheets::default();
        let chunks = sheets.add_sheet(sheet(0, 20_000)).unwrap();
        let leaves = chunks.iter().filter(|chunk| chunk.is_leaf).count();
        assert!(leaves > 100 && leaves < chunks.len(), "{leaves}");
        assert!(chunks.is_sorted_by_key(|chunk| !chunk.is_leaf));
    }

    #[test]
    fn requests_respect_the_limits_of_objects_and_bytes() {
        let long = u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap();
        let cases = [(MAX_SHEETS, 1), (MAX_SHEETS, 90), (3, 60), (2, 2_000), (1, 0)];
        let cases = cases.map(|(count, tiles)| (count, tiles, 100));
        for (count, tiles, bytes) in cases.into_iter().chain([(3, 60, long), (MAX_SHEETS, 1, long)])
        {
            let mut sheets = FileSheets::default();
            for number in 0..u32::try_from(count).unwrap() {
                sheets.add_sheet(sheet_of(number, tiles, bytes)).unwrap();
            }
            let requests = requests(&sheets);
            let mut next = 1;
            for request in &requests {
                let named = imports(std::slice::from_ref(request))
                    .iter()
                    .map(|import| ReferencedObjects::of_index(&import.tile_index).unwrap())
                    .fold(ReferencedObjects::default(), ReferencedObjects::plus);
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
