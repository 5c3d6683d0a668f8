//! An in-memory API: one log per spreadsheet, exactly-once appends, a bucket for large entries, and injected
//! faults. It does not transform edits.

mod conflicts;
mod imports;
mod reads;
mod uploads;

pub(crate) use imports::StoredChunk;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use cellar_api::cost::HEADER;
use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::AppendedMutation, wire::CellAt, wire::CellsReply,
    wire::CompleteRequest, wire::CreateReply, wire::CreateRequest, wire::DiffReply,
    wire::EntriesReply, wire::EntryView, wire::Head, wire::Health, wire::HistoryReply,
    wire::LoadReply, wire::MutationStatus, wire::NameView, wire::Problem, wire::ProblemKind,
    wire::SentMutation, wire::SheetView, wire::SheetsReply, wire::UploadReply, wire::UploadRequest,
    wire::parse_sha256,
};
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, ExternalEdits, Mutation, decode_external_body};
use cellar_log::transform::SpaceMap;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::{
    AddSheet, DeleteSheet, Operation, Rejection, RejectionReason, SheetId,
};
use cellar_sheet::workbook::{Workbook, undo};
use cellar_snapshot::level::ChunkHash;
use sha2::Digest as _;
use uuid::Uuid;

/// The number of cells per page: small, so that tests need few cells for several pages.
const PAGE_CELLS: usize = 1_000;

/// Cells by row and column.
pub(crate) type Cells = BTreeMap<(u32, u32), Cell>;

/// A fault of the next request. Health checks have no faults.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Replies with this status and text, without an effect.
    Answer(u16, String),
    /// Replies 503 with this `Retry-After`, without an effect.
    RetryAfter(u64),
    /// Executes the request and loses the reply.
    Lost,
    /// Replies with this problem, without an effect.
    Refused(ProblemKind),
    /// Commits every mutation as rejected.
    Rejected(Rejection),
    /// Commits every mutation as transformed to these operations.
    Moved(Vec<Operation>),
    /// No fault.
    None,
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: Method,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) logs: HashMap<LogId, Vec<Entry>>,
    pub(crate) incarnations: HashMap<LogId, u32>,
    pub(crate) faults: VecDeque<Fault>,
    pub(crate) received: Vec<ReceivedRequest>,
    /// The cost in the header of every reply except 404.
    pub(crate) cost: Option<&'static str>,
    /// The bucket: the granted uploads, and their bodies once uploaded.
    pub(crate) objects: BTreeMap<Uuid, Option<Vec<u8>>>,
    /// The chunks of imports in the bucket.
    pub(crate) chunks: BTreeMap<ChunkHash, StoredChunk>,
    /// A spreadsheet to restore after this number of loads.
    restore: Option<(LogId, usize)>,
    url: String,
    rejection: Option<Rejection>,
    /// Reply to every request of entries, instead of the entries.
    pub(crate) entries_reply: Option<serde_json::Value>,
    /// Number of undos to reject, because their edits no longer have an effect.
    futile_undos: usize,
    moved: Option<Vec<Operation>>,
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
        inner.lock().unwrap().url.clone_from(&url);
        Self { url, inner }
    }

    /// Serves the same data at another URL, as after a restart, and returns the URL.
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

    /// Creates a spreadsheet without edits.
    pub(crate) fn spreadsheet(&self) -> LogId {
        self.lock().create("a test").id
    }

    /// Returns the texts of all cells, by row and column.
    pub(crate) fn texts(&self, id: LogId) -> Vec<((u32, u32), String)> {
        let inner = self.lock();
        let (workbook, _) = inner.replay(id, None);
        let (_, sheet) = workbook.sheets().next().unwrap();
        sheet.cells_in(Rectangle::EVERYTHING).map(|(key, cell)| (key, cell.text())).collect()
    }

    /// Returns the method and the last part of the path of each received request.
    pub(crate) fn requests(&self) -> Vec<String> {
        let inner = self.lock();
        let line = |received: &ReceivedRequest| {
            let path = received.uri.split('?').next().unwrap();
            format!("{} {}", received.method, path.rsplit('/').next().unwrap())
        };
        inner.received.iter().map(line).collect()
    }

    /// Returns the bodies of the received appends.
    pub(crate) fn appends(&self) -> Vec<AppendRequest> {
        let inner = self.lock();
        let posts = inner.received.iter().filter(|received| {
            received.method == Method::POST && received.uri.ends_with("/entries")
        });
        posts.map(|received| serde_json::from_slice(&received.body).unwrap()).collect()
    }
}

