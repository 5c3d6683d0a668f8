//! Model of formulas: their references are ids of rows, columns and sheets.

use cellar_formula::Formula;
use cellar_formula::reference::{
    Area, Coordinate, Ends, NoSheets, Reference, ReferenceSheet, SheetNames,
};

use super::{LineId, PlainSheet, PlainWorkbook, Tag};
use crate::axis_map::Axis;
use crate::operation::SheetId;

/// A number that no sheet has.
const NO_SHEET: SheetId = SheetId(u32::MAX);

/// A formula whose references are ids.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlainFormula {
    /// The formula with `#REF!` for each reference.
    pattern: String,
    references: Vec<PlainReference>,
}

#[derive(Debug, Clone, PartialEq)]
struct PlainReference {
    sheet: ReferenceSheet,
    kind: Kind,
    rows: Option<PlainEnds>,
    columns: Option<PlainEnds>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Cell,
    Range,
    Rows,
    Columns,
    Deleted,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PlainEnds {
    first: (LineId, bool),
    last: (LineId, bool),
}

impl SheetNames for PlainWorkbook {
    fn number(&self, name: &str) -> Option<SheetId> {
        let name = name.to_lowercase();
        self.sheets.iter().find(|sheet| sheet.name.to_lowercase() == name).map(|sheet| sheet.number)
    }

    fn name(&self, number: SheetId) -> Option<&str> {
        self.sheet(number).map(|sheet| sheet.name.as_str())
    }
}

impl PlainFormula {
    /// Replaces rows, columns and sheets of a formula on the sheet `own` with their ids.
    pub(super) fn parse(text: &str, own: SheetId, workbook: &PlainWorkbook) -> Self {
        let formula = Formula::parse(text, workbook).unwrap();
        let deleted = Reference { sheet: ReferenceSheet::Own, area: Area::Deleted };
        let pattern = formula.map_references(|_| deleted.clone()).text(&NoSheets);
        let references = formula.references().map(|placed| {
            let reference = placed.reference;
            let sheet = reference.sheet_number(own).and_then(|number| workbook.sheet(number));
            PlainReference::of(reference, sheet)
        });
        Self { pattern, references: references.collect() }
    }

    /// Returns the text of the formula on the sheet `own`.
    pub(super) fn text(&self, own: SheetId, workbook: &PlainWorkbook) -> String {
        let references: Vec<Reference> =
            self.references.iter().map(|plain| plain.reference(own, workbook)).collect();
        write_text(&self.pattern, &references, workbook)
    }

    /// Adjusts the references before a row or column of a sheet is deleted.
    pub(super) fn before_deletion(
        &mut self,
        own: SheetId,
        sheet: &PlainSheet,
        axis: Axis,
        id: LineId,
    ) {
        for reference in &mut self.references {
            let names_sheet = match reference.sheet {
                ReferenceSheet::Own => own == sheet.number,
                ReferenceSheet::Numbered(number) => number == sheet.number,
                ReferenceSheet::Unknown(_) => false,
            };
            if names_sheet {
                reference.before_deletion(sheet, axis, id);
            }
        }
    }
}

fn write_text(pattern: &str, references: &[Reference], names: &impl SheetNames) -> String {
    let next = std::cell::Cell::new(0);
    let formula = Formula::parse(pattern, &NoSheets).unwrap();
    let changed = formula.map_references(|_| references[next.replace(next.get() + 1)].clone());
    changed.text(names)
}

impl PlainReference {
    fn of(reference: &Reference, sheet: Option<&PlainSheet>) -> Self {
        let kind = match reference.area {
            Area::Cell { .. } => Kind::Cell,
            Area::Range { .. } => Kind::Range,
            Area::Rows(_) => Kind::Rows,
            Area::Columns(_) => Kind::Columns,
            Area::Deleted => Kind::Deleted,
        };
        let ends = |axis| {
            let Ends { first, last } = reference.area.ends(axis)?;
            let id = |end: Coordinate| match sheet {
                Some(sheet) => (sheet.lines(axis)[end.index as usize].id, end.is_absolute),
                // The rows and columns of a missing sheet never move.
                None => ((0, end.index), end.is_absolute),
            };
            Some(PlainEnds { first: id(first), last: id(last) })
        };
        let (rows, columns) = (ends(Axis::Rows), ends(Axis::Columns));
        Self { sheet: reference.sheet.clone(), kind, rows, columns }
    }

    fn before_deletion(&mut self, sheet: &PlainSheet, axis: Axis, id: LineId) {
        let ends = match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        };
        let Some(ends) = ends else { return };
        let neighbor = |offset: usize| {
            let index = sheet.index_of(axis, id).unwrap() as usize;
            sheet.lines(axis)[index + offset - 1].id
        };
        match (ends.first.0 == id, ends.last.0 == id) {
            (true, true) => {
                (self.kind, self.rows, self.columns) = (Kind::Deleted, None, None);
            }
            (true, false) => ends.first.0 = neighbor(2),
            (false, true) => ends.last.0 = neighbor(0),
            (false, false) => {}
        }
    }

