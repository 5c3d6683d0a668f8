//! `GET /v1/spreadsheets/{id}/cells`.

use axum::Json;
use axum::extract::State;
use cellar_api::{wire::CellsReply, wire::ProblemKind};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{CellsQuery, SheetName};
use cellar_sheet::a1::{CellName, Range, RangeTooLarge, Rectangle};
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `getCells`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct CellsParameters {
    sheet: Option<String>,
    range: Option<String>,
    at: Option<Position>,
    cursor: Option<String>,
    min_position: Option<Position>,
}

/// Get the non-blank cells of a range, at any position
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells",
    operation_id = "getCells",
    tag = "Cells",
    params(
        ("sheet" = Option<String>, Query, description = "Name of the sheet; defaults to the first"),
        ("range" = Option<String>, Query, description = "Range such as A1:T50; defaults to all cells"),
        ("at" = Option<Position>, Query, description = "Position to read at; defaults to the newest"),
        ("cursor" = Option<String>, Query, description = "`next` of the previous page"),
        ("min_position" = Option<Position>, Query, description = "Lowest acceptable position of the reply (read your writes)"),
    ),
    responses((status = 200, description = "The cells", body = CellsReply))
))]
pub(super) async fn get_cells(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<CellsParameters>,
) -> Result<Json<CellsReply>, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let query = parse_query(&parameters)?;
    let read = state.logs().cells(log, &query).await?;
    Ok(Json(CellsReply {
        sheet: read.sheet,
        name: read.name,
        position: read.position,
        incarnation: read.incarnation,
        extent: read.extent,
        formats: read.formats,
        formats_truncated: read.formats_cut,
        cells: read.cells,
        next: read.next.map(|cell| cell.to_string()),
    }))
}

fn parse_query(parameters: &CellsParameters) -> Result<CellsQuery, Failure> {
    let invalid = |why: String| Failure::new(ProblemKind::InvalidRequest, why);
    let range = parameters.range.as_deref().map(str::parse::<Range>).transpose();
    let range = range.map_err(|error| invalid(error.to_string()))?;
    let from = parameters.cursor.as_deref().map(str::parse::<CellName>).transpose();
    let from = from.map_err(|error| invalid(error.to_string()))?;
    let sheet = select_sheet(parameters.sheet.as_deref(), range.as_ref())?;
    let mut rectangle = Rectangle::EVERYTHING;
    if let Some(range) = range {
        let too_large =
            |error: RangeTooLarge| Failure::new(ProblemKind::RangeTooLarge, error.to_string());
        range.check_area().map_err(too_large)?;
        rectangle = range.rectangle;
    }
    let (at, min_position) = (parameters.at, parameters.min_position);
    Ok(CellsQuery { sheet, rectangle, at, from, min_position })
}

/// Returns the sheet selected by the `sheet` parameter or by the range. If both contain a sheet
/// name, the names must match case-insensitively.
fn select_sheet(parameter: Option<&str>, range: Option<&Range>) -> Result<SheetName, Failure> {
    let in_range = range.and_then(|range| range.sheet.as_deref());
    if let (Some(sheet), Some(in_range)) = (parameter, in_range)
        && sheet.to_lowercase() != in_range.to_lowercase()
    {
        let why = format!("`sheet` is `{sheet}`, but the range names `{in_range}`; remove one");
        return Err(Failure::new(ProblemKind::InvalidRequest, why));
    }
    let name = parameter.or(in_range);
    Ok(name.map_or(SheetName::First, |name| SheetName::Name(name.to_owned())))
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
