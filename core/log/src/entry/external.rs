//! Large entries, whose operations are stored in an S3 object, the external body. The operations in
//! the external body use the coordinates of the mutations' base. The entry itself stores a map from
//! these coordinates to its own, which readers apply to the operations. An external body contains
//! only cell edits, because all other operations are small enough for the entry itself.

use serde::{Deserialize, Serialize};

use super::BodyError;
use super::body::{BaseV1, check_mutation_ids, decode_whole};
use crate::transform::{FormulaSheet, FormulaSheets, SheetMap, SpaceMap, transform};
use cellar_base::bounded::at_most;
use cellar_base::identity::ClientKey;
use cellar_base::limits::{
    MAX_CELLS_PER_OPERATION, MAX_CELLS_PER_UPLOAD, MAX_EXTERNAL_BODY_BYTES, MAX_MOVED_SHEETS,
    MAX_MUTATIONS_PER_REQUEST, MAX_SHEETS, MAX_UPLOAD_BYTES,
};
use cellar_base::position::Position;
use cellar_sheet::axis_map::{Axis, StoredAxisMap};
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::operation::{Operation, SheetId, StoredOperation};

/// Version of the part of the body that is stored in the entry.
const EXTERNAL_VERSION: u64 = 1;
/// Version with the sheets that formulas name. It is only written if there are any.
const EXTERNAL_VERSION_WITH_NAMES: u64 = 2;
/// First byte of the object, which is the version of the compressed content.
const OBJECT_VERSION: u8 = 1;
/// A fast zstd level. Higher levels hardly improve the compression of cell data.
const COMPRESSION_LEVEL: i32 = 3;

/// A batch of mutations of one client, whose operations are in an external body (an S3 object).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalEdits {
    /// Client of the mutations.
    pub client: ClientKey,
    /// Id of the first mutation. The ids are consecutive.
    pub first_id: u64,
    /// Number of mutations, at least one.
    pub count: u32,
    /// Base of the mutations: the latest position that their author had seen. The external body
    /// uses the coordinates of this position.
    pub base: Position,
    /// Key of the object.
    pub object: String,
    /// Size of the object in bytes.
    pub bytes: u64,
    /// SHA-256 hash of the object, which readers verify.
    pub sha256: [u8; 32],
    /// Map from the coordinates of `base` to the coordinates directly before the entry.
    pub map: SpaceMap,
}

#[derive(Serialize, Deserialize)]
struct ExternalV1 {
    base: BaseV1,
    count: u32,
    bytes: u64,
    sha256: [u8; 32],
    #[serde(deserialize_with = "at_most::<_, _, MAX_MOVED_SHEETS>")]
    sheets: Vec<SheetV1>,
}

#[derive(Serialize, Deserialize)]
struct ExternalV2 {
    v1: ExternalV1,
    #[serde(deserialize_with = "at_most::<_, _, MAX_SHEETS>")]
    names: Vec<NameV2>,
}

/// A sheet that formulas of the external body name.
#[derive(Serialize, Deserialize)]
struct NameV2 {
    /// Lowercase name at the base.
    name: String,
    sheet: u32,
    later_name: Option<String>,
}

impl NameV2 {
    fn new(name: &str, sheet: &FormulaSheet) -> Self {
        let later_name = sheet.later_name.clone();
        Self { name: name.to_owned(), sheet: sheet.sheet.0, later_name }
    }

    fn into_sheet(self) -> (String, FormulaSheet) {
        let Self { name, sheet, later_name } = self;
        (name, FormulaSheet { sheet: SheetId(sheet), later_name })
    }
}

#[derive(Serialize, Deserialize)]
struct SheetV1 {
    sheet: u32,
    target: Option<u32>,
    rows: StoredAxisMap,
    columns: StoredAxisMap,
}

impl SheetV1 {
    fn new(sheet: SheetId, map: &SheetMap) -> Self {
        Self {
            sheet: sheet.0,
            target: map.target.map(|target| target.0),
            rows: StoredAxisMap::from(&map.rows),
            columns: StoredAxisMap::from(&map.columns),
        }
    }

    fn into_sheet_map(self) -> Result<(SheetId, SheetMap), BodyError> {
        let map = SheetMap {
            target: self.target.map(SheetId),
            rows: self.rows.into_map(Axis::Rows)?,
            columns: self.columns.into_map(Axis::Columns)?,
        };
        Ok((SheetId(self.sheet), map))
    }
}

