//! `POST /v1/spreadsheets/{id}/push`.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::State;
use cellar_api::sync::{PushOutcome, Pushed, read_mutation, runs};
use cellar_api::{
    wire::ProblemKind, wire::PushReply, wire::PushRequest, wire::PushStatus, wire::PushedMutation,
    wire::PushedResult, wire::SyncAnswer, wire::SyncError,
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
use super::entries::views;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{self, unsupported};

type Mutation<'a> = PushedMutation<&'a RawValue>;

/// Push mutations of a client group (Replicache), each exactly once
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/push",
    operation_id = "pushMutations",
    tag = "Sync",
    request_body = PushRequest<PushedMutation<MutationArguments>>,
    responses((status = 200, description = "The changes, or a Replicache error object", body = SyncAnswer<PushReply>))
))]
pub(super) async fn push(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<SyncAnswer<PushReply>>, Failure> {
    let log = caller.log(&state, &id, Need::Write).await?;
    let request: PushRequest<Mutation<'_>> = body.read()?;
    if let Some(refusal) = unsupported("push", request.push_version, &request.schema_version) {
        return Ok(Json(SyncAnswer::Refused(refusal)));
    }
    let clients = Clients::of(&caller.0.subject, &request)?;
    let pushed = clients.pushed(&request.mutations);
    let pushing = Pushing { log, author: Some(caller.0.author) };
    let mut answer = Answer::default();
    for run in runs(pushed) {
        let Some(client) = clients.known.get(run.client()) else { continue };
        let asked = Asked { client, number: run.client(), ids: run.first_id()..=run.last_id() };
        if answer.is_stopped(run.client()) {
            answer.skip(&asked);
            continue;
        }
        let outcome = state.logs().push(&pushing, client, run).await?;
        if outcome.unknown_client {
            let refusal = sync::refusal(SyncError::ClientStateNotFound);
            return Ok(Json(SyncAnswer::Refused(refusal)));
        }
        answer.add(&asked, outcome);
    }
    if answer.has_appended {
        state.upkeep(log).await;
    }
    Ok(Json(SyncAnswer::Done(answer.reply(&state).await?)))
}

/// The clients of a push, each once.
struct Clients {
    known: Vec<PushClient>,
    /// Which of them each mutation is of.
    of: Vec<usize>,
}

impl Clients {
    fn of(subject: &SubjectKey, request: &PushRequest<Mutation<'_>>) -> Result<Self, Failure> {
        let (mut known, mut of) = (Vec::<PushClient>::new(), Vec::new());
        // As many as there are mutations, if somebody wants to make trouble.
        let mut numbers = HashMap::<&str, usize>::new();
        for mutation in &request.mutations {
            if mutation.id == 0 || mutation.id > MAX_MUTATION_ID {
                let id = mutation.id;
                let detail = format!("a mutation's id is 1 to {MAX_MUTATION_ID}, this one is {id}");
                return Err(Failure::new(ProblemKind::InvalidRequest, detail));
            }
            let number = numbers.entry(&mutation.client_id).or_insert(known.len());
            if *number == known.len() {
                let name = ClientName::new(&request.client_group_id, &mutation.client_id)?;
                known.push(PushClient { key: name.key(subject), name });
            }
            of.push(*number);
        }
        Ok(Self { known, of })
    }

    fn pushed(&self, mutations: &[Mutation<'_>]) -> Vec<Pushed> {
        let pushed = |(client, mutation): (&usize, &Mutation<'_>)| Pushed {
            client: *client,
            id: mutation.id,
            asked: read_mutation(mutation.args.get()),
        };
        self.of.iter().zip(mutations).map(pushed).collect()
    }
}

/// What the reply has to know of a run that is sent on.
struct Asked<'a> {
    client: &'a PushClient,
    /// The client as a number into the clients of the push.
    number: usize,
    ids: RangeInclusive<u64>,
}

/// The reply, on its way.
#[derive(Default)]
struct Answer {
    results: Vec<PushedResult>,
    head: Option<Position>,
    missing: Vec<std::sync::Arc<cellar_log::entry::Entry>>,
    missing_bytes: usize,
    /// Clients whose mutations have a gap.
    stopped: BTreeSet<usize>,
    has_appended: bool,
}

impl Answer {
    fn is_stopped(&self, client: usize) -> bool {
        self.stopped.contains(&client)
    }

    fn add(&mut self, asked: &Asked<'_>, outcome: PushOutcome) {
        self.has_appended |= outcome.results.iter().any(|result| !result.duplicate);
        self.head = self.head.max(outcome.head);
        let newest = self.missing.last().map(|entry| entry.position);
        for entry in outcome.missing.into_iter().filter(|entry| Some(entry.position) > newest) {
            self.missing_bytes = self.missing_bytes.saturating_add(entry.weight_bytes());
            if self.missing_bytes > MAX_REPLY_BYTES / 2 {
                break;
            }
            self.missing.push(entry);
        }
        let answered = outcome.results.last().map_or(0, |last| last.id);
        let result = |result: MutationResult| PushedResult {
            client_id: asked.client.name.client().to_owned(),
            id: result.id,
            status: status_of(&result).into(),
            position: result.position,
            rejection: result.rejection,
            committed: result.committed,
        };
        self.results.extend(outcome.results.into_iter().map(result));
        if outcome.gap.is_some() {
            self.stopped.insert(asked.number);
            self.gaps(asked, answered.saturating_add(1));
        }
    }

    fn skip(&mut self, asked: &Asked<'_>) {
        self.gaps(asked, 0);
    }

    /// Those of its mutations with ids from `least` on are behind a gap.
    fn gaps(&mut self, asked: &Asked<'_>, least: u64) {
        let ids = least.max(*asked.ids.start())..=*asked.ids.end();
        self.results.extend(ids.map(|id| PushedResult {
            client_id: asked.client.name.client().to_owned(),
            id,
            status: PushStatus::Gap,
            position: None,
            rejection: None,
            committed: None,
        }));
    }

    async fn reply(self, state: &ApiState) -> Result<PushReply, Failure> {
        let entries = views(state, &self.missing).await?;
        Ok(PushReply { results: self.results, head: self.head, entries })
    }
}
