//! An API in memory: one log per spreadsheet, exactly-once appends, and faults on demand.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use cellar_core::a1::{Range, Rectangle};
use cellar_core::api::{
    AppendReply, AppendRequest, AppendedMutation, CellsReply, CreateReply, CreateRequest,
    EntryView, Head, Health, LoadReply, MutationStatus, PlacedCell, Problem, ProblemKind,
    UpdateReply,
};
use cellar_core::cell::Cell;
use cellar_core::cost::HEADER;
use cellar_core::entry::{Content, Edits, Entry, Mutation};
use cellar_core::identity::{ClientKey, LogId, SubjectKey};
use cellar_core::operation::SheetId;
use cellar_core::position::Position;
use cellar_core::replay::Replay;

/// Cells of one page: small, so that every test of pages has some.
const PAGE_CELLS: usize = 1_000;

/// What goes wrong with the next request that is not a health check.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Answers with this, and does nothing.
    Answer(u16, String),
    /// Answers 503 with this `Retry-After`, and does nothing.
    RetryAfter(u64),
    /// Does what it should, and then the answer is lost on its way.
    Lost,
    /// Refuses with this problem, and does nothing.
    Refused(ProblemKind),
    /// Does what it should.
    None,
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) logs: HashMap<LogId, Vec<Entry>>,
    pub(crate) epochs: HashMap<LogId, u32>,
    pub(crate) faults: VecDeque<Fault>,
    pub(crate) seen: Vec<Seen>,
    /// What every answer of its own but "not found" is said to cost; nothing is said without it.
    pub(crate) cost: Option<&'static str>,
}

/// A running server.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) url: String,
    inner: Arc<Mutex<Inner>>,
}

impl Fake {
    pub(crate) fn start() -> Self {
        let inner = Arc::new(Mutex::new(Inner::default()));
        let url = Self::serve(&inner);
        Self { url, inner }
    }

    /// The same cloud at another URL, as after a restart.
    pub(crate) fn another_port(&self) -> String {
        Self::serve(&self.inner)
    }

    fn serve(inner: &Arc<Mutex<Inner>>) -> String {
        let shared = Arc::clone(inner);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            super::block_on(async {
                let router =
                    Router::new().route("/{*path}", axum::routing::any(handle)).with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, router).await.unwrap();
            });
        });
        url
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub(crate) fn client(&self) -> cellar::Client {
        cellar::Client::new(&self.url, Some("the-token")).unwrap()
    }

    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.lock().faults.extend(faults);
    }

    /// A spreadsheet without edits.
    pub(crate) fn spreadsheet(&self) -> LogId {
        self.lock().create("a test").id
    }

    /// The texts of all cells, by row and column.
    pub(crate) fn texts(&self, id: LogId) -> Vec<((u32, u32), String)> {
        let inner = self.lock();
        let (replay, _) = inner.replay(id, None);
        replay.cells().iter().map(|(key, cell)| (*key, cell.text())).collect()
    }

    /// The bodies of the appends that arrived.
    pub(crate) fn appends(&self) -> Vec<AppendRequest> {
        let inner = self.lock();
        let posts = inner
            .seen
            .iter()
            .filter(|seen| seen.method == Method::POST && seen.uri.ends_with("/entries"));
        posts.map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
    }
}

type Answer = Result<serde_json::Value, Problem>;

impl Inner {
    fn create(&mut self, nonce: &str) -> CreateReply {
        let id = LogId::derive(&SubjectKey::new("fake", "somebody"), nonce).unwrap();
        let log = self.logs.entry(id).or_default();
        if log.is_empty() {
            log.push(Entry::first(id, Some("somebody".into()), 1_700_000_000));
        }
        let epoch = *self.epochs.entry(id).or_insert(1);
        CreateReply { id, head: Position::FIRST, epoch }
    }

    fn head(&self, id: LogId) -> Head {
        Head { head: self.logs[&id].last().unwrap().position, epoch: self.epochs[&id] }
    }

