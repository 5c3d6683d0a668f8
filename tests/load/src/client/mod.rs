//! A simulated client with separate connections, a token and a role.

mod appending;
mod operations;
mod pushing;
mod reading;
mod wire;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::wire::CreateReply;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;
use fastrand::Rng;

use self::wire::Wire;
use crate::LoadError;
use crate::measured::{Measured, RequestKind};
use crate::pace::Pace;
use crate::plan::{Length, Plan};

/// Maximum time for which a request is repeated. Long enough for a killed server to restart.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Maximum wait before a request is abandoned intentionally, in milliseconds.
const MAX_IMPATIENCE_MS: u64 = 30;
/// Requests of a writer.
const WRITER_REQUESTS: &[RequestKind] = &[RequestKind::Append];
/// Request cycle of a writer that uses the Replicache protocol.
const PUSHER_REQUESTS: &[RequestKind] = &[RequestKind::Push, RequestKind::Push, RequestKind::Pull];
/// Requests of a reader.
const READER_REQUESTS: &[RequestKind] =
    &[RequestKind::Cells, RequestKind::History, RequestKind::Load, RequestKind::Pull];
/// Request cycle of a client that is the only one in its spreadsheet.
const SOLE_CLIENT_REQUESTS: &[RequestKind] = &[
    RequestKind::Append,
    RequestKind::Cells,
    RequestKind::Push,
    RequestKind::Append,
    RequestKind::History,
    RequestKind::Append,
    RequestKind::Pull,
    RequestKind::Append,
    RequestKind::Push,
    RequestKind::Load,
];
/// Length of the cycle of roles. Of ten clients, five write, two push and three read.
const ROLE_CYCLE_CLIENTS: u32 = 10;

/// An edit of a client. The edit's id is its index in the client's list plus 1.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) operation: Operation,
    pub(crate) known: KnownOutcome,
}

/// What a client knows about the outcome of its edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownOutcome {
    /// No response arrived, so the client does not know whether the edit is in the log.
    Unanswered,
    /// The edit is in the log. The position is known if the response contained it.
    InTheLog(Option<Position>),
}

/// A client id, with the edits that were sent under it.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) spreadsheet: LogId,
    pub(crate) key: ClientKey,
    pub(crate) intents: Vec<Intent>,
}

/// The reason why a client cannot continue.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ClientStuck(String);

impl ClientStuck {
    pub(crate) fn during(what: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}

/// A client of a run.
pub(crate) struct LoadClient {
    number: u32,
    request_cycle: &'static [RequestKind],
    api: Client,
    wire: Wire,
    measured: Measured,
    random: Rng,
    spreadsheet: CreateReply,
    /// The edits that the client appends. Pushed edits are numbered separately.
    appended: Author,
    pushed: Author,
    /// The newest position that the client has seen. No later read may return an older position.
    seen: Position,
    /// The base (last seen position) of the client's next edit.
    base: Position,
}

/// A client's identity, and the server and spreadsheet that the client uses.
pub(crate) struct Identity<'a> {
    pub(crate) number: u32,
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
    pub(crate) spreadsheet: CreateReply,
}

/// A client after its run.
pub(crate) struct ClientRun {
    pub(crate) client: LoadClient,
    /// Number of requests that were due but never sent.
    pub(crate) backlog: u64,
}

impl LoadClient {
    pub(crate) fn new(
        identity: &Identity<'_>,
        plan: &Plan,
        measured: Measured,
    ) -> Result<Self, LoadError> {
        let Identity { number, url, token, spreadsheet } = *identity;
        let api = Client::new(url, Some(token))?;
        let (appended, pushed) = authors(number, &api, spreadsheet.id)?;
        Ok(Self {
            number,
            request_cycle: request_cycle(number, plan),
            api,
            wire: Wire::new(url, token, spreadsheet.id, number)?,
            measured,
            random: Rng::new(),
            spreadsheet,
            appended,
            pushed,
            seen: spreadsheet.head,
            base: spreadsheet.head,
        })
    }

    /// Sends requests until the run ends. The client leaves without waiting for the response to its
    /// last edit.
    pub(crate) async fn send_requests(
        mut self,
        begun_at: Instant,
        length: Length,
        pace: Pace,
    ) -> ClientRun {
        let mut request_index = 0;
        let mut backlog = 0;
        loop {
            let due_after = pace.due_after(request_index);
            match length {
                Length::Requests(request_count) if request_index >= request_count => break,
                Length::Time(time) if due_after.is_some_and(|due_after| due_after >= time) => break,
                Length::Time(time) if begun_at.elapsed() >= time => {
                    backlog = pace.count_due_before(request_index, time);
                    break;
                }
                Length::Requests(_) | Length::Time(_) => {}
            }
            let due_at = match due_after {
                Some(due_after) => begun_at + due_after,
                None => Instant::now(),
            };
            tokio::time::sleep_until(due_at.into()).await;
            if let Err(stuck) = self.send_request(request_index, due_at).await {
                let number = self.number;
                self.measured.record_fault(format!("client {number} cannot continue: {stuck}"));
                return ClientRun { client: self, backlog };
            }
            request_index += 1;
        }
        self.leave().await;
        ClientRun { client: self, backlog }
    }

