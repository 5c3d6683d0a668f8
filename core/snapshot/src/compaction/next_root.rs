//! Builds the root produced by a compaction step.

use super::base::CompactionBase;
use super::counts::level_totals;
use super::entries::FoldedEntries;
use crate::error::SnapshotError;
use crate::index::{PackedLevel, pack_level};
use crate::level::Level;
use crate::packed::PackedObject;
use crate::packer::PackLimits;
use crate::root::{Root, RootLevel, RootSheet, Totals, pack_formats, pack_sheet_numbers};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;

/// A root to store, and the chunks that it references.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRoot {
    /// Chunks to store before the root, each after the chunks that it references.
    pub objects: Vec<PackedObject>,
    /// The root.
    pub root: Root,
    /// The packed root. Roots are stored under their own key prefix.
    pub stored: PackedObject,
}

/// Builds the root after the folded entries from the given levels and level 0.
pub(super) fn build_next_root(
    base: &CompactionBase,
    folded: &FoldedEntries,
    levels: Vec<RootLevel>,
    level_0: Option<&Level>,
) -> Result<NextRoot, SnapshotError> {
    let mut objects = Vec::new();
    let sheets = pack_root_sheets(&folded.metadata, &mut objects)?;
    let (used, ids_chunk) =
        pack_sheet_numbers(folded.metadata.tabs.used().clone(), PackLimits::METADATA)?;
    objects.extend(ids_chunk);
    let packed_clients = folded.clients.pack()?;
    let clients = packed_clients.as_ref().map(|packed| packed.chunk);
    if folded.clients != base.clients {
        objects.extend(packed_clients);
    }
    let level_0 = match level_0 {
        None => None,
        Some(level) => {
            let (packed, chunks) = pack_level(level, PackLimits::LEVEL_0)?;
            objects.extend(chunks);
            Some(root_level(&levels, folded.last, packed, level))
        }
    };
    let totals = sum_totals(levels.iter().chain(&level_0));
    let (position, entries) = (folded.last, folded.entries);
    let root = Root { position, entries, sheets, used, levels, level_0, clients, totals };
    let stored = root.pack()?;
    Ok(NextRoot { objects, root, stored })
}

/// Returns the root's sheets in tab order, and appends their format chunks to `objects`.
fn pack_root_sheets(
    metadata: &WorkbookMetadata,
    objects: &mut Vec<PackedObject>,
) -> Result<Vec<RootSheet>, SnapshotError> {
    let ids = metadata.tabs.order();
    let sheets = ids.iter().filter_map(|id| metadata.sheets.get(id));
    let layers = sheets.clone().map(|sheet| &sheet.formats);
    let (packed_formats, chunks) = pack_formats(layers, PackLimits::METADATA)?;
    objects.extend(chunks);
    let root_sheets =
        ids.iter().zip(sheets).zip(packed_formats).map(|((id, sheet), formats)| RootSheet {
            sheet: *id,
            name: metadata.tabs.name(*id).unwrap_or_default().to_owned(),
            extent: sheet.extent,
            formats,
        });
    Ok(root_sheets.collect())
}

fn sum_totals<'a>(levels: impl Iterator<Item = &'a RootLevel>) -> Totals {
    levels.fold(Totals::default(), |sum, level| Totals {
        cells: sum.cells.saturating_add(level.cells),
        bytes: sum.bytes.saturating_add(level.bytes),
    })
}

/// Returns the root record of a packed level that is newer than `older_levels` and ends at `last`.
pub(super) fn root_level(
    older_levels: &[RootLevel],
    last: Position,
    packed: PackedLevel,
    level: &Level,
) -> RootLevel {
    let after = older_levels.last().map(|older| older.last);
    let Totals { cells, bytes } = level_totals(level);
    RootLevel { after, last, cells, bytes, level: packed }
}
