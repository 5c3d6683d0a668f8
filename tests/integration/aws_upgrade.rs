//! An upgrade: deploys the previous release's template, writes data, and deploys the current
//! template over it. Uses an emulator, so it is ignored by default; `.ci/run` runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aws_sdk_cloudformation::types::{Capability, Parameter, StackStatus};
use aws_sdk_cloudformation::{Client, config};
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, PointInTimeRecoverySpecification,
    ScalarAttributeType,
};
use aws_sdk_s3::primitives::ByteStream;
use cellar_base::table_attributes::{FEED_PARTITION_KEY, FEED_SORT_KEY, STREAM, STREAM_INDEX};
use cellar_runtime::s3::client_for_endpoint;
use cellar_tests::emulator::Emulator;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::journey::{Project, Run};

const STACK: &str = "cellar";
const BUCKET: &str = "bundles-of-the-release-before";
const DEPLOY_TIMEOUT: Duration = Duration::from_secs(120);
/// Resource types that contain data which cannot be recreated.
const DATA: [&str; 2] = ["AWS::DynamoDB::Table", "AWS::S3::Bucket"];
/// Arguments of a deployment over the previous release. The emulator does not know which bucket
/// properties replace a bucket, so it reports that any change may. The tests compare the buckets.
const DEPLOY_ARGUMENTS: [&str; 5] =
    ["--yes", "--allow-data-loss", "Bucket", "--bundle", env!("CARGO_BIN_EXE_test-bootstrap")];

struct Upgrade {
    project: Project,
    emulator: Emulator,
    cloudformation: Client,
}

/// Reads a committed template.
fn snapshot(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stacks/tests/snapshots");
    fs::read_to_string(folder.join(format!("{name}.template.json"))).unwrap()
}

/// Prefix of additional tables for event streams and the feed, which the previous stack lacks but
/// the current bundle needs.
const STREAMS: &str = "streams-beside-the-stack";
const INDEX: &str = "index-beside-the-stack";
/// The additional tables by the environment variables that name them.
const BESIDE: [(&str, &str); 2] =
    [("CELLAR_EVENT_STREAM_TABLE", STREAMS), ("CELLAR_FEED_TABLE", INDEX)];

/// Returns the previous template, with an API that accepts `key`.
fn previous(key: &Value) -> String {
    let mut template: Value = serde_json::from_str(&snapshot("previous/cellar")).unwrap();
    let variables =
        &mut template["Resources"]["ApiFunction"]["Properties"]["Environment"]["Variables"];
    assert_eq!(variables["CELLAR_TOKEN_KEYS"], "[]", "{variables}");
    variables["CELLAR_TOKEN_KEYS"] = json!([key]).to_string().into();
    for (variable, table) in BESIDE {
        let former = variables[variable].take();
        assert_eq!(former, Value::Null, "the template sets the variable: use its table");
        variables[variable] = table.into();
    }
    template.to_string()
}

pub(crate) fn cloudformation(endpoint: &str, region: &'static str) -> Client {
    let credentials = config::Credentials::new("test", "test", None, None, "test");
    let config = config::Builder::new()
        .behavior_version(config::BehaviorVersion::latest())
        .region(config::Region::new(region))
        .credentials_provider(credentials)
        .endpoint_url(endpoint);
    Client::from_conf(config.build())
}

pub(crate) fn dynamodb(endpoint: &str) -> aws_sdk_dynamodb::Client {
    let credentials = Credentials::new("test", "test", None, None, "test");
    let config = aws_sdk_dynamodb::config::Builder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(credentials)
        .endpoint_url(endpoint);
    aws_sdk_dynamodb::Client::from_conf(config.build())
}

/// Creates a table with the keys of the current template.
async fn make_table(
    dynamodb: &aws_sdk_dynamodb::Client,
    table: &str,
    keys: [(&str, ScalarAttributeType); 2],
) {
    let mut create = dynamodb.create_table().table_name(table);
    for ((name, kind), key) in keys.into_iter().zip([KeyType::Hash, KeyType::Range]) {
        let attribute = AttributeDefinition::builder().attribute_name(name).attribute_type(kind);
        let element = KeySchemaElement::builder().attribute_name(name).key_type(key);
        create = create.attribute_definitions(attribute.build().unwrap());
        create = create.key_schema(element.build().unwrap());
    }
    create.billing_mode(BillingMode::PayPerRequest).send().await.unwrap();
}

