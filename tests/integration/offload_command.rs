//! `synth offload` as a process: its preview, its effect, and that no entry is lost.

use std::fs;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::Logs;
use cellar_engine::memory::ManualClock;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock as _, Entries as _, ReadConsistency, Segments as _};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_local::StateFolder;
use cellar_runtime::dynamodb::{DynamoTables, client_for_endpoint};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_sheet::operation::Operation;
use cellar_tests::edits::{log, set_numbers};
use cellar_tests::old_logs::{DAY_MS, edit};
use serde_json::Value;

use crate::journey::{Project, Run};

const OFFLOADED: [&str; 4] = ["offload", "--local", "--offload-after", "30d"];

/// The running cloud of a project's folder, accessed like the command does.
pub(crate) struct World {
    pub(crate) tables: Arc<DynamoTables>,
    blobs: Arc<S3Blobs>,
}

impl World {
    pub(crate) fn of(project: &Project) -> Self {
        let folder = StateFolder::new(project.path(".cellar/local"));
        let (endpoints, access_key, secret_key) = folder.endpoints().unwrap().unwrap();
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let (entries, segments) = (&endpoints.entry_table, &endpoints.segment_table);
        let meter = Arc::new(Meter::default());
        let tables = DynamoTables::named(entries, segments, client, Arc::clone(&meter));
        let client = s3::client_for_endpoint(&endpoints.buckets_url, &access_key, &secret_key);
        let blobs = S3Blobs::new(endpoints.bucket, client, meter);
        Self { tables: Arc::new(tables), blobs: Arc::new(blobs) }
    }

    /// Creates a log of four segments. The last segment started `days` days ago.
    async fn old_log(&self, nonce: &str, days: u64) -> LogId {
        let clock = Arc::new(ManualClock::at(SystemClock.now_ms() - (days + 4) * DAY_MS));
        let tables = || Arc::clone(&self.tables);
        let blobs = Arc::clone(&self.blobs);
        let clock_of_logs = Arc::clone(&clock) as _;
        let logs = Logs::new(tables(), tables(), blobs, clock_of_logs, Arc::new(SystemRandom));
        let log = log(nonce);
        logs.create(log, Some("alice".into())).await.unwrap();
        let (mut tail, mut id) = (Position::FIRST, 0);
        for segment in 0..4 {
            for number in 0..5 {
                id += 1;
                let operation: Operation = set_numbers(&[f64::from(segment * 10 + number)]);
                tail = logs.append(edit(log, 1, id, tail, operation)).await.unwrap().tail;
            }
            clock.advance_ms(DAY_MS);
            if segment < 3 {
                self.tables.raise_last_snapshot(log, tail.segment_start()).await.unwrap();
                let entry = self.tables.get(log, tail).await.unwrap().unwrap();
                logs.roll(entry).await.unwrap();
                tail = Position::new(tail.segment() + 1, 0).unwrap();
            }
        }
        log
    }

    async fn stored(&self, log: LogId, segment: u32) -> usize {
        let first = Position::new(segment, 0).unwrap();
        self.tables.page(log, first, ReadConsistency::Strong).await.unwrap().entries.len()
    }
}

