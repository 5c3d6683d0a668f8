//! Headers that users write instead of columns. A header such as `city` is also the name of a column,
//! far to the right of the used range; one such as `state` is none.

use std::collections::BTreeSet;

use cellar_api::wire::{CellAt, CellsReply};
use cellar_base::position::Position;
use cellar_sheet::a1::column_name;

use super::output::Output;
use crate::text::escape_shortened;
use crate::{CellsQuery, ClientError, FilterQuery, Spreadsheet};

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
    let Ok(reply) = read_headers(spreadsheet, query, at).await else { return };
    for column in columns.into_iter().filter(|column| *column >= reply.extent.columns) {
        output.print_note(note(&reply, column));
    }
}

/// Returns the letters of the column with a header, ignoring case. Returns `None` if there is none, or
/// if the headers cannot be read.
pub(super) async fn find_header(
    spreadsheet: &Spreadsheet,
    query: &FilterQuery,
    header: &str,
) -> Option<String> {
    let headers = read_headers(spreadsheet, query, query.at).await.ok()?;
    header_cell(&headers, header).map(|cell| column_name(cell.column))
}

async fn read_headers(
    spreadsheet: &Spreadsheet,
    query: &FilterQuery,
    at: Option<Position>,
) -> Result<CellsReply, ClientError> {
    let headers = CellsQuery {
        sheet: query.sheet.clone(),
        range: Some(HEADERS.to_owned()),
        at,
        min_position: query.min_position,
        cursor: None,
    };
    spreadsheet.read_cells(headers).await
}

fn header_cell<'a>(headers: &'a CellsReply, header: &str) -> Option<&'a CellAt> {
    headers.cells.iter().find(|cell| cell.text().trim().eq_ignore_ascii_case(header))
}

fn note(headers: &CellsReply, column: u32) -> String {
    let name = column_name(column);
    match header_cell(headers, &name) {
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
