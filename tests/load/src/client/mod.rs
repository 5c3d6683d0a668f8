//! One client: connections, a token and a part of its own.

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

/// For how long a request is repeated until it is answered: a cloud that was killed is back by then.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The longest that an answer is waited for which is given up on purpose, milliseconds.
const GIVEN_UP_MS: u64 = 30;
/// What those do who write.
const WRITER: &[Kind] = &[Kind::Append];
/// What those do who write by the protocol of Replicache.
const PUSHER: &[Kind] = &[Kind::Push, Kind::Push, Kind::Pull];
/// What those do who read.
const READER: &[Kind] = &[Kind::Cells, Kind::History, Kind::Load, Kind::Pull];
/// What those do who are alone in their spreadsheet.
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
/// Of ten clients five write, two push and three read.
const PARTS: u32 = 10;

/// An edit that a client made; its number is its place among them, from 1.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub(crate) operation: Operation,
    pub(crate) known: Known,
}

/// What a client was told of its edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing: it may be in the log or not.
    Nothing,
    /// It is in the log; where, if that was said.
    InTheLog(Option<Position>),
}

/// Who made edits, and which.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) spreadsheet: LogId,
    pub(crate) key: ClientKey,
    pub(crate) intents: Vec<Intent>,
}

/// Why a client cannot go on.
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
    /// What it appends and what it pushes, numbered apart.
    appended: Author,
    pushed: Author,
    /// The newest position that it has seen: what it reads is never older.
    seen: Position,
    /// The position that its next edit is made on.
    base: Position,
}

/// Who a client is.
pub(crate) struct Identity<'a> {
    pub(crate) number: u32,
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
    pub(crate) spreadsheet: CreateReply,
}

/// How a client's run ended.
pub(crate) struct Ended {
    pub(crate) client: LoadClient,
    /// Requests that were due and never sent.
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

    /// Makes its requests until the run is over, and leaves without waiting for the answer to its last
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

    /// What it is called in reports.
    pub(crate) fn name(&self) -> String {
        format!("client {}", self.number)
    }

    /// The spreadsheet on which it works.
    pub(crate) fn spreadsheet(&self) -> LogId {
        self.spreadsheet.id
    }

    /// Whether it keeps what it pulls.
    pub(crate) fn pulls(&self) -> bool {
        self.part.contains(&Kind::Pull)
    }

    /// Its edits.
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

    /// Makes a last edit whose answer is given up, as who closes a browser does.
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

    /// The library's client, which tells of its attempts.
    fn api(&self, kind: Kind) -> Client {
        let measured = self.measured.clone();
        self.api.clone().observed(move |attempted| measured.attempt(kind, attempted))
    }

    /// Notes a position that an answer named.
    fn see(&mut self, kind: Kind, position: Position) -> Result<(), Stuck> {
        if position < self.seen {
            let (seen, kind) = (self.seen, kind.name());
            return Err(Stuck::at(kind, format_args!("{position} after {seen} was seen")));
        }
        self.seen = position;
        Ok(())
    }
}

/// What a client does.
fn part(number: u32, plan: &Plan) -> &'static [Kind] {
    match number % PARTS {
        _ if plan.spreadsheets >= plan.clients => ALONE,
        0..=4 => WRITER,
        5 | 6 => PUSHER,
        _ => READER,
    }
}

/// As whom a client appends and pushes.
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

/// All edits that were made, by who made them.
pub(crate) fn by_key(authors: &[Author]) -> BTreeMap<ClientKey, &Author> {
    authors.iter().map(|author| (author.key, author)).collect()
}