/// Deploys without the smoke test, which would create another spreadsheet.
fn deploy(project: &Project) {
    let run = project.synth(&["deploy", "--local", "--detach", "--no-smoke", "--port", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
}

fn json(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn actions(report: &Value) -> Vec<String> {
    let rows = report["segments"].as_array().unwrap().iter();
    rows.map(|row| row["action"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn by_default_everything_is_kept_and_usage_is_checked() {
    let project = Project::new();
    let help = project.synth(&["offload", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Examples:"), "{help:?}");
    let run = project.synth(&["offload", "--local"]);
    assert!(run.code == 0 && run.stdout.contains("All segments stay"), "{run:?}");
    let kept = json(&project.synth(&["--json", "offload", "--local"]));
    assert_eq!(
        (&kept["offload_after_days"], &kept["segments"]),
        (&Value::Null, &Value::from([0; 0].to_vec()))
    );
    let aws = project.synth(&["offload", "--offload-after", "30d"]);
    assert!(aws.code == 1 && aws.stderr.contains("--local"), "{aws:?}");
    let nothing = project.synth(&OFFLOADED);
    assert!(nothing.code == 1 && nothing.stderr.contains("deploy --local"), "{nothing:?}");
    for (option, bad) in [
        ("--offload-after", "0d"),
        ("--offload-after", "36526d"),
        ("--offload-after", "30"),
        ("--keep-segments", "1"),
    ] {
        let run = project.synth(&["offload", "--local", option, bad]);
        assert_eq!(run.code, 64, "{option} {bad}: {run:?}");
    }
    fs::write(project.path("cellar.yaml"), "keep_segments: 1\n").unwrap();
    let run = project.synth(&["offload", "--local"]);
    assert!(run.code == 1 && run.stderr.contains("`keep_segments` is 1: use 2"), "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_segments_are_shown_offloaded_and_read_on() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let old = world.old_log("old", 40).await;
    let young = world.old_log("young", 0).await;
    let spreadsheet = old.to_string();
    let at_0_3 = ["-s", &spreadsheet, "get", "--range", "A1:A1", "--at", "0.3"];
    let at_1_5 = ["-s", &spreadsheet, "get", "--range", "A1:A1", "--at", "1.5"];
    let before = [project.cellar(&at_0_3), project.cellar(&at_1_5)];
    assert!(before.iter().all(|run| run.code == 0), "{before:?}");

    // A dry run changes nothing, even if it is repeated.
    let dry = [OFFLOADED.as_slice(), &["--dry-run"]].concat();
    let shown = project.synth(&dry);
    assert_eq!(shown.code, 0, "{shown:?}");
    for text in [
        &spreadsheet,
        &young.to_string(),
        "closed at least 30 days ago",
        "one of the newest 2",
        "closed less than 30 days ago",
        "To offload: 2 of 8 segments",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let report = json(&project.synth(&[&["--json"], dry.as_slice()].concat()));
    let planned = report["segments"].as_array().unwrap();
    assert_eq!(planned[0]["entries"].as_u64().unwrap(), 7);
    assert_eq!(report["total"]["offload_segments"], 2);
    // Without confirmation, nothing is done.
    let unconfirmed = project.synth(&OFFLOADED);
    assert!(unconfirmed.code == 1 && unconfirmed.stderr.contains("--yes"), "{unconfirmed:?}");
    assert!(
        unconfirmed.stderr.contains("To offload: 2 of 8"),
        "the plan is not printed: {unconfirmed:?}"
    );
    assert_eq!(world.stored(old, 0).await, 7);

    let done = project.synth(&[OFFLOADED.as_slice(), &["--yes"]].concat());
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("Offloaded: 2 of 8 segments; 10 entries trimmed."), "{done:?}");
    for (log, segment, left) in [(old, 0, 2), (old, 1, 2), (old, 2, 7), (old, 3, 6), (young, 0, 7)]
    {
        assert_eq!(world.stored(log, segment).await, left, "{log} {segment}");
    }
    let after = [project.cellar(&at_0_3), project.cellar(&at_1_5)];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((after.code, &after.stdout), (0, &before.stdout));
    }
    // A repetition does nothing. The options can also be in the configuration.
    fs::write(project.path("cellar.yaml"), "offload_after: 30d\nkeep_segments: 3\n").unwrap();
    let again = json(&project.synth(&["--json", "offload", "--local"]));
    assert_eq!(again["total"]["offload_segments"], 0);
    assert_eq!(
        (&again["keep_segments"], actions(&again)),
        (&Value::from(3), vec!["keep".to_owned(); 8])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_cloud_left_is_offloaded_where_it_lies() {
    let project = Project::new();
    deploy(&project);
    let world = World::of(&project);
    let log = world.old_log("stopped", 40).await;
    let offload = [&["--json"], OFFLOADED.as_slice()].concat();
    let keep_three = [offload.as_slice(), &["--keep-segments", "3"]].concat();
    let report = json(&project.synth(&keep_three));
    assert_eq!(report["total"]["deleted"], 5);
    let segments = report["segments"].as_array().unwrap();
    assert!(segments[0]["offloaded"].as_str().unwrap().starts_with("offloaded/"), "{report}");
    assert_eq!(world.stored(log, 0).await, 2);
    assert_eq!(project.synth(&["destroy", "--local"]).code, 0);
    let report = json(&project.synth(&offload));
    assert_eq!(
        (actions(&report), &report["total"]["deleted"]),
        (["keep", "offloaded", "keep", "keep"].map(str::to_owned).to_vec(), &Value::from(5))
    );
    // The cloud was stopped again, and its state is that of a deployment.
    let status = json(&project.synth(&["--json", "status"]));
    assert_eq!(status["running"], Value::Null);
    deploy(&project);
    assert_eq!(World::of(&project).stored(log, 1).await, 2);
    let spreadsheet = log.to_string();
    let read = project.cellar(&["-s", &spreadsheet, "get", "--range", "A1:A1", "--at", "1.3"]);
    assert!(read.code == 0 && read.stdout.contains("12"), "{read:?}");
}
