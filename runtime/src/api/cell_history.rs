//! Handles `GET /v1/spreadsheets/{id}/cells/history`, which lists the changes of some cells.

use axum::extract::State;
use cellar_api::wire::{CellHistoryCursor, CellHistoryReply, PositionOrTime};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_PAGE_ENTRIES};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{CellHistoryQuery, LogError};
use cellar_sheet::a1::Rectangle;
use serde::Deserialize;

use super::auth::Caller;
use super::cells::{parse_range, select_sheet};
use super::extract::{Parameters, PathId, check_page_limit};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Default number of entries per response.
const DEFAULT_ENTRIES: u32 = 100;

/// Query parameters of `listCellHistory`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct CellHistoryParameters {
    /// Name of the sheet at `until`; defaults to the first.
    sheet: Option<String>,
    /// Range at `until`, such as B2 or A1:T50; defaults to the whole sheet.
    range: Option<String>,
    /// Newest position to return, or a time; defaults to the head.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    until: Option<PositionOrTime>,
    /// Return only changes after this position or time.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    since: Option<PositionOrTime>,
    /// Return only changes by this author.
    author: Option<String>,
    /// Maximum number of entries with changes: 1 to 1,000, default 100.
    limit: Option<u32>,
    /// `next` of the previous page. The other parameters must be the same.
    cursor: Option<String>,
}

/// List the changes of a cell or range, newest first, with old and new contents
///
/// The cells are followed back through inserted and deleted rows and columns. A request reads at most 1,000 entries, so
/// a page may be empty even if it is not the last one. Number formats are not part of the history.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells/history",
    operation_id = "listCellHistory",
    tag = "History",
    params(CellHistoryParameters),
    responses((status = 200, description = "One page of results", body = CellHistoryReply))
))]
pub(super) async fn list_cell_history(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<CellHistoryParameters>,
) -> Result<Json<CellHistoryReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let max_entries = parameters.limit.unwrap_or(DEFAULT_ENTRIES);
    check_page_limit(max_entries, MAX_PAGE_ENTRIES)?;
    check_author(parameters.author.as_deref().unwrap_or_default())?;
    let range = parameters.range.as_deref().map(parse_range).transpose()?;
    let sheet = select_sheet(parameters.sheet.as_deref(), range.as_ref())?;
    let cursor = parameters.cursor.as_deref().map(str::parse::<CellHistoryCursor>);
    let cursor = cursor.transpose();
    let query = CellHistoryQuery {
        sheet,
        rectangle: range.map_or(Rectangle::EVERYTHING, |range| range.rectangle),
        cursor: cursor.map_err(|error| Failure::invalid_request(&error))?,
        until: find_position(&state, log_id, parameters.until, None).await?,
        since: find_start(&state, log_id, parameters.since).await?,
        author: parameters.author,
        max_entries,
    };
    let history = state.logs().cell_history(log_id, &query).await?;
    Ok(Json(CellHistoryReply {
        changes: history.changes,
        truncated: history.truncated,
        next: history.next.map(|next| next.to_string()),
    }))
}

/// Longer authors do not exist.
fn check_author(author: &str) -> Result<(), Failure> {
    let length = author.chars().count();
    if length <= MAX_AUTHOR_BYTES {
        return Ok(());
    }
    let detail = format!(
        "the author has {length} characters; the name of an author has at most {MAX_AUTHOR_BYTES} bytes"
    );
    Err(Failure::invalid_request(&detail))
}

/// All changes are after a time before the spreadsheet was created.
async fn find_start(
    state: &ApiState,
    log_id: LogId,
    since: Option<PositionOrTime>,
) -> Result<Option<Position>, LogError> {
    match find_position(state, log_id, since, None).await {
        Err(LogError::BeforeCreation { .. }) => Ok(None),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_the_length_of_an_author() {
        assert!(check_author(&"ä".repeat(MAX_AUTHOR_BYTES)).is_ok());
        assert!(check_author(&"a".repeat(MAX_AUTHOR_BYTES + 1)).is_err());
    }
}