    fn append(&mut self, id: LogId, request: AppendRequest) -> Result<AppendReply, Problem> {
        let epoch = self.epochs[&id];
        if request.epoch != epoch {
            return Err(Problem::new(ProblemKind::Reload, "restored"));
        }
        let log = self.logs.get_mut(&id).unwrap();
        let head = log.last().unwrap().position;
        if request.mutations.iter().any(|mutation| mutation.base > head) {
            return Err(Problem::new(ProblemKind::UnknownBase, "no such base"));
        }
        let subject = SubjectKey::new("fake", "somebody");
        let client = ClientKey::derive(&subject, &request.client).unwrap();
        let own = log.iter().filter_map(Entry::edits).filter(|edits| edits.client == client);
        let mut last = own.map(Edits::last_id).max().unwrap_or(0).max(request.ack);
        let mut results = Vec::new();
        for sent in request.mutations {
            let mut status = MutationStatus::Duplicate;
            if sent.id > last + 1 {
                return Err(Problem::new(ProblemKind::MutationGap, "a gap"));
            }
            if sent.id == last + 1 {
                let authored = sent
                    .op
                    .validated()
                    .map_err(|fault| Problem::new(ProblemKind::Unprocessable, fault.to_string()))?;
                let mutation = Mutation { base: sent.base, authored, committed: None };
                let edits = Edits { client, first_id: sent.id, mutations: vec![mutation] };
                let position = log.last().unwrap().next_position().unwrap();
                let first = Entry::first(id, Some("somebody".into()), 1_700_000_000);
                log.push(Entry { position, content: Content::Edits(edits), ..first });
                last = sent.id;
                status = MutationStatus::Appended;
            }
            let position = Some(log.last().unwrap().position);
            results.push(AppendedMutation { id: sent.id, status, position });
        }
        let head = log.last().unwrap().position;
        Ok(AppendReply { results, head, entries: Vec::new(), next: None })
    }

    fn replay(&self, id: LogId, at: Option<Position>) -> (Replay, Position) {
        let mut replay = Replay::new(SheetId::FIRST, Rectangle::EVERYTHING);
        let at = at.unwrap_or_else(|| self.head(id).head);
        for entry in self.logs[&id].iter().filter(|entry| entry.position <= at) {
            replay.apply(entry).unwrap();
        }
        (replay, at)
    }

    fn cells(&self, id: LogId, query: &HashMap<String, String>) -> CellsReply {
        let at = query.get("at").map(|at| Position::unpack(at.parse().unwrap()).unwrap());
        let (replay, position) = self.replay(id, at);
        let range = query.get("range").map(|range| range.parse::<Range>().unwrap().rectangle);
        let range = range.unwrap_or(Rectangle::EVERYTHING);
        let from = query.get("from").map(|from| from.parse::<Range>().unwrap().rectangle.first);
        let mut cells: Vec<PlacedCell> = replay
            .cells()
            .iter()
            .filter(|((row, column), _)| range.contains(*row, *column))
            .filter(|(key, _)| from.is_none_or(|from| **key >= (from.row, from.column)))
            .map(|((row, column), cell)| placed(*row, *column, cell))
            .take(PAGE_CELLS + 1)
            .collect();
        let next = (cells.len() > PAGE_CELLS).then(|| {
            let first = cells.pop().unwrap();
            cellar_core::a1::CellName { row: first.row, column: first.column }.to_string()
        });
        CellsReply {
            sheet: SheetId::FIRST,
            name: "Sheet1".into(),
            position,
            epoch: self.epochs[&id],
            extent: replay.extent(),
            cells,
            next,
        }
    }

