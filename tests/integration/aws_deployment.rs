//! The lifecycle of a stack through the AWS APIs of an independent emulator: its CloudFormation
//! reads the template, and its Lambda runs the binary. Ignored by default, because the emulator is
//! installed from a package index; `.ci/run` runs these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_sdk_s3::primitives::ByteStream;
use cellar_runtime::s3::client_for_endpoint;
use cellar_runtime::sqs;
use cellar_tests::emulator::Emulator;
use serde_json::Value;
use tokio::task::block_in_place;

use crate::journey::{Project, Run};

/// Artifact bucket of the emulator's default account.
const ARTIFACTS: &str = "cellar-artifacts-000000000000-us-east-1-an";

/// Line of a diff that reports a change of a function's memory.
const MEMORY: &str = "~ /Properties/MemorySize: 512 -> 1024";

/// A project folder, an emulator, and the bundle to deploy.
pub(crate) struct Account {
    pub(crate) project: Project,
    pub(crate) emulator: Emulator,
    bundle: PathBuf,
}

impl Account {
    pub(crate) async fn new() -> Self {
        let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
        let project = Project::new();
        let bundle = project.path("bootstrap");
        fs::copy(env!("CARGO_BIN_EXE_test-bootstrap"), &bundle).unwrap();
        Self { project, emulator, bundle }
    }

    pub(crate) fn synth(&self, arguments: &[&str]) -> Run {
        let endpoint = ["--endpoint-url", &self.emulator.url];
        block_in_place(|| self.project.synth(&[arguments, &endpoint].concat()))
    }

    pub(crate) fn deploy(&self, arguments: &[&str]) -> Run {
        let bundle = self.bundle.display().to_string();
        self.synth(&[&["deploy", "--bundle", &bundle], arguments].concat())
    }

    fn cellar(&self, arguments: &[&str]) -> Run {
        let run = block_in_place(|| self.project.cellar(arguments));
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run
    }

