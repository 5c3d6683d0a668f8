//! `GET /v1/spreadsheets`.

use axum::Json;
use axum::extract::State;
use cellar_api::{
    wire::ListQuery, wire::ProblemKind, wire::SpreadsheetStatus, wire::SpreadsheetsReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_LIST_PAGE;
use cellar_catalog::access::Scope;
use cellar_catalog::spreadsheet::Name;
use cellar_engine::streams::StreamError;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::Parameters;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listSpreadsheets`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParameters {
    cursor: Option<LogId>,
    limit: Option<u32>,
    name: Option<String>,
    mine: Option<bool>,
    status: Option<SpreadsheetStatus>,
}

/// List the spreadsheets shared with the caller (eventually consistent)
///
/// A page examines a number of spreadsheets and returns those that match; it may be empty although there are more
/// pages.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets",
    operation_id = "listSpreadsheets",
    tag = "Spreadsheets",
    params(
        ("cursor" = Option<LogId>, Query, description = "`next` of the previous page"),
        ("limit" = Option<u32>, Query, description = "Spreadsheets examined per page (1 to 50); a page may return fewer"),
        ("name" = Option<String>, Query, description = "Text that the name contains (case-insensitive)"),
        ("mine" = Option<bool>, Query, description = "true: only spreadsheets the caller owns; false: only others"),
        ("status" = Option<SpreadsheetStatus>, Query, description = "Status of the spreadsheets; defaults to `active`"),
    ),
    responses((status = 200, description = "One page of results", body = SpreadsheetsReply))
))]
pub(super) async fn list_spreadsheets(
    State(state): State<ApiState>,
    caller: Caller,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Json<SpreadsheetsReply>, Failure> {
    if let Scope::Link { .. } = caller.0.scope {
        let detail = "share links grant access to one spreadsheet; listing requires a personal or operator token";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let ListParameters { cursor, limit, name, mine, status } = parameters;
    let limit = limit.unwrap_or(MAX_LIST_PAGE);
    if !(1..=MAX_LIST_PAGE).contains(&limit) {
        let detail = format!("`limit` is {limit}; it must be 1 to {MAX_LIST_PAGE}");
        return Err(Failure::new(ProblemKind::BadRequest, detail));
    }
    let name = name.as_deref().map(Name::new).transpose()?;
    let query = ListQuery { name, mine, status };
    let page = state.lists().listed(&caller.0.person(), cursor, limit).await;
    let page = page.map_err(StreamError::Store)?;
    let next = if page.more { page.entries.last().map(|entry| entry.log) } else { None };
    let covered = page.entries.iter().filter(|entry| caller.0.right(entry.log).is_some());
    let views = covered.filter_map(|entry| query.view(entry, caller.0.role, state.now_s()));
    Ok(Json(SpreadsheetsReply { spreadsheets: views.collect(), next }))
}
