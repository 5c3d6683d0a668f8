//! An in-memory stack, the same for every input: a spreadsheet with some history and a fork of it,
//! both in the feed and in their owner's list.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_engine::catalog::CatalogLists;
use cellar_engine::feed::{Auditor, FeedReader, Indexer};
use cellar_engine::memory::{ManualClock, MemoryBlobs, MemoryFeed, MemoryStreams, MemoryTables};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Blobs, NoPokes, Random};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::upkeep::LogPolicy;
use cellar_runtime::api::{ApiPorts, ApiState, router};
use cellar_runtime::settings::ApiSettings;
use cellar_runtime::token::NoKeySource;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::token::{self, NOW_S};

/// Request timeout in milliseconds: longer than any input takes.
const REQUEST_TIMEOUT_MS: u64 = 60_000;
/// Page size of the object list: more than the number of objects.
const LIST_LIMIT: u16 = 1_000;
/// Nonce with which Alice creates the spreadsheet of every input.
const NONCE: &str = "budget";
const ALICE: &str = "alice";

/// Id of the spreadsheet of every input.
pub(super) static SPREADSHEET: LazyLock<String> = LazyLock::new(|| {
    let id = LogId::derive(&SubjectKey::new(token::ISSUER, ALICE), NONCE);
    id.unwrap().to_string()
});

/// The caller of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// A caller without a token.
    Nobody,
    /// The owner of all spreadsheets.
    Owner,
    /// An editor of the spreadsheet.
    Editor,
    /// A viewer of all spreadsheets.
    Viewer,
    /// An editor of another spreadsheet, which does not exist.
    Stranger,
}

impl Caller {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            b'n' => Self::Nobody,
            b'o' => Self::Owner,
            b'e' => Self::Editor,
            b'v' => Self::Viewer,
            b's' => Self::Stranger,
            _ => return None,
        })
    }

    /// Returns the value of the `Authorization` header.
    pub(super) fn authorization(self) -> Option<&'static str> {
        static TOKENS: LazyLock<[String; 4]> = LazyLock::new(|| {
            let none = "00000000-0000-8000-8000-000000000000";
            [
                authorization("owner", &json!("*")),
                authorization("editor", &json!([*SPREADSHEET])),
                authorization("viewer", &json!("*")),
                authorization("editor", &json!([none])),
            ]
        });
        let [owner, editor, viewer, stranger] = &*TOKENS;
        Some(match self {
            Self::Nobody => return None,
            Self::Owner => owner,
            Self::Editor => editor,
            Self::Viewer => viewer,
            Self::Stranger => stranger,
        })
    }
}

fn authorization(role: &str, spreadsheets: &Value) -> String {
    let header = json!({"alg": "EdDSA", "kid": "first"});
    let claims = json!({
        "iss": token::ISSUER, "aud": token::AUDIENCE, "sub": ALICE, "jti": "1",
        "exp": NOW_S + 60, "iat": NOW_S, "role": role, "spreadsheets": spreadsheets,
    });
    format!(
        "Bearer {}",
        token::signed(header.to_string().as_bytes(), claims.to_string().as_bytes())
    )
}

/// A random source that always returns zero.
struct NoRandom;

impl Random for NoRandom {
    fn next(&self) -> u64 {
        0
    }
}

/// The in-memory stack.
pub(super) struct World {
    tables: Arc<MemoryTables>,
    streams: Arc<MemoryStreams>,
    index: Arc<MemoryFeed>,
    blobs: Arc<MemoryBlobs>,
    router: Router,
}