    fn reference(&self, own: SheetId, workbook: &PlainWorkbook) -> Reference {
        let number = match self.sheet {
            ReferenceSheet::Own => Some(own),
            ReferenceSheet::Numbered(number) => Some(number),
            ReferenceSheet::Unknown(_) => None,
        };
        let sheet = number.and_then(|number| workbook.sheet(number));
        let index = |axis, id: LineId| match sheet {
            Some(sheet) => sheet.index_of(axis, id).unwrap(),
            None => id.1,
        };
        let ends = |axis, ends: Option<PlainEnds>| {
            let end = |(id, is_absolute)| Coordinate { index: index(axis, id), is_absolute };
            ends.map(|ends| Ends { first: end(ends.first), last: end(ends.last) })
        };
        let (rows, columns) = (ends(Axis::Rows, self.rows), ends(Axis::Columns, self.columns));
        Reference { sheet: self.sheet.clone(), area: area_of(self.kind, rows, columns) }
    }
}

fn area_of(kind: Kind, rows: Option<Ends>, columns: Option<Ends>) -> Area {
    match kind {
        Kind::Cell => Area::Cell { row: rows.unwrap().first, column: columns.unwrap().first },
        Kind::Range => Area::Range { rows: rows.unwrap(), columns: columns.unwrap() },
        Kind::Rows => Area::Rows(rows.unwrap()),
        Kind::Columns => Area::Columns(columns.unwrap()),
        Kind::Deleted => Area::Deleted,
    }
}

/// A formula that an author writes. A range consists of all rows and columns that the author saw
/// between its ends.
#[derive(Debug, Clone)]
pub(super) struct IntendedFormula {
    pattern: String,
    references: Vec<IntendedReference>,
}

#[derive(Debug, Clone)]
struct IntendedReference {
    sheet: IntendedSheet,
    reference: Reference,
    rows: Vec<LineId>,
    columns: Vec<LineId>,
}

#[derive(Debug, Clone)]
enum IntendedSheet {
    Own,
    Tagged(Tag),
    Unknown,
}

impl IntendedFormula {
    /// `own` is the sheet with the formula in the state that the author saw.
    pub(super) fn of(text: &str, own: &PlainSheet, seen_state: &PlainWorkbook) -> Self {
        let formula = Formula::parse(text, seen_state).unwrap();
        let references = formula.references().map(|placed| {
            let reference = placed.reference.clone();
            let number = reference.sheet_number(own.number);
            let sheet = number.and_then(|number| seen_state.sheet(number));
            let ids = |axis| {
                let (Some(sheet), Some(ends)) = (sheet, reference.area.ends(axis)) else {
                    return Vec::new();
                };
                let lines = &sheet.lines(axis)[ends.first.index as usize..];
                let count = (ends.last.index - ends.first.index) as usize + 1;
                lines.iter().take(count).map(|line| line.id).collect()
            };
            let (rows, columns) = (ids(Axis::Rows), ids(Axis::Columns));
            let sheet = match (&reference.sheet, sheet) {
                (ReferenceSheet::Own, _) => IntendedSheet::Own,
                (_, Some(sheet)) => IntendedSheet::Tagged(sheet.tag),
                (_, None) => IntendedSheet::Unknown,
            };
            IntendedReference { sheet, reference, rows, columns }
        });
        let references = references.collect();
        let deleted = Reference { sheet: ReferenceSheet::Own, area: Area::Deleted };
        let pattern = formula.map_references(|_| deleted.clone()).text(&NoSheets);
        Self { pattern, references }
    }

    /// Returns the text of the formula now, on the sheet `own`.
    pub(super) fn text(&self, own: &PlainSheet, workbook: &PlainWorkbook) -> String {
        let references: Vec<Reference> =
            self.references.iter().map(|intended| intended.reference(own, workbook)).collect();
        write_text(&self.pattern, &references, workbook)
    }
}

impl IntendedReference {
    fn reference(&self, own: &PlainSheet, workbook: &PlainWorkbook) -> Reference {
        let sheet = match self.sheet {
            IntendedSheet::Own => own,
            IntendedSheet::Tagged(tag) => match workbook.sheet_with_tag(tag) {
                Some(sheet) => sheet,
                None => {
                    let sheet = ReferenceSheet::Numbered(NO_SHEET);
                    return Reference { sheet, area: Area::Deleted };
                }
            },
            IntendedSheet::Unknown => return self.reference.clone(),
        };
        let number = match self.sheet {
            IntendedSheet::Own => ReferenceSheet::Own,
            _ => ReferenceSheet::Numbered(sheet.number),
        };
        let area = self.area(sheet).unwrap_or(Area::Deleted);
        Reference { sheet: number, area }
    }

    /// Returns `None` if nothing is left of the reference.
    fn area(&self, sheet: &PlainSheet) -> Option<Area> {
        let area = self.reference.area;
        let ends = |axis, ids: &[LineId]| {
            let seen = area.ends(axis)?;
            let mut indices = ids.iter().filter_map(|id| sheet.index_of(axis, *id));
            let first = indices.next()?;
            let last = indices.next_back().unwrap_or(first);
            Some(Ends {
                first: Coordinate { index: first, ..seen.first },
                last: Coordinate { index: last, ..seen.last },
            })
        };
        let (rows, columns) = (ends(Axis::Rows, &self.rows), ends(Axis::Columns, &self.columns));
        Some(match area {
            Area::Cell { .. } => Area::Cell { row: rows?.first, column: columns?.first },
            Area::Range { .. } => Area::Range { rows: rows?, columns: columns? },
            Area::Rows(_) => Area::Rows(rows?),
            Area::Columns(_) => Area::Columns(columns?),
            Area::Deleted => Area::Deleted,
        })
    }
}
