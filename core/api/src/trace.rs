//! The cells that a formula reads, for `cellar trace` and `GET /v1/spreadsheets/{id}/cells/trace`.

use cellar_base::limits::MAX_TRACED_AREAS;
use cellar_formula::Formula;
use cellar_formula::expression::Node;
use cellar_formula::reference::{Area, Reference, quoted_sheet_name, write_reference};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{SheetId, Span};

use crate::wire::TracedArea;

/// Areas that a formula reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadAreas {
    /// Each area once, in the order of the formula.
    pub areas: Vec<TracedArea>,
    /// Whether these are all areas. If not, there are more than [`MAX_TRACED_AREAS`].
    pub complete: bool,
}

/// Returns the references of a formula, and those of the names that it uses, in the order of the
/// formula. References that the formula calculates, as with `INDIRECT`, are not included.
#[must_use]
pub fn references(formula: &str, metadata: &WorkbookMetadata) -> Vec<Reference> {
    let Ok(formula) = Formula::parse(formula, &metadata.tabs) else { return Vec::new() };
    let mut references = Vec::new();
    for node in formula.expression().nodes() {
        match node {
            Node::Reference(reference) if reference.area != Area::Deleted => {
                references.push(reference.clone());
            }
            Node::Name(name) => {
                let named = metadata.names.get(name);
                references.extend(named.into_iter().flat_map(|named| named.references()));
            }
            _ => {}
        }
    }
    references
}

/// Returns the areas that a formula of the sheet `own_sheet` reads, without areas of missing sheets.
#[must_use]
pub fn read_areas(formula: &str, own_sheet: SheetId, metadata: &WorkbookMetadata) -> ReadAreas {
    let mut areas = Vec::new();
    for reference in references(formula, metadata) {
        let Some(area) = traced_area(&reference, own_sheet, metadata) else { continue };
        if areas.contains(&area) {
            continue;
        }
        if areas.len() == MAX_TRACED_AREAS {
            return ReadAreas { areas, complete: false };
        }
        areas.push(area);
    }
    ReadAreas { areas, complete: true }
}

fn traced_area(
    reference: &Reference,
    own_sheet: SheetId,
    metadata: &WorkbookMetadata,
) -> Option<TracedArea> {
    let cells = reference.area.rectangle()?;
    let span = |first: u32, last: u32| Span { first, count: last.saturating_sub(first) + 1 };
    Some(TracedArea {
        sheet: reference.sheet_number(own_sheet)?,
        reference: name_reference(reference, own_sheet, metadata),
        rows: span(cells.first.row, cells.last.row),
        columns: span(cells.first.column, cells.last.column),
    })
}

/// Returns the text of a reference with its sheet, such as `Sheet1!A1:B2`.
#[must_use]
pub fn name_reference(
    reference: &Reference,
    own_sheet: SheetId,
    metadata: &WorkbookMetadata,
) -> String {
    let mut text = String::new();
    write_reference(&reference.on_another_sheet(own_sheet), &metadata.tabs, &mut text);
    text
}

/// Returns the name of a cell with its sheet, such as `Sheet1!B2`.
#[must_use]
pub fn name_cell(sheet: SheetId, cell: CellName, metadata: &WorkbookMetadata) -> String {
    let name = metadata.tabs.name(sheet).unwrap_or_default();
    format!("{}!{cell}", quoted_sheet_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: SheetId = SheetId(0);

    fn read(formula: &str) -> ReadAreas {
        read_areas(formula, SHEET, &WorkbookMetadata::default())
    }

    /// Returns a formula that reads `count` cells.
    fn reading(count: usize) -> String {
        let cells: Vec<String> = (1..=count).map(|row| format!("A{row}")).collect();
        let sums = cells.chunks(200).map(|cells| format!("SUM({})", cells.join(",")));
        format!("={}", sums.collect::<Vec<_>>().join("+"))
    }

    #[test]
    fn areas_are_named_once_with_their_rows_and_columns() {
        let read = read("=SUM(B2:C4)+B2:C4+$D$1+SUM(F:F)+Missing!A1+#REF!+INDIRECT(\"A1\")");
        let found: Vec<_> = read
            .areas
            .iter()
            .map(|area| {
                let (rows, columns) = (area.rows, area.columns);
                (area.reference.as_str(), rows.first, rows.count, columns.first, columns.count)
            })
            .collect();
        let rows = cellar_base::limits::MAX_ROWS;
        assert_eq!(
            found,
            [
                ("Sheet1!B2:C4", 1, 3, 1, 2),
                ("Sheet1!$D$1", 0, 1, 3, 1),
                ("Sheet1!F:F", 0, rows, 5, 1)
            ]
        );
        assert!(read.complete && read.areas.iter().all(|area| area.sheet == SHEET));
    }

    #[test]
    fn the_number_of_areas_is_bounded() {
        let all = read(&reading(MAX_TRACED_AREAS));
        assert_eq!((all.areas.len(), all.complete), (MAX_TRACED_AREAS, true));
        let more = read(&reading(MAX_TRACED_AREAS + 1));
        assert_eq!((more.areas.len(), more.complete), (MAX_TRACED_AREAS, false));
    }

    #[test]
    fn a_text_that_is_no_formula_reads_nothing() {
        assert_eq!(read("=1+").areas, []);
    }
}
