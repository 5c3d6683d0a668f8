//! Writes references in A1 notation.

use cellar_grid::a1::column_name;

use super::{Area, Coordinate, Ends, Reference, ReferenceSheet, SheetNames, quoted_sheet_name};

/// Text of a reference to deleted cells or a deleted sheet.
pub(crate) const DELETED: &str = "#REF!";

/// Appends a reference in A1 notation to `text`. A reference to a sheet that does not exist is
/// written as `#REF!`.
pub fn write_reference(reference: &Reference, names: &impl SheetNames, text: &mut String) {
    let sheet_name = match &reference.sheet {
        ReferenceSheet::Own => None,
        ReferenceSheet::Unknown(name) => Some(name.as_str()),
        ReferenceSheet::Numbered(number) => match names.name(*number) {
            Some(name) => Some(name),
            None => return text.push_str(DELETED),
        },
    };
    if let Some(name) = sheet_name {
        text.push_str(&quoted_sheet_name(name));
        text.push('!');
    }
    write_area(reference.area, text);
}

fn write_area(area: Area, text: &mut String) {
    match area {
        Area::Cell { row, column } => write_cell(row, column, text),
        Area::Range { rows, columns } => {
            write_cell(rows.first, columns.first, text);
            text.push(':');
            write_cell(rows.last, columns.last, text);
        }
        Area::Rows(rows) => write_ends(rows, write_row, text),
        Area::Columns(columns) => write_ends(columns, write_column, text),
        Area::Deleted => text.push_str(DELETED),
    }
}

fn write_ends(ends: Ends, write_end: impl Fn(Coordinate, &mut String), text: &mut String) {
    write_end(ends.first, text);
    text.push(':');
    write_end(ends.last, text);
}

fn write_cell(row: Coordinate, column: Coordinate, text: &mut String) {
    write_column(column, text);
    write_row(row, text);
}

fn write_column(column: Coordinate, text: &mut String) {
    write_dollar(column, text);
    text.push_str(&column_name(column.index));
}

fn write_row(row: Coordinate, text: &mut String) {
    write_dollar(row, text);
    text.push_str(&(u64::from(row.index) + 1).to_string());
}

fn write_dollar(coordinate: Coordinate, text: &mut String) {
    if coordinate.is_absolute {
        text.push('$');
    }
}
