//! Handles `GET /v1/spreadsheets/{id}/cells/find`, which finds cells that contain a text.

use axum::extract::State;
use cellar_api::wire::{FindCursor, FindReply, PositionOrTime};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{FindQuery, SheetName};
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::text_pattern::TextPattern;
use serde::Deserialize;

use super::auth::Caller;
use super::cells::{parse_range, select_sheet};
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `findCells`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct FindParameters {
    /// Text to find, in upper or lower case.
    text: String,
    /// Whether `text` is a regular expression. Case then matters, unless it starts with `(?i)`.
    #[serde(default)]
    regex: bool,
    /// Name of the sheet; defaults to the sheet of the range, or to all sheets.
    sheet: Option<String>,
    /// Range such as A1:T50; defaults to all cells.
    range: Option<String>,
    /// Whether the cells are only counted.
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

/// Find the cells whose displayed texts contain a text, in one sheet or in all
///
/// A request reads about 500,000 cells, so a page may be empty even if it is not the last one. The number of found cells
/// is the sum of the `count` of all pages.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells/find",
    operation_id = "findCells",
    tag = "Cells",
    params(FindParameters),
    responses((status = 200, description = "One page of results", body = FindReply))
))]
pub(super) async fn find_cells(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<FindParameters>,
) -> Result<Json<FindReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let query = parse_query(&parameters)?;
    let at = find_position(&state, log_id, parameters.at, parameters.min_position).await?;
    let found = state.logs().find(log_id, &FindQuery { at, ..query }).await?;
    Ok(Json(FindReply {
        position: found.position,
        incarnation: found.incarnation,
        count: found.count,
        stale_cells: found.stale_cells,
        cells: found.cells,
        next: found.next.map(|next| next.to_string()),
    }))
}

/// Without `at`, which the log may have to be searched for.
fn parse_query(parameters: &FindParameters) -> Result<FindQuery, Failure> {
    let text = &parameters.text;
    let pattern =
        if parameters.regex { TextPattern::regex(text) } else { TextPattern::containing(text) };
    let range = parameters.range.as_deref().map(parse_range).transpose()?;
    let cursor = parameters.cursor.as_deref().map(str::parse::<FindCursor>).transpose();
    Ok(FindQuery {
        pattern: pattern.map_err(|error| Failure::invalid_request(&error))?,
        sheet: searched_sheet(parameters.sheet.as_deref(), range.as_ref())?,
        rectangle: range.map_or(Rectangle::EVERYTHING, |range| range.rectangle),
        is_count_only: parameters.count_only,
        at: None,
        cursor: cursor.map_err(|error| Failure::invalid_request(&error))?,
        min_position: parameters.min_position,
    })
}

fn searched_sheet(
    sheet: Option<&str>,
    range: Option<&Range>,
) -> Result<Option<SheetName>, Failure> {
    match select_sheet(sheet, range)? {
        SheetName::First => Ok(None),
        sheet => Ok(Some(sheet)),
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ProblemKind;
    use cellar_base::limits::MAX_SEARCH_BYTES;

    use super::*;

    fn parameters(text: &str, regex: bool) -> FindParameters {
        FindParameters { text: text.to_owned(), regex, ..FindParameters::default() }
    }

    #[test]
    fn a_bad_pattern_is_an_invalid_request() {
        assert!(parse_query(&parameters("(", false)).is_ok());
        let long = "a".repeat(MAX_SEARCH_BYTES + 1);
        for (text, regex) in [("", false), ("(", true), ("a{9999}", true), (long.as_str(), false)] {
            let failure = parse_query(&parameters(text, regex)).unwrap_err();
            assert_eq!(failure.kind(), ProblemKind::InvalidRequest, "{text:.9}");
        }
    }

    #[test]
    fn searches_all_sheets_unless_one_is_named() {
        let sheet = |sheet: Option<&str>, range: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let parameters = FindParameters {
                sheet: owned(sheet),
                range: owned(range),
                ..parameters("x", false)
            };
            parse_query(&parameters).unwrap().sheet
        };
        let costs = || Some(SheetName::Name("Costs".to_owned()));
        assert_eq!((sheet(None, None), sheet(None, Some("A:B"))), (None, None));
        assert_eq!(sheet(Some("Costs"), None), costs());
        assert_eq!(sheet(None, Some("Costs!A:B")), costs());
    }
}
