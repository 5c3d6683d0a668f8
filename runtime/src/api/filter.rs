//! Handles `GET /v1/spreadsheets/{id}/cells/filter`, which returns the rows that fulfil conditions.

use axum::extract::State;
use cellar_api::wire::{FilterReply, PageSum, PositionOrTime};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::FilterQuery;
use cellar_sheet::a1::{CellName, Rectangle, parse_column};
use cellar_sheet::condition::Conditions;
use serde::Deserialize;

use super::auth::Caller;
use super::cells::{parse_range, select_sheet};
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `filterRows`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct FilterParameters {
    /// Conditions such as `D=TX && F>=1000`, joined with `&&`. Operators: `=`, `!=`, `<`, `<=`, `>`, `>=`, `~`
    /// (contains), `!~`, `=~` (regular expression). A value in double quotes is a text.
    #[serde(rename = "where")]
    conditions: String,
    /// Column whose numbers are added up, such as F.
    sum: Option<String>,
    /// Name of the sheet; defaults to the first.
    sheet: Option<String>,
    /// Range such as A:T: the columns to return and the rows to test; defaults to all cells.
    range: Option<String>,
    /// Whether the rows are only counted and added up.
    #[serde(default)]
    count_only: bool,
    /// Position or time to read at; defaults to the newest position.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    at: Option<PositionOrTime>,
    /// `next` of the previous page. Send its `position` as `at`; the other parameters must be the same.
    cursor: Option<String>,
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    min_position: Option<Position>,
}

/// Get the rows that fulfil conditions, count them, and add up a column
///
/// Conditions may be on columns outside the range. A request reads about 500,000 cells, so a page may be empty even if it
/// is not the last one. The number of rows is the sum of the `rows` of all pages.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells/filter",
    operation_id = "filterRows",
    tag = "Cells",
    params(FilterParameters),
    responses((status = 200, description = "One page of results", body = FilterReply))
))]
pub(super) async fn filter_rows(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<FilterParameters>,
) -> Result<Json<FilterReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let query = parse_query(&parameters)?;
    let has_sum = query.sum_column.is_some();
    let at = find_position(&state, log_id, parameters.at, parameters.min_position).await?;
    let filtered = state.logs().filter(log_id, &FilterQuery { at, ..query }).await?;
    let sum = has_sum.then(|| PageSum {
        numbers: filtered.numbers,
        stale_cells: filtered.stale_summed,
        parts: filtered.sum.parts().to_vec(),
        too_large: filtered.sum.is_too_large(),
    });
    Ok(Json(FilterReply {
        sheet: filtered.sheet,
        name: filtered.name,
        position: filtered.position,
        incarnation: filtered.incarnation,
        rows: filtered.rows,
        stale_cells: filtered.stale_cells,
        sum,
        cells: filtered.cells,
        next: filtered.next.map(|cell| cell.to_string()),
    }))
}

/// Without `at`, which the log may have to be searched for.
fn parse_query(parameters: &FilterParameters) -> Result<FilterQuery, Failure> {
    let conditions = parameters.conditions.parse::<Conditions>();
    let range = parameters.range.as_deref().map(parse_range).transpose()?;
    let cursor = parameters.cursor.as_deref().map(str::parse::<CellName>).transpose();
    Ok(FilterQuery {
        conditions: conditions.map_err(|error| Failure::invalid_request(&error))?,
        sheet: select_sheet(parameters.sheet.as_deref(), range.as_ref())?,
        rectangle: range.map_or(Rectangle::EVERYTHING, |range| range.rectangle),
        sum_column: parameters.sum.as_deref().map(parse_sum_column).transpose()?,
        is_count_only: parameters.count_only,
        at: None,
        cursor: cursor.map_err(|error| Failure::invalid_request(&error))?,
        min_position: parameters.min_position,
    })
}

fn parse_sum_column(letters: &str) -> Result<u32, Failure> {
    parse_column(letters).ok_or_else(|| {
        Failure::invalid_request(&"`sum` is not a column; name it by its letters, such as F")
    })
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ProblemKind;
    use cellar_base::limits::MAX_SEARCH_BYTES;

    use super::*;

    fn failure(conditions: &str, sum: Option<&str>) -> Option<ProblemKind> {
        let (conditions, sum) = (conditions.to_owned(), sum.map(str::to_owned));
        let parameters = FilterParameters { conditions, sum, ..FilterParameters::default() };
        parse_query(&parameters).err().map(|failure| failure.kind())
    }

    #[test]
    fn a_bad_condition_is_an_invalid_request() {
        assert_eq!(failure("D=TX && F>1", Some("f")), None);
        let long = format!("D={}", "a".repeat(MAX_SEARCH_BYTES));
        for conditions in ["", "D", "D=~(", "D=", long.as_str()] {
            assert_eq!(
                failure(conditions, None),
                Some(ProblemKind::InvalidRequest),
                "{conditions:.9}"
            );
        }
        for sum in ["", "1", "F1", "ZZZZZZZ"] {
            assert_eq!(failure("D=TX", Some(sum)), Some(ProblemKind::InvalidRequest), "{sum}");
        }
    }
}
