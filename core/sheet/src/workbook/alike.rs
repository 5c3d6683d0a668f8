//! Whether two states show the same, whichever rows, columns and sheets they show it in.

use std::collections::{BTreeMap, BTreeSet};

use super::format_layer::FormatLayer;
use super::{Sheet, Workbook};
use crate::a1::Rectangle;
use crate::axis_map::Axis;
use crate::cell::GENERAL;
use crate::operation::{SheetId, Spans};

/// Places at which the formats of two sheets are compared; of more, they count as different.
const MAX_COMPARED_PLACES: usize = 10_000;

impl Workbook {
    /// Whether somebody who looks at this state and at a later one sees the same sheets, apart from their
    /// order. Cells that nothing between the two touched may be missing in both. Sometimes false where
    /// nothing differs: if names were exchanged, or a great many ranges have formats.
    #[must_use]
    pub fn looks_like(&self, later: &Self) -> bool {
        let named = |workbook: &Self| -> BTreeMap<String, SheetId> {
            let name = |id| workbook.tabs.name(id).unwrap_or_default().to_owned();
            workbook.sheets.keys().map(|id| (name(*id), *id)).collect()
        };
        let (before, after) = (named(self), named(later));
        before.keys().eq(after.keys())
            && before.values().zip(after.values()).all(|(before, after)| match before == after {
                true => self.pair(*before, later, *after).is_some_and(|(before, after)| {
                    before.has_moved_nothing_of(after) && before.shows_what(after)
                }),
                false => {
                    // Both are there with all that they hold, or they would not have come and gone.
                    let exchanged = later.sheet(*before).is_some() || self.sheet(*after).is_some();
                    let pair = self.pair(*before, later, *after).filter(|_| !exchanged);
                    pair.is_some_and(|(before, after)| before.shows_what(after))
                }
            })
    }

    fn pair<'a>(
        &'a self,
        one: SheetId,
        other: &'a Self,
        two: SheetId,
    ) -> Option<(&'a Sheet, &'a Sheet)> {
        Some((self.sheet(one)?, other.sheet(two)?))
    }
}

impl Sheet {
    /// Whether all rows and columns that both states have are in the same places.
    fn has_moved_nothing_of(&self, later: &Self) -> bool {
        let (rows, columns) = self.map_to(later);
        [(Axis::Rows, rows), (Axis::Columns, columns)].into_iter().all(|(axis, map)| {
            let reach = self.reach(axis).max(later.reach(axis));
            map.runs().iter().filter(|run| run.src < reach).all(|run| run.src == run.dst)
        })
    }

    /// Whether its cells, as far as they are there, and its formats show the same.
    fn shows_what(&self, other: &Self) -> bool {
        let held = |sheet: &Self, other: &Self| {
            let mut cells = sheet.cells_in(Rectangle::EVERYTHING);
            cells.all(|((row, column), cell)| other.cell(row, column) == cell)
        };
        held(self, other) && held(other, self) && self.formats.shows_what(&other.formats)
    }
}

impl FormatLayer {
    fn shows_what(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let all = || self.records().iter().chain(other.records());
        let rows = starts(all().map(|format| &format.rows));
        let columns = starts(all().map(|format| &format.columns));
        if rows.len().saturating_mul(columns.len()) > MAX_COMPARED_PLACES {
            return false;
        }
        let mut places =
            rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column)));
        places.all(|(row, column)| shown(self, row, column) == shown(other, row, column))
    }
}

/// Where the formats of ranges may begin to differ.
fn starts<'a>(spans: impl Iterator<Item = &'a Spans>) -> BTreeSet<u32> {
    spans
        .flat_map(|spans| spans.iter().flat_map(|span| [span.first, span.end()]))
        .chain([0])
        .collect()
}

fn shown(layer: &FormatLayer, row: u32, column: u32) -> Option<&str> {
    layer.at(row, column).filter(|format| *format != GENERAL)
}