type Answer = Result<serde_json::Value, Problem>;

impl Inner {
    /// Commits an entry of another client with this operation.
    pub(crate) fn author(&mut self, id: LogId, authored: Operation) {
        let base = self.head(id).head;
        let mutations = vec![Mutation { base, authored, committed: None }];
        let client = ClientKey([9; 8]);
        self.push(
            id,
            Content::Edits(Edits { client, name: None, merged: None, first_id: 1, mutations }),
        );
    }

    fn create(&mut self, nonce: &str) -> CreateReply {
        let id = LogId::derive(&SubjectKey::new("fake", "somebody"), nonce).unwrap();
        let log = self.logs.entry(id).or_default();
        if log.is_empty() {
            log.push(Entry::first(id, Some("somebody".into()), 1_700_000_000));
        }
        let incarnation = *self.incarnations.entry(id).or_insert(1);
        CreateReply { id, head: Position::FIRST, incarnation }
    }

    fn head(&self, id: LogId) -> Head {
        Head { head: self.logs[&id].last().unwrap().position, incarnation: self.incarnations[&id] }
    }

    fn append(&mut self, id: LogId, request: AppendRequest) -> Result<AppendReply, Problem> {
        if request.mutations.len() > 1
            && request.mutations.iter().any(|sent| matches!(sent.op, Operation::Undo(_)))
        {
            return Err(Problem::new(ProblemKind::InvalidRequest, "send an undo alone"));
        }
        let client = self.check(id, &request)?;
        let base = request.mutations.iter().map(|mutation| mutation.base).min().unwrap();
        let mut last = self.last_id(id, client).max(request.acked_id);
        let mut results = Vec::new();
        let new = request.mutations.iter().filter(|sent| sent.id > last).map(|sent| &sent.op);
        self.check_imports(new)?;
        let mut new: Vec<(u64, Mutation)> = Vec::new();
        for sent in request.mutations {
            if sent.id > last + 1 {
                return Err(Problem::new(ProblemKind::MutationGap, "a gap"));
            }
            if sent.id <= last {
                results.push(self.duplicate(id, client, sent.id));
                continue;
            }
            last = sent.id;
            new.push((sent.id, self.commit(id, &sent)?));
        }
        if let Some((first_id, _)) = new.first() {
            let first_id = *first_id;
            let mutations = new.iter().map(|(_, mutation)| mutation.clone()).collect();
            let edits = Edits { client, name: None, merged: None, first_id, mutations };
            let position = self.push(id, Content::Edits(edits));
            results.extend(new.iter().map(|(mutation_id, mutation)| {
                answer_to(*mutation_id, position, MutationStatus::Appended, mutation)
            }));
        }
        let own = |entry: &&Entry| results.iter().any(|own| own.position == Some(entry.position));
        let missing = self.logs[&id].iter().filter(|entry| entry.position > base && !own(entry));
        let entries = missing.map(EntryView::from).collect();
        Ok(AppendReply { client_key: None, results, head: self.head(id).head, entries, next: None })
    }