    /// Imports a file, which uses the tables and the bucket, and checks the export.
    fn write_and_read_back(&self) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
        self.cellar(&["import", &file.display().to_string()]);
        self.cellar(&["export", "out.csv", "--force"]);
        let exported = fs::read(self.project.path("out.csv")).unwrap();
        assert!(exported == fs::read(file).unwrap(), "the export differs from the import");
    }

    /// Changes the message retention of a queue to a minute, outside CloudFormation.
    async fn change_by_hand(&self) {
        let profile = fs::read_to_string(self.project.path(".cellar/profile.json")).unwrap();
        let profile: Value = serde_json::from_str(&profile).unwrap();
        assert!(profile["identity"].as_str().unwrap().contains(":stack/"), "{profile}");
        let url = &self.emulator.url;
        let sqs = sqs::client_for_endpoint(url, "us-east-1", "test", "test", &Arc::default());
        let queues = sqs.list_queues().send().await.unwrap();
        let queue = queues.queue_urls().iter().find(|url| url.contains("SnapshotQueue")).unwrap();
        let retention = aws_sdk_sqs::types::QueueAttributeName::MessageRetentionPeriod;
        let set = sqs.set_queue_attributes().queue_url(queue).attributes(retention, "60");
        set.send().await.unwrap();
    }

    fn configure(&self, more: &str) {
        let path = self.project.path("cellar.yaml");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + more).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_stack_is_deployed_used_changed_and_destroyed() {
    let account = Account::new().await;
    let options =
        "dashboard: true\nalarms:\n  email: operators@example.com\ntags:\n  team: books\n";
    fs::write(account.project.path("cellar.yaml"), options).unwrap();
    // Without a confirmation, nothing is deployed.
    let refused = account.deploy(&[]);
    assert!(refused.code == 1 && refused.stderr.contains("was not confirmed"), "{refused:?}");
    assert!(refused.stderr.contains("+ 5 AWS::DynamoDB::Table"), "{refused:?}");
    let destroyed = account.synth(&["destroy", "--yes"]);
    assert!(destroyed.stdout.contains("Stack cellar does not exist"), "{destroyed:?}");

    let deployed = account.deploy(&["--yes", "--json"]);
    assert_eq!(deployed.code, 0, "{deployed:?}");
    let summary: Value = serde_json::from_str(deployed.stdout.lines().last().unwrap()).unwrap();
    assert!(summary["stack_id"].as_str().unwrap().contains(":stack/cellar/"), "{summary}");
    let table = r#""logical_id":"EntryTable","resource_type":"AWS::DynamoDB::Table","status":"CREATE_COMPLETE""#;
    assert!(deployed.stderr.contains(table), "{deployed:?}");
    for made in ["AWS::CloudWatch::Dashboard", "AWS::SNS::Topic"] {
        let made = format!(r#""resource_type":"{made}","status":"CREATE_COMPLETE""#);
        assert!(deployed.stderr.contains(&made), "{deployed:?}");
    }

    account.write_and_read_back();
    let again = account.deploy(&[]);
    assert!(again.code == 0 && again.stderr.contains("Compute the changes: none"), "{again:?}");
    assert!(again.stderr.contains("is already uploaded."), "{again:?}");
    assert!(!again.stderr.contains("Upload the bundle"), "{again:?}");
    assert!(!again.stderr.contains("restored"), "{again:?}");

    account.configure("api:\n  memory_mb: 1024\n");
    let s3 = client_for_endpoint(&account.emulator.url, "test", "test");
    s3.delete_public_access_block().bucket(ARTIFACTS).send().await.unwrap();
    s3.delete_bucket_policy().bucket(ARTIFACTS).send().await.unwrap();
    s3.delete_bucket_lifecycle().bucket(ARTIFACTS).send().await.unwrap();
    let differs = account.synth(&["diff"]);
    assert!(differs.code == 2 && differs.stdout.contains(MEMORY), "{differs:?}");
    // No confirmation is needed, because the change neither broadens permissions nor replaces or
    // loses data.
    let changed = account.deploy(&[]);
    assert!(changed.code == 0 && changed.stderr.contains(MEMORY), "{changed:?}");
    let put_back = "restored public access block, TLS-only policy, cleanup of";
    assert!(changed.stderr.contains(put_back), "{changed:?}");
    assert!(changed.stderr.contains("Smoke test: 14 checks passed"), "{changed:?}");
    let same = account.synth(&["diff"]);
    assert!(same.code == 0 && same.stdout.contains("no difference"), "{same:?}");
    let drift = account.synth(&["drift"]);
    assert!(drift.code == 0 && drift.stdout.contains("has no drift"), "{drift:?}");

    account.change_by_hand().await;
    let drift = account.synth(&["drift"]);
    assert!(
        drift.code == 2 && drift.stdout.contains("SnapshotQueue (AWS::SQS::Queue"),
        "{drift:?}"
    );
    assert!(drift.stdout.contains("/MessageRetentionPeriod: "), "{drift:?}");

    let destroyed = account.synth(&["destroy", "--yes"]);
    assert!(destroyed.code == 0 && destroyed.stdout.contains("Its data is kept"), "{destroyed:?}");
    let destroyed = account.synth(&["destroy", "--yes"]);
    assert!(destroyed.stdout.contains("Stack cellar does not exist"), "{destroyed:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn an_update_that_fails_says_why_and_the_stack_is_as_it_was_before() {
    let account = Account::new().await;
    let deployed = account.deploy(&["--yes", "--no-smoke"]);
    assert_eq!(deployed.code, 0, "{deployed:?}");
    // A newer binary, whose bundle in the bucket is damaged.
    let mut binary = fs::read(env!("CARGO_BIN_EXE_test-bootstrap")).unwrap();
    binary.push(0);
    fs::write(&account.bundle, binary).unwrap();
    let bundle = account.bundle.display().to_string();
    let made = account.project.synth(&["--json", "bundle", "--binary", &bundle]);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let key = format!("bundles/{}", made["name"].as_str().unwrap());
    let s3 = client_for_endpoint(&account.emulator.url, "test", "test");
    let damaged = s3.put_object().bucket(ARTIFACTS).key(&key).body(ByteStream::from_static(b"x"));
    damaged.send().await.unwrap();
    let failed = account.deploy(&["--yes"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let error = failed.stderr.split("error:").last().unwrap();
    // The emulator updates resources in alphabetical order where dependencies allow it.
    let indexer =
        "IndexerFunction (AWS::Lambda::Function, defined in stacks/src/cellar/indexer.rs:";
    assert!(error.contains(indexer), "{failed:?}");
    assert!(
        error.contains("unzip") && error.contains("rolled back to its previous state"),
        "{failed:?}"
    );
    account.write_and_read_back();
    s3.delete_object().bucket(ARTIFACTS).key(&key).send().await.unwrap();
    let deployed = account.deploy(&["--yes"]);
    assert_eq!(deployed.code, 0, "{deployed:?}");

    // `--delete-data` also deletes the data and empties the bucket.
    let destroyed = account.synth(&["destroy", "--yes", "--delete-data"]);
    assert!(destroyed.code == 0 && destroyed.stdout.contains("all its data"), "{destroyed:?}");
    let deployed = account.deploy(&["--yes"]);
    assert_eq!(deployed.code, 0, "{deployed:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn what_lambda_cannot_run_is_not_deployed() {
    let account = Account::new().await;
    fs::write(&account.bundle, "no binary").unwrap();
    let refused = account.deploy(&["--yes"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("a file of unknown format"),
        "{refused:?}"
    );
    let destroyed = account.synth(&["destroy", "--yes"]);
    assert!(destroyed.stdout.contains("Stack cellar does not exist"), "{destroyed:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_plan_is_applied_as_it_was_shown_or_not_at_all() {
    let account = Account::new().await;
    let bundle = account.bundle.display().to_string();
    let plan = |more: &[&str]| account.synth(&[&["plan", "--bundle", &bundle], more].concat());
    let apply = || account.synth(&["deploy", "--plan", "plan.json"]);
    let missing = apply();
    assert!(missing.code == 1 && missing.stderr.contains("not found"), "{missing:?}");

    // A plan for a stack that does not exist yet.
    let planned = plan(&[]);
    assert!(planned.code == 2 && planned.stdout.contains("--plan plan.json"), "{planned:?}");
    assert!(planned.stderr.contains("EntryTable (AWS::DynamoDB::Table) is added"), "{planned:?}");
    let applied = apply();
    assert_eq!(applied.code, 0, "{applied:?}");
    assert!(applied.stderr.contains("Smoke test: 14 checks passed"), "{applied:?}");
    let again = apply();
    assert!(
        again.code == 1
            && again.stderr.contains("the stack was changed after the plan was created"),
        "{again:?}"
    );
    assert_eq!(plan(&[]).code, 0, "the stack is up to date");

    // A plan for a change that is reverted afterwards.
    account.configure("api:\n  memory_mb: 1024\n");
    let planned = plan(&[]);
    assert!(planned.code == 2 && planned.stderr.contains(MEMORY), "{planned:?}");
    account.configure("deletion_protection: false\n");
    let stale = apply();
    assert!(
        stale.code == 1 && stale.stderr.contains("synthesized template has changed"),
        "{stale:?}"
    );

    // The change reduces data protection, so `--fail-on` fails and writes no plan.
    let destructive_plan = plan(&["--fail-on", "destructive", "--output", "grave.json"]);
    assert!(
        destructive_plan.code == 1 && destructive_plan.stderr.contains("DeletionProtectionEnabled"),
        "{destructive_plan:?}"
    );
    assert!(!account.project.path("grave.json").exists());
    let asked = account.deploy(&[]);
    assert!(asked.code == 1 && asked.stderr.contains("was not confirmed"), "{asked:?}");
    assert_eq!(plan(&[]).code, 2);
    let applied = apply();
    assert_eq!(applied.code, 0, "{applied:?}");
    let same = account.synth(&["diff"]);
    assert_eq!(same.code, 0, "{same:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn stages_are_stacks_of_their_own() {
    let account = Account::new().await;
    fs::write(
        account.project.path("cellar.yaml"),
        "stages:\n  dev: {api: {memory_mb: 256}}\n  prod: {alarms: {email: a@b.example}}\n",
    )
    .unwrap();
    let which = account.deploy(&["--yes"]);
    assert!(which.code == 1 && which.stderr.contains("CELLAR_STAGE): dev, prod"), "{which:?}");
    let deploy = |stage: &str| {
        let deployed = account.deploy(&["--stage", stage, "--yes", "--json"]);
        assert_eq!(deployed.code, 0, "{deployed:?}");
        serde_json::from_str::<Value>(deployed.stdout.lines().last().unwrap()).unwrap()
    };
    let (dev, prod) = (deploy("dev"), deploy("prod"));
    assert_eq!(
        (dev["stack"].as_str(), prod["stack"].as_str()),
        (Some("cellar-dev"), Some("cellar-prod"))
    );
    assert_ne!(dev["url"], prod["url"]);
    // The stacks share the signing key, but each rejects the other's tokens.
    let of_dev = dev["token"].as_str().unwrap();
    let create = |summary: &Value| {
        let url = summary["url"].as_str().unwrap();
        block_in_place(|| account.project.cellar(&["--url", url, "--token", of_dev, "create"]))
    };
    let crossed = create(&prod);
    assert!(crossed.code == 1 && crossed.stderr.contains("401"), "{crossed:?}");
    let own = create(&dev);
    assert_eq!(own.code, 0, "{own:?}");
    let destroyed = account.synth(&["--stage", "dev", "destroy", "--yes"]);
    assert!(destroyed.code == 0 && destroyed.stdout.contains("cellar-dev"), "{destroyed:?}");
    let drift = account.synth(&["--stage", "prod", "drift"]);
    assert_eq!(drift.code, 0, "{drift:?}");
}
