//! The HTTP API: one axum router, the same in a Lambda and locally.

mod append;
mod auth;
mod bodies;
mod cells;
mod chunks;
mod cost;
mod create;
mod deadline;
mod details;
#[cfg(test)]
mod document;
mod entries;
mod extract;
mod feed;
mod forks;
mod head;
mod health;
mod history;
mod imports;
mod links;
mod list;
mod members;
mod openapi;
mod pokes;
mod pull;
mod push;
mod reply;
mod sheets;
mod state;
mod stats;
mod sync;
mod uploads;
mod whole_body;

pub use bodies::Bodies;
pub use state::{ApiPorts, ApiState};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post};
use cellar_api::{wire::Problem, wire::ProblemKind};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use reply::Failure;

/// The API over this state.
pub fn router(state: ApiState) -> Router {
    let no_store = HeaderValue::from_static("no-store");
    Router::new()
        .route("/v1/health", get(health::health))
        .route("/v1/openapi.json", get(openapi::openapi))
        .route("/v1/feed", get(feed::feed))
        .route("/v1/spreadsheets", get(list::list).post(create::create))
        .route("/v1/spreadsheets/{id}", get(entries::load))
        .route("/v1/spreadsheets/{id}/entries", get(entries::update).post(append::append))
        .route("/v1/spreadsheets/{id}/cells", get(cells::cells))
        .route("/v1/spreadsheets/{id}/chunks", post(chunks::chunks))
        .route("/v1/spreadsheets/{id}/stats", get(stats::stats))
        .route("/v1/spreadsheets/{id}/sheets", get(sheets::sheets))
        .route("/v1/spreadsheets/{id}/history", get(history::history))
        .route("/v1/spreadsheets/{id}/diff", get(history::diff))
        .route("/v1/spreadsheets/{id}/uploads", post(uploads::grant))
        .route("/v1/spreadsheets/{id}/uploads/{upload_id}/complete", post(uploads::complete))
        .route("/v1/spreadsheets/{id}/imports/uploads", post(imports::grant))
        .route("/v1/spreadsheets/{id}/imports/checks", post(imports::check))
        .route("/v1/spreadsheets/{id}/forks", get(forks::forks).post(forks::fork))
        .route("/v1/spreadsheets/{id}/details", get(details::details).patch(details::update))
        .route("/v1/spreadsheets/{id}/details/changes", get(details::changes))
        .route("/v1/spreadsheets/{id}/members", post(members::share).delete(members::unshare))
        .route("/v1/spreadsheets/{id}/links", post(links::add))
        .route("/v1/spreadsheets/{id}/links/{link_id}", delete(links::remove))
        .route("/v1/spreadsheets/{id}/head", get(head::head))
        .route("/v1/spreadsheets/{id}/pokes", get(pokes::pokes))
        .route("/v1/spreadsheets/{id}/push", post(push::push))
        .route("/v1/spreadsheets/{id}/pull", post(pull::pull))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(state.clone(), deadline::deadline))
        // `whole_body` has bounded it already.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(state.clone(), whole_body::whole_body))
        .layer(SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, no_store))
        .layer(CatchPanicLayer::custom(panicked))
        // Around everything: a refusal, a timeout or a panic has its cost, too.
        .layer(from_fn(cost::cost))
        .with_state(state)
}

async fn nowhere() -> Failure {
    Failure::not_found()
}

async fn wrong_method() -> Failure {
    Failure::new(
        ProblemKind::MethodNotAllowed,
        "the method is not supported for this path; see /v1/openapi.json",
    )
}

/// A panic is a fault of ours: the request gets an answer, the process goes on. (In the Lambda
/// bundle a panic ends the process, and Lambda starts another.)
#[allow(clippy::needless_pass_by_value, reason = "the layer's signature")]
fn panicked(cause: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    let formatted = cause.downcast_ref::<String>().map(String::as_str);
    let message = cause.downcast_ref::<&str>().copied().or(formatted).unwrap_or("no message");
    tracing::error!(message, "a request panicked");
    let problem = Problem::new(ProblemKind::Internal, "an unexpected fault; the error was logged");
    axum::response::IntoResponse::into_response(Failure::from(problem))
}
