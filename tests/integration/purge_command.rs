//! `synth purge` as a process: its preview, the data that it removes, and the data that remains.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::MAX_LISTED_BLOBS;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CatalogAction, spreadsheet::Name, spreadsheet::Person,
    spreadsheet::Right,
};
use cellar_engine::catalog::CatalogStore;
use cellar_engine::logs::{Logs, NewFork};
use cellar_engine::memory::ManualClock;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{
    BlobKey, Blobs as _, Clock as _, NewBlob, Presences as _, ReadConsistency, Segments as _,
};
use cellar_engine::presence::{Announcement, PresenceStore};
use cellar_engine::sha256::sha256;
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_local::StateFolder;
use cellar_log::presence::Selection;
use cellar_runtime::dynamodb::{DynamoStreams, DynamoTables, client_for_endpoint};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_sheet::a1::SheetArea;
use cellar_sheet::cell::Value as CellValue;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_tests::edits::set_numbers;
use cellar_tests::old_logs::{DAY_MS, edit, make_snapshot};
use serde_json::{Value, json};

use crate::journey::{Project, Run};

/// The stopped cloud of a project's folder, with a clock in the past.
struct Past {
    tables: Arc<DynamoTables>,
    blobs: Arc<S3Blobs>,
    clock: Arc<ManualClock>,
    logs: Logs,
    catalog: CatalogStore,
}

fn service(tables: &Arc<DynamoTables>, blobs: &Arc<S3Blobs>, clock: &Arc<ManualClock>) -> Logs {
    let (entries, segments) = (Arc::clone(tables) as _, Arc::clone(tables) as _);
    let (blobs, clock) = (Arc::clone(blobs) as _, Arc::clone(clock) as _);
    Logs::new(entries, segments, blobs, clock, Arc::new(SystemRandom))
}

fn subject() -> SubjectKey {
    SubjectKey::new("cellar", "alice")
}

impl Past {
    fn of(project: &Project, days: u64) -> Self {
        let folder = StateFolder::new(project.path(".cellar/local"));
        let (endpoints, access_key, secret_key) = folder.endpoints().unwrap().unwrap();
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let meter = Arc::new(Meter::default());
        let (entries, segments) = (&endpoints.entry_table, &endpoints.segment_table);
        let tables = DynamoTables::named(entries, segments, client.clone(), Arc::clone(&meter));
        let streams = endpoints.event_stream_table.as_ref().unwrap();
        let streams = DynamoStreams::named(streams, client, Arc::clone(&meter));
        let buckets = s3::client_for_endpoint(&endpoints.buckets_url, &access_key, &secret_key);
        let blobs = Arc::new(S3Blobs::new(endpoints.bucket, buckets, meter));
        let clock = Arc::new(ManualClock::at(SystemClock.now_ms() - days * DAY_MS));
        let tables = Arc::new(tables);
        let logs = service(&tables, &blobs, &clock);
        let catalog =
            CatalogStore::new(Arc::new(streams), Arc::clone(&clock) as _, Arc::new(SystemRandom));
        Self { tables, blobs, clock, logs, catalog }
    }

    /// Returns the service of a process without cached state.
    fn logs(&self) -> Logs {
        service(&self.tables, &self.blobs, &self.clock)
    }

    async fn change(&self, log: LogId, action: CatalogAction) {
        let person = Person::new("cellar", "alice").unwrap();
        let by = By { person, right: Right::Token(Role::Owner), cap: Role::Owner };
        self.catalog.change(log, by, action, None).await.unwrap();
    }

    /// Creates a spreadsheet with edits and an upload.
    async fn spreadsheet(&self, name: &str) -> LogId {
        let log = LogId::derive(&subject(), name).unwrap();
        let mut tail = self.logs.create(log, Some("alice".into())).await.unwrap().head;
        for id in 1..=5 {
            let edit = edit(log, 1, id, tail, set_numbers(&[1.5]));
            tail = self.logs.append(edit).await.unwrap().tail;
        }
        let bytes = bytes::Bytes::from_static(b"what was imported");
        let blob = NewBlob {
            key: BlobKey::new(format!("uploads/{log}/1")).unwrap(),
            sha256: sha256(&bytes),
            bytes,
            content_type: None,
            content_encoding: None,
            pending: false,
        };
        self.blobs.put(blob).await.unwrap();
        self.announce(log).await;
        let name = Name::new(name).unwrap();
        self.change(log, CatalogAction::Create { name, source: None }).await;
        log
    }

    async fn announce(&self, log: LogId) {
        let store = PresenceStore::new(
            Arc::clone(&self.tables) as _,
            Arc::clone(&self.clock) as _,
            Arc::new(SystemRandom),
        );
        let area = SheetArea::from_numbers([0, 0, 1, 0, 1]).unwrap();
        let selection = Selection { area, at: Position::FIRST };
        let client = ClientKey([7; 8]);
        let announcement = Announcement { client, author: "alice".to_owned(), selection };
        store.announce(log, announcement).await.unwrap();
    }

