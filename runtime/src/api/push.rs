//! Handles `POST /v1/spreadsheets/{id}/push`, which appends the mutations of a Replicache client.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::State;
use cellar_api::sync::{PushOutcome, Pushed, Run, group_into_runs, parse_arguments};
use cellar_api::wire::{
    ProblemKind, PushReply, PushRequest, PushResponse, PushStatus, PushedMutation, PushedResult,
    SyncError,
};
use cellar_base::identity::{ClientName, SubjectKey};
use cellar_base::limits::{MAX_MUTATION_ID, MAX_REPLY_BYTES};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::{PushClient, Pushing};
use cellar_log::entry::Entry;
use serde_json::value::RawValue;

#[cfg(test)]
use cellar_api::wire::MutationArguments;

use super::append::mutation_status;
use super::auth::Caller;
use super::entries::entry_views;
use super::extract::{JsonBody, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{check_client_group_id, check_versions, error_response};

/// Maximum total size of the log entries in a reply, in bytes. A reply contains only entries that
/// the client does not have yet.
const MAX_MISSING_BYTES: usize = MAX_REPLY_BYTES / 2;

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
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<PushResponse>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let request: PushRequest<RawMutation<'_>> = body.parse()?;
    if let Err(error) = check_versions("push", request.push_version, &request.schema_version) {
        return Ok(Json(PushResponse::Error(error)));
    }
    // Without mutations, no client name is checked.
    check_client_group_id(&request.client_group_id)?;
    let mutation_clients = MutationClients::collect(&caller.principal.subject, &request)?;
    let mutations = mutation_clients.parse_mutations(&request.mutations);
    let push_target = Pushing { log: log_id, author: Some(caller.principal.author) };
    let mut reply = ReplyBuilder::default();
    for mutation_run in group_into_runs(mutations) {
        let Some(run_ids) = mutation_clients.run_ids(&mutation_run) else { continue };
        if reply.has_gap(run_ids.client_index) {
            reply.add_gap_results(run_ids.client, run_ids.ids);
            continue;
        }
        let outcome = state.logs().push(&push_target, run_ids.client, mutation_run).await?;
        if outcome.unknown_client {
            let error = error_response(SyncError::ClientStateNotFound);
            return Ok(Json(PushResponse::Error(error)));
        }
        reply.add_outcome(&run_ids, outcome);
    }
    if reply.has_appended_mutation {
        state.apply_log_policy(log_id).await;
    }
    Ok(Json(PushResponse::Reply(reply.build(&state).await?)))
}

/// The distinct clients of a push request.
struct MutationClients {
    clients: Vec<PushClient>,
    /// For each mutation of the request, the index of its client in `clients`.
    client_index_by_mutation: Vec<usize>,
}

impl MutationClients {
    fn collect(
        subject: &SubjectKey,
        request: &PushRequest<RawMutation<'_>>,
    ) -> Result<Self, Failure> {
        let mut clients = Vec::<PushClient>::new();
        let mut client_index_by_mutation = Vec::new();
        // Use a map rather than a list, because a malicious request can contain a different client
        // for every mutation.
        let mut index_by_client_id = HashMap::<&str, usize>::new();
        for mutation in &request.mutations {
            check_mutation_id(mutation.id)?;
            if let Some(client_index) = index_by_client_id.get(mutation.client_id.as_str()) {
                client_index_by_mutation.push(*client_index);
                continue;
            }
            let client_index = clients.len();
            let name = ClientName::new(&request.client_group_id, &mutation.client_id)?;
            clients.push(PushClient { key: name.key(subject), name });
            index_by_client_id.insert(&mutation.client_id, client_index);
            client_index_by_mutation.push(client_index);
        }
        Ok(Self { clients, client_index_by_mutation })
    }

