//! `POST /v1/spreadsheets/{id}/entries`.

use axum::Json;
use axum::extract::State;
use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::AppendedMutation, wire::MutationStatus,
    wire::ProblemKind, wire::SentMutation,
};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_MUTATION_BYTES;
use cellar_catalog::access::Need;
use cellar_log::append::{Appended, MutationResult, NewMutation, Request};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::auth::Caller;
use super::entries::entry_views;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Append mutations, each exactly once
///
/// A repeated request returns the results of the first one.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/entries",
    operation_id = "appendMutations",
    tag = "Log",
    request_body = AppendRequest,
    responses((status = 200, description = "The result of each mutation", body = AppendReply))
))]
pub(super) async fn append_mutations(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<AppendReply>, Failure> {
    let log = caller.authorize(&state, &id, Need::Write).await?;
    check_mutation_sizes(&body.parse()?)?;
    let request: AppendRequest = body.parse()?;
    let client = ClientKey::derive(&caller.0.subject, &request.client_id)?;
    let mutations = request
        .mutations
        .into_iter()
        .map(|SentMutation { id, base, op }| NewMutation { id, base, operation: op });
    let author = Some(caller.0.author);
    let request = Request::new(
        log,
        client,
        author,
        request.incarnation,
        request.acked_id,
        mutations.collect(),
    )?;
    let appended = state.logs().append(request).await?;
    state.apply_log_policy(log).await;
    Ok(Json(append_reply(&state, &appended).await?))
}

/// Mutations of a request, as raw JSON whose length can be measured.
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
    let detail = format!(
        "a mutation has {largest} bytes, at most {MAX_MUTATION_BYTES} are allowed; split it"
    );
    Err(Failure::new(ProblemKind::TooLarge, detail))
}

pub(super) fn status_of(result: &MutationResult) -> MutationStatus {
    match (&result.rejection, result.duplicate) {
        (Some(_), _) => MutationStatus::Rejected,
        (None, true) => MutationStatus::Duplicate,
        (None, false) => MutationStatus::Appended,
    }
}

pub(super) async fn append_reply(
    state: &ApiState,
    appended: &Appended,
) -> Result<AppendReply, Failure> {
    let results = appended.results.iter().map(|result| AppendedMutation {
        id: result.id,
        position: result.position,
        status: status_of(result),
        rejection: result.rejection.clone(),
        committed: result.committed.clone(),
        no_effect: result.no_effect,
    });
    Ok(AppendReply {
        results: results.collect(),
        head: appended.tail,
        entries: entry_views(state, &appended.missing).await?,
        next: appended.missing_from,
    })
}