    /// Returns the client's name for reports.
    pub(crate) fn name(&self) -> String {
        format!("client {}", self.number)
    }

    /// Returns the id of the client's spreadsheet.
    pub(crate) fn spreadsheet(&self) -> LogId {
        self.spreadsheet.id
    }

    /// Returns whether the client's requests include pulls.
    pub(crate) fn pulls(&self) -> bool {
        self.request_cycle.contains(&RequestKind::Pull)
    }

    /// Returns the edits that the client appended and pushed.
    pub(crate) fn into_authors(self) -> [Author; 2] {
        [self.appended, self.pushed]
    }

    async fn send_request(
        &mut self,
        request_index: u64,
        due_at: Instant,
    ) -> Result<(), ClientStuck> {
        match self.request_kind(request_index) {
            RequestKind::Append => self.append(due_at).await,
            RequestKind::Push => self.push(due_at).await,
            RequestKind::Pull => self.pull(due_at).await,
            RequestKind::Cells => self.read_cells(due_at).await,
            RequestKind::History => self.read_history(due_at).await,
            RequestKind::Load => self.load_spreadsheet(due_at).await,
        }
    }

    /// Returns the kind of the request with the given number. Clients with the same role start at
    /// different points of their request cycle.
    fn request_kind(&self, request_index: u64) -> RequestKind {
        let cycle_length = u64::try_from(self.request_cycle.len()).unwrap_or(u64::MAX);
        let cycle_offset = u64::from(self.number / ROLE_CYCLE_CLIENTS);
        let cycle_index = request_index.wrapping_add(cycle_offset) % cycle_length.max(1);
        usize::try_from(cycle_index)
            .ok()
            .and_then(|cycle_index| self.request_cycle.get(cycle_index).copied())
            .unwrap_or(RequestKind::Append)
    }

    /// Makes a last edit and abandons the request, like a user who closes the browser.
    async fn leave(&mut self) {
        let impatience = Duration::from_millis(self.random.u64(..MAX_IMPATIENCE_MS));
        let now = Instant::now();
        let (kind, edit_result) = match self.request_cycle.first() {
            Some(RequestKind::Append) => {
                (RequestKind::Append, tokio::time::timeout(impatience, self.append(now)).await)
            }
            Some(RequestKind::Push) => {
                (RequestKind::Push, tokio::time::timeout(impatience, self.push(now)).await)
            }
            _ => return,
        };
        match edit_result {
            Ok(Ok(())) => {}
            Ok(Err(stuck)) => {
                self.measured.record_fault(format!("client {}: {stuck}", self.number));
            }
            Err(_abandoned) => self.measured.count_abandoned(kind),
        }
    }

    /// Returns a client of the client library whose request attempts are counted.
    fn api(&self, kind: RequestKind) -> Client {
        let measured = self.measured.clone();
        self.api.clone().observed(move |outcome| measured.count_attempt(kind, outcome))
    }

    /// Records a position from a response. Fails if the position is older than the newest one seen.
    fn record_seen(&mut self, kind: RequestKind, position: Position) -> Result<(), ClientStuck> {
        let seen = self.seen;
        if position < seen {
            let message = format_args!("{position} after {seen} was seen");
            return Err(ClientStuck::during(kind.name(), message));
        }
        self.seen = position;
        Ok(())
    }
}

/// Returns the request cycle of a client.
fn request_cycle(number: u32, plan: &Plan) -> &'static [RequestKind] {
    match number % ROLE_CYCLE_CLIENTS {
        _ if plan.spreadsheets >= plan.clients => SOLE_CLIENT_REQUESTS,
        0..=4 => WRITER_REQUESTS,
        5 | 6 => PUSHER_REQUESTS,
        _ => READER_REQUESTS,
    }
}

/// Creates the authors of a client's appends and pushes.
fn authors(
    number: u32,
    client: &Client,
    spreadsheet: LogId,
) -> Result<(Author, Author), LoadError> {
    let load_error = |why: String| LoadError::Part { why };
    let subject =
        client.subject_key().ok_or_else(|| load_error("a token without a subject".to_owned()))?;
    let writer_name = appending::client_name(number);
    let writer_key =
        ClientKey::derive(&subject, &writer_name).map_err(|error| load_error(error.to_string()))?;
    let pusher_client =
        pushing::client_name(number).map_err(|error| load_error(error.to_string()))?;
    let appended = Author { name: writer_name, spreadsheet, key: writer_key, intents: Vec::new() };
    let pushed = Author {
        name: format!("pusher {number}"),
        spreadsheet,
        key: pusher_client.key(&subject),
        intents: Vec::new(),
    };
    Ok((appended, pushed))
}

/// Returns the authors indexed by client key.
pub(crate) fn by_key(authors: &[Author]) -> BTreeMap<ClientKey, &Author> {
    authors.iter().map(|author| (author.key, author)).collect()
}