    fn parse_mutations(&self, mutations: &[RawMutation<'_>]) -> Vec<Pushed> {
        self.client_index_by_mutation
            .iter()
            .zip(mutations)
            .map(|(client_index, mutation)| Pushed {
                client: *client_index,
                id: mutation.id,
                arguments: parse_arguments(mutation.args.get()),
            })
            .collect()
    }

    fn run_ids(&self, run: &Run) -> Option<RunIds<'_>> {
        let client_index = run.client();
        let client = self.clients.get(client_index)?;
        Some(RunIds { client, client_index, ids: run.first_id()..=run.last_id() })
    }
}

fn check_mutation_id(id: u64) -> Result<(), Failure> {
    if (1..=MAX_MUTATION_ID).contains(&id) {
        return Ok(());
    }
    let detail = format!("mutation id {id} is not allowed; ids are 1 to {MAX_MUTATION_ID}");
    Err(Failure::new(ProblemKind::InvalidRequest, detail))
}

/// A range of consecutive mutation ids of one client.
struct RunIds<'a> {
    client: &'a PushClient,
    client_index: usize,
    ids: RangeInclusive<u64>,
}

/// Builds the reply to a push request from the outcomes of its mutations.
#[derive(Default)]
struct ReplyBuilder {
    results: Vec<PushedResult>,
    head: Option<Position>,
    /// Log entries that the client does not have yet. Their total size is limited to
    /// `MAX_MISSING_BYTES`.
    missing_entries: Vec<Arc<Entry>>,
    missing_bytes: usize,
    /// Indexes of the clients whose mutation ids have a gap. Their mutations after the gap are not
    /// appended.
    clients_with_gap: BTreeSet<usize>,
    has_appended_mutation: bool,
}

impl ReplyBuilder {
    fn has_gap(&self, client_index: usize) -> bool {
        self.clients_with_gap.contains(&client_index)
    }

    fn add_outcome(&mut self, run: &RunIds<'_>, outcome: PushOutcome) {
        self.has_appended_mutation |= outcome.results.iter().any(|result| !result.duplicate);
        self.head = self.head.max(outcome.head);
        self.add_missing_entries(outcome.missing);
        let last_result_id = outcome.results.last().map_or(0, |last_result| last_result.id);
        for result in outcome.results {
            self.results.push(PushedResult {
                client_id: run.client.name.client().to_owned(),
                id: result.id,
                status: mutation_status(&result).into(),
                position: result.position,
                rejection: result.rejection,
                committed: result.committed,
                reversal: result.reversal,
            });
        }
        if outcome.gap.is_some() {
            self.clients_with_gap.insert(run.client_index);
            let first_gap_id = (last_result_id + 1).max(*run.ids.start());
            self.add_gap_results(run.client, first_gap_id..=*run.ids.end());
        }
    }

    /// Adds the entries that have not been added yet, until the size limit is reached.
    fn add_missing_entries(&mut self, entries: Vec<Arc<Entry>>) {
        let newest_position = self.missing_entries.last().map(|entry| entry.position);
        for entry in entries {
            let is_already_added =
                newest_position.is_some_and(|newest_position| entry.position <= newest_position);
            if is_already_added {
                continue;
            }
            self.missing_bytes += entry.weight_bytes();
            if self.missing_bytes > MAX_MISSING_BYTES {
                break;
            }
            self.missing_entries.push(entry);
        }
    }

    /// Reports that mutations were not appended because of a gap in the mutation ids.
    fn add_gap_results(&mut self, client: &PushClient, mutation_ids: RangeInclusive<u64>) {
        for id in mutation_ids {
            self.results.push(PushedResult {
                client_id: client.name.client().to_owned(),
                id,
                status: PushStatus::Gap,
                position: None,
                rejection: None,
                committed: None,
                reversal: None,
            });
        }
    }

    async fn build(self, state: &ApiState) -> Result<PushReply, Failure> {
        let entries = entry_views(state, &self.missing_entries).await?;
        Ok(PushReply { results: self.results, head: self.head, entries })
    }
}
