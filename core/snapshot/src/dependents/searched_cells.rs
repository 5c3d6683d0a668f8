//! The cells whose readers are searched.

use std::collections::{BTreeMap, BTreeSet};

use super::SheetArea;
use cellar_base::limits::MAX_ROWS;
use cellar_formula::changes::MovedLines;
use cellar_formula::expression::{FormulaTraits, Node};
use cellar_formula::reference::{Area, Reference, ReferenceSheet};
use cellar_formula::{Formula, ReadAreas};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{DefinedName, DefinedNames, Tabs, WorkbookMetadata};
use cellar_sheet::operation::SheetId;

/// The searched cells of all sheets, and the defined names that read them.
#[derive(Debug, Clone)]
pub(super) struct SearchedCells {
    by_sheet: BTreeMap<SheetId, SortedRectangles>,
    /// Names in lower case whose formulas read the cells, directly or through other names.
    names: BTreeSet<String>,
    /// Whether formulas may call names, because the value of a name may be a function.
    may_be_called: bool,
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
        let (first, last) = bounds(cells, self.axis);
        let end = self.rectangles.partition_point(|other| bounds(other, self.axis).0 <= last);
        let candidates = self.rectangles.iter().zip(&self.largest_ends).take(end).rev();
        let mut reachable = candidates.take_while(|(_, largest_end)| **largest_end >= first);
        reachable.any(|(other, _)| other.overlaps(cells))
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
        let mut rectangles: BTreeMap<SheetId, Vec<Rectangle>> = BTreeMap::new();
        for area in areas {
            rectangles.entry(area.sheet).or_default().push(area.cells);
        }
        let by_sheet = rectangles
            .into_iter()
            .map(|(sheet, rectangles)| (sheet, SortedRectangles::new(rectangles)))
            .collect();
        let mut searched = Self { by_sheet, names: BTreeSet::new(), may_be_called: false };
        searched.add_names(metadata);
        searched
    }

    /// Adds names until no other name reads the cells through them.
    fn add_names(&mut self, metadata: &WorkbookMetadata) {
        let parse = |name: &DefinedName| {
            let formula = Formula::parse(&name.formula(&metadata.tabs), &metadata.tabs).ok()?;
            Some((name.name().to_lowercase(), formula))
        };
        let mut others: Vec<(String, Formula)> = metadata.names.iter().filter_map(parse).collect();
        self.may_be_called =
            others.iter().any(|(_, formula)| may_be_function(formula, &metadata.names));
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

    /// Returns whether a formula of `own_sheet` names a searched cell, directly or through a name.
    pub(super) fn is_read_by(&self, formula: &Formula, own_sheet: SheetId) -> bool {
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
        let always = FormulaTraits::UNKNOWN_SHEETS.with(FormulaTraits::UNLISTED_AREAS);
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
        let cells = self.by_sheet.get(&sheet).zip(area.rectangle());
        cells.is_some_and(|(searched, cells)| searched.overlap(&cells))
    }
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
