//! The cells that many formulas read, in a bounded number of rectangles.
//!
//! Rectangles are united until they are few enough. The list then contains more cells than the
//! formulas read, and never fewer.

mod moved;
#[cfg(test)]
mod tests;

use cellar_grid::a1::{CellName, SheetArea};
use cellar_grid::{Axis, SheetId};

use crate::expression::FormulaTraits;
use crate::reference::Reference;
use crate::template::Template;

/// The cells that some formulas name, and what else their values depend on.
///
/// The rectangles are in ascending order of sheet, first row, first column, last row and last
/// column. No two of them can be united without adding cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadAreas {
    areas: Vec<SheetArea>,
    traits: FormulaTraits,
}

/// Consecutive cells of a column with the same template.
#[derive(Debug, Clone, Copy)]
pub struct TemplateRun<'a> {
    /// The template.
    pub template: &'a Template,
    /// Sheet of the cells.
    pub sheet: SheetId,
    /// The first cell.
    pub first: CellName,
    /// Row of the last cell.
    pub last_row: u32,
}

impl ReadAreas {
    /// Returns the rectangles. They do not contain cells that only evaluation knows, those that the
    /// formulas of names read, and those of sheets that did not exist.
    #[must_use]
    pub fn areas(&self) -> &[SheetArea] {
        &self.areas
    }

    /// Returns what the values depend on besides the cells of the rectangles.
    #[must_use]
    pub fn traits(&self) -> FormulaTraits {
        self.traits
    }

    /// Adds what formulas depend on besides the cells that they name.
    pub fn add_traits(&mut self, traits: FormulaTraits) {
        self.traits = self.traits.with(traits);
    }

    /// Adds the cells that the formulas of a run name. Takes the same time for any number of rows.
    pub fn add_run(&mut self, run: &TemplateRun<'_>, max_areas: usize) {
        let last = CellName { row: run.last_row, column: run.first.column };
        let at_first = run.template.nearest_references_at(run.first);
        let at_last = run.template.nearest_references_at(last);
        for (first, last) in at_first.zip(at_last) {
            self.add_reference(&first, &last, run.sheet, max_areas);
        }
    }

    /// Adds the cells of a reference in all rows of a run. `first` and `last` are the reference in
    /// the first and in the last row. Its ends move in one direction, so that all cells are between.
    fn add_reference(
        &mut self,
        first: &Reference,
        last: &Reference,
        own_sheet: SheetId,
        max_areas: usize,
    ) {
        let is_fixed = |axis| {
            let ends = first.area.ends(axis);
            ends.is_some_and(|ends| ends.first.is_absolute || ends.last.is_absolute)
        };
        let rectangles = first.area.rectangle().zip(last.area.rectangle());
        let Some((first_cells, last_cells)) = rectangles else { return };
        if is_fixed(Axis::Rows) {
            self.add_traits(FormulaTraits::FIXED_ROWS);
        }
        if is_fixed(Axis::Columns) {
            self.add_traits(FormulaTraits::FIXED_COLUMNS);
        }
        match first.sheet_number(own_sheet) {
            None => self.add_traits(FormulaTraits::UNKNOWN_SHEETS),
            Some(sheet) => {
                let cells = first_cells.union(&last_cells);
                self.add_area(SheetArea { sheet, cells }, max_areas);
            }
        }
    }

    /// Adds the cells and facts of other formulas.
    pub fn add_all(&mut self, other: &Self, max_areas: usize) {
        self.add_traits(other.traits);
        self.drop_unlisted_areas();
        for area in &other.areas {
            self.add_area(*area, max_areas);
        }
    }

    fn add_area(&mut self, area: SheetArea, max_areas: usize) {
        if self.traits.has_any(FormulaTraits::UNLISTED_AREAS) {
            return;
        }
        self.insert(area);
        while self.areas.len() > max_areas {
            match self.cheapest_pair() {
                Some((one, other)) => {
                    let united = self.areas.remove(other);
                    let first = self.areas.remove(one);
                    let cells = first.cells.union(&united.cells);
                    self.insert(SheetArea { cells, ..first });
                }
                None => self.add_traits(FormulaTraits::UNLISTED_AREAS),
            }
            self.drop_unlisted_areas();
        }
    }

    /// The areas of formulas with areas that are not listed would be of no use.
    fn drop_unlisted_areas(&mut self) {
        if self.traits.has_any(FormulaTraits::UNLISTED_AREAS) {
            self.areas.clear();
        }
    }

    /// Inserts an area, united with all that it can be united with without adding cells. Nothing
    /// changes if an area contains it.
    fn insert(&mut self, mut area: SheetArea) {
        let contains_area =
            |other: &SheetArea| other.sheet == area.sheet && other.cells.covers(&area.cells);
        if self.areas.iter().any(contains_area) {
            return;
        }
        let is_free = |area: &SheetArea, other: &SheetArea| {
            area.sheet == other.sheet && area.cells.cells_added_by_union(&other.cells) == 0
        };
        while let Some(index) = self.areas.iter().position(|other| is_free(&area, other)) {
            area.cells = area.cells.union(&self.areas.remove(index).cells);
        }
        let index = self.areas.partition_point(|other| order(other) < order(&area));
        self.areas.insert(index, area);
    }

    /// Returns the indices of the two areas of a sheet whose union adds the fewest cells, in ascending
    /// order. The first such pair is taken. Returns `None` if all areas are in different sheets.
    fn cheapest_pair(&self) -> Option<(usize, usize)> {
        let mut cheapest: Option<(u64, (usize, usize))> = None;
        for (one, area) in self.areas.iter().enumerate() {
            for (other, other_area) in self.areas.iter().enumerate().skip(one + 1) {
                if other_area.sheet != area.sheet {
                    break;
                }
                let added = area.cells.cells_added_by_union(&other_area.cells);
                if cheapest.is_none_or(|(fewest, _)| added < fewest) {
                    cheapest = Some((added, (one, other)));
                }
            }
        }
        cheapest.map(|(_, pair)| pair)
    }

    /// Returns the stored form of the rectangles, one after the other.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.areas.iter().flat_map(SheetArea::numbers)
    }

    /// Creates areas from the stored form of their rectangles. Returns `None` if a rectangle is empty
    /// or beyond the end of the largest possible sheet, or if the rectangles are not in order, are
    /// more than `max_areas`, or could be united without adding cells.
    #[must_use]
    pub fn from_numbers(traits: FormulaTraits, numbers: &[u32], max_areas: usize) -> Option<Self> {
        let (parts, rest) = numbers.as_chunks();
        if !rest.is_empty() || parts.len() > max_areas {
            return None;
        }
        let areas =
            parts.iter().copied().map(SheetArea::from_numbers).collect::<Option<Vec<_>>>()?;
        let mut canonical = Self { areas: Vec::new(), traits };
        areas.iter().for_each(|area| canonical.insert(*area));
        canonical.drop_unlisted_areas();
        if canonical.areas == areas { Some(canonical) } else { None }
    }
}

/// Key by which areas are sorted.
fn order(area: &SheetArea) -> (SheetId, CellName, CellName) {
    (area.sheet, area.cells.first, area.cells.last)
}
