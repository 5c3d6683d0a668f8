//! `synth reprocess` as a process: it finds, lists and builds lost snapshots, and changes nothing
//! else.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_base::position::Position;
use cellar_base::record;
use cellar_base::table_attributes::{EXTERNAL, LAST_SNAPSHOT};
use cellar_engine::logs::{CellsQuery, Logs, SheetName};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{
    BlobKey, Blobs as _, Entries as _, NewBlob, PendingSnapshots as _, PutOutcome, ReadConsistency,
    Segments,
};
use cellar_engine::sha256::sha256;
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_local::StateFolder;
use cellar_log::entry::{Content, Entry, ExternalEdits, encode_external_body};
use cellar_log::transform::SpaceMap;
use cellar_log::upkeep::LogPolicy;
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, DynamoTables, client_for_endpoint};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value as CellValue, typed_cell};
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_tests::edits::log;
use cellar_tests::old_logs::edit;
use serde_json::Value;

use crate::journey::{Project, Run};

const REPROCESS: [&str; 2] = ["reprocess", "--local"];
const PATIENCE: Duration = Duration::from_secs(240);
/// Entries between two snapshots: the smallest configurable value.
const ENTRIES: u32 = 10;

/// The running cloud of a project's folder, accessed like the command does.
pub(crate) struct World {
    tables: Arc<DynamoTables>,
    pending: DynamoPendingSnapshots,
    pub(crate) blobs: Arc<S3Blobs>,
    client: aws_sdk_dynamodb::Client,
    names: (String, String),
}

impl World {
    pub(crate) fn of(project: &Project) -> Self {
        let folder = StateFolder::new(project.path(".cellar/local"));
        let (endpoints, access_key, secret_key) = folder.endpoints().unwrap().unwrap();
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let names = (endpoints.entry_table, endpoints.segment_table);
        let meter = Arc::new(Meter::default());
        let tables = DynamoTables::named(&names.0, &names.1, client.clone(), Arc::clone(&meter));
        let pending = endpoints.snapshots.unwrap().pending_snapshots_table;
        let pending = DynamoPendingSnapshots::named(pending, client.clone(), Arc::clone(&meter));
        let s3 = s3::client_for_endpoint(&endpoints.buckets_url, &access_key, &secret_key);
        let blobs = Arc::new(S3Blobs::new(endpoints.bucket, s3, meter));
        Self { tables: Arc::new(tables), pending, blobs, client, names }
    }

