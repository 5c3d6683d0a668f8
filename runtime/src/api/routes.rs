//! Routes of the HTTP API, their middleware, and the responses to unknown paths and methods.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post};
use cellar_api::wire::{Problem, ProblemKind};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use super::reply::Failure;
use super::state::ApiState;
use super::{
    append, cell_history, cells, chunks, config, cost, create, deadline, details, entries, feed,
    filter, find, forks, head, health, history, imports, links, list, members, merges, openapi,
    page, pokes, presence, pull, push, sheets, stats, trace, uploads, whole_body,
};

/// Builds the API router.
pub fn router(state: ApiState) -> Router {
    let no_store = HeaderValue::from_static("no-store");
    page::add_routes(Router::new())
        .route("/v1/health", get(health::get_health))
        .route("/v1/config", get(config::get_config))
        .route("/v1/openapi.json", get(openapi::get_openapi_document))
        .route("/v1/feed", get(feed::list_feed_items))
        .route("/v1/spreadsheets", get(list::list_spreadsheets).post(create::create_spreadsheet))
        .route("/v1/spreadsheets/{id}", get(entries::load_spreadsheet))
        .route(
            "/v1/spreadsheets/{id}/entries",
            get(entries::list_entries).post(append::append_mutations),
        )
        .route("/v1/spreadsheets/{id}/cells", get(cells::get_cells))
        .route("/v1/spreadsheets/{id}/cells/find", get(find::find_cells))
        .route("/v1/spreadsheets/{id}/cells/filter", get(filter::filter_rows))
        .route("/v1/spreadsheets/{id}/cells/trace", get(trace::trace_cell))
        .route("/v1/spreadsheets/{id}/cells/history", get(cell_history::list_cell_history))
        .route("/v1/spreadsheets/{id}/chunks", post(chunks::get_chunk_urls))
        .route("/v1/spreadsheets/{id}/stats", get(stats::get_stats))
        .route("/v1/spreadsheets/{id}/sheets", get(sheets::list_sheets))
        .route("/v1/spreadsheets/{id}/history", get(history::list_history))
        .route("/v1/spreadsheets/{id}/diff", get(history::compare_positions))
        .route("/v1/spreadsheets/{id}/diff/{other_id}", get(history::compare_spreadsheets))
        .route("/v1/spreadsheets/{id}/uploads", post(uploads::create_upload))
        .route("/v1/spreadsheets/{id}/uploads/{upload_id}/complete", post(uploads::complete_upload))
        .route("/v1/spreadsheets/{id}/imports/uploads", post(imports::create_import_uploads))
        .route("/v1/spreadsheets/{id}/imports/checks", post(imports::check_import_chunks))
        .route("/v1/spreadsheets/{id}/forks", get(forks::list_forks).post(forks::create_fork))
        .route("/v1/spreadsheets/{id}/merges", post(merges::merge_fork))
        .route(
            "/v1/spreadsheets/{id}/details",
            get(details::get_details).patch(details::update_details),
        )
        .route("/v1/spreadsheets/{id}/details/changes", get(details::list_details_changes))
        .route(
            "/v1/spreadsheets/{id}/members",
            post(members::set_member).delete(members::remove_member),
        )
        .route("/v1/spreadsheets/{id}/links", post(links::create_link))
        .route("/v1/spreadsheets/{id}/links/{link_id}", delete(links::revoke_link))
        .route("/v1/spreadsheets/{id}/head", get(head::get_head))
        .route("/v1/spreadsheets/{id}/pokes", get(pokes::stream_pokes))
        .route(
            "/v1/spreadsheets/{id}/presence",
            get(presence::list_presence).put(presence::announce_presence),
        )
        .route("/v1/spreadsheets/{id}/push", post(push::push_mutations))
        .route("/v1/spreadsheets/{id}/pull", post(pull::pull_changes))
        .fallback(path_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(state.clone(), deadline::enforce_deadline))
        // Axum's body limit is not needed, because the `whole_body` middleware limits the body
        // length.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(state.clone(), whole_body::buffer_body))
        .layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, no_store))
        .layer(CatchPanicLayer::custom(respond_to_panic))
        // The cost middleware is outermost, so that rejected requests, timeouts and panics have a
        // cost too.
        .layer(from_fn(cost::report_cost))
        .with_state(state)
}

async fn path_not_found(uri: Uri) -> Failure {
    let detail = if uri.path().starts_with("//") {
        "the path starts with `//`: write one slash between the URL and the path, as in https://example.com/v1/health"
    } else {
        "no route has this path: /v1/openapi.json lists all paths, which start with /v1"
    };
    Failure::new(ProblemKind::UnknownRoute, detail)
}

async fn method_not_allowed(method: Method) -> Failure {
    let detail = format!("{method} is not supported for this path; see /v1/openapi.json");
    Failure::new(ProblemKind::MethodNotAllowed, detail)
}

/// Responds to a panic with status 500, so that the process can serve further requests. The Lambda
/// bundle is built to abort on a panic instead, after which Lambda starts a new process.
#[allow(clippy::needless_pass_by_value, reason = "the layer's signature")]
fn respond_to_panic(cause: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let message = if let Some(message) = cause.downcast_ref::<&str>() {
        message
    } else if let Some(message) = cause.downcast_ref::<String>() {
        message
    } else {
        "no message"
    };
    tracing::error!(message, "a request panicked");
    let problem = Problem::new(ProblemKind::Internal, "an unexpected error; it was logged");
    axum::response::IntoResponse::into_response(Failure::from(problem))
}
