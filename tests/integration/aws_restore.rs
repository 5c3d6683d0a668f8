//! A restore to a point in time, from the preview to clients that continue. Uses an emulator, so it
//! is ignored by default; `.ci/run` runs it. The emulator restores a table to its state at the time
//! of the request.

use std::fs;
use std::path::Path;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::PointInTimeRecoverySpecification;
use cellar_tests::emulator::Emulator;
use serde_json::Value;
use tokio::task::block_in_place;

use crate::journey::{Project, Run};

struct Restored {
    project: Project,
    emulator: Emulator,
}

impl Restored {
    /// Creates a stack with point-in-time recovery, a setting that the emulator's CloudFormation
    /// omits.
    async fn new() -> Self {
        let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
        let this = Self { project: Project::new(), emulator };
        let bundle = ["--bundle", env!("CARGO_BIN_EXE_test-bootstrap")];
        let deployed = this.synth(&[&["deploy", "--yes"][..], &bundle].concat());
        assert_eq!(deployed.code, 0, "{deployed:?}");
        let off = this.synth(&["restore", "--to", "latest", "--yes"]);
        assert!(
            off.code == 1 && off.stderr.contains("point-in-time recovery is disabled"),
            "{off:?}"
        );
        let dynamodb = this.dynamodb();
        for table in this.tables().await {
            let on =
                PointInTimeRecoverySpecification::builder().point_in_time_recovery_enabled(true);
            let update = dynamodb.update_continuous_backups().table_name(table);
            update.point_in_time_recovery_specification(on.build().unwrap()).send().await.unwrap();
        }
        this
    }

    fn dynamodb(&self) -> Client {
        crate::aws_upgrade::dynamodb(&self.emulator.url)
    }

    async fn tables(&self) -> Vec<String> {
        self.dynamodb().list_tables().send().await.unwrap().table_names.unwrap()
    }

    fn synth(&self, arguments: &[&str]) -> Run {
        let endpoint = ["--endpoint-url", &self.emulator.url];
        block_in_place(|| self.project.synth(&[arguments, &endpoint].concat()))
    }

    fn cellar(&self, arguments: &[&str]) -> Run {
        let run = block_in_place(|| self.project.cellar(arguments));
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run
    }

    fn export(&self, name: &str) -> Vec<u8> {
        self.cellar(&["export", name]);
        fs::read(self.project.path(name)).unwrap()
    }
}

fn json(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn tables_go_back_to_a_moment_and_clients_go_on() {
    let world = Restored::new().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
    world.cellar(&["import", &file.display().to_string()]);
    world.cellar(&["set", "B2", "kept"]);
    let before = world.export("before.csv");

    let early = world.synth(&["restore", "--to", "2020-01-01", "--yes"]);
    assert!(
        early.code == 1 && early.stderr.contains("cannot restore the tables to 2020"),
        "{early:?}"
    );
    let unsure = world.synth(&["restore", "--to", "latest"]);
    assert!(unsure.code == 1 && unsure.stderr.contains("--yes"), "{unsure:?}");
    assert_eq!(world.tables().await.len(), 5, "a table was created");
    let restored = json(&world.synth(&["--json", "restore", "--to", "latest", "--yes"]));
    assert_eq!(restored["incarnation"], 1, "{restored}");
    let moment = restored["at"].as_str().unwrap();
    assert_eq!(world.tables().await.len(), 9, "all tables except the feed");
    assert!(
        fs::read_to_string(world.project.path("cellar.yaml")).unwrap().contains("incarnation: 1")
    );
    // No function uses the restored tables yet: this edit goes to the old tables and will be lost.
    world.cellar(&["set", "B2", "lost"]);
    let again = json(&world.synth(&["--json", "restore", "--to", moment, "--yes"]));
    assert_eq!(again["tables"], restored["tables"], "the restored tables are found");
    assert_eq!(again["deploy"], restored["deploy"]);
    assert_eq!(world.tables().await.len(), 9, "all tables except the feed");

    let bundle = ["--yes", "--bundle", env!("CARGO_BIN_EXE_test-bootstrap")];
    let refused = world.synth(&[&["deploy"][..], &bundle].concat());
    assert!(refused.code == 1 && refused.stderr.contains("EntryTable"), "{refused:?}");
    let deploy = restored["deploy"].as_str().unwrap().strip_prefix("synth ").unwrap();
    let deploy: Vec<&str> = deploy.split(' ').collect();
    let deployed = world.synth(&[deploy.as_slice(), &bundle].concat());
    assert_eq!(deployed.code, 0, "{deployed:?}");
    assert!(deployed.stderr.contains("Smoke test: 14 checks passed"), "{deployed:?}");

    assert!(world.export("after.csv") == before, "the restored state differs");
    world.cellar(&["set", "B3", "goes on"]);
    assert!(String::from_utf8_lossy(&world.export("edited.csv")).contains("goes on"));
    assert_eq!(world.tables().await.len(), 10, "the old tables remain, and the feed is new");
    let same = world.synth(&["diff"]);
    assert!(same.code == 0 && same.stdout.contains("no difference"), "{same:?}");

    // The feed is rebuilt from the event streams, as `restore` advises.
    let lacking = world.synth(&["--json", "feed", "verify"]);
    assert_eq!(lacking.code, 2, "{lacking:?}");
    for command in ["repair", "verify"] {
        let whole = world.synth(&["--json", "feed", command]);
        assert_eq!(whole.code, 0, "{whole:?}");
    }

    // An operator's check for lost jobs, and the offload of old segments.
    let lost = world.synth(&["--json", "reprocess", "--dry-run"]);
    assert_eq!(lost.code, 0, "{lost:?}");
    let days = ["offload", "--dry-run", "--offload-after", "1d"];
    let offloaded = world.synth(&days);
    assert_eq!(offloaded.code, 0, "{offloaded:?}");
}
