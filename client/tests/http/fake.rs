//! An API in memory: one log per spreadsheet, exactly-once appends, a bucket for large entries, and
//! faults on demand. Nothing is transformed: edits are committed as they were authored.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use cellar_core::a1::{Range, Rectangle};
use cellar_core::api::{
    AppendReply, AppendRequest, AppendedMutation, CellsReply, CompleteRequest, CreateReply,
    CreateRequest, DiffReply, EntryView, Head, Health, HistoryReply, LoadReply, MutationStatus,
    PlacedCell, Problem, ProblemKind, SentMutation, SheetView, SheetsReply, UpdateReply,
    UploadReply, UploadRequest, parse_sha256,
};
use cellar_core::cost::HEADER;
use cellar_core::entry::{Content, Edits, Entry, ExternalEdits, Mutation, decode_external_body};
use cellar_core::identity::{ClientKey, LogId, SubjectKey};
use cellar_core::operation::{Operation, Rejection, SheetId};
use cellar_core::position::Position;
use cellar_core::transform::SpaceMap;
use cellar_core::workbook::{Workbook, undo};
use sha2::Digest as _;
use uuid::Uuid;

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
    /// Appends every mutation as rejected.
    Rejected(Rejection),
    /// Appends every mutation as what it is said to have been moved to.
    Moved(Vec<Operation>),
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
    /// The bucket: what every upload that was granted has brought.
    pub(crate) objects: BTreeMap<Uuid, Option<Vec<u8>>>,
    url: String,
    rejection: Option<Rejection>,
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
        let (workbook, _) = inner.replay(id, None);
        let (_, sheet) = workbook.sheets().next().unwrap();
        sheet.cells_in(Rectangle::EVERYTHING).map(|(key, cell)| (key, cell.text())).collect()
    }

    /// The requests that arrived, as method and path, without their queries.
    pub(crate) fn requests(&self) -> Vec<String> {
        let inner = self.lock();
        let line = |seen: &Seen| {
            let path = seen.uri.split('?').next().unwrap();
            format!("{} {}", seen.method, path.rsplit('/').next().unwrap())
        };
        inner.seen.iter().map(line).collect()
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
    /// What the next mutation becomes, whatever becomes of its answer.
    pub(crate) fn reject_next(&mut self, fault: Fault) {
        if let Fault::Rejected(rejection) = fault {
            self.rejection = Some(rejection);
        }
    }

    /// As `reject_next`: the next mutation is moved to this.
    pub(crate) fn move_next(&mut self, operations: Vec<Operation>) {
        self.moved = Some(operations);
    }

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
        if request.mutations.len() > 1
            && request.mutations.iter().any(|sent| matches!(sent.op, Operation::Undo(_)))
        {
            return Err(Problem::new(ProblemKind::Unprocessable, "send an undo alone"));
        }
        let client = self.check(id, &request)?;
        let mut last = self.last_id(id, client).max(request.ack);
        let mut results = Vec::new();
        for sent in request.mutations {
            if sent.id > last + 1 {
                return Err(Problem::new(ProblemKind::MutationGap, "a gap"));
            }
            if sent.id <= last {
                results.push(self.duplicate(id, client, sent.id));
                continue;
            }
            last = sent.id;
            let mutation = self.commit(id, &sent)?;
            let edits = Edits { client, first_id: sent.id, mutations: vec![mutation.clone()] };
            let position = self.push(id, Content::Edits(edits));
            results.push(answer_to(sent.id, position, MutationStatus::Appended, &mutation));
        }
        Ok(AppendReply { results, head: self.head(id).head, entries: Vec::new(), next: None })
    }

    fn check(&self, id: LogId, request: &AppendRequest) -> Result<ClientKey, Problem> {
        if request.epoch != self.epochs[&id] {
            return Err(Problem::new(ProblemKind::Reload, "restored"));
        }
        let head = self.head(id).head;
        if request.mutations.iter().any(|mutation| mutation.base > head) {
            return Err(Problem::new(ProblemKind::UnknownBase, "no such base"));
        }
        let subject = SubjectKey::new("fake", "somebody");
        Ok(ClientKey::derive(&subject, &request.client).unwrap())
    }

    fn last_id(&self, id: LogId, client: ClientKey) -> u64 {
        let ids = self.logs[&id].iter().filter_map(Entry::mutation_ids);
        ids.filter(|(of, ..)| *of == client).map(|(_, _, last)| last).max().unwrap_or(0)
    }

    fn commit(&mut self, id: LogId, sent: &SentMutation) -> Result<Mutation, Problem> {
        let authored = sent.op.clone().validated();
        let authored = authored
            .map_err(|fault| Problem::new(ProblemKind::Unprocessable, fault.to_string()))?;
        if let Some(rejection) = self.rejection.take() {
            let authored = Operation::Rejected(rejection);
            return Ok(Mutation { base: sent.base, authored, committed: None });
        }
        let committed = match &authored {
            Operation::Undo(target) => {
                let position = target.position;
                let before = Position::new(0, position.num() - 1).unwrap();
                let state = |at| self.replay(id, at).0;
                Some(undo(&state(Some(before)), &state(Some(position)), &state(None)).unwrap())
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
        let authored = entry.edits().map(|edits| edits.mutations[0].authored.clone());
        let rejected = authored.filter(|authored| matches!(authored, Operation::Rejected(_)));
        let nothing = Mutation {
            base: entry.position,
            authored: rejected.unwrap_or(Operation::DeleteSheet(
                cellar_core::operation::DeleteSheet { sheet: SheetId(9) },
            )),
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

    fn grant(&mut self, request: &UploadRequest) -> UploadReply {
        let upload = Uuid::new_v4();
        self.objects.insert(upload, None);
        let headers = [
            ("content-length".to_owned(), request.bytes.to_string()),
            ("x-checksum".to_owned(), request.sha256.clone()),
        ];
        UploadReply {
            upload,
            method: "PUT".into(),
            url: format!("{}/bucket/{upload}?signature=secret", self.url),
            headers: headers.into_iter().collect(),
            expires: 1_700_000_900,
        }
    }

    /// The bucket: takes an object once, as it was granted, and gives what it has.
    fn bucket(&mut self, method: &Method, key: &str, headers: &HeaderMap, body: &[u8]) -> Response {
        assert!(!headers.contains_key("authorization"), "the token went to the bucket");
        let answer = |status: u16, text: &'static str| {
            (StatusCode::from_u16(status).unwrap(), text).into_response()
        };
        let object = key.parse().ok().and_then(|key: Uuid| self.objects.get_mut(&key));
        match (method.as_str(), object) {
            ("PUT", Some(Some(_))) => answer(412, "<Code>PreconditionFailed</Code>"),
            ("PUT", Some(object)) => {
                let sha256 = cellar_core::api::hexadecimal(&sha2::Sha256::digest(body));
                assert_eq!(headers["x-checksum"].to_str().unwrap(), sha256);
                assert_eq!(headers["content-length"], body.len().to_string());
                *object = Some(body.to_vec());
                answer(200, "")
            }
            ("GET", Some(Some(object))) => object.clone().into_response(),
            _ => answer(404, "<Code>NoSuchKey</Code>"),
        }
    }

    fn complete(
        &mut self,
        id: LogId,
        upload: &str,
        request: &CompleteRequest,
    ) -> Result<AppendReply, Problem> {
        let absent = || Problem::new(ProblemKind::UploadRefused, "ask for a new upload");
        let upload: Uuid = upload.parse().unwrap();
        let object = self.objects.get(&upload).cloned().flatten().ok_or_else(absent)?;
        let op = decode_external_body(&object).unwrap().remove(0);
        let (client, epoch, ack) = (request.client.clone(), request.epoch, request.ack);
        let mutations = vec![SentMutation { id: request.first, base: request.base, op }];
        let client = self.check(id, &AppendRequest { client, epoch, ack, mutations })?;
        let last = self.last_id(id, client).max(ack);
        let result = if request.first <= last {
            self.duplicate(id, client, request.first)
        } else {
            let external = ExternalEdits {
                client,
                first_id: request.first,
                count: 1,
                base: request.base,
                object: upload.to_string(),
                bytes: request.bytes,
                sha256: parse_sha256(&request.sha256).unwrap(),
                map: SpaceMap::default(),
            };
            let position = self.push(id, Content::External(external));
            AppendedMutation {
                id: request.first,
                status: MutationStatus::Appended,
                position: Some(position),
                rejection: None,
                committed: None,
            }
        };
        let head = self.head(id).head;
        Ok(AppendReply { results: vec![result], head, entries: Vec::new(), next: None })
    }

    fn replay(&self, id: LogId, at: Option<Position>) -> (Workbook, Position) {
        let mut workbook = Workbook::default();
        let at = at.unwrap_or_else(|| self.head(id).head);
        for entry in self.logs[&id].iter().filter(|entry| entry.position <= at) {
            workbook.apply(entry).unwrap();
            if let Content::External(external) = &entry.content {
                let object = self.objects[&external.object.parse().unwrap()].clone().unwrap();
                workbook.apply_operations(&decode_external_body(&object).unwrap()).unwrap();
            }
        }
        (workbook, at)
    }

    fn view(&self, entry: &Entry) -> EntryView {
        let mut view = EntryView::from(entry);
        if let (Content::External(external), Some(shown)) = (&entry.content, &mut view.external) {
            shown.url = Some(format!("{}/bucket/{}", self.url, external.object));
        }
        view
    }

    fn history(&self, id: LogId, query: &HashMap<String, String>) -> HistoryReply {
        let limit = query.get("limit").map_or(100, |limit| limit.parse().unwrap());
        let from = position(query, "from").unwrap_or(self.head(id).head);
        let mut older = self.logs[&id].iter().rev().filter(|entry| entry.position <= from);
        let entries = older.by_ref().take(limit).map(|entry| self.view(entry)).collect();
        HistoryReply { entries, next: older.next().map(|entry| entry.position) }
    }

    /// A diff with one cell on a page, so that every test of pages has some.
    fn diff(&self, id: LogId, query: &HashMap<String, String>) -> DiffReply {
        let (from, to) = (position(query, "from").unwrap(), position(query, "to").unwrap());
        let skip: usize = query.get("skip").map_or(0, |skip| skip.parse().unwrap());
        let mut sheets = self.replay(id, Some(from)).0.diff(&self.replay(id, Some(to)).0).sheets;
        let cells: usize = sheets.iter().map(|sheet| sheet.cells.len()).sum();
        let mut index = 0..;
        for sheet in &mut sheets {
            sheet.cells.retain(|_| index.next() == Some(skip));
        }
        let next = (skip + 1 < cells).then(|| u64::try_from(skip + 1).unwrap());
        DiffReply { from, to, sheets, spans_cut: false, next }
    }

    fn sheets(&self, id: LogId, query: &HashMap<String, String>) -> SheetsReply {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let view = |(sheet, of): (SheetId, &cellar_core::workbook::Sheet)| SheetView {
            sheet,
            name: of.name().to_owned(),
            extent: of.extent(),
        };
        let sheets = workbook.sheets().map(view).collect();
        let (epoch, next_sheet) = (self.epochs[&id], workbook.next_sheet());
        SheetsReply { position, epoch, sheets, next_sheet }
    }

    fn cells(&self, id: LogId, query: &HashMap<String, String>) -> Result<CellsReply, Problem> {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let range = query.get("range").map(|range| range.parse::<Range>().unwrap().rectangle);
        let range = range.unwrap_or(Rectangle::EVERYTHING);
        let from = query.get("from").map(|from| from.parse::<Range>().unwrap().rectangle.first);
        let unknown = || Problem::new(ProblemKind::UnknownSheet, "no such sheet");
        let (id_of_sheet, sheet) = match query.get("sheet") {
            None => workbook.sheets().next().unwrap(),
            Some(name) => {
                let found = workbook.sheet_named(name).ok_or_else(unknown)?;
                (found, workbook.sheet(found).unwrap())
            }
        };
        let mut cells: Vec<PlacedCell> = sheet
            .cells_in(range)
            .filter(|(key, _)| from.is_none_or(|from| *key >= (from.row, from.column)))
            .map(|((row, column), cell)| PlacedCell { row, column, cell })
            .take(PAGE_CELLS + 1)
            .collect();
        let next = (cells.len() > PAGE_CELLS).then(|| {
            let first = cells.pop().unwrap();
            cellar_core::a1::CellName { row: first.row, column: first.column }.to_string()
        });
        Ok(CellsReply {
            sheet: id_of_sheet,
            name: sheet.name().to_owned(),
            position,
            epoch: self.epochs[&id],
            extent: sheet.extent(),
            formats: Vec::new(),
            formats_cut: false,
            cells,
            next,
        })
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
            ("POST", Some("uploads")) => match path.get(4) {
                None => Ok(json(&self.grant(&serde_json::from_slice(body).unwrap()))),
                Some(upload) => {
                    let request = serde_json::from_slice(body).unwrap();
                    Ok(json(&self.complete(id, upload, &request)?))
                }
            },
            ("GET", Some("cells")) => Ok(json(&self.cells(id, query)?)),
            ("GET", Some("history")) => Ok(json(&self.history(id, query))),
            ("GET", Some("diff")) => Ok(json(&self.diff(id, query))),
            ("GET", Some("sheets")) => Ok(json(&self.sheets(id, query))),
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
    AppendedMutation { id, status, position: Some(position), rejection, committed }
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
    let seen = Seen { method: method.clone(), uri, headers: headers.clone(), body: body.to_vec() };
    inner.seen.push(seen);
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
        Fault::Rejected(rejection) => inner.rejection = Some(rejection.clone()),
        Fault::Moved(operations) => inner.moved = Some(operations.clone()),
        Fault::Lost | Fault::None => {}
    }
    if let Some(key) = path.strip_prefix("bucket/") {
        let answer = inner.bucket(method, key, headers, body);
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