impl ExternalEdits {
    /// Returns the last mutation id.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        self.first_id.saturating_add(u64::from(self.count)).saturating_sub(1)
    }

    /// Returns the committed form of an operation in the external body, or `None` if it was
    /// committed as authored.
    #[must_use]
    pub fn committed_operations(&self, authored: &Operation) -> Option<Vec<Operation>> {
        transform(authored, &self.map)
    }

    /// Returns the approximate size of the edits in memory and in a response, in bytes. A response
    /// also contains a presigned URL of the external body.
    pub fn weight_bytes(&self) -> usize {
        const FRAME_BYTES: usize = 512;
        /// Most of a presigned URL is the session token of the signing function.
        const URL_BYTES: usize = 2_560;
        const SHEET_BYTES: usize = 64;
        const RUN_BYTES: usize = 48;
        let sheet_map_bytes = |map: &SheetMap| {
            let run_count = map.rows.runs().len() + map.columns.runs().len();
            run_count.saturating_mul(RUN_BYTES) + SHEET_BYTES
        };
        let map_bytes: usize = self.map.sheets().map(|(_, map)| sheet_map_bytes(map)).sum();
        let name_bytes = |(name, sheet): (&str, &FormulaSheet)| {
            let later_bytes = sheet.later_name.as_deref().map_or(0, json_text_bytes);
            json_text_bytes(name) + later_bytes + SHEET_BYTES
        };
        let names_bytes: usize = self.map.formula_sheets().names().map(name_bytes).sum();
        FRAME_BYTES + URL_BYTES + self.object.len() + map_bytes + names_bytes
    }
}

/// Encodes the body of an `E` entry at `position` whose operations are in an S3 object. Returns the
/// version and the bytes of the body.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for these types.
pub fn encode_external(
    position: Position,
    external: &ExternalEdits,
) -> Result<(u64, Vec<u8>), BodyError> {
    let sheets = external.map.sheets().map(|(sheet, map)| SheetV1::new(sheet, map)).collect();
    let v1 = ExternalV1 {
        base: BaseV1::relative_to(position, external.base),
        count: external.count,
        bytes: external.bytes,
        sha256: external.sha256,
        sheets,
    };
    let formula_sheets = external.map.formula_sheets();
    if formula_sheets.is_empty() {
        return Ok((EXTERNAL_VERSION, postcard::to_allocvec(&v1)?));
    }
    let names = formula_sheets.names().map(|(name, sheet)| NameV2::new(name, sheet)).collect();
    let stored = ExternalV2 { v1, names };
    Ok((EXTERNAL_VERSION_WITH_NAMES, postcard::to_allocvec(&stored)?))
}

/// Decodes a body that [`encode_external`] returned. Never panics on malformed bytes.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid body.
pub fn decode_external(
    version: u64,
    position: Position,
    client: ClientKey,
    first_id: u64,
    object: String,
    body: &[u8],
) -> Result<ExternalEdits, BodyError> {
    let (stored, names) = match version {
        EXTERNAL_VERSION => (decode_whole::<ExternalV1>(body)?, Vec::new()),
        EXTERNAL_VERSION_WITH_NAMES => {
            let ExternalV2 { v1, names } = decode_whole(body)?;
            (v1, names)
        }
        _ => return Err(BodyError::UnknownVersion { version }),
    };
    check_mutation_ids(first_id, u64::from(stored.count))?;
    if stored.count == 0 {
        return Err(BodyError::InvalidContent("it has no mutations"));
    }
    let sheet_maps: Vec<(SheetId, SheetMap)> =
        stored.sheets.into_iter().map(SheetV1::into_sheet_map).collect::<Result<_, BodyError>>()?;
    Ok(ExternalEdits {
        client,
        first_id,
        count: stored.count,
        base: stored.base.to_position(position)?,
        object,
        bytes: stored.bytes,
        sha256: stored.sha256,
        map: SpaceMap::from_sheets(sheet_maps).with_formula_sheets(FormulaSheets::from_names(
            names.into_iter().map(NameV2::into_sheet),
        )),
    })
}

