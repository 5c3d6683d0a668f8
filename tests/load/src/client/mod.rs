//! A simulated client with its own connections, token and role.

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

/// Maximum time for which a request is repeated: a killed cloud has restarted by then.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Maximum wait before an answer is abandoned on purpose, in milliseconds.
const GIVEN_UP_MS: u64 = 30;
/// Requests of a writer.
const WRITER: &[RequestKind] = &[RequestKind::Append];
/// Requests of a writer that uses the protocol of Replicache.
const PUSHER: &[RequestKind] = &[RequestKind::Push, RequestKind::Push, RequestKind::Pull];
/// Requests of a reader.
const READER: &[RequestKind] =
    &[RequestKind::Cells, RequestKind::History, RequestKind::Load, RequestKind::Pull];
/// Requests of a client that is the only one of its spreadsheet.
const ALONE: &[RequestKind] = &[
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
/// Length of the cycle of roles: of ten clients, five write, two push and three read.
const PARTS: u32 = 10;

/// An edit of a client. Its id is its index in the client's list plus 1.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) operation: Operation,
    pub(crate) known: KnownOutcome,
}

/// A client's knowledge of its edit's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownOutcome {
    /// No answer: the edit may be in the log or not.
    Unanswered,
    /// The edit is in the log, at this position if the answer contained it.
    InTheLog(Option<Position>),
}

/// A client id and the edits that were sent under it.
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
    part: &'static [RequestKind],
    api: Client,
    wire: Wire,
    measured: Measured,
    random: Rng,
    spreadsheet: CreateReply,
    /// The edits that the client appends and pushes, with separate ids.
    appended: Author,
    pushed: Author,
    /// The newest position that the client has seen. No later read may return an older one.
    seen: Position,
    /// The base of the client's next edit.
    base: Position,
}

/// Identity and target of a client.
pub(crate) struct Identity<'a> {
    pub(crate) number: u32,
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
    pub(crate) spreadsheet: CreateReply,
}

/// The end of a client's run.
pub(crate) struct ClientRun {
    pub(crate) client: LoadClient,
    /// Number of requests that were due and never sent.
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
            part: request_cycle(number, plan),
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

    /// Sends requests until the run is over, and leaves without waiting for the answer to its last
    /// edit.
    pub(crate) async fn run(mut self, begun: Instant, length: Length, pace: Pace) -> ClientRun {
        let (mut request, mut backlog) = (0, 0);
        loop {
            let due = pace.due(request);
            match length {
                Length::Requests(requests) if request >= requests => break,
                Length::Time(time) if due.is_some_and(|due| due >= time) => break,
                Length::Time(time) if begun.elapsed() >= time => {
                    backlog = pace.due_before(request, time);
                    break;
                }
                Length::Requests(_) | Length::Time(_) => {}
            }
            let due = due.map_or_else(Instant::now, |due| begun + due);
            tokio::time::sleep_until(due.into()).await;
            if let Err(stuck) = self.request(request, due).await {
                self.measured.fault(format!("client {} cannot continue: {stuck}", self.number));
                return ClientRun { client: self, backlog };
            }
            request += 1;
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

    /// Returns whether the client pulls.
    pub(crate) fn pulls(&self) -> bool {
        self.part.contains(&RequestKind::Pull)
    }

    /// Returns the client's edits.
    pub(crate) fn into_authors(self) -> [Author; 2] {
        [self.appended, self.pushed]
    }

    async fn request(&mut self, request: u64, due: Instant) -> Result<(), ClientStuck> {
        let kinds = u64::try_from(self.part.len()).unwrap_or(u64::MAX);
        let at = request.wrapping_add(u64::from(self.number / PARTS)) % kinds.max(1);
        let kind = usize::try_from(at).ok().and_then(|at| self.part.get(at).copied());
        match kind.unwrap_or(RequestKind::Append) {
            RequestKind::Append => self.append(due).await,
            RequestKind::Push => self.push(due).await,
            RequestKind::Pull => self.pull(due).await,
            RequestKind::Cells => self.cells(due).await,
            RequestKind::History => self.history(due).await,
            RequestKind::Load => self.load(due).await,
        }
    }

    /// Makes a last edit whose answer is abandoned, like a user who closes the browser.
    async fn leave(&mut self) {
        let impatience = Duration::from_millis(self.random.u64(..GIVEN_UP_MS));
        let now = Instant::now();
        let (kind, left) = match self.part.first() {
            Some(RequestKind::Append) => {
                (RequestKind::Append, tokio::time::timeout(impatience, self.append(now)).await)
            }
            Some(RequestKind::Push) => {
                (RequestKind::Push, tokio::time::timeout(impatience, self.push(now)).await)
            }
            _ => return,
        };
        match left {
            Ok(Ok(())) => {}
            Ok(Err(stuck)) => self.measured.fault(format!("client {}: {stuck}", self.number)),
            Err(_) => self.measured.count_abandoned(kind),
        }
    }

    /// Returns a library client whose attempts are counted.
    fn api(&self, kind: RequestKind) -> Client {
        let measured = self.measured.clone();
        self.api.clone().observed(move |attempted| measured.attempt(kind, attempted))
    }

    /// Records a position from an answer; fails if it is older than the newest one seen.
    fn record_seen(&mut self, kind: RequestKind, position: Position) -> Result<(), ClientStuck> {
        if position < self.seen {
            let (seen, kind) = (self.seen, kind.name());
            return Err(ClientStuck::during(
                kind,
                format_args!("{position} after {seen} was seen"),
            ));
        }
        self.seen = position;
        Ok(())
    }
}

/// Returns the request cycle of a client.
fn request_cycle(number: u32, plan: &Plan) -> &'static [RequestKind] {
    match number % PARTS {
        _ if plan.spreadsheets >= plan.clients => ALONE,
        0..=4 => WRITER,
        5 | 6 => PUSHER,
        _ => READER,
    }
}

/// Creates the authors for a client's appends and pushes.
fn authors(
    number: u32,
    client: &Client,
    spreadsheet: LogId,
) -> Result<(Author, Author), LoadError> {
    let part = |why: String| LoadError::Part { why };
    let subject = client.subject_key();
    let subject = subject.ok_or_else(|| part("a token without a subject".to_owned()))?;
    let name = appending::client_name(number);
    let key = ClientKey::derive(&subject, &name).map_err(|error| part(error.to_string()))?;
    let appended = Author { name, spreadsheet, key, intents: Vec::new() };
    let group = pushing::client_name(number).map_err(|error| part(error.to_string()))?;
    let (key, name) = (group.key(&subject), format!("pusher {number}"));
    Ok((appended, Author { name, spreadsheet, key, intents: Vec::new() }))
}

/// Indexes authors by client key.
pub(crate) fn by_key(authors: &[Author]) -> BTreeMap<ClientKey, &Author> {
    authors.iter().map(|author| (author.key, author)).collect()
}
