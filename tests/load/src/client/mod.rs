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
use crate::measured::{Kind, Measured};
use crate::pace::Pace;
use crate::plan::{Length, Plan};

/// Maximum time for which a request is repeated: a killed cloud has restarted by then.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Maximum wait before an answer is abandoned on purpose, in milliseconds.
const GIVEN_UP_MS: u64 = 30;
/// Requests of a writer.
const WRITER: &[Kind] = &[Kind::Append];
/// Requests of a writer that uses the protocol of Replicache.
const PUSHER: &[Kind] = &[Kind::Push, Kind::Push, Kind::Pull];
/// Requests of a reader.
const READER: &[Kind] = &[Kind::Cells, Kind::History, Kind::Load, Kind::Pull];
/// Requests of a client that is the only one of its spreadsheet.
const ALONE: &[Kind] = &[
    Kind::Append,
    Kind::Cells,
    Kind::Push,
    Kind::Append,
    Kind::History,
    Kind::Append,
    Kind::Pull,
    Kind::Append,
    Kind::Push,
    Kind::Load,
];
/// Length of the cycle of roles: of ten clients, five write, two push and three read.
const PARTS: u32 = 10;

/// An edit of a client. Its id is its index in the client's list plus 1.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) operation: Operation,
    pub(crate) known: Known,
}

/// A client's knowledge of its edit's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// No answer: the edit may be in the log or not.
    Nothing,
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
pub(crate) struct Stuck(String);

impl Stuck {
    pub(crate) fn at(what: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}

/// A client of a run.
pub(crate) struct LoadClient {
    number: u32,
    part: &'static [Kind],
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
pub(crate) struct Ended {
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
        let (appended, pushed) = authors(number, token, spreadsheet.id)?;
        Ok(Self {
            number,
            part: part(number, plan),
            api: Client::new(url, Some(token))?,
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
    pub(crate) async fn run(mut self, begun: Instant, length: Length, pace: Pace) -> Ended {
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
                self.measured.fault(format!("client {} cannot go on: {stuck}", self.number));
                return Ended { client: self, backlog };
            }
            request += 1;
        }
        self.leave().await;
        Ended { client: self, backlog }
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
        self.part.contains(&Kind::Pull)
    }

    /// Returns the client's edits.
    pub(crate) fn into_authors(self) -> [Author; 2] {
        [self.appended, self.pushed]
    }

    async fn request(&mut self, request: u64, due: Instant) -> Result<(), Stuck> {
        let kinds = u64::try_from(self.part.len()).unwrap_or(u64::MAX);
        let at = request.wrapping_add(u64::from(self.number / PARTS)) % kinds.max(1);
        let kind = usize::try_from(at).ok().and_then(|at| self.part.get(at).copied());
        match kind.unwrap_or(Kind::Append) {
            Kind::Append => self.append(due).await,
            Kind::Push => self.push(due).await,
            Kind::Pull => self.pull(due).await,
            Kind::Cells => self.cells(due).await,
            Kind::History => self.history(due).await,
            Kind::Load => self.load(due).await,
        }
    }

    /// Makes a last edit whose answer is abandoned, like a user who closes the browser.
    async fn leave(&mut self) {
        let impatience = Duration::from_millis(self.random.u64(..GIVEN_UP_MS));
        let now = Instant::now();
        let (kind, left) = match self.part.first() {
            Some(Kind::Append) => {
                (Kind::Append, tokio::time::timeout(impatience, self.append(now)).await)
            }
            Some(Kind::Push) => {
                (Kind::Push, tokio::time::timeout(impatience, self.push(now)).await)
            }
            _ => return,
        };
        match left {
            Ok(Ok(())) => {}
            Ok(Err(stuck)) => self.measured.fault(format!("client {}: {stuck}", self.number)),
            Err(_) => self.measured.given_up(kind),
        }
    }

    /// Returns a library client whose attempts are counted.
    fn api(&self, kind: Kind) -> Client {
        let measured = self.measured.clone();
        self.api.clone().observed(move |attempted| measured.attempt(kind, attempted))
    }

    /// Records a position from an answer; fails if it is older than the newest one seen.
    fn see(&mut self, kind: Kind, position: Position) -> Result<(), Stuck> {
        if position < self.seen {
            let (seen, kind) = (self.seen, kind.name());
            return Err(Stuck::at(kind, format_args!("{position} after {seen} was seen")));
        }
        self.seen = position;
        Ok(())
    }
}

/// Returns the request cycle of a client.
fn part(number: u32, plan: &Plan) -> &'static [Kind] {
    match number % PARTS {
        _ if plan.spreadsheets >= plan.clients => ALONE,
        0..=4 => WRITER,
        5 | 6 => PUSHER,
        _ => READER,
    }
}

/// Creates the authors for a client's appends and pushes.
fn authors(number: u32, token: &str, spreadsheet: LogId) -> Result<(Author, Author), LoadError> {
    let part = |why: String| LoadError::Part { why };
    let subject = cellar::subject_key_of_token(Some(token));
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