/// Encodes an external body with one operation per mutation.
///
/// # Errors
/// Returns [`BodyError::InvalidContent`] if the operations exceed `MAX_MUTATIONS_PER_REQUEST`,
/// `MAX_CELLS_PER_UPLOAD`, `MAX_CELLS_PER_OPERATION` or `MAX_UPLOAD_BYTES`. The caller must then
/// divide the operations among several entries.
pub fn encode_external_body(operations: &[Operation]) -> Result<Vec<u8>, BodyError> {
    if has_too_many_mutations_or_cells(operations) {
        return Err(BodyError::InvalidContent(
            "there are too many mutations or cells for one entry; divide them among several entries",
        ));
    }
    let stored_operations: Vec<StoredOperation> =
        operations.iter().map(StoredOperation::from).collect();
    let uncompressed = postcard::to_allocvec(&stored_operations)?;
    let compressed = zstd::bulk::compress(&uncompressed, COMPRESSION_LEVEL)
        .map_err(|_| BodyError::InvalidContent("it cannot be compressed"))?;
    let object = [&[OBJECT_VERSION], compressed.as_slice()].concat();
    if object.len() > MAX_UPLOAD_BYTES || uncompressed.len() > MAX_EXTERNAL_BODY_BYTES {
        return Err(BodyError::InvalidContent(
            "the mutations are too large for one entry; divide them among several entries",
        ));
    }
    Ok(object)
}

fn has_too_many_mutations_or_cells(operations: &[Operation]) -> bool {
    let cell_counts: Vec<usize> = operations.iter().map(cell_count).collect();
    operations.len() > MAX_MUTATIONS_PER_REQUEST
        || cell_counts.iter().any(|count| *count > MAX_CELLS_PER_OPERATION)
        || cell_counts.iter().sum::<usize>() > MAX_CELLS_PER_UPLOAD
}

/// Decodes an external body. Never panics on malformed bytes. Uses memory for at most
/// `MAX_EXTERNAL_BODY_BYTES` and `MAX_CELLS_PER_UPLOAD` cells.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid external body.
pub fn decode_external_body(object: &[u8]) -> Result<Vec<Operation>, BodyError> {
    let (version, compressed) =
        object.split_first().ok_or(BodyError::InvalidContent("the object is empty"))?;
    if *version != OBJECT_VERSION {
        return Err(BodyError::UnknownVersion { version: u64::from(*version) });
    }
    let uncompressed = decompress(compressed, MAX_EXTERNAL_BODY_BYTES)?;
    decode_operations(&uncompressed)
}

/// Decode one operation at a time, so that at most `MAX_CELLS_PER_UPLOAD` cells are in memory.
fn decode_operations(uncompressed: &[u8]) -> Result<Vec<Operation>, BodyError> {
    let (operation_count, mut remaining_bytes) = postcard::take_from_bytes::<usize>(uncompressed)?;
    if operation_count == 0 || operation_count > MAX_MUTATIONS_PER_REQUEST {
        return Err(BodyError::InvalidContent("it has no mutations or too many"));
    }
    let mut operations = Vec::new();
    let mut total_cell_count = 0_usize;
    for _ in 0..operation_count {
        let (stored, bytes_after) = postcard::take_from_bytes::<StoredOperation>(remaining_bytes)?;
        let operation = Operation::try_from(stored)?;
        if !matches!(operation, Operation::SetCells(_)) {
            return Err(BodyError::InvalidContent("an operation does not set cells"));
        }
        total_cell_count = total_cell_count.saturating_add(cell_count(&operation));
        if total_cell_count > MAX_CELLS_PER_UPLOAD {
            return Err(BodyError::InvalidContent("it has too many cells"));
        }
        operations.push(operation);
        remaining_bytes = bytes_after;
    }
    if !remaining_bytes.is_empty() {
        return Err(BodyError::InvalidContent("there are bytes after its end"));
    }
    Ok(operations)
}

fn cell_count(operation: &Operation) -> usize {
    match operation {
        Operation::SetCells(set) => set.cells.len(),
        _ => 0,
    }
}