    async fn has_presence(&self, log: LogId) -> bool {
        let stored = self.tables.presences(log, ReadConsistency::Strong).await.unwrap();
        !stored.is_empty()
    }

    async fn is_there(&self, log: LogId) -> (bool, usize) {
        let segments = self.tables.newest(log, 9, ReadConsistency::Strong).await.unwrap();
        let below = format!("uploads/{log}/");
        let objects = self.blobs.list(&below, None, MAX_LISTED_BLOBS).await.unwrap();
        (!segments.is_empty(), objects.blobs.len())
    }
}

fn reported(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the action for each spreadsheet, by name.
fn actions(report: &Value) -> Vec<(String, String)> {
    let rows = report["spreadsheets"].as_array().unwrap().iter();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let mut actions: Vec<_> = rows.map(|row| (text(row, "name"), text(row, "action"))).collect();
    actions.sort();
    actions
}

fn named(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, action)| ((*name).to_owned(), (*action).to_owned())).collect()
}

#[test]
fn usage_is_checked_and_where_nothing_is_deployed_nothing_is_trimmed() {
    let project = Project::new();
    let help = project.synth(&["purge", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Examples:"), "{help:?}");
    let nothing = project.synth(&["purge", "--local"]);
    assert!(nothing.code == 1 && nothing.stderr.contains("deploy --local"), "{nothing:?}");
    let wrong = project.synth(&["purge", "--local", "--days", "3"]);
    assert_eq!(wrong.code, 64, "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_can_restore_goes_and_everything_else_stays() {
    let project = Project::new();
    let run = project.synth(&["deploy", "--local", "--detach", "--no-smoke", "--port", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    let none = project.synth(&["purge", "--local"]);
    assert!(none.code == 0 && none.stdout.contains("No spreadsheet is deleted."), "{none:?}");
    let (past, lately) = (Past::of(&project, 40), Past::of(&project, 2));
    let in_use = past.spreadsheet("in use").await;
    let gone = past.spreadsheet("gone").await;
    let forked = past.spreadsheet("forked").await;
    let young = lately.spreadsheet("young").await;
    let fork = LogId::derive_fork(&subject(), forked, "fork").unwrap();
    let new = NewFork { log: fork, source: forked, at: None, author: None };
    past.logs.fork(new).await.unwrap();
    let name = Name::new("fork").unwrap();
    past.change(fork, CatalogAction::Create { name, source: Some(forked) }).await;
    for log in [gone, forked] {
        past.change(log, CatalogAction::Delete).await;
    }
    lately.change(young, CatalogAction::Delete).await;

    assert_purge_waits_for_confirmation(&project);
    assert_eq!(past.is_there(gone).await, (true, 1));

    let report = reported(&project.synth(&["--json", "purge", "--local", "--yes"]));
    let done = named(&[("forked", "keep"), ("gone", "purged"), ("young", "keep")]);
    assert_eq!(actions(&report), done);
    assert_eq!((&report["total"]["entries"], &report["total"]["objects"]), (&6.into(), &1.into()));
    assert_eq!((past.is_there(gone).await, past.has_presence(gone).await), ((false, 0), false));
    for log in [in_use, forked, young] {
        assert_eq!(past.is_there(log).await, (true, 1), "{log}");
        assert!(past.has_presence(log).await, "{log}");
    }
    let cells = past.logs.workbook(fork, None, None).await.unwrap().workbook;
    let cell = cells.sheet(SheetId::FIRST).unwrap().cell(0, 0);
    assert_eq!(cell.value, CellValue::Number(1.5), "the fork's");
    assert_hidden(&project, gone);
    // The history still names the person who deleted the spreadsheet.
    let history = past.catalog.changes(gone, None).await.unwrap();
    let last = history.events.first().unwrap();
    assert_eq!((last.event.kind(), last.event.by().subject.as_str()), ("Purged", "synth purge"));

    // A fork must be purged before its source: now one run purges both.
    Past::of(&project, 35).change(fork, CatalogAction::Delete).await;
    let report = reported(&project.synth(&["--json", "purge", "--local", "--yes"]));
    let done = named(&[("fork", "purged"), ("forked", "purged"), ("young", "keep")]);
    assert_eq!(actions(&report), done);
    assert_eq!((past.is_there(fork).await, past.is_there(forked).await), ((false, 0), (false, 0)));
    let again = project.synth(&["purge", "--local"]);
    let stays = "Nothing to purge: 1 deleted spreadsheet is kept.";
    assert!(again.code == 0 && again.stdout.contains(stays), "{again:?}");
    assert_eq!(past.is_there(in_use).await, (true, 1));
}

/// A dry run and an unconfirmed purge only print the plan.
fn assert_purge_waits_for_confirmation(project: &Project) {
    let shown = project.synth(&["purge", "--local", "--dry-run"]);
    for text in [
        "To purge: 1 of 3 deleted spreadsheets.",
        "deleted more than 30 days ago",
        "a fork needs its entries",
        "can be undeleted until",
    ] {
        assert!(shown.code == 0 && shown.stdout.contains(text), "{text}: {shown:?}");
    }
    let unconfirmed = project.synth(&["purge", "--local"]);
    assert!(unconfirmed.code == 1 && unconfirmed.stderr.contains("--yes"), "{unconfirmed:?}");
    assert!(
        unconfirmed.stderr.contains("To purge: 1 of 3"),
        "the plan is not printed: {unconfirmed:?}"
    );
}

/// The spreadsheet does not exist for any token.
fn assert_hidden(project: &Project, spreadsheet: LogId) {
    let id = spreadsheet.to_string();
    for asked in [&["details"][..], &["details", "--changes"], &["get"], &["undelete"]] {
        let told = project.cellar(&[&["-s", &id], asked].concat());
        let hidden = told.stderr.contains("Not found (404)");
        assert!(told.code != 0 && hidden, "{asked:?}: {told:?}");
    }
}

/// Returns the keys of all objects with the prefix of a family.
async fn objects(past: &Past, family: LogId) -> BTreeSet<String> {
    let below = format!("sheets/{family}/");
    let page = past.blobs.list(&below, None, MAX_LISTED_BLOBS).await.unwrap();
    assert_eq!(page.next, None);
    page.blobs.into_iter().map(|blob| blob.key).collect()
}

/// Appends a text that is a separate object, starts a segment, and builds its snapshot.
async fn snapshot(past: &Past, log: LogId, text: &str) {
    let tail = past.logs.load(log, None).await.unwrap().entries.last().unwrap().position;
    let value = Some(CellValue::Text(text.repeat(2_000)));
    let cells = vec![CellEdit { row: 3, column: 0, value, formula: None, format: None }];
    let long = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
    past.logs.append(edit(log, 2, 1, tail, long)).await.unwrap();
    let last = past.logs.load(log, None).await.unwrap().entries.last().unwrap().clone();
    let segment = last.position.segment();
    make_snapshot(past.logs(), &past.tables, &past.blobs, log, segment).await;
    past.logs.roll(last).await.unwrap();
    make_snapshot(past.logs(), &past.tables, &past.blobs, log, segment + 1).await;
}

/// Ages the objects of a stopped cloud by `days` days.
fn age(project: &Project, days: u64) {
    let buckets = std::fs::read_dir(project.path(".cellar/local/buckets")).unwrap();
    for bucket in buckets {
        for record in std::fs::read_dir(bucket.unwrap().path().join("objects")).unwrap() {
            let path = record.unwrap().path();
            let mut object: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let modified_s = object["modified_s"].as_u64().unwrap() - days * DAY_MS / 1_000;
            object["modified_s"] = modified_s.into();
            std::fs::write(&path, object.to_string()).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_goes_with_its_snapshots_and_its_source_reads_as_before() {
    let project = Project::new();
    project.deploy();
    let past = Past::of(&project, 40);
    let origin = past.spreadsheet("origin").await;
    snapshot(&past, origin, "of the origin").await;
    let shared = objects(&past, origin).await;
    let fork = LogId::derive_fork(&subject(), origin, "fork").unwrap();
    let new = NewFork { log: fork, source: origin, at: None, author: None };
    past.logs.fork(new).await.unwrap();
    let name = Name::new("fork").unwrap();
    past.change(fork, CatalogAction::Create { name, source: Some(origin) }).await;
    snapshot(&past, fork, "of the fork").await;
    let all = objects(&past, origin).await;
    assert!(shared.len() >= 2 && all.len() >= shared.len() + 2, "{shared:?} {all:?}");
    past.change(fork, CatalogAction::Delete).await;
    let cells = project.cellar(&["-s", &origin.to_string(), "get", "--range", "A1:A4"]);
    assert!(cells.code == 0 && cells.stdout.contains("of the origin"), "{cells:?}");

    // Recently written objects would remain.
    project.kill();
    age(&project, 20);
    project.deploy();
    let report = reported(&project.synth(&["--json", "purge", "--local", "--yes"]));
    assert_eq!(actions(&report), named(&[("fork", "purged")]));
    assert_eq!(report["total"]["objects"], json!(all.len() - shared.len()));
    let past = Past::of(&project, 40);
    assert_eq!(objects(&past, origin).await, shared);
    assert_eq!(past.is_there(fork).await, (false, 0));
    let again = project.cellar(&["-s", &origin.to_string(), "get", "--range", "A1:A4"]);
    assert_eq!((again.code, again.stdout), (0, cells.stdout));
}