impl World {
    /// Creates a stack whose spreadsheet has a few entries.
    pub(super) async fn new() -> Self {
        let world = Self::empty();
        let path = format!("/v1/spreadsheets/{}", *SPREADSHEET);
        world.post("/v1/spreadsheets", &json!({"nonce": NONCE})).await;
        let mutations = json!([
            {"id": 1, "base": 0, "op": {"setCells": {"cells": [
                {"row": 0, "column": 0, "value": 1.5}, {"row": 7, "column": 3, "value": "text"}]}}},
            {"id": 2, "base": 0, "op": {"addSheet": {"sheet": 1, "name": "Other"}}},
            {"id": 3, "base": 0, "op": {"insertRows": {"before": 1, "count": 2}}},
        ]);
        let append =
            json!({"client_id": "c", "incarnation": FIRST_INCARNATION, "mutations": mutations});
        world.post(&format!("{path}/entries"), &append).await;
        let push = json!({
            "pushVersion": 1, "clientGroupID": "g", "profileID": "p", "schemaVersion": "1",
            "mutations": [{"clientID": "r", "id": 1, "name": "mutate", "timestamp": 0,
                "args": {"incarnation": FIRST_INCARNATION, "base": 1,
                    "op": {"deleteColumns": {"spans": [{"first": 1, "count": 1}]}}}}],
        });
        world.post(&format!("{path}/push"), &push).await;
        world.post(&format!("{path}/forks"), &json!({"nonce": "what if"})).await;
        world.index().await;
        world
    }

    /// Adds all stream events to the feed and to the spreadsheet lists.
    async fn index(&self) {
        let clock = Arc::new(ManualClock::at(NOW_S * 1_000));
        let (streams, index) = (Arc::clone(&self.streams), Arc::clone(&self.index));
        let time = || (Arc::clone(&clock) as _, Arc::new(NoRandom) as _);
        let ((now, random), lists) = (time(), Arc::clone(&index) as _);
        let lists = CatalogLists::new(Arc::clone(&streams) as _, lists, now, random);
        let indexer = Indexer::new(
            Arc::clone(&index) as _,
            streams,
            Arc::new(lists),
            time(),
            FIRST_INCARNATION,
        );
        let reader = FeedReader::new(index, FIRST_INCARNATION);
        let auditor = Auditor::new(&self.streams, reader, indexer, clock, Arc::new(NoRandom));
        assert_eq!(auditor.rebuild(|_| {}).await.unwrap().events, 2);
    }

    fn empty() -> Self {
        let clock = Arc::new(ManualClock::at(NOW_S * 1_000));
        let tables = Arc::<MemoryTables>::default();
        let streams = Arc::<MemoryStreams>::default();
        let index = Arc::<MemoryFeed>::default();
        let blobs = Arc::new(MemoryBlobs::new(clock.clone()));
        let settings = ApiSettings {
            entry_table: String::new(),
            segment_table: String::new(),
            event_stream_table: String::new(),
            feed_table: String::new(),
            incarnation: FIRST_INCARNATION,
            bucket: String::new(),
            stack: "test".to_owned(),
            request_timeout_ms: REQUEST_TIMEOUT_MS,
            tokens: token::settings(),
            upkeep: Some(LogPolicy::default()),
        };
        let ports = ApiPorts {
            entries: tables.clone(),
            segments: tables.clone(),
            presences: tables.clone(),
            streams: streams.clone(),
            index: index.clone(),
            lists: index.clone(),
            blobs: blobs.clone(),
            clock,
            random: Arc::new(NoRandom),
            keys: Arc::new(NoKeySource),
            pokes: Arc::new(NoPokes),
            meter: Arc::new(Meter::default()),
        };
        let router = router(ApiState::from_ports(&settings, ports).unwrap());
        Self { tables, streams, index, blobs, router }
    }

    async fn post(&self, path: &str, body: &Value) {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .header("authorization", Caller::Owner.authorization().unwrap());
        let response = self.send(request.body(Body::from(body.to_string())).unwrap()).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(status.is_success(), "{path}: {status} {text}");
        assert!(!text.contains("rejected") && !text.contains("\"error\""), "{path}: {text}");
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Returns the complete stored state, for comparison.
    pub(super) async fn stored(&self) -> String {
        let objects = self.blobs.list("", None, LIST_LIMIT).await.unwrap();
        assert!(objects.next.is_none());
        format!("{:?} {:?} {:?} {objects:?}", self.tables, self.streams, self.index)
    }
}