pub(crate) fn decompress(compressed: &[u8], max_bytes: usize) -> Result<Vec<u8>, BodyError> {
    use std::io::Read;
    let invalid_frame = |_| BodyError::InvalidContent("it cannot be decompressed");
    let decoder = zstd::stream::read::Decoder::new(compressed).map_err(invalid_frame)?;
    let byte_limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let mut uncompressed = Vec::new();
    // Read one byte more than allowed, to detect a frame that is too large.
    decoder
        .take(byte_limit.saturating_add(1))
        .read_to_end(&mut uncompressed)
        .map_err(invalid_frame)?;
    if uncompressed.len() > max_bytes {
        return Err(BodyError::InvalidContent("it is too large"));
    }
    Ok(uncompressed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, DeleteSpans, InsertBefore, SetCells, Spans};

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn set(row: u32, text: &str) -> Operation {
        let value = Some(Value::Text(text.into()));
        let edit = CellEdit { row, column: 1, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
    }

    fn external() -> ExternalEdits {
        let sheet = SheetId::FIRST;
        let map = SpaceMap::from_operations(&[
            Operation::InsertRows(InsertBefore { sheet, before: 3, count: 2 }),
            Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(0, 1) }),
        ]);
        let failed = (SheetId(4), SheetMap { target: None, ..SheetMap::identity(SheetId(4)) });
        let moved = map.sheets().map(|(id, map)| (id, map.clone()));
        let map = SpaceMap::from_sheets(moved.chain([failed]));
        let client = ClientKey([7; 8]);
        let (object, sha256) = ("uploads/a/b".to_owned(), [9; 32]);
        ExternalEdits { client, first_id: 5, count: 2, base: at(3), object, bytes: 7, sha256, map }
    }

    #[test]
    fn external_edits_round_trip_with_their_maps() {
        let external = external();
        let (version, body) = encode_external(at(9), &external).unwrap();
        let read = |version, body: &[u8]| {
            decode_external(version, at(9), external.client, 5, external.object.clone(), body)
        };
        assert_eq!(read(version, &body).unwrap(), external);
        assert_eq!(external.last_id(), 6);
        assert_eq!(external.committed_operations(&set(5, "x")), Some(vec![moved(&set(5, "x"))]));
        assert!(read(2, &body).is_err() && read(3, &body).is_err());
        for cut in 0..body.len() {
            assert!(read(1, &body[..cut]).is_err(), "{cut}");
        }
    }

    fn formula(text: &str) -> Operation {
        let formula = Some(text.to_owned());
        let edit = CellEdit { row: 9, column: 9, value: Some(Value::Empty), formula, format: None };
        Operation::SetCells(SetCells { sheet: SheetId(7), cells: vec![edit] })
    }

    #[test]
    fn external_edits_round_trip_with_the_sheets_of_their_formulas() {
        let names = |later_name: Option<&str>| {
            let sheet =
                FormulaSheet { sheet: SheetId::FIRST, later_name: later_name.map(str::to_owned) };
            FormulaSheets::from_names([("data".to_owned(), sheet)])
        };
        for (later_name, expected) in [(Some("Facts"), "=Facts!B8"), (None, "=#REF!")] {
            let map = external().map.with_formula_sheets(names(later_name));
            let external = ExternalEdits { map, ..external() };
            let (version, body) = encode_external(at(9), &external).unwrap();
            assert_eq!(version, 2);
            let read = |body: &[u8]| {
                let object = external.object.clone();
                decode_external(version, at(9), external.client, 5, object, body)
            };
            assert_eq!(read(&body).unwrap(), external);
            let committed = external.committed_operations(&formula("=Data!C6"));
            assert_eq!(committed, Some(vec![formula(expected)]));
            for cut in 0..body.len() {
                assert!(read(&body[..cut]).is_err(), "{cut}");
            }
        }
    }

    fn moved(operation: &Operation) -> Operation {
        let Operation::SetCells(mut set) = operation.clone() else { panic!() };
        set.cells.iter_mut().for_each(|edit| (edit.row, edit.column) = (edit.row + 2, 0));
        Operation::SetCells(set)
    }

    #[test]
    fn objects_round_trip_and_other_bytes_are_rejected() {
        let operations = vec![set(0, "a"), set(1, &"b".repeat(50_000))];
        let object = encode_external_body(&operations).unwrap();
        assert!(object.len() < 200);
        assert_eq!(decode_external_body(&object).unwrap(), operations);
        let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
        for bad in [vec![], vec![Operation::InsertRows(insert)]] {
            assert!(decode_external_body(&encode_external_body(&bad).unwrap()).is_err());
        }
        for cut in 0..object.len() {
            assert!(decode_external_body(&object[..cut]).is_err(), "{cut}");
        }
        let other_version = [&[2], &object[1..]].concat();
        assert!(decode_external_body(&other_version).is_err());
    }

    /// Returns an object that the encoder would never write. Each element of `counts` is the number
    /// of blank cells in one operation.
    fn bomb(cells: &[usize]) -> Vec<u8> {
        let mut plain = postcard::to_allocvec(&cells.len()).unwrap();
        for count in cells {
            // `SetCells` on sheet 0 without formats. The operation has one run of cells, which
            // starts at row 0, column 0.
            plain.extend([0, 0, 0, 1, 0, 0]);
            plain.extend(postcard::to_allocvec(count).unwrap());
            plain.resize(plain.len() + count, 0);
        }
        let packed = zstd::bulk::compress(&plain, COMPRESSION_LEVEL).unwrap();
        [&[OBJECT_VERSION], packed.as_slice()].concat()
    }

    fn blank(count: usize) -> Operation {
        let blank = |row| CellEdit {
            row,
            column: 0,
            value: Some(Value::Empty),
            formula: None,
            format: None,
        };
        let cells = (0..u32::try_from(count).unwrap()).map(blank).collect();
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
    }

    #[test]
    fn limits_the_cells_and_mutations_of_an_upload() {
        let full = vec![MAX_CELLS_PER_OPERATION; MAX_CELLS_PER_UPLOAD / MAX_CELLS_PER_OPERATION];
        let and_one = [full.as_slice(), &[1]].concat();
        let most = MAX_MUTATIONS_PER_REQUEST;
        for (cells, fits) in [
            (full, true),
            (and_one, false),
            (vec![MAX_CELLS_PER_OPERATION], true),
            (vec![MAX_CELLS_PER_OPERATION + 1], false),
            (vec![1; most], true),
            (vec![1; most + 1], false),
        ] {
            let operations: Vec<Operation> = cells.iter().map(|count| blank(*count)).collect();
            let object = bomb(&cells);
            assert!(object.len() < 4_000);
            assert_eq!(decode_external_body(&object).is_ok(), fits, "{cells:?}");
            assert_eq!(encode_external_body(&operations).is_ok(), fits, "{cells:?}");
        }
        // Both objects contain 32 MB of cells: the first in many single-cell operations, the second
        // in one operation.
        assert!(decode_external_body(&bomb(&vec![1; 4_000_000])).is_err());
        assert!(decode_external_body(&bomb(&[32_000_000])).is_err());
    }

    #[test]
    fn limits_the_moved_sheets_of_a_record() {
        let read = |count: usize| {
            let stored = ExternalV1 {
                base: BaseV1::relative_to(at(9), at(3)),
                count: 1,
                bytes: 1,
                sha256: [0; 32],
                sheets: (0..u32::try_from(count).unwrap()).map(unmoved).collect(),
            };
            let body = postcard::to_allocvec(&stored).unwrap();
            decode_external(1, at(9), ClientKey([7; 8]), 1, String::new(), &body)
        };
        assert!(read(MAX_MOVED_SHEETS).is_ok());
        assert!(read(MAX_MOVED_SHEETS + 1).is_err());
    }

    #[test]
    fn limits_the_named_sheets_of_a_record() {
        let read = |count: usize| {
            let v1 = ExternalV1 {
                base: BaseV1::relative_to(at(9), at(3)),
                count: 1,
                bytes: 1,
                sha256: [0; 32],
                sheets: Vec::new(),
            };
            let name = |sheet: u32| NameV2 { name: sheet.to_string(), sheet, later_name: None };
            let names = (0..u32::try_from(count).unwrap()).map(name).collect();
            let body = postcard::to_allocvec(&ExternalV2 { v1, names }).unwrap();
            decode_external(2, at(9), ClientKey([7; 8]), 1, String::new(), &body)
        };
        assert!(read(MAX_SHEETS).is_ok());
        assert!(read(MAX_SHEETS + 1).is_err());
    }

    fn unmoved(sheet: u32) -> SheetV1 {
        let map = |axis| StoredAxisMap::from(&cellar_sheet::axis_map::AxisMap::identity(axis));
        SheetV1 { sheet, target: Some(sheet), rows: map(Axis::Rows), columns: map(Axis::Columns) }
    }

    #[test]
    fn rejects_a_decompression_bomb_before_it_takes_memory() {
        let bomb = |bytes: usize| {
            let plain = zstd::bulk::compress(&vec![0_u8; bytes], 3).unwrap();
            decompress(&plain, MAX_EXTERNAL_BODY_BYTES).map(|plain| plain.len())
        };
        assert_eq!(bomb(MAX_EXTERNAL_BODY_BYTES), Ok(MAX_EXTERNAL_BODY_BYTES));
        assert!(bomb(MAX_EXTERNAL_BODY_BYTES + 1).is_err());
    }
}
