//! Handles `POST /v1/spreadsheets/{id}/entries`, which appends mutations to a spreadsheet.

use axum::extract::State;
use cellar_api::wire::{
    AppendReply, AppendRequest, AppendedMutation, MutationStatus, ProblemKind, SentMutation,
};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_MUTATION_BYTES;
use cellar_catalog::access::Need;
use cellar_engine::logs::WhenUnchanged;
use cellar_log::append::{Appended, MutationResult, NewMutation, Request};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::auth::Caller;
use super::entries::entry_views;
use super::extract::{JsonBody, PathId};
use super::json::Json;
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
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<AppendReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let raw_mutations: RawMutations<'_> = body.parse()?;
    check_mutation_sizes(&raw_mutations)?;
    let request: AppendRequest = body.parse()?;
    let client_key = ClientKey::derive(&caller.principal.subject, &request.client_id)?;
    let mutations: Vec<NewMutation> = request
        .mutations
        .into_iter()
        .map(|SentMutation { id, base, op }| NewMutation { id, base, operation: op })
        .collect();
    let author = Some(caller.principal.author);
    let append_request =
        Request::new(log_id, client_key, author, request.incarnation, request.acked_id, mutations)?;
    let when_unchanged =
        if request.refuse_unchanged { WhenUnchanged::Refuse } else { WhenUnchanged::Append };
    let appended = state.logs().append_with(append_request, when_unchanged).await?;
    state.apply_log_policy(log_id).await;
    Ok(Json(append_reply(&state, client_key, &appended).await?))
}

/// The mutations of a request as unparsed JSON, whose length is checked before it is parsed.
#[derive(Deserialize)]
struct RawMutations<'a> {
    #[serde(borrow)]
    mutations: Vec<&'a RawValue>,
}

fn check_mutation_sizes(raw_mutations: &RawMutations<'_>) -> Result<(), Failure> {
    let largest_bytes =
        raw_mutations.mutations.iter().map(|mutation| mutation.get().len()).max().unwrap_or(0);
    if largest_bytes <= MAX_MUTATION_BYTES {
        return Ok(());
    }
    let detail = format!(
        "a mutation is {largest_bytes} bytes long, but at most {MAX_MUTATION_BYTES} are allowed; split the mutation"
    );
    Err(Failure::new(ProblemKind::TooLarge, detail))
}

pub(super) fn mutation_status(result: &MutationResult) -> MutationStatus {
    match (&result.rejection, result.duplicate) {
        (Some(_), _) => MutationStatus::Rejected,
        (None, true) => MutationStatus::Duplicate,
        (None, false) => MutationStatus::Appended,
    }
}

pub(super) async fn append_reply(
    state: &ApiState,
    client_key: ClientKey,
    appended: &Appended,
) -> Result<AppendReply, Failure> {
    Ok(AppendReply {
        client_key: Some(client_key),
        results: appended.results.iter().map(appended_mutation).collect(),
        head: appended.tail,
        entries: entry_views(state, &appended.missing).await?,
        next: appended.missing_from,
    })
}

fn appended_mutation(result: &MutationResult) -> AppendedMutation {
    AppendedMutation {
        id: result.id,
        position: result.position,
        status: mutation_status(result),
        rejection: result.rejection.clone(),
        committed: result.committed.clone(),
        no_effect: result.no_effect,
        reversal: result.reversal,
    }
}
