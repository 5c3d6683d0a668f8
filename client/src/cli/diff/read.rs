//! Reads the differences between two positions.

use cellar_api::wire::ProblemKind;
use cellar_base::position::Position;

use super::to_index;
use crate::Spreadsheet;
use crate::cli::error::CliError;
use crate::cli::output::{Output, count};
use crate::cli::spinner::Spinner;
use crate::reader::ListedDiff;

/// Maximum number of cells of each sheet in JSON, if the positions are read from chunks.
const MAX_JSON_CELLS: usize = 1_000_000;

/// Positions of one or of two spreadsheets.
pub(super) struct ComparedPositions<'a> {
    pub(super) from: (&'a Spreadsheet, Position),
    pub(super) to: (&'a Spreadsheet, Position),
}

/// The server compares the positions. If too many cells were edited in between, both positions are
/// read from chunks. Then at most `limit` cells of each sheet are listed, except in JSON.
pub(super) async fn read_differences(
    output: &Output,
    compared: ComparedPositions<'_>,
    limit: u32,
) -> Result<ListedDiff, CliError> {
    let ComparedPositions { from: (spreadsheet, from), to: (other, to) } = compared;
    let is_same = spreadsheet.id() == other.id();
    let reply = if is_same {
        spreadsheet.diff(from, to).await
    } else {
        spreadsheet.diff_with(from, other.id(), to).await
    };
    let too_large = match reply {
        Ok(diff) => return Ok(diff.into()),
        Err(error) if error.problem_kind() == Some(ProblemKind::RangeTooLarge) => error,
        Err(error) => return Err(error.into()),
    };
    let max_cells = if output.json { MAX_JSON_CELLS } else { to_index(limit) };
    let spinner = Spinner::new(output);
    let show_progress = |rows| spinner.show(count(rows, "row compared", "rows compared"));
    let listed = if is_same {
        Box::pin(spreadsheet.diff_from_chunks(from, to, max_cells, show_progress)).await
    } else {
        let to = (other, to);
        Box::pin(spreadsheet.diff_with_from_chunks(from, to, max_cells, show_progress)).await
    };
    spinner.end();
    listed?.ok_or_else(|| too_large.into())
}
