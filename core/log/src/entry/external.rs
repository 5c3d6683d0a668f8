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
mod tests;
