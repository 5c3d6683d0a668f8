//! Loads root parts that may be stored in separate chunks: workbook metadata and clients.

use std::collections::BTreeMap;

use crate::error::SnapshotError;
use crate::index::InlineOrChunk;
use crate::objects::{Missing, ObjectKind, Objects, to_fetch};
use crate::root::{ClientMap, Root};
use cellar_sheet::metadata::{SheetMetadata, SheetNumbers, Tabs, WorkbookMetadata};

/// Returns the last mutation of each client. If the client chunk is not loaded, adds it to
/// `missing` and returns an empty map.
pub(crate) fn load_clients(root: &Root, objects: &Objects, missing: &mut Missing) -> ClientMap {
    let Some(chunk) = &root.clients else { return ClientMap::default() };
    if let Some(clients) = objects.clients.get(&chunk.hash) {
        return clients.clone();
    }
    missing.add(ObjectKind::Clients, *chunk);
    ClientMap::default()
}

/// Returns the workbook metadata. Parts with unloaded chunks are left empty, and their chunks are
/// added to `missing`.
pub(crate) fn load_metadata(
    root: &Root,
    objects: &Objects,
    missing: &mut Missing,
) -> Result<WorkbookMetadata, SnapshotError> {
    let used_ids = load_used_sheet_ids(root, objects, missing)?;
    let names = root.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone()));
    let tabs = Tabs::from_parts(names.collect(), used_ids);
    let mut sheets = BTreeMap::new();
    for sheet in &root.sheets {
        let layer = sheet.formats.layer(&|hash| objects.formats.get(hash))?;
        let formats = missing.take_ready(to_fetch(layer, ObjectKind::Formats)).unwrap_or_default();
        sheets.insert(sheet.sheet, SheetMetadata { extent: sheet.extent, formats });
    }
    Ok(WorkbookMetadata { tabs, sheets })
}

/// Returns all sheet ids that the workbook has ever used.
fn load_used_sheet_ids(
    root: &Root,
    objects: &Objects,
    missing: &mut Missing,
) -> Result<SheetNumbers, SnapshotError> {
    let chunk = match &root.used {
        InlineOrChunk::Inline(ids) => return Ok(ids.0.clone()),
        InlineOrChunk::Chunk(chunk) => chunk,
    };
    let Some(ids) = objects.numbers.get(&chunk.hash) else {
        missing.add(ObjectKind::Numbers, *chunk);
        return Ok(SheetNumbers::default());
    };
    root.check_numbers(ids)?;
    Ok(ids.clone())
}