    fn check(&self, id: LogId, request: &AppendRequest) -> Result<ClientKey, Problem> {
        if request.incarnation != self.incarnations[&id] {
            return Err(Problem::new(ProblemKind::ReloadRequired, "restored"));
        }
        let head = self.head(id).head;
        if request.mutations.iter().any(|mutation| mutation.base > head) {
            return Err(Problem::new(ProblemKind::UnknownBase, "no such base"));
        }
        let subject = SubjectKey::new("fake", "somebody");
        Ok(ClientKey::derive(&subject, &request.client_id).unwrap())
    }

    fn last_id(&self, id: LogId, client: ClientKey) -> u64 {
        let ids = self.logs[&id].iter().filter_map(Entry::mutation_ids);
        ids.filter(|(of, ..)| *of == client).map(|(_, _, last)| last).max().unwrap_or(0)
    }

    fn commit(&mut self, id: LogId, sent: &SentMutation) -> Result<Mutation, Problem> {
        let authored = sent.op.clone().validated();
        let authored = authored
            .map_err(|fault| Problem::new(ProblemKind::InvalidRequest, fault.to_string()))?;
        if let Some(rejection) = self.rejection.take() {
            let authored = Operation::Rejected(rejection);
            return Ok(Mutation { base: sent.base, authored, committed: None });
        }
        let committed = match &authored {
            Operation::Undo(_) if self.futile_undos > 0 => {
                self.futile_undos -= 1;
                let rejection = Rejection::new(RejectionReason::NothingToUndo, "on demand");
                let authored = Operation::Rejected(rejection);
                return Ok(Mutation { base: sent.base, authored, committed: None });
            }
            Operation::Undo(target) => {
                let position = target.position;
                let before = Position::new(0, position.entry_number() - 1).unwrap();
                let state = |at| self.replay(id, at).0;
                Some(undo(&state(Some(before)), &state(Some(position)), &state(None)).operations)
            }
            _ => self.moved.take(),
        };
        Ok(Mutation { base: sent.base, authored, committed })
    }

    fn duplicate(&self, id: LogId, client: ClientKey, mutation: u64) -> AppendedMutation {
        let holds = |entry: &&Entry| {
            let ids = entry.mutation_ids();
            ids.is_some_and(|(of, first, last)| of == client && (first..=last).contains(&mutation))
        };
        let entry = self.logs[&id].iter().find(holds).unwrap();
        let authored = entry.edits().map(|edits| {
            let index = usize::try_from(mutation - edits.first_id).unwrap();
            edits.mutations[index].authored.clone()
        });
        let rejected = authored.filter(|authored| matches!(authored, Operation::Rejected(_)));
        let nothing = Mutation {
            base: entry.position,
            authored: rejected.unwrap_or(Operation::DeleteSheet(DeleteSheet { sheet: SheetId(9) })),
            committed: None,
        };
        answer_to(mutation, entry.position, MutationStatus::Duplicate, &nothing)
    }

