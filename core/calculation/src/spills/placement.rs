//! Decides which results of several cells fit into their sheets.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS, MAX_SPILLED_CELLS};
use cellar_grid::a1::{CellName, SheetArea};

use super::{Anchor, Obstacle, SpilledResult, Spills};
use crate::workbook::CellKey;

/// The result of the formula of an anchor.
#[derive(Debug, Clone)]
pub(super) enum AnchorResult {
    Single,
    Several(SpilledResult),
    Stale,
}

/// Places results in the order of their anchors: by sheet, row and column. A result fits if all cells
/// that it fills are blank, no result before it fills one of them, and all results up to it are not
/// too large. `content_in` returns a cell of an area that is not blank, other than the first one.
pub(super) fn place(
    results: BTreeMap<CellKey, AnchorResult>,
    cyclic: &BTreeSet<CellKey>,
    content_in: impl Fn(&SheetArea) -> Option<CellName>,
) -> Spills {
    let mut spills = Spills::default();
    let mut weight = 0_u64;
    for (key, result) in results {
        let anchor = match result {
            AnchorResult::Single => Anchor::Single,
            AnchorResult::Stale => Anchor::Unknown,
            AnchorResult::Several(_) if cyclic.contains(&key) => Anchor::Blocked(Obstacle::Cycle),
            AnchorResult::Several(result) => {
                weight = weight.saturating_add(result.weight);
                if weight > MAX_SPILLED_CELLS {
                    Anchor::Blocked(Obstacle::Size)
                } else {
                    let obstacle = obstacle(key, &result, &spills, &content_in);
                    obstacle.map_or(Anchor::Spilled(result), Anchor::Blocked)
                }
            }
        };
        spills.anchors.insert(key, anchor);
    }
    spills
}

fn obstacle(
    key: CellKey,
    result: &SpilledResult,
    spills: &Spills,
    content_in: &impl Fn(&SheetArea) -> Option<CellName>,
) -> Option<Obstacle> {
    let Some(area) = result.area(key).filter(is_inside_sheet) else { return Some(Obstacle::End) };
    if let Some(cell) = content_in(&area) {
        return Some(Obstacle::Content(CellKey { sheet: key.sheet, cell }));
    }
    let mut others = spills.results();
    let overlapping = others.find(|(other, result)| {
        let other = result.area(*other);
        other.is_some_and(|other| other.sheet == area.sheet && other.cells.overlaps(&area.cells))
    });
    overlapping.map(|(other, _)| Obstacle::Spill(other))
}

fn is_inside_sheet(area: &SheetArea) -> bool {
    area.cells.last.row < MAX_ROWS && area.cells.last.column < MAX_COLUMNS
}
