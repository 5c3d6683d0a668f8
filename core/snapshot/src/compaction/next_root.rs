//! Builds the root that a compaction step produces.

use super::base::CompactionBase;
use super::counts::level_totals;
use super::entries::FoldedEntries;
use crate::error::SnapshotError;
use crate::index::{PackedLevel, pack_level};
use crate::level::{ChunkRef, Level};
use crate::outdated::OutdatedAreas;
use crate::packed::PackedObject;
use crate::packer::PackLimits;
use crate::root::{Root, RootLevel, RootSheet, Totals, pack_formats, pack_sheet_numbers};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;

/// A root and its new chunks, all of which must be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRoot {
    /// Chunks to store before the root. Each chunk follows the chunks that it references.
    pub objects: Vec<PackedObject>,
    /// The root.
    pub root: Root,
    /// The packed root. It is stored under the key prefix of roots.
    pub stored: PackedObject,
}

pub(super) fn build_next_root(
    base: &CompactionBase,
    folded: &FoldedEntries,
    levels: Vec<RootLevel>,
    level_0: Option<&Level>,
) -> Result<NextRoot, SnapshotError> {
    let mut objects = Vec::new();
    let sheets = pack_root_sheets(&folded.metadata, &mut objects)?;
    let used_numbers = folded.metadata.tabs.used().clone();
    let (used, numbers_chunk) = pack_sheet_numbers(used_numbers, PackLimits::METADATA)?;
    objects.extend(numbers_chunk);
    let clients = pack_clients(base, folded, &mut objects)?;
    let level_0 = match level_0 {
        None => None,
        Some(level) => {
            let (packed_level, level_chunks) = pack_level(level, PackLimits::LEVEL_0)?;
            objects.extend(level_chunks);
            Some(to_root_level(&levels, folded.last_position, packed_level, level))
        }
    };
    let totals = sum_totals(levels.iter().chain(&level_0));
    let (position, entries) = (folded.last_position, folded.entry_count);
    let names = folded.metadata.names.clone();
    let outdated = stored_outdated(folded, levels.iter().chain(&level_0));
    let root =
        Root { position, entries, sheets, used, levels, level_0, clients, totals, names, outdated };
    let stored = root.pack()?;
    Ok(NextRoot { objects, root, stored })
}

/// Returns `None` if there are no formulas, or if no value of a formula is known.
fn stored_outdated<'a>(
    folded: &FoldedEntries,
    levels: impl Iterator<Item = &'a RootLevel>,
) -> Option<OutdatedAreas> {
    let mut sheets = levels.flat_map(|level| &level.level.sheets);
    let has_formulas = sheets.any(|sheet| sheet.formulas != Some(0));
    let outdated = has_formulas.then(|| folded.outdated.clone().reduced());
    outdated.filter(|outdated| !outdated.is_everything())
}

/// Appends the chunk to `objects` unless the base already references the same chunk.
fn pack_clients(
    base: &CompactionBase,
    folded: &FoldedEntries,
    objects: &mut Vec<PackedObject>,
) -> Result<Option<ChunkRef>, SnapshotError> {
    let clients_chunk = folded.clients.pack()?;
    let reference = clients_chunk.as_ref().map(|packed| packed.chunk);
    if folded.clients != base.clients {
        objects.extend(clients_chunk);
    }
    Ok(reference)
}

/// Returns the root's sheets in tab order. Appends their format chunks to `objects`.
fn pack_root_sheets(
    metadata: &WorkbookMetadata,
    objects: &mut Vec<PackedObject>,
) -> Result<Vec<RootSheet>, SnapshotError> {
    let mut sheets_in_tab_order = Vec::new();
    for sheet_id in metadata.tabs.order() {
        if let Some(sheet) = metadata.sheets.get(sheet_id) {
            sheets_in_tab_order.push((*sheet_id, sheet));
        }
    }
    let format_layers = sheets_in_tab_order.iter().map(|(_, sheet)| &sheet.formats);
    let (packed_formats, format_chunks) = pack_formats(format_layers, PackLimits::METADATA)?;
    objects.extend(format_chunks);
    let mut root_sheets = Vec::with_capacity(sheets_in_tab_order.len());
    for ((sheet_id, sheet), formats) in sheets_in_tab_order.into_iter().zip(packed_formats) {
        root_sheets.push(RootSheet {
            sheet: sheet_id,
            name: metadata.tabs.name(sheet_id).unwrap_or_default().to_owned(),
            extent: sheet.extent,
            formats,
        });
    }
    Ok(root_sheets)
}

fn sum_totals<'a>(levels: impl Iterator<Item = &'a RootLevel>) -> Totals {
    levels.fold(Totals::default(), |sum, level| Totals {
        cells: sum.cells.saturating_add(level.cells),
        bytes: sum.bytes.saturating_add(level.bytes),
    })
}

/// Returns the root's record of a level that ends at `last_position` and is newer than
/// `older_levels`.
pub(super) fn to_root_level(
    older_levels: &[RootLevel],
    last_position: Position,
    packed_level: PackedLevel,
    level: &Level,
) -> RootLevel {
    let after = older_levels.last().map(|older_level| older_level.last);
    let Totals { cells, bytes } = level_totals(level);
    RootLevel { after, last: last_position, cells, bytes, level: packed_level }
}
