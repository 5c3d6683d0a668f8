//! `POST /v1/spreadsheets/{id}/push`.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::State;
use cellar_api::sync::{PushOutcome, Pushed, group_into_runs, parse_arguments};
use cellar_api::{
    wire::ProblemKind, wire::PushReply, wire::PushRequest, wire::PushResponse, wire::PushStatus,
    wire::PushedMutation, wire::PushedResult, wire::SyncError,
};
use cellar_base::identity::{ClientName, SubjectKey};
use cellar_base::limits::{MAX_MUTATION_ID, MAX_REPLY_BYTES};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{PushClient, Pushing};
use cellar_log::append::MutationResult;
use serde_json::value::RawValue;

#[cfg(test)]
use cellar_api::wire::MutationArguments;

use super::append::status_of;
use super::auth::Caller;
use super::entries::entry_views;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{check_versions, error_response};

type RawMutation<'a> = PushedMutation<&'a RawValue>;

/// Push mutations of a client group (Replicache), each exactly once
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/push",
    operation_id = "pushMutations",
    tag = "Sync",
    request_body = PushRequest<PushedMutation<MutationArguments>>,
    responses((status = 200, description = "The changes, or a Replicache error object", body = PushResponse))
))]
pub(super) async fn push_mutations(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<PushResponse>, Failure> {
    let log = caller.authorize(&state, &id, Need::Write).await?;
    let request: PushRequest<RawMutation<'_>> = body.parse()?;
    let version = (request.push_version, request.schema_version.as_str());
    if let Some(error) = check_versions("push", version) {
        return Ok(Json(PushResponse::Error(error)));
    }
    let clients = PushClients::collect(&caller.0.subject, &request)?;
    let pushed = clients.parse_mutations(&request.mutations);
    let pushing = Pushing { log, author: Some(caller.0.author) };
    let mut reply = ReplyBuilder::default();
    for run in group_into_runs(pushed) {
        let client_index = run.client();
        let Some(client) = clients.clients.get(client_index) else { continue };
        let sent = SentRun { client, client_index, ids: run.first_id()..=run.last_id() };
        if reply.has_gap(client_index) {
            reply.add_gap_results(&sent, sent.ids.clone());
            continue;
        }
        let outcome = state.logs().push(&pushing, client, run).await?;
        if outcome.unknown_client {
            let error = error_response(SyncError::ClientStateNotFound);
            return Ok(Json(PushResponse::Error(error)));
        }
        reply.add_outcome(&sent, outcome);
    }
    if reply.has_appended {
        state.apply_log_policy(log).await;
    }
    Ok(Json(PushResponse::Reply(reply.build(&state).await?)))
}

/// The distinct clients of a push request.
struct PushClients {
    clients: Vec<PushClient>,
    /// For each mutation of the request, the index of its client in `clients`.
    client_of_mutation: Vec<usize>,
}

impl PushClients {
    fn collect(
        subject: &SubjectKey,
        request: &PushRequest<RawMutation<'_>>,
    ) -> Result<Self, Failure> {
        let mut clients = Vec::<PushClient>::new();
        let mut client_of_mutation = Vec::new();
        // Use a map: in a hostile request, every mutation can have a different client.
        let mut index_by_id = HashMap::<&str, usize>::new();
        for mutation in &request.mutations {
            check_mutation_id(mutation.id)?;
            let client_index = match index_by_id.get(mutation.client_id.as_str()) {
                Some(index) => *index,
                None => {
                    let name = ClientName::new(&request.client_group_id, &mutation.client_id)?;
                    index_by_id.insert(&mutation.client_id, clients.len());
                    clients.push(PushClient { key: name.key(subject), name });
                    clients.len() - 1
                }
            };
            client_of_mutation.push(client_index);
        }
        Ok(Self { clients, client_of_mutation })
    }

    fn parse_mutations(&self, mutations: &[RawMutation<'_>]) -> Vec<Pushed> {
        let parse = |(client, mutation): (&usize, &RawMutation<'_>)| Pushed {
            client: *client,
            id: mutation.id,
            arguments: parse_arguments(mutation.args.get()),
        };
        self.client_of_mutation.iter().zip(mutations).map(parse).collect()
    }
}

fn check_mutation_id(id: u64) -> Result<(), Failure> {
    if (1..=MAX_MUTATION_ID).contains(&id) {
        return Ok(());
    }
    let detail = format!("mutation id {id} is not allowed; ids are 1 to {MAX_MUTATION_ID}");
    Err(Failure::new(ProblemKind::InvalidRequest, detail))
}

/// A run of consecutive mutations from one client.
struct SentRun<'a> {
    client: &'a PushClient,
    client_index: usize,
    ids: RangeInclusive<u64>,
}

/// Accumulates the results of a push.
#[derive(Default)]
struct ReplyBuilder {
    results: Vec<PushedResult>,
    head: Option<Position>,
    /// Entries that the client has not received yet, limited to half of the maximum response size.
    missing: Vec<std::sync::Arc<cellar_log::entry::Entry>>,
    missing_bytes: usize,
    /// Indexes of clients with a gap in their mutation ids. Mutations after a gap are not appended.
    clients_with_gap: BTreeSet<usize>,
    has_appended: bool,
}

impl ReplyBuilder {
    fn has_gap(&self, client_index: usize) -> bool {
        self.clients_with_gap.contains(&client_index)
    }

    fn add_outcome(&mut self, sent: &SentRun<'_>, outcome: PushOutcome) {
        self.has_appended |= outcome.results.iter().any(|result| !result.duplicate);
        self.head = self.head.max(outcome.head);
        self.add_missing(outcome.missing);
        let last_result_id = outcome.results.last().map_or(0, |last| last.id);
        let to_pushed = |result: MutationResult| PushedResult {
            client_id: sent.client.name.client().to_owned(),
            id: result.id,
            status: status_of(&result).into(),
            position: result.position,
            rejection: result.rejection,
            committed: result.committed,
        };
        self.results.extend(outcome.results.into_iter().map(to_pushed));
        if outcome.gap.is_some() {
            self.clients_with_gap.insert(sent.client_index);
            let first_id = last_result_id.saturating_add(1).max(*sent.ids.start());
            self.add_gap_results(sent, first_id..=*sent.ids.end());
        }
    }

    /// Adds entries that are newer than those already added, until the response is full.
    fn add_missing(&mut self, entries: Vec<std::sync::Arc<cellar_log::entry::Entry>>) {
        let newest = self.missing.last().map(|entry| entry.position);
        for entry in entries.into_iter().filter(|entry| Some(entry.position) > newest) {
            self.missing_bytes = self.missing_bytes.saturating_add(entry.weight_bytes());
            if self.missing_bytes > MAX_REPLY_BYTES / 2 {
                break;
            }
            self.missing.push(entry);
        }
    }

    /// Reports mutations that were not appended because of an earlier gap in the mutation ids.
    fn add_gap_results(&mut self, sent: &SentRun<'_>, ids: RangeInclusive<u64>) {
        self.results.extend(ids.map(|id| PushedResult {
            client_id: sent.client.name.client().to_owned(),
            id,
            status: PushStatus::Gap,
            position: None,
            rejection: None,
            committed: None,
        }));
    }

    async fn build(self, state: &ApiState) -> Result<PushReply, Failure> {
        let entries = entry_views(state, &self.missing).await?;
        Ok(PushReply { results: self.results, head: self.head, entries })
    }
}
