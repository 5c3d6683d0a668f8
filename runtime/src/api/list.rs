//! Handles `GET /v1/spreadsheets`, which lists spreadsheets.

use axum::extract::State;
use cellar_api::wire::{ListQuery, ProblemKind, SpreadsheetStatus, SpreadsheetsReply};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_LIST_PAGE;
use cellar_catalog::access::Scope;
use cellar_catalog::spreadsheet::Name;
use cellar_engine::streams::StreamError;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{Parameters, check_page_limit};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listSpreadsheets`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct ListParameters {
    /// `next` of the previous page.
    cursor: Option<LogId>,
    /// Number of spreadsheets examined per page (1 to 50); a page may return fewer.
    limit: Option<u32>,
    /// Substring of the name (case-insensitive).
    name: Option<String>,
    /// true: only spreadsheets that the caller owns; false: only others.
    mine: Option<bool>,
    /// Status of the spreadsheets; defaults to `active`.
    status: Option<SpreadsheetStatus>,
}

/// List the spreadsheets shared with the caller (eventually consistent)
///
/// Each page examines up to `limit` spreadsheets and returns those that match. A page may be empty
/// although there are more pages.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets",
    operation_id = "listSpreadsheets",
    tag = "Spreadsheets",
    params(ListParameters),
    responses((status = 200, description = "One page of results", body = SpreadsheetsReply))
))]
pub(super) async fn list_spreadsheets(
    State(state): State<ApiState>,
    caller: Caller,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Json<SpreadsheetsReply>, Failure> {
    if let Scope::Link { .. } = caller.principal.scope {
        let detail = "share links grant access to one spreadsheet; listing requires a personal or operator token";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let ListParameters { cursor, limit, name, mine, status } = parameters;
    let page_limit = limit.unwrap_or(MAX_LIST_PAGE);
    check_page_limit(page_limit, MAX_LIST_PAGE)?;
    let searched_name = name.as_deref().map(Name::new).transpose()?;
    let query = ListQuery { name: searched_name, mine, status };
    let principal = &caller.principal;
    let page = state
        .lists()
        .listed(&principal.person(), cursor, page_limit)
        .await
        .map_err(StreamError::Store)?;
    let next = if page.more { page.entries.last().map(|entry| entry.log) } else { None };
    let now_s = state.now_s();
    let mut spreadsheets = Vec::new();
    for entry in &page.entries {
        let is_in_token_scope = principal.right(entry.log).is_some();
        if is_in_token_scope && let Some(view) = query.view(entry, principal.role, now_s) {
            spreadsheets.push(view);
        }
    }
    Ok(Json(SpreadsheetsReply { spreadsheets, next }))
}
