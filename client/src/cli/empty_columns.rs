//! Notes on columns without cells. A header such as `city` is also the name of a column, far to the
//! right of the used range.

use std::collections::BTreeSet;

use cellar_api::wire::CellsReply;
use cellar_base::position::Position;
use cellar_sheet::a1::column_name;

use super::output::Output;
use crate::text::escape_shortened;
use crate::{CellsQuery, FilterQuery, Spreadsheet};

const HEADERS: &str = "1:1";
const MAX_HEADER_CHARACTERS: usize = 60;

/// Prints which of the columns lie beyond the used range of the sheet. Errors are ignored, and
/// nothing is read if the notes are not printed.
pub(super) async fn print_empty_columns(
    output: &Output,
    spreadsheet: &Spreadsheet,
    query: &FilterQuery,
    at: Option<Position>,
    columns: BTreeSet<u32>,
) {
    if output.json || columns.is_empty() {
        return;
    }
    let headers = CellsQuery {
        sheet: query.sheet.clone(),
        range: Some(HEADERS.to_owned()),
        at,
        min_position: query.min_position,
        cursor: None,
    };
    let Ok(reply) = spreadsheet.read_cells(headers).await else { return };
    for column in columns.into_iter().filter(|column| *column >= reply.extent.columns) {
        output.print_note(note(&reply, column));
    }
}

fn note(headers: &CellsReply, column: u32) -> String {
    let name = column_name(column);
    let header = headers.cells.iter().find(|cell| cell.text().trim().eq_ignore_ascii_case(&name));
    match header {
        Some(cell) => format!(
            "Column {name} is empty; the header `{}` is in column {}.",
            escape_shortened(cell.text().trim(), MAX_HEADER_CHARACTERS),
            column_name(cell.column)
        ),
        None => {
            let last = column_name(headers.extent.columns.saturating_sub(1));
            format!("Column {name} is empty; the last column of the sheet is {last}.")
        }
    }
}
