//! Handles `GET /v1/spreadsheets/{id}/cells`, which returns the cells of a range.

use axum::extract::State;
use cellar_api::wire::{CellsReply, PositionOrTime, ProblemKind};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{CellsQuery, SheetName};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `getCells`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct CellsParameters {
    /// Name of the sheet; defaults to the first.
    sheet: Option<String>,
    /// Range such as A1:T50; defaults to all cells.
    range: Option<String>,
    /// Position or time to read at; defaults to the newest position.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    at: Option<PositionOrTime>,
    /// Whether each cell also has the `text` that it displays in its number format.
    #[serde(default)]
    text: bool,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    min_position: Option<Position>,
}

/// Get the non-blank cells of a range, at any position
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells",
    operation_id = "getCells",
    tag = "Cells",
    params(CellsParameters),
    responses((status = 200, description = "The cells", body = CellsReply))
))]
pub(super) async fn get_cells(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<CellsParameters>,
) -> Result<Json<CellsReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let query = parse_query(&parameters)?;
    let at = find_position(&state, log_id, parameters.at, parameters.min_position).await?;
    let query = CellsQuery { at, ..query };
    let read_cells = state.logs().cells(log_id, &query).await?;
    Ok(Json(CellsReply {
        sheet: read_cells.sheet,
        name: read_cells.name,
        position: read_cells.position,
        incarnation: read_cells.incarnation,
        extent: read_cells.extent,
        formats: read_cells.formats,
        formats_truncated: read_cells.formats_cut,
        cells: read_cells.cells,
        next: read_cells.next.map(|cell| cell.to_string()),
    }))
}

/// Without `at`, which the log may have to be searched for.
fn parse_query(parameters: &CellsParameters) -> Result<CellsQuery, Failure> {
    let range = parameters.range.as_deref().map(parse_range).transpose()?;
    let first_cell = parameters.cursor.as_deref().map(parse_cursor).transpose()?;
    Ok(CellsQuery {
        sheet: select_sheet(parameters.sheet.as_deref(), range.as_ref())?,
        rectangle: range.map_or(Rectangle::EVERYTHING, |range| range.rectangle),
        at: None,
        from: first_cell,
        min_position: parameters.min_position,
        with_texts: parameters.text,
    })
}

pub(super) fn parse_range(range: &str) -> Result<Range, Failure> {
    let range: Range = range.parse().map_err(|error| Failure::invalid_request(&error))?;
    range
        .check_area()
        .map_err(|error| Failure::new(ProblemKind::RangeTooLarge, error.to_string()))?;
    Ok(range)
}

fn parse_cursor(cursor: &str) -> Result<CellName, Failure> {
    cursor.parse().map_err(|error| Failure::invalid_request(&error))
}

/// Returns the sheet selected by the `sheet` parameter or by the range. If both name a sheet, the
/// names must match, ignoring case.
pub(super) fn select_sheet(
    sheet_name: Option<&str>,
    range: Option<&Range>,
) -> Result<SheetName, Failure> {
    let sheet_name_in_range = range.and_then(|range| range.sheet.as_deref());
    match (sheet_name, sheet_name_in_range) {
        (None, None) => Ok(SheetName::First),
        (Some(sheet), Some(in_range)) if sheet.to_lowercase() != in_range.to_lowercase() => {
            let detail = format!(
                "the parameter `sheet` is `{sheet}`, but the range is in the sheet `{in_range}`; omit one of the two"
            );
            Err(Failure::new(ProblemKind::InvalidRequest, detail))
        }
        (Some(name), _) | (None, Some(name)) => Ok(SheetName::Name(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_RANGE_CELLS;

    use super::*;

    fn with_range(range: &str) -> Result<CellsQuery, Failure> {
        parse_query(&CellsParameters {
            range: Some(range.to_owned()),
            ..CellsParameters::default()
        })
    }

    #[test]
    fn limits_the_cells_of_a_range() {
        let rows = MAX_RANGE_CELLS / 16;
        assert!(with_range(&format!("A1:P{rows}")).is_ok());
        let failure = with_range(&format!("A1:P{}", rows + 1)).unwrap_err();
        assert_eq!(failure.kind(), ProblemKind::RangeTooLarge);
        assert_eq!(
            with_range("A1:BDWGN1000000").unwrap_err().kind(),
            ProblemKind::RangeTooLarge,
            "10^12 cells"
        );
        assert!(with_range("A:C").is_ok());
        assert!(with_range("1:3").is_ok());
    }

    #[test]
    fn rejects_two_different_sheets() {
        assert_eq!(with_range("A1").unwrap().sheet, SheetName::First);
        let other = SheetName::Name("Other".into());
        assert_eq!(with_range("Other!A1").unwrap().sheet, other);
        let both = |sheet: &str, range: &str| {
            let (sheet, range) = (Some(sheet.to_owned()), Some(range.to_owned()));
            parse_query(&CellsParameters { sheet, range, ..CellsParameters::default() })
        };
        assert!(both("Sheet1", "sheet1!A1").is_ok());
        assert_eq!(both("Sheet1", "Other!A1").unwrap_err().kind(), ProblemKind::InvalidRequest);
    }
}
