//! The root that a compaction step ends with.

use super::merge::root_level;
use super::{Base, FoldedEntries};
use crate::SnapshotError;
use crate::index::pack_level;
use crate::level::Level;
use crate::packed::PackedObject;
use crate::packer::PackLimits;
use crate::root::{Root, RootLevel, RootSheet, Totals, pack_formats, pack_sheet_numbers};

/// A root to be stored, behind what it refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRoot {
    /// Chunks to store first, those first that others refer to.
    pub objects: Vec<PackedObject>,
    /// The root.
    pub root: Root,
    /// The root as it is stored, under its own kind of key.
    pub stored: PackedObject,
}

/// The root with these levels and level 0 after a compaction step's entries.
pub(super) fn next_root(
    base: &Base,
    folded: &FoldedEntries,
    levels: Vec<RootLevel>,
    level_0: Option<&Level>,
) -> Result<NextRoot, SnapshotError> {
    let mut objects = Vec::new();
    let metadata = &folded.metadata;
    let layers = metadata.tabs.order().iter().filter_map(|id| metadata.sheets.get(id));
    let (formats, chunks) =
        pack_formats(layers.clone().map(|sheet| &sheet.formats), PackLimits::AROUND)?;
    objects.extend(chunks);
    let (used, chunk) = pack_sheet_numbers(metadata.tabs.used().clone(), PackLimits::AROUND)?;
    objects.extend(chunk);
    let clients = folded.clients.pack()?;
    let clients_chunk = clients.as_ref().map(|packed| packed.chunk);
    objects.extend(clients.filter(|_| folded.clients != base.clients));
    let level_0 = match level_0 {
        None => None,
        Some(level) => {
            let (packed, chunks) = pack_level(level, PackLimits::LEVEL_0)?;
            objects.extend(chunks);
            let after = levels.last().map(|level| level.last);
            Some(root_level(after, folded.last, packed, level))
        }
    };
    let sheets = metadata.tabs.order().iter().zip(layers).zip(formats);
    let sheets = sheets.map(|((id, sheet), formats)| RootSheet {
        sheet: *id,
        name: metadata.tabs.name(*id).unwrap_or_default().to_owned(),
        extent: sheet.extent,
        formats,
    });
    let totals = levels.iter().chain(&level_0).fold(Totals::default(), |sum, level| Totals {
        cells: sum.cells.saturating_add(level.cells),
        bytes: sum.bytes.saturating_add(level.bytes),
    });
    let root = Root {
        position: folded.last,
        entries: folded.entries,
        sheets: sheets.collect(),
        used,
        levels,
        level_0,
        clients: clients_chunk,
        totals,
    };
    let stored = root.pack()?;
    Ok(NextRoot { objects, root, stored })
}
