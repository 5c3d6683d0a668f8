//! Loads the parts of a root that may be stored in separate chunks: workbook metadata and clients.

use std::collections::BTreeMap;

use crate::error::SnapshotError;
use crate::index::InlineOrChunk;
use crate::objects::{MissingObjects, ObjectKind, Objects, to_fetch};
use crate::root::{ClientMap, Root};
use cellar_sheet::metadata::{SheetMetadata, SheetNumbers, Tabs, WorkbookMetadata};

/// If the chunk with the clients is not loaded, adds it to `missing` and returns an empty map.
pub(crate) fn load_clients(
    root: &Root,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> ClientMap {
    let Some(chunk) = &root.clients else { return ClientMap::default() };
    if let Some(clients) = objects.clients.get(&chunk.hash) {
        return clients.clone();
    }
    missing.add(ObjectKind::Clients, *chunk);
    ClientMap::default()
}

/// If chunks are not loaded, adds them to `missing` and leaves their parts of the metadata empty.
pub(crate) fn load_metadata(
    root: &Root,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<WorkbookMetadata, SnapshotError> {
    let used_numbers = load_used_sheet_numbers(root, objects, missing)?;
    let mut names_in_tab_order = Vec::with_capacity(root.sheets.len());
    let mut sheets = BTreeMap::new();
    for root_sheet in &root.sheets {
        let sheet_id = root_sheet.sheet;
        names_in_tab_order.push((sheet_id, root_sheet.name.clone()));
        let formats_lookup = root_sheet.formats.layer(&|hash| objects.formats.get(hash))?;
        let loaded_formats =
            missing.ready_or_record_missing(to_fetch(formats_lookup, ObjectKind::Formats));
        let formats = loaded_formats.unwrap_or_default();
        sheets.insert(sheet_id, SheetMetadata { extent: root_sheet.extent, formats });
    }
    let tabs = Tabs::from_parts(names_in_tab_order, used_numbers);
    Ok(WorkbookMetadata { tabs, sheets, names: root.names.clone() })
}

/// If the chunk with the numbers is not loaded, adds it to `missing` and returns an empty set.
fn load_used_sheet_numbers(
    root: &Root,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<SheetNumbers, SnapshotError> {
    let chunk = match &root.used {
        InlineOrChunk::Inline(stored_numbers) => return Ok(stored_numbers.0.clone()),
        InlineOrChunk::Chunk(chunk) => chunk,
    };
    let Some(used_numbers) = objects.numbers.get(&chunk.hash) else {
        missing.add(ObjectKind::Numbers, *chunk);
        return Ok(SheetNumbers::default());
    };
    root.check_numbers(used_numbers)?;
    Ok(used_numbers.clone())
}