    fn answer(
        &mut self,
        method: &Method,
        path: &[&str],
        query: &HashMap<String, String>,
        body: &[u8],
    ) -> Answer {
        let json = |value: &dyn erased::ToJson| value.to_json();
        if path == ["v1", "spreadsheets"] {
            let request: CreateRequest = serde_json::from_slice(body).unwrap();
            return Ok(json(&self.create(&request.nonce)));
        }
        let missing = || Problem::new(ProblemKind::NotFound, "no such spreadsheet");
        let id: LogId = path.get(2).and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        if !self.logs.contains_key(&id) {
            return Err(missing());
        }
        let Head { head, epoch } = self.head(id);
        match (method.as_str(), path.get(3).copied()) {
            ("GET", None) => {
                let entries = vec![EntryView::from(&self.logs[&id][0])];
                let next = Some(Position::FIRST);
                Ok(json(&LoadReply { head, epoch, root: None, entries, next }))
            }
            ("GET", Some("entries")) => {
                let after = Position::unpack(query["after"].parse().unwrap()).unwrap();
                let newer = self.logs[&id].iter().filter(|entry| entry.position > after);
                let entries = newer.map(EntryView::from).collect();
                Ok(json(&UpdateReply { head, epoch, entries, next: None }))
            }
            ("POST", Some("entries")) => {
                let request = serde_json::from_slice(body).unwrap();
                Ok(json(&self.append(id, request)?))
            }
            ("GET", Some("cells")) => Ok(json(&self.cells(id, query))),
            ("GET", Some("head")) => Ok(json(&Head { head, epoch })),
            _ => Err(missing()),
        }
    }
}

/// `Serialize` behind a reference, whatever the type.
mod erased {
    pub(super) trait ToJson {
        fn to_json(&self) -> serde_json::Value;
    }

    impl<T: serde::Serialize> ToJson for T {
        fn to_json(&self) -> serde_json::Value {
            serde_json::to_value(self).unwrap()
        }
    }
}

fn placed(row: u32, column: u32, cell: &Cell) -> PlacedCell {
    PlacedCell { row, column, cell: cell.clone() }
}

async fn handle(
    State(inner): State<Arc<Mutex<Inner>>>,
    method: Method,
    uri: Uri,
    Path(path): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut inner = inner.lock().unwrap();
    // A gateway that answers in the API's place knows no cost.
    let by_another = matches!(inner.faults.front(), Some(Fault::Lost | Fault::Answer(..)));
    let cost = inner.cost.filter(|_| !by_another);
    let mut response = respond(&mut inner, &method, &uri, &path, &query, headers, &body);
    if let Some(cost) = cost.filter(|_| response.status() != StatusCode::NOT_FOUND) {
        response.headers_mut().insert(HEADER, header::HeaderValue::from_static(cost));
    }
    response
}

fn respond(
    inner: &mut Inner,
    method: &Method,
    uri: &Uri,
    path: &str,
    query: &HashMap<String, String>,
    headers: HeaderMap,
    body: &Bytes,
) -> Response {
    let uri = uri.to_string();
    inner.seen.push(Seen { method: method.clone(), uri, headers, body: body.to_vec() });
    if path == "v1/health" {
        let health =
            Health { ok: true, build: "1".into(), stack: "fake".into(), reachable: vec![] };
        return axum::Json(health).into_response();
    }
    let fault = inner.faults.pop_front().unwrap_or(Fault::None);
    match &fault {
        Fault::Answer(status, text) => {
            return (StatusCode::from_u16(*status).unwrap(), text.clone()).into_response();
        }
        Fault::RetryAfter(seconds) => {
            let problem = Problem::new(ProblemKind::Unavailable, "busy");
            return ([(header::RETRY_AFTER, seconds.to_string())], refusal(&problem))
                .into_response();
        }
        Fault::Refused(kind) => return refusal(&Problem::new(*kind, "on demand")),
        Fault::Lost | Fault::None => {}
    }
    let path: Vec<&str> = path.split('/').collect();
    let answer = inner.answer(method, &path, query, body);
    match (fault, answer) {
        (Fault::Lost, _) => (StatusCode::GATEWAY_TIMEOUT, "lost").into_response(),
        (_, Ok(json)) => axum::Json(json).into_response(),
        (_, Err(problem)) => refusal(&problem),
    }
}

fn refusal(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap();
    let mut response = (status, axum::Json(problem.clone())).into_response();
    let media_type = header::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}
