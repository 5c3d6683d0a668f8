//! Compares what two states display, independent of the ids of rows, columns and sheets.

use std::collections::{BTreeMap, BTreeSet};

use super::{Sheet, Workbook};
use crate::a1::Rectangle;
use crate::axis_map::Axis;
use crate::cell::GENERAL;
use crate::metadata::FormatLayer;
use crate::sheet_id::SheetId;
use crate::spans::Spans;

/// Places at which the formats of two sheets are compared; with more places, the formats count as
/// different.
const MAX_COMPARED_PLACES: usize = 10_000;

impl Workbook {
    /// Returns whether this state and a later one display the same sheets, in any order. Cells that
    /// no operation between them touched may be missing in both. May return `false` although
    /// nothing differs: if names were exchanged, or if very many ranges have formats.
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
                    // Both sheets are complete, otherwise they would not have been added and
                    // deleted.
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
    /// Returns whether all rows and columns that exist in both states have the same places.
    fn has_moved_nothing_of(&self, later: &Self) -> bool {
        let (rows, columns) = self.map_to(later);
        [(Axis::Rows, rows), (Axis::Columns, columns)].into_iter().all(|(axis, map)| {
            let reach = self.reach(axis).max(later.reach(axis));
            map.runs().iter().filter(|run| run.src < reach).all(|run| run.src == run.dst)
        })
    }

    /// Returns whether the loaded cells and the formats are displayed equally.
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

/// Returns the places at which range formats may begin to differ.
fn starts<'a>(spans: impl Iterator<Item = &'a Spans>) -> BTreeSet<u32> {
    spans
        .flat_map(|spans| spans.iter().flat_map(|span| [span.first, span.end()]))
        .chain([0])
        .collect()
}

fn shown(layer: &FormatLayer, row: u32, column: u32) -> Option<&str> {
    layer.at(row, column).filter(|format| *format != GENERAL)
}
