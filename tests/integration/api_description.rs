//! The OpenAPI document is valid, and the server conforms to it: openapi-spec-validator and
//! Schemathesis find nothing. Ignored by default, because both are installed from a package index;
//! `.ci/run` runs these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cellar_api::wire::CreateRequest;
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use cellar_tests::python;
use serde_json::{Value, json};

const VALIDATOR: &str = "openapi-spec-validator==0.9.0";
const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const CONFIG: &str = include_str!("../schemathesis/schemathesis.toml");
const HOOKS: &str = include_str!("../schemathesis/hooks.py");
/// Number of spreadsheets that exist before the requests. The requests delete some of them.
const SPREADSHEETS: usize = 24;

/// Returns the interpreter of the virtual environment with a package.
fn interpreter(package: &str) -> PathBuf {
    python::with_package(Path::new(env!("CARGO_TARGET_TMPDIR")), package)
}

/// Runs a command in a folder. Returns its output.
fn run(command: &mut Command, folder: &Path) -> Output {
    let command = command.current_dir(folder).stdin(Stdio::null()).env_clear();
    let command = command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("HOME", folder).output().unwrap()
}

fn printed(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// A local stack with spreadsheets, and the configuration of Schemathesis for it.
struct Fixture {
    cloud: TestCloud,
    config: String,
    document: Value,
}

impl Fixture {
    async fn start() -> Self {
        let cloud = TestCloud::start().await;
        let client = cloud.client("alice");
        let mut spreadsheets = Vec::new();
        for number in 0..SPREADSHEETS {
            let created = client.create(&CreateRequest::new(number.to_string())).await.unwrap();
            spreadsheets.push(format!("\"{}\"", created.id));
        }
        let config = CONFIG
            .replace("{token}", &cloud.token("alice", Role::Owner))
            .replace("{spreadsheets}", &spreadsheets.join(", "));
        let url = format!("{}/v1/openapi.json", cloud.url);
        let document = reqwest::get(url).await.unwrap().json().await.unwrap();
        Self { cloud, config, document }
    }

    /// Runs Schemathesis with a document. Returns whether it found nothing, and what it printed.
    async fn requests(&self, document: &Value, arguments: &[&str]) -> (bool, String) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("schemathesis.toml", self.config.as_str()),
            ("hooks.py", HOOKS),
            ("openapi.json", &document.to_string()),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut command = Command::new(interpreter(SCHEMATHESIS).with_file_name("st"));
        let url = &self.cloud.url;
        command.args(["--config-file", "schemathesis.toml", "run", "openapi.json", "--url", url]);
        command.args(arguments);
        let task = tokio::task::spawn_blocking(move || run(&mut command, folder.path()));
        let output = task.await.unwrap();
        (output.status.success(), printed(&output))
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs openapi-spec-validator"]
async fn the_validator_finds_nothing() {
    let document = Fixture::start().await.document;
    let mut faulty = document.clone();
    faulty["paths"]["/v1/spreadsheets"]["post"]["operationId"] = json!("listSpreadsheets");
    let folder = tempfile::tempdir().unwrap();
    for (name, document, valid) in [("served.json", document, true), ("faulty.json", faulty, false)]
    {
        fs::write(folder.path().join(name), document.to_string()).unwrap();
        let mut command = Command::new(interpreter(VALIDATOR));
        command.args(["-m", "openapi_spec_validator", name]);
        let output = run(&mut command, folder.path());
        assert_eq!(output.status.success(), valid, "{name}: {}", printed(&output));
    }
}

/// All phases of all operations, in three processes that run at the same time.
const PARTS: [&[&str]; 3] = [
    &["--phases", "examples,coverage,stateful"],
    &["--phases", "fuzzing", "--include-tag", "Log", "--include-tag", "Sync"],
    &["--phases", "fuzzing", "--exclude-tag", "Log", "--exclude-tag", "Sync"],
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs Schemathesis"]
async fn schemathesis_finds_nothing() {
    let fixture = Fixture::start().await;
    let parts = PARTS.map(|arguments| fixture.requests(&fixture.document, arguments));
    let [first, second, third] = parts;
    for (conforms, printed) in <[_; 3]>::from(tokio::join!(first, second, third)) {
        println!("{printed}");
        assert!(conforms, "{printed}");
    }
}

/// Deliberate faults in the document, which prove that the checks work.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs Schemathesis"]
async fn schemathesis_finds_a_wrong_bound_and_a_wrong_reply() {
    let fixture = Fixture::start().await;
    let mut wrong_bound = fixture.document.clone();
    let nonce = wrong_bound.pointer_mut("/components/schemas/CreateRequest/properties/nonce");
    nonce.unwrap()["maxLength"] = json!(65);
    let mut wrong_reply = fixture.document.clone();
    let head = wrong_reply.pointer_mut("/components/schemas/CreateReply/properties");
    head.unwrap()["incarnation"] = json!({ "type": "string" });
    for (document, finding) in
        [(wrong_bound, "refused although it follows"), (wrong_reply, "Response violates schema")]
    {
        let only = ["--include-operation-id", "createSpreadsheet", "--phases", "coverage"];
        let (conforms, printed) = fixture.requests(&document, &only).await;
        assert!(!conforms && printed.contains(finding), "{finding}: {printed}");
    }
}