    fn push(&mut self, id: LogId, content: Content) -> Position {
        let log = self.logs.get_mut(&id).unwrap();
        let position = log.last().unwrap().next_position().unwrap();
        let first = Entry::first(id, Some("somebody".into()), 1_700_000_000);
        log.push(Entry { position, content, ..first });
        position
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
        let Head { head, incarnation } = self.head(id);
        match (method.as_str(), path.get(3).copied()) {
            ("GET", None) => {
                let entries = vec![EntryView::from(&self.logs[&id][0])];
                let next = Some(Position::FIRST);
                self.record_load(id);
                let (source, root, root_url) = (None, None, None);
                Ok(json(&LoadReply { head, incarnation, source, root, root_url, entries, next }))
            }
            ("GET", Some("entries")) => {
                if let Some(reply) = &self.entries_reply {
                    return Ok(reply.clone());
                }
                let after = Position::unpack(query["after"].parse().unwrap()).unwrap();
                let newer = self.logs[&id].iter().filter(|entry| entry.position > after);
                let entries = newer.map(|entry| self.view(entry)).collect();
                Ok(json(&EntriesReply { head, incarnation, entries, next: None }))
            }
            ("POST", Some("entries")) => {
                let request = serde_json::from_slice(body).unwrap();
                Ok(json(&self.append(id, request)?))
            }
            ("POST", Some("chunks")) => {
                let request = serde_json::from_slice(body).unwrap();
                Ok(json(&self.chunk_urls(id, &request)))
            }
            ("POST", Some("uploads")) => match path.get(4) {
                None => Ok(json(&self.grant(&serde_json::from_slice(body).unwrap()))),
                Some(upload) => {
                    let request = serde_json::from_slice(body).unwrap();
                    Ok(json(&self.complete(id, upload, &request)?))
                }
            },
            ("POST", Some("imports")) => match path.get(4).copied() {
                Some("uploads") => {
                    Ok(json(&self.grant_chunks(id, serde_json::from_slice(body).unwrap())?))
                }
                Some("checks") => {
                    Ok(json(&self.check_chunks(&serde_json::from_slice(body).unwrap())?))
                }
                _ => Err(missing()),
            },
            ("GET", Some("cells")) => Ok(json(&self.cells(id, query)?)),
            ("GET", Some("history")) => Ok(json(&self.history(id, query))),
            ("GET", Some("diff")) => Ok(json(&self.diff(id, query))),
            ("GET", Some("sheets")) => Ok(json(&self.sheets(id, query))),
            ("GET", Some("head")) => Ok(json(&Head { head, incarnation })),
            _ => Err(missing()),
        }
    }
}

/// An object-safe version of `Serialize`.
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

fn position(query: &HashMap<String, String>, name: &str) -> Option<Position> {
    query.get(name).map(|at| Position::unpack(at.parse().unwrap()).unwrap())
}

fn answer_to(
    id: u64,
    position: Position,
    status: MutationStatus,
    mutation: &Mutation,
) -> AppendedMutation {
    let rejection = match &mutation.authored {
        Operation::Rejected(rejection) => Some(rejection.clone()),
        _ => None,
    };
    let status = if rejection.is_some() { MutationStatus::Rejected } else { status };
    let committed = mutation.committed.clone();
    let no_effect = committed.as_ref().is_some_and(Vec::is_empty);
    AppendedMutation {
        id,
        status,
        position: Some(position),
        rejection,
        committed,
        no_effect,
        reversal: None,
    }
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
    // These replies come from a gateway, which does not report costs.
    let by_another = matches!(inner.faults.front(), Some(Fault::Lost | Fault::Answer(..)));
    let cost = inner.cost.filter(|_| !by_another);
    let mut response = respond(&mut inner, &method, &uri, &path, &query, &headers, &body);
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
    headers: &HeaderMap,
    body: &Bytes,
) -> Response {
    let uri = uri.to_string();
    let received = ReceivedRequest {
        method: method.clone(),
        uri,
        headers: headers.clone(),
        body: body.to_vec(),
    };
    inner.received.push(received);
    if path == "v1/health" {
        let health =
            Health { ok: true, build: "1".into(), stack: "fake".into(), dependencies: vec![] };
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
        Fault::Rejected(rejection) => inner.rejection = Some(rejection.clone()),
        Fault::Moved(operations) => inner.moved = Some(operations.clone()),
        Fault::Lost | Fault::None => {}
    }
    if let Some(key) = path.strip_prefix("bucket/") {
        let answer = inner.bucket(method, key, headers, body);
        let lost = matches!(fault, Fault::Lost);
        return if lost { (StatusCode::GATEWAY_TIMEOUT, "lost").into_response() } else { answer };
    }
    if let Some(key) = path.strip_prefix("chunks/") {
        let answer = inner.chunk(method, key, headers, body);
        let lost = matches!(fault, Fault::Lost);
        return if lost { (StatusCode::GATEWAY_TIMEOUT, "lost").into_response() } else { answer };
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