/// Creates the additional tables.
async fn make_beside(dynamodb: &aws_sdk_dynamodb::Client) {
    let (text, number) = (ScalarAttributeType::S, ScalarAttributeType::N);
    make_table(dynamodb, STREAMS, [(STREAM, text.clone()), (STREAM_INDEX, number)]).await;
    make_table(dynamodb, INDEX, [(FEED_PARTITION_KEY, text.clone()), (FEED_SORT_KEY, text)]).await;
}

impl Upgrade {
    /// Creates the previous stack, and a project that uses it.
    async fn new() -> Self {
        let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
        let mut project = Project::new();
        let json_of = |project: &Project, arguments: &[&str]| -> Value {
            let run = block_in_place(|| project.synth(&[&["--json"], arguments].concat()));
            assert_eq!(run.code, 0, "{run:?}");
            serde_json::from_str(&run.stdout).unwrap()
        };
        let key = json_of(&project, &["token", "init"])["key"].clone();
        let token = json_of(&project, &["token", "create", "--subject", "somebody", "--all"]);
        let bundle =
            json_of(&project, &["bundle", "--binary", env!("CARGO_BIN_EXE_test-bootstrap")]);
        let bundle = project.path(bundle["written"].as_str().unwrap());
        let cloudformation = cloudformation(&emulator.url, "us-east-1");
        make_beside(&dynamodb(&emulator.url)).await;
        let api = deploy_previous(&emulator.url, &cloudformation, &previous(&key), bundle).await;
        project = project
            .with_variable("CELLAR_URL", api)
            .with_variable("CELLAR_TOKEN", token["token"].as_str().unwrap().to_owned());
        Self { project, emulator, cloudformation }
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

    fn export(&self, spreadsheet: &str, name: &str) -> Vec<u8> {
        self.cellar(&["export", "--spreadsheet", spreadsheet, name]);
        fs::read(self.project.path(name)).unwrap()
    }

    /// Returns the physical names of the data resources by logical id.
    async fn data(&self) -> BTreeMap<String, String> {
        let described = self.cloudformation.describe_stack_resources().stack_name(STACK).send();
        let described = described.await.unwrap();
        let data = described
            .stack_resources()
            .iter()
            .filter(|it| it.resource_type().is_some_and(|it| DATA.contains(&it)));
        data.map(|it| {
            let id = it.logical_resource_id().unwrap().to_owned();
            (id, it.physical_resource_id().unwrap().to_owned())
        })
        .collect()
    }
}

/// Deploys a template as the previous release did. Returns the URL of its API.
async fn deploy_previous(
    endpoint: &str,
    cloudformation: &Client,
    template: &str,
    bundle: PathBuf,
) -> String {
    let s3 = client_for_endpoint(endpoint, "test", "test");
    s3.create_bucket().bucket(BUCKET).send().await.unwrap();
    let objects = [("bundle.zip", fs::read(bundle).unwrap()), ("template.json", template.into())];
    for (key, bytes) in objects {
        let put = s3.put_object().bucket(BUCKET).key(key).body(ByteStream::from(bytes));
        put.send().await.unwrap();
    }
    let parameter = |key: &str, value: &str| {
        Parameter::builder().parameter_key(key).parameter_value(value).build()
    };
    let create = cloudformation
        .create_stack()
        .stack_name(STACK)
        .template_url(format!("{endpoint}/{BUCKET}/template.json"))
        .parameters(parameter("ArtifactBucket", BUCKET))
        .parameters(parameter("ArtifactKey", "bundle.zip"))
        .capabilities(Capability::CapabilityIam);
    create.send().await.unwrap();
    let started = Instant::now();
    loop {
        let described = cloudformation.describe_stacks().stack_name(STACK).send().await.unwrap();
        let stack = &described.stacks()[0];
        match stack.stack_status().unwrap() {
            StackStatus::CreateComplete => {
                let url = stack.outputs().iter().find(|it| it.output_key() == Some("ApiUrl"));
                let url = url.and_then(|it| it.output_value()).unwrap();
                let id = url.trim_start_matches("https://").split('.').next().unwrap();
                return format!("{endpoint}/_aws/lambda-url/{id}/");
            }
            StackStatus::CreateInProgress if started.elapsed() < DEPLOY_TIMEOUT => {}
            other => panic!("{other}: {:?}", stack.stack_status_reason()),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn the_release_before_is_upgraded_with_all_its_data() {
    let upgrade = Upgrade::new().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
    let imported = upgrade.cellar(&["--json", "import", &file.display().to_string()]);
    let imported: Value = serde_json::from_str(&imported.stdout).unwrap();
    let spreadsheet = imported["spreadsheet"].as_str().unwrap();
    upgrade.cellar(&["set", "--spreadsheet", spreadsheet, "B2", "before"]);
    let (exported, data) = (upgrade.export(spreadsheet, "before.csv"), upgrade.data().await);
    assert_eq!(data.len(), 4, "{data:?}");
    assert!(String::from_utf8_lossy(&exported).contains("before"));

    // The diff reports the changes of the upgrade, none of which loses data.
    let differs = upgrade.synth(&["diff", "--fail-on", "destructive"]);
    // The exit code is 0 if the templates are equal, as right after a release, and 2 otherwise.
    // Destructive changes have another code.
    let code = if snapshot("previous/cellar") == snapshot("cellar") { 0 } else { 2 };
    assert_eq!(differs.code, code, "{differs:?}");
    assert_eq!(differs.stdout.contains("resources change"), code == 2, "{differs:?}");

    let deployed = upgrade.synth(&[&["deploy"], &DEPLOY_ARGUMENTS[..]].concat());
    assert_eq!(deployed.code, 0, "{deployed:?}");
    assert!(deployed.stderr.contains("Smoke test: 14 checks passed"), "{deployed:?}");
    let mut upgraded = upgrade.data().await;
    for made in ["EventStreamTable", "FeedTable"] {
        assert!(upgraded.remove(made).is_some(), "{upgraded:?}");
    }
    assert_eq!(upgraded, data, "a data resource was replaced");
    assert!(upgrade.export(spreadsheet, "after.csv") == exported, "the data is the same");
    upgrade.cellar(&["set", "--spreadsheet", spreadsheet, "B3", "after"]);
    let same = upgrade.synth(&["diff"]);
    assert!(same.code == 0 && same.stdout.contains("no difference"), "{same:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn the_release_before_is_restored_without_streams_and_deleted_with_its_data() {
    let upgrade = Upgrade::new().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
    let imported = upgrade.cellar(&["--json", "import", &file.display().to_string()]);
    let imported: Value = serde_json::from_str(&imported.stdout).unwrap();
    let spreadsheet = imported["spreadsheet"].as_str().unwrap();
    let (exported, data) = (upgrade.export(spreadsheet, "before.csv"), upgrade.data().await);
    let dynamodb = dynamodb(&upgrade.emulator.url);
    for table in data.iter().filter(|(id, _)| id.ends_with("Table")).map(|(_, name)| name) {
        let on = PointInTimeRecoverySpecification::builder().point_in_time_recovery_enabled(true);
        let update = dynamodb.update_continuous_backups().table_name(table);
        update.point_in_time_recovery_specification(on.build().unwrap()).send().await.unwrap();
    }

    let restored = upgrade.synth(&["--json", "restore", "--to", "latest", "--yes"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    let restored: Value = serde_json::from_str(&restored.stdout).unwrap();
    assert_eq!(restored["tables"].as_array().unwrap().len(), 3, "{restored}");
    let deploy = restored["deploy"].as_str().unwrap();
    assert!(!deploy.contains("EventStreamTable") && !deploy.contains("FeedTable"), "{deploy}");
    let deploy: Vec<&str> = deploy.split(' ').skip(1).collect();
    let deployed = upgrade.synth(&[deploy.as_slice(), &DEPLOY_ARGUMENTS].concat());
    assert_eq!(deployed.code, 0, "{deployed:?}");
    let now: Vec<String> = upgrade.data().await.into_keys().collect();
    let of_incarnation =
        ["EntryTable", "EventStreamTable", "FeedTable", "PendingSnapshotsTable", "SegmentTable"];
    let of_incarnation = of_incarnation.map(|table| format!("{table}Incarnation1"));
    assert_eq!(now, [&["Bucket".to_owned()], &of_incarnation[..]].concat());
    assert!(upgrade.export(spreadsheet, "after.csv") == exported, "the data is the same");

    let other = Upgrade::new().await;
    let deleted = other.synth(&["destroy", "--delete-data", "--yes"]);
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let left = self::dynamodb(&other.emulator.url).list_tables().send().await;
    assert_eq!(left.unwrap().table_names(), [INDEX, STREAMS]);
}
