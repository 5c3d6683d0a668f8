//! `POST /v1/spreadsheets/{id}/entries`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{
    AppendReply, AppendRequest, AppendedMutation, EntryView, MutationStatus, Problem, ProblemKind,
    SentMutation,
};
use cellar_core::append::{Appended, NewMutation, Request};
use cellar_core::identity::{ClientKey, LogId};
use cellar_core::limits::MAX_MUTATION_BYTES;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Appends mutations: each exactly once, however often the request is repeated.
#[utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/entries",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    request_body = AppendRequest,
    responses(
        (status = 200, description = "What became of each mutation", body = AppendReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
)]
pub(super) async fn append(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<AppendReply>, Failure> {
    let log = caller.log(&id, Need::Write)?;
    check_mutation_sizes(&body.read()?)?;
    let request: AppendRequest = body.read()?;
    let client = ClientKey::derive(&caller.0.subject, &request.client)
        .map_err(|error| Failure::new(ProblemKind::Unprocessable, error.to_string()))?;
    let mutations = request.mutations.into_iter().map(new_mutation).collect();
    let author = Some(caller.0.author);
    let request = Request::new(log, client, author, request.epoch, request.ack, mutations)?;
    Ok(Json(reply(&state.logs().append(request).await?)))
}

/// The mutations as they were sent, to measure them.
#[derive(Deserialize)]
struct RawMutations<'a> {
    #[serde(borrow)]
    mutations: Vec<&'a RawValue>,
}

fn check_mutation_sizes(raw: &RawMutations<'_>) -> Result<(), Failure> {
    let largest = raw.mutations.iter().map(|mutation| mutation.get().len()).max().unwrap_or(0);
    if largest <= MAX_MUTATION_BYTES {
        return Ok(());
    }
    let detail = format!("a mutation has {largest} bytes, at most {MAX_MUTATION_BYTES}: split it");
    Err(Failure::new(ProblemKind::TooLarge, detail))
}

fn new_mutation(sent: SentMutation) -> NewMutation {
    NewMutation { id: sent.id, base: sent.base, operation: sent.op }
}

fn reply(appended: &Appended) -> AppendReply {
    let results = appended.results.iter().map(|result| AppendedMutation {
        id: result.id,
        position: result.position,
        status: match result.duplicate {
            true => MutationStatus::Duplicate,
            false => MutationStatus::Appended,
        },
    });
    AppendReply {
        results: results.collect(),
        head: appended.tail,
        entries: appended.missing.iter().map(|entry| EntryView::from(entry.as_ref())).collect(),
        next: appended.missing_from,
    }
}