    /// Returns the service of a process without cached state.
    fn logs(&self) -> Logs {
        let tables = || Arc::clone(&self.tables);
        let blobs = Arc::clone(&self.blobs);
        Logs::new(tables(), tables(), blobs, Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// Creates a log with snapshots, and waits until the last one is finished.
    async fn log_with_snapshots(&self, nonce: &str, edits: u32) -> Log {
        self.log_of(nonce, edits, block).await
    }

    /// Like [`World::log_with_snapshots`], for edits that `operation` makes of their numbers.
    async fn log_of(&self, nonce: &str, edits: u32, operation: fn(u32) -> Operation) -> Log {
        let (logs, log) = (self.logs(), log(nonce));
        logs.create(log, Some("alice".into())).await.unwrap();
        let policy = LogPolicy { snapshot_entries: ENTRIES, ..LogPolicy::default() };
        let mut tail = Position::FIRST;
        for id in 1..=edits {
            let appended = logs.append(edit(log, 1, id.into(), tail, operation(id))).await.unwrap();
            tail = appended.tail;
            logs.upkeep(log, &policy).await.unwrap();
        }
        let page = self.tables.page(log, Position::FIRST, ReadConsistency::Strong).await.unwrap();
        // The first entry of a log has no snapshot.
        let marks = page.entries.iter().skip(1);
        let marks = marks.filter(|entry| matches!(entry.content, Content::Snapshot { .. }));
        let marks = marks.map(|entry| entry.position).collect::<Vec<_>>();
        let log = Log { id: log, tail, marks };
        self.made(&log).await;
        log
    }

    /// Waits until all snapshots are finished and no pending record remains.
    async fn made(&self, log: &Log) {
        let wait = async {
            let end = SnapshotJob { log: log.id, position: Position::new(9, 0).unwrap() };
            while self.roots(log).await.contains(&None)
                || self.pending.first_up_to(end).await.unwrap().is_some()
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("all snapshots are finished");
    }

    async fn roots(&self, log: &Log) -> Vec<Option<String>> {
        let mut roots = Vec::new();
        for at in &log.marks {
            let entry = self.tables.get(log.id, *at).await.unwrap().unwrap();
            let Content::Snapshot { root, .. } = &entry.content else { panic!("{at}") };
            roots.push(root.clone());
        }
        roots
    }

    /// Returns all cells at each snapshot and at the end, read through snapshots.
    async fn cells(&self, log: &Log) -> Vec<Vec<(u32, u32, Cell)>> {
        let mut all = Vec::new();
        for at in log.marks.iter().chain([&log.tail]) {
            let (logs, mut cells, mut from) = (self.logs(), Vec::new(), None);
            loop {
                let first = CellName { row: 0, column: 0 };
                let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
                let (rectangle, at) = (Rectangle { first, last }, Some(*at));
                let query = CellsQuery {
                    sheet: SheetName::First,
                    rectangle,
                    at,
                    from,
                    min_position: None,
                    with_texts: false,
                };
                let read = logs.cells(log.id, &query).await.unwrap();
                cells.extend(read.cells.into_iter().map(|c| (c.row, c.column, c.cell)));
                from = read.next;
                if from.is_none() {
                    break;
                }
            }
            all.push(cells);
        }
        all
    }

    /// Restores the state in which the job of the last snapshot was lost.
    async fn unmake_last(&self, log: &Log) {
        let [.., before, last] = log.marks.as_slice() else { panic!("{:?}", log.marks) };
        let key = |item: record::Item| {
            let value = |attribute| match attribute {
                record::Attribute::Bytes(bytes) => AttributeValue::B(bytes.into()),
                record::Attribute::Text(text) => AttributeValue::S(text),
                record::Attribute::Number(number) => AttributeValue::N(number.to_string()),
                record::Attribute::List(_) | record::Attribute::Map(_) => {
                    panic!("a record has an unexpected attribute")
                }
            };
            item.into_iter().map(|(name, attribute)| (name, value(attribute))).collect()
        };
        let update = |table: &str| self.client.update_item().table_name(table);
        update(&self.names.0)
            .set_key(Some(key(cellar_log::records::entry::key(log.id, *last))))
            .update_expression("REMOVE #e")
            .expression_attribute_names("#e", EXTERNAL)
            .send()
            .await
            .unwrap();
        update(&self.names.1)
            .set_key(Some(key(cellar_log::records::segment::key(log.id, last.segment()))))
            .update_expression("SET #l = :l")
            .expression_attribute_names("#l", LAST_SNAPSHOT)
            .expression_attribute_values(":l", AttributeValue::N(before.entry_number().to_string()))
            .send()
            .await
            .unwrap();
    }

    /// Deletes the objects below `sheets/` whose keys contain `part`. Returns their number.
    async fn delete_objects(&self, log: &Log, part: &str, at_most: usize) -> usize {
        let page = self.blobs.list(&format!("sheets/{}/", log.id), None, 1_000).await.unwrap();
        let keys = page.blobs.into_iter().map(|blob| blob.key).filter(|key| key.contains(part));
        let keys: Vec<String> = keys.take(at_most).collect();
        for key in &keys {
            self.blobs.delete(&BlobKey::new(key.as_str()).unwrap()).await.unwrap();
        }
        keys.len()
    }

    async fn last_snapshot(&self, log: &Log) -> Option<u32> {
        self.tables
            .segment(log.id, 0, ReadConsistency::Strong)
            .await
            .unwrap()
            .unwrap()
            .last_snapshot
    }
}

struct Log {
    id: LogId,
    tail: Position,
    /// Positions of the Snapshot entries.
    marks: Vec<Position>,
}

/// Returns an operation with enough cells to need a chunk occasionally.
fn block(seed: u32) -> Operation {
    let cell = |number: u32| CellEdit {
        row: seed % 11 * 50 + number / 8,
        column: number % 8,
        value: Some(CellValue::Text(format!("{:x}", seed.wrapping_mul(number + 7) ^ 0x5555_5555))),
        formula: None,
        format: None,
    };
    let cells = (0..800).map(cell).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Returns an operation with a number, its double, and a running total.
fn formulas(seed: u32) -> Operation {
    let cell = |column, text: String| {
        CellEdit::typed(CellName { row: seed - 1, column }, typed_cell(&text))
    };
    let total = if seed == 1 { "=A1".to_owned() } else { format!("=C{}+A{seed}", seed - 1) };
    let cells = vec![cell(0, format!("{seed}")), cell(1, format!("=A{seed}*2")), cell(2, total)];
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

fn deploy(project: &Project) {
    fs::write(project.path("cellar.yaml"), format!("snapshots:\n  entries: {ENTRIES}\n")).unwrap();
    let run = project.synth(&["deploy", "--local", "--detach", "--no-smoke", "--port", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
}

fn reprocess(project: &Project, options: &[&str]) -> Run {
    project.synth(&[REPROCESS.as_slice(), options].concat())
}

fn json(project: &Project, options: &[&str]) -> Value {
    let run = project.synth(&[&["--json"], REPROCESS.as_slice(), options].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn usage_is_checked() {
    let project = Project::new();
    let help = project.synth(&["reprocess", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Examples:"), "{help:?}");
    let aws = project.synth(&["reprocess"]);
    assert!(aws.code == 1 && aws.stderr.contains("--local"), "{aws:?}");
    let nothing = reprocess(&project, &[]);
    assert!(nothing.code == 1 && nothing.stderr.contains("deploy --local"), "{nothing:?}");
    let id = log("usage").to_string();
    for wrong in [
        ["--rebuild", "--yes"].as_slice(),
        &["--rebuild", "--spreadsheet", "x"],
        &["--rebuild", "--spreadsheet", &id, "--since", "2026-01-01"],
        &["--since", "yesterday"],
        &["--since", "9999-01-01"],
    ] {
        assert_eq!(reprocess(&project, wrong).code, 64, "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_whose_message_was_lost_is_made() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let log = world.log_with_snapshots("lost message", 36).await;
    assert_eq!(log.marks.len(), 3, "{:?}", log.marks);
    let (roots, cells) = (world.roots(&log).await, world.cells(&log).await);
    let nothing = reprocess(&project, &[]);
    assert!(nothing.code == 0 && nothing.stdout.contains("Nothing to do."), "{nothing:?}");

    world.unmake_last(&log).await;
    let shown = reprocess(&project, &["--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let last = log.marks[2];
    for text in [&log.id.to_string(), &last.to_string(), "not made", "1 job to send."] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let report = json(&project, &["--dry-run", "--spreadsheet", &log.id.to_string()]);
    assert_eq!(report["findings"][0]["action"], "send");
    assert_eq!(report["findings"][0]["position"], last.pack());
    assert_eq!(
        (&report["total"]["send"], &report["looked_at"]["snapshots"]),
        (&1.into(), &4.into())
    );
    let unconfirmed = reprocess(&project, &[]);
    assert!(unconfirmed.code == 1 && unconfirmed.stderr.contains("--yes"), "{unconfirmed:?}");
    let again = json(&project, &["--dry-run", "--since", "2020-01-01"]);
    assert_eq!(again["total"]["send"], 1, "a dry run changes nothing");
    assert_eq!(world.roots(&log).await[2], None);
    assert_eq!(world.last_snapshot(&log).await, Some(log.marks[1].entry_number()));

    // Twice concurrently: a second message is dropped.
    for _ in 0..2 {
        let sent = reprocess(&project, &["--yes"]);
        assert_eq!(sent.code, 0, "{sent:?}");
    }
    world.made(&log).await;
    assert_eq!((world.roots(&log).await, world.cells(&log).await), (roots.clone(), cells.clone()));
    assert_eq!(json(&project, &[])["total"]["found"], 0);

    // The cloud is stopped: the command runs it until the snapshot is finished.
    world.unmake_last(&log).await;
    assert_eq!(project.synth(&["destroy", "--local"]).code, 0);
    assert_eq!(json(&project, &["--dry-run"])["total"]["send"], 1);
    assert_eq!(
        json(&project, &["--dry-run"])["total"]["send"],
        1,
        "a second dry run changes nothing"
    );
    let report = json(&project, &[]);
    assert_eq!(report["total"]["sent"], 1);
    assert_eq!(report["jobs"]["waited"], serde_json::json!({ "jobs": 1, "left": 0 }));
    let status = project.synth(&["--json", "status"]);
    assert_eq!(serde_json::from_str::<Value>(&status.stdout).unwrap()["running"], Value::Null);
    deploy(&project);
    let world = World::of(&project);
    assert_eq!((world.roots(&log).await, world.cells(&log).await), (roots, cells));
}

fn every_cell_at(position: Position) -> CellsQuery {
    let first = CellName { row: 0, column: 0 };
    let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
    let rectangle = Rectangle { first, last };
    let (at, sheet) = (Some(position), SheetName::First);
    CellsQuery { sheet, rectangle, at, from: None, min_position: None, with_texts: false }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_of_the_bucket_is_made_anew() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let log = world.log_with_snapshots("rebuild", 36).await;
    let (roots, cells) = (world.roots(&log).await, world.cells(&log).await);
    let id = log.id.to_string();
    let rebuild = |more: &[&'static str]| {
        let options = [&["--rebuild", "--spreadsheet", id.as_str()], more].concat();
        options.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |more: &[&'static str]| {
        let options = rebuild(more);
        reprocess(&project, &options.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert!(world.delete_objects(&log, "/chunks/", 1_000).await >= 1);
    let logs = world.logs();
    let mut errors = Vec::new();
    for at in &log.marks {
        errors.extend(logs.cells(log.id, &every_cell_at(*at)).await.err());
    }
    let error = errors.first().expect("a chunk is missing").to_string();
    assert!(error.contains(&format!("`synth reprocess --rebuild --spreadsheet {id}`")), "{error}");

    let shown = run(&["--dry-run"]);
    assert!(shown.code == 0 && shown.stdout.contains("3 snapshots to rebuild."), "{shown:?}");
    assert_eq!(run(&[]).code, 1, "the rebuild is not confirmed");
    assert_eq!(world.roots(&log).await, roots, "the roots are unchanged");
    let end = SnapshotJob { log: log.id, position: Position::new(9, 0).unwrap() };
    assert_eq!(world.pending.first_up_to(end).await, Ok(None));

    let begun = run(&["--yes"]);
    assert_eq!(begun.code, 0, "{begun:?}");
    assert!(begun.stdout.contains("3 snapshots in rebuild."), "{begun:?}");
    assert!(begun.stdout.contains("now builds the snapshots"), "{begun:?}");
    world.made(&log).await;
    assert_eq!(world.cells(&log).await, cells);

    // All objects are deleted, and two rebuilds run concurrently.
    assert!(world.delete_objects(&log, "", 1_000).await > 3);
    for _ in 0..2 {
        let begun = run(&["--yes"]);
        assert_eq!(begun.code, 0, "{begun:?}");
    }
    world.made(&log).await;
    assert_eq!((world.roots(&log).await, world.cells(&log).await), (roots.clone(), cells.clone()));
    let read = project.cellar(&["-s", &id, "get", "--range", "A1:H600"]);
    assert_eq!(read.code, 0, "{read:?}");

    // Repeat for a stopped cloud.
    world.delete_objects(&log, "", 1_000).await;
    assert_eq!(project.synth(&["destroy", "--local"]).code, 0);
    let options = rebuild(&[]);
    let report = json(&project, &options.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(report["total"]["rebuilding"], 3);
    assert_eq!(report["jobs"]["waited"], serde_json::json!({ "jobs": 3, "left": 0 }));
    deploy(&project);
    let world = World::of(&project);
    assert_eq!((world.roots(&log).await, world.cells(&log).await), (roots, cells));
    assert_eq!(json(&project, &[])["total"]["found"], 0);

    let unknown =
        reprocess(&project, &["--rebuild", "--spreadsheet", &uuid::Uuid::nil().to_string()]);
    assert!(unknown.code == 1 && unknown.stderr.contains("does not exist"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuilt_snapshot_has_the_values_of_its_formulas() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let log = world.log_of("formulas", 36, formulas).await;
    let (roots, cells) = (world.roots(&log).await, world.cells(&log).await);
    let total = cells.last().unwrap().last().unwrap();
    assert_eq!((total.0, total.1, &total.2.value), (35, 2, &CellValue::Number(666.0)));
    assert!(world.delete_objects(&log, "", 1_000).await > 3);
    let rebuilt =
        reprocess(&project, &["--rebuild", "--spreadsheet", &log.id.to_string(), "--yes"]);
    assert_eq!(rebuilt.code, 0, "{rebuilt:?}");
    world.made(&log).await;
    // A root is named by the hash of its bytes, which contain the values.
    assert_eq!((world.roots(&log).await, world.cells(&log).await), (roots, cells));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_whose_tag_was_left_is_kept_and_a_lost_one_is_an_error() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let id = log("bodies");
    world.logs().create(id, None).await.unwrap();
    let bytes = encode_external_body(&[block(1)]).unwrap();
    let key = BlobKey::new(format!("uploads/{id}/body")).unwrap();
    let blob = NewBlob {
        key: key.clone(),
        sha256: sha256(&bytes),
        bytes: bytes.clone().into(),
        content_type: None,
        content_encoding: None,
        pending: true,
    };
    world.blobs.put(blob.clone()).await.unwrap();
    let external = ExternalEdits {
        client: ClientKey([1; 8]),
        first_id: 1,
        count: 1,
        base: Position::FIRST,
        object: key.to_string(),
        bytes: u64::try_from(bytes.len()).unwrap(),
        sha256: blob.sha256,
        map: SpaceMap::default(),
    };
    let (position, content) = (Position::new(0, 1).unwrap(), Content::External(external));
    let entry = Entry { position, content, ..Entry::first(id, None, 1_795_246_133) };
    assert_eq!(world.tables.put(&entry).await, PutOutcome::Accepted);
    let relayed = async {
        while world.blobs.pending(&key).await.unwrap() != Some(false) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, relayed).await.expect("the relay removes the tag");
    // Restore the tag, as if the relay had not removed it.
    world.blobs.put(blob).await.unwrap();
    assert_eq!(json(&project, &["--dry-run"])["total"]["keep"], 1);
    assert_eq!(world.blobs.pending(&key).await, Ok(Some(true)), "a dry run changes nothing");
    assert_eq!(json(&project, &[])["total"]["kept"], 1);
    assert_eq!(world.blobs.pending(&key).await, Ok(Some(false)));
    assert_eq!(json(&project, &[])["total"]["found"], 0);

    world.blobs.delete(&key).await.unwrap();
    for options in [["--dry-run"].as_slice(), &["--yes"]] {
        let lost = reprocess(&project, options);
        assert_eq!(lost.code, 1, "{lost:?}");
        assert!(
            lost.stdout.contains("body lost") && lost.stdout.contains(key.as_str()),
            "{lost:?}"
        );
        assert!(lost.stderr.contains("cannot be repaired by this command"), "{lost:?}");
    }
    let refused = reprocess(&project, &["--rebuild", "--yes", "--spreadsheet", &id.to_string()]);
    assert!(refused.code == 1 && refused.stderr.contains(key.as_str()), "{refused:?}");
}
