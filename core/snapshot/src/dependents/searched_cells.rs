//! The cells whose readers are searched.

use std::collections::{BTreeMap, BTreeSet};

use super::SheetArea;
use cellar_base::limits::MAX_ROWS;
use cellar_formula::changes::MovedLines;
use cellar_formula::expression::{FormulaTraits, Node};
use cellar_formula::reference::{Area, Reference, ReferenceSheet};
use cellar_formula::{Formula, ReadAreas, Template};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{DefinedName, DefinedNames, Tabs, WorkbookMetadata};
use cellar_sheet::operation::SheetId;

const ARRAYS: FormulaTraits = FormulaTraits::ARRAYS;

/// The searched cells of all sheets, and the defined names that read them. In a search for results of
/// several cells, there are only names, which have several cells.
#[derive(Debug, Clone)]
pub(super) struct SearchedCells {
    by_sheet: BTreeMap<SheetId, SortedRectangles>,
    /// Names in lower case whose formulas read the cells, directly or through other names.
    names: BTreeSet<String>,
    /// Whether formulas may call names, because the value of a name may be a function.
    may_be_called: bool,
    searched: Searched,
}

/// The formulas that are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Searched {
    /// Those with a reference to any of the cells.
    Readers,
    /// Those with a reference that would be lost if the cells were deleted: the first or last row or
    /// column is among the cells.
    LosingReferences,
    /// Those whose results may have several cells.
    Arrays,
}

/// Rectangles of a sheet that are sorted along one axis.
#[derive(Debug, Clone)]
struct SortedRectangles {
    axis: Axis,
    rectangles: Vec<Rectangle>,
    /// For each rectangle, the largest last row or column of it and those before it.
    largest_ends: Vec<u32>,
}

impl SortedRectangles {
    fn new(mut rectangles: Vec<Rectangle>) -> Self {
        let is_column = |cells: &Rectangle| cells.first.row == 0 && cells.last.row >= MAX_ROWS - 1;
        let axis = if rectangles.iter().all(is_column) { Axis::Columns } else { Axis::Rows };
        rectangles.sort_unstable_by_key(|cells| bounds(cells, axis).0);
        let largest_ends = rectangles.iter().scan(0, |largest: &mut u32, cells| {
            *largest = (*largest).max(bounds(cells, axis).1);
            Some(*largest)
        });
        Self { axis, largest_ends: largest_ends.collect(), rectangles }
    }

    fn overlap(&self, cells: &Rectangle) -> bool {
        self.overlapping(cells).next().is_some()
    }

    /// Returns whether one of the rectangles contains all of the cells.
    fn cover(&self, cells: &Rectangle) -> bool {
        let Rectangle { first, last } = *cells;
        let contains = |other: &Rectangle, cell: CellName| other.contains(cell.row, cell.column);
        self.overlapping(cells).any(|other| contains(other, first) && contains(other, last))
    }

    fn overlapping(&self, cells: &Rectangle) -> impl Iterator<Item = &Rectangle> {
        let (first, last) = bounds(cells, self.axis);
        let end = self.rectangles.partition_point(|other| bounds(other, self.axis).0 <= last);
        let candidates = self.rectangles.iter().zip(&self.largest_ends).take(end).rev();
        let reachable = candidates.take_while(move |(_, largest_end)| **largest_end >= first);
        let cells = *cells;
        reachable.map(|(other, _)| other).filter(move |other| other.overlaps(&cells))
    }
}

fn bounds(cells: &Rectangle, axis: Axis) -> (u32, u32) {
    match axis {
        Axis::Rows => (cells.first.row, cells.last.row),
        Axis::Columns => (cells.first.column, cells.last.column),
    }
}

impl SearchedCells {
    pub(super) fn new(areas: &[SheetArea], metadata: &WorkbookMetadata) -> Self {
        let mut searched = Self::of(areas, Searched::Readers);
        searched.add_names(metadata);
        searched
    }

    /// A formula that uses a name has several cells if the formula of the name has.
    pub(super) fn arrays(metadata: &WorkbookMetadata) -> Self {
        let mut searched = Self::of(&[], Searched::Arrays);
        searched.add_names(metadata);
        searched
    }

    /// Returns whether formulas are searched by their facts, which are known without any tile.
    pub(super) fn are_facts(&self) -> bool {
        self.searched == Searched::Arrays
    }

    /// The formulas in the deleted cells are not searched.
    pub(super) fn deleted(areas: &[SheetArea]) -> Self {
        Self::of(areas, Searched::LosingReferences)
    }

    fn of(areas: &[SheetArea], searched: Searched) -> Self {
        let mut rectangles: BTreeMap<SheetId, Vec<Rectangle>> = BTreeMap::new();
        for area in areas {
            rectangles.entry(area.sheet).or_default().push(area.cells);
        }
        let by_sheet = rectangles
            .into_iter()
            .map(|(sheet, rectangles)| (sheet, SortedRectangles::new(rectangles)))
            .collect();
        Self { by_sheet, names: BTreeSet::new(), may_be_called: false, searched }
    }

    /// Returns whether the formulas of these cells are searched.
    pub(super) fn includes_formulas_in(&self, sheet: SheetId, cells: &Rectangle) -> bool {
        match self.searched {
            Searched::Readers | Searched::Arrays => true,
            Searched::LosingReferences => {
                !self.by_sheet.get(&sheet).is_some_and(|deleted| deleted.cover(cells))
            }
        }
    }

    /// Adds names until no other name reads the cells through them.
    fn add_names(&mut self, metadata: &WorkbookMetadata) {
        let parse = |name: &DefinedName| {
            let formula = Formula::parse(&name.formula(&metadata.tabs), &metadata.tabs).ok()?;
            Some((name.name().to_lowercase(), formula))
        };
        let mut others: Vec<(String, Formula)> = metadata.names.iter().filter_map(parse).collect();
        self.may_be_called = names_may_be_called(&metadata.names, &metadata.tabs);
        loop {
            let is_reader =
                |(_, formula): &mut (String, Formula)| self.is_read_by(formula, SheetId::FIRST);
            let readers: Vec<String> =
                others.extract_if(.., is_reader).map(|(name, _)| name).collect();
            if readers.is_empty() {
                return;
            }
            self.names.extend(readers);
        }
    }

    /// Returns the sheets of the cells.
    pub(super) fn sheets(&self) -> BTreeSet<SheetId> {
        self.by_sheet.keys().copied().collect()
    }

    /// Returns whether a formula of `own_sheet` names a searched cell, directly or through a name, or
    /// may have several cells.
    pub(super) fn is_read_by(&self, formula: &Formula, own_sheet: SheetId) -> bool {
        if self.are_facts() {
            return formula.expression().may_have_several_cells(|name| self.has_name(name));
        }
        formula.expression().nodes().iter().any(|node| match node {
            Node::Reference(reference) => {
                let sheet = reference.sheet_number(own_sheet);
                sheet.is_some_and(|sheet| self.overlap(sheet, &reference.area))
            }
            Node::Name(name) => self.has_name(name),
            Node::Call { function, .. } => self.may_be_called && self.has_name(function),
            _ => false,
        })
    }

    /// Like [`SearchedCells::is_read_by`], for one reference of a stored formula. The name of a
    /// sheet that did not exist may be that of a newer sheet.
    pub(super) fn may_be_read_through(
        &self,
        reference: &Reference,
        own_sheet: SheetId,
        tabs: &Tabs,
    ) -> bool {
        let sheet = match &reference.sheet {
            ReferenceSheet::Unknown(name) => tabs.named(name),
            _ => reference.sheet_number(own_sheet),
        };
        sheet.is_some_and(|sheet| self.overlap(sheet, &reference.area))
    }

    /// Returns whether a stored formula is searched because of its facts.
    pub(super) fn has_facts(&self, template: &Template) -> bool {
        self.are_facts() && template.traits().has_any(ARRAYS)
    }

    /// Returns whether a stored formula may use a name that reads the cells.
    pub(super) fn may_use_name(&self, encoded: &str) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let is_separator =
            |character: char| !character.is_alphanumeric() && !"_.".contains(character);
        encoded.split(is_separator).any(|word| self.has_name(word))
    }

    /// Returns whether formulas of a tile may read the cells. `reads` are the areas of the formulas in
    /// a level, and `moves` leads from there to the coordinates of the cells.
    pub(super) fn may_be_read_by(&self, reads: &ReadAreas, moves: &MovedLines) -> bool {
        let traits = reads.traits();
        let always = match self.searched {
            Searched::Arrays => ARRAYS,
            _ => FormulaTraits::UNKNOWN_SHEETS.with(FormulaTraits::UNLISTED_AREAS),
        };
        let uses_names = self.may_be_called || traits.has_any(FormulaTraits::NAMES);
        if traits.has_any(always) || (uses_names && !self.names.is_empty()) {
            return true;
        }
        reads.moved(moves).areas().iter().any(|area| {
            let searched = self.by_sheet.get(&area.sheet);
            searched.is_some_and(|searched| searched.overlap(&area.cells))
        })
    }

    fn has_name(&self, name: &str) -> bool {
        !self.names.is_empty() && self.names.contains(&name.to_lowercase())
    }

    fn overlap(&self, sheet: SheetId, area: &Area) -> bool {
        let Some((searched, cells)) = self.by_sheet.get(&sheet).zip(area.rectangle()) else {
            return false;
        };
        match self.searched {
            Searched::Readers | Searched::Arrays => searched.overlap(&cells),
            Searched::LosingReferences => {
                let mut edges = edges(area, cells);
                edges.any(|edge| searched.cover(&edge))
            }
        }
    }
}

/// Returns the first and last row and column of a reference, as far as it names them.
fn edges(area: &Area, cells: Rectangle) -> impl Iterator<Item = Rectangle> {
    let Rectangle { first, last } = cells;
    let (first_row, last_row) =
        (CellName { row: first.row, ..last }, CellName { row: last.row, ..first });
    let (first_column, last_column) =
        (CellName { column: first.column, ..last }, CellName { column: last.column, ..first });
    let rows = [Rectangle { first, last: first_row }, Rectangle { first: last_row, last }];
    let columns = [Rectangle { first, last: first_column }, Rectangle { first: last_column, last }];
    let rows = area.ends(Axis::Rows).map(|_| rows);
    let columns = area.ends(Axis::Columns).map(|_| columns);
    rows.into_iter().chain(columns).flatten()
}

/// Returns whether formulas may call names, because the value of a name may be a function.
pub(crate) fn names_may_be_called(names: &DefinedNames, tabs: &Tabs) -> bool {
    names.iter().any(|name| {
        let formula = Formula::parse(&name.formula(tabs), tabs);
        formula.is_ok_and(|formula| may_be_function(&formula, names))
    })
}

/// Returns whether the value of a name may be a function: a `LAMBDA`, or one that is named without
/// being called.
fn may_be_function(formula: &Formula, names: &DefinedNames) -> bool {
    formula.expression().nodes().iter().any(|node| match node {
        Node::Name(name) => names.get(name).is_none(),
        Node::Call { function, .. } => function.ends_with("LAMBDA"),
        _ => false,
    })
}
