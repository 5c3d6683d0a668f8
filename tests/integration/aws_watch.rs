//! Status, logs and cost of a stack, on an independent emulator. Ignored by default, because the
//! emulator is installed from a package index; `.ci/run` runs these tests.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::aws_deployment::Account;
use crate::journey::Run;

/// Maximum time until a follower prints a log line.
const TOLD_TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_stack_is_watched() {
    let account = Account::new().await;
    for command in [&["status"][..], &["logs"], &["cost", "--since", "1h"], &["drift"]] {
        let none = account.synth(command);
        assert!(none.code == 1 && none.stderr.contains("stack cellar does not exist"), "{none:?}");
        assert!(none.stderr.contains("`synth deploy`"), "{none:?}");
    }
    let deployed = account.deploy(&["--yes"]);
    assert_eq!(deployed.code, 0, "{deployed:?}");
    its_status_is_told(&account).await;
    its_logs_are_told(&account).await;
    what_it_cost_is_told(&account).await;
}

async fn its_status_is_told(account: &Account) {
    let status = account.synth(&["status"]);
    assert_eq!(status.code, 0, "{status:?}");
    for part in [
        "cellar is CREATE_COMPLETE in account 000000000000, us-east-1",
        "(healthy)",
        "bundles/",
        "ago",
    ] {
        assert!(status.stdout.contains(part), "{part}: {status:?}");
    }
    assert!(!status.stdout.contains("ALARM") && !status.stdout.contains("DEAD"), "{status:?}");

    let alarms =
        call(account, "monitoring", "GraniteServiceVersion20100801.DescribeAlarms", json!({}));
    let alarms = alarms.await;
    let alarms = alarms["MetricAlarms"].as_array().unwrap();
    let of_requests = |alarm: &&Value| {
        text(&alarm["AlarmDescription"]).starts_with("The API returns 5xx errors.")
    };
    let alarm = alarms.iter().find(of_requests).unwrap();
    let state = json!({
        "AlarmName": alarm["AlarmName"], "StateValue": "ALARM", "StateReason": "5 is more than 4",
    });
    call(account, "monitoring", "GraniteServiceVersion20100801.SetAlarmState", state).await;
    let queues = call(account, "sqs", "AmazonSQS.ListQueues", json!({})).await;
    let queues = queues["QueueUrls"].as_array().unwrap();
    let queue = queues.iter().find(|url| text(url).contains("ChangeStreamDeadLetters")).unwrap();
    let letter = json!({ "QueueUrl": queue, "MessageBody": "x" });
    call(account, "sqs", "AmazonSQS.SendMessage", letter).await;

    let status = account.synth(&["status"]);
    for part in [
        "ALARM    ApiErrorsAlarm: 5 is more than 4",
        "DEAD     1 messages in ChangeStreamDeadLetters",
        "`synth runbook`",
    ] {
        assert!(status.stdout.contains(part), "{part}: {status:?}");
    }
    let status = in_json(&account.synth(&["--json", "status"]));
    assert_eq!((&status["healthy"], &status["unknown"]), (&json!(true), &json!([])));
    assert_eq!(status["alarms"][0]["name"], alarm["AlarmName"]);
    assert_eq!(
        status["dead_letters"],
        json!([{ "logical_id": "ChangeStreamDeadLetters", "messages": 1 }])
    );
    // The local stack is a different stack.
    let local = block_in_place(|| account.project.synth(&["status", "--local"]));
    assert!(local.stdout.contains("No local stack is deployed here"), "{local:?}");
}

async fn its_logs_are_told(account: &Account) {
    let groups = call(account, "logs", "Logs_20140328.DescribeLogGroups", json!({})).await;
    let groups = groups["logGroups"].as_array().unwrap();
    let groups = groups.iter().map(|group| text(&group["logGroupName"]));
    let group = groups.into_iter().find(|name| name.contains("RelayLogGroup")).unwrap();
    let stream = json!({ "logGroupName": group, "logStreamName": "ours" });
    call(account, "logs", "Logs_20140328.CreateLogStream", stream).await;
    let put = async |message: &str| {
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now_ms = u64::try_from(now_ms).unwrap();
        let event = json!({ "timestamp": now_ms, "message": message });
        let events = json!({
            "logGroupName": group, "logStreamName": "ours", "logEvents": [event],
        });
        call(account, "logs", "Logs_20140328.PutLogEvents", events).await;
    };
    put("the first \u{1b}[31mred").await;
    put(r#"{"level":"ERROR","fields":{"message":"a job failed","attempt":2}}"#).await;

    // In the smoke test, the API wrote an entry that makes a snapshot due.
    let api = account.synth(&["logs", "api", "--filter", "log policy"]);
    assert!(
        api.code == 0 && api.stdout.contains("Z api  INFO  applied the log policy log="),
        "{api:?}"
    );
    assert!(!api.stdout.contains("START RequestId"), "{api:?}");
    let all = account.synth(&["logs", "api", "--all", "--limit", "100000"]);
    assert!(all.stdout.contains("Z api  START RequestId"), "{all:?}");
    let times: Vec<&str> = all.stdout.lines().filter_map(|line| line.get(..20)).collect();
    assert!(times.len() > 10 && times.is_sorted(), "{all:?}");
    let one = account.synth(&["logs", "--all", "--limit", "1"]);
    assert!(one.stdout.lines().count() == 1 && one.stderr.contains("see --limit"), "{one:?}");

    let relay = account.synth(&["logs", "relay"]);
    assert!(relay.stdout.contains("Z relay  the first \\u{1b}[31mred\n"), "{relay:?}");
    let errors = account.synth(&["logs", "--errors", "--filter", "a job"]);
    assert!(errors.stdout.contains("ERROR a job failed attempt=2\n"), "{errors:?}");
    assert_eq!(errors.stdout.lines().count(), 1, "{errors:?}");
    let errors = account.synth(&["--json", "logs", "relay", "--errors"]);
    assert_eq!(in_json(&errors)["function"], "relay", "{errors:?}");

    let mut follower = Follower::start(account);
    follower.waits_for("the first").await;
    put("the second").await;
    follower.waits_for("the second").await;
    put("the third").await;
    follower.waits_for("the third").await;
    let told = follower.ends().await;
    for line in ["the first", "the second", "the third"] {
        assert_eq!(told.iter().filter(|it| it.contains(line)).count(), 1, "{told:?}");
    }
}

async fn what_it_cost_is_told(account: &Account) {
    let tables = call(account, "dynamodb", "DynamoDB_20120810.ListTables", json!({})).await;
    let tables = tables["TableNames"].as_array().unwrap();
    let table = tables.iter().find(|name| text(name).contains("EntryTable")).unwrap();
    let alarms =
        call(account, "monitoring", "GraniteServiceVersion20100801.DescribeAlarms", json!({}));
    let alarms = alarms.await;
    let dimensions =
        alarms["MetricAlarms"].as_array().unwrap().iter().map(|it| &it["Dimensions"][0]);
    let mut functions = dimensions.filter(|dimension| text(&dimension["Name"]) == "FunctionName");
    let api = functions.find(|it| text(&it["Value"]).contains("ApiFunction")).unwrap();
    // The emulator has no metrics of function URLs and tables.
    let others = json!({ "Name": "TableName", "Value": "another-stack-EntryTable" });
    for (namespace, metric, dimension, value) in [
        (
            "AWS/DynamoDB",
            "ConsumedWriteCapacityUnits",
            &json!({ "Name": "TableName", "Value": table }),
            1_000_000,
        ),
        ("AWS/DynamoDB", "ConsumedWriteCapacityUnits", &others, 1_000_000),
        ("AWS/Lambda", "Invocations", api, 2_000),
        ("AWS/Lambda", "Duration", api, 60_000),
    ] {
        let datum = json!({ "MetricName": metric, "Value": value, "Dimensions": [dimension] });
        let data = json!({ "Namespace": namespace, "MetricData": [datum] });
        call(account, "monitoring", "GraniteServiceVersion20100801.PutMetricData", data).await;
    }
    let cost = in_json(&account.synth(&["--json", "cost", "--since", "2h"]));
    assert_eq!((&cost["basis"], &cost["period_hours"]), (&json!("measured"), &json!(2)));
    let items = cost["items"].as_array().unwrap();
    let item = |service: &str, what: &str| {
        let found = items.iter().find(|item| item["service"] == service && item["what"] == what);
        found.unwrap_or_else(|| panic!("no {what} of {service}: {cost}"))
    };
    let writes = item("DynamoDB", "writes");
    assert_eq!((&writes["quantity"], &writes["dollars"]), (&json!("1000000"), &json!("0.625")));
    let calls: u64 = text(&item("Lambda", "invocations")["quantity"]).parse().unwrap();
    assert!((2_000..2_100).contains(&calls), "{cost}");
    let time = items.iter().find(|item| item["unit"] == "GB-seconds").unwrap();
    // One minute with half a gigabyte.
    let seconds: f64 = text(&time["quantity"]).parse().unwrap();
    assert!((30.0..40.0).contains(&seconds), "{cost}");
    let shown = account.synth(&["cost", "--since", "2h"]);
    assert!(shown.code == 0 && shown.stdout.contains("1,000,000"), "{shown:?}");
    assert!(shown.stdout.contains("not included: data transfer out of AWS"), "{shown:?}");
    let estimate = account.project.synth(&["--json", "cost", "--edits-per-month", "1M"]);
    assert_eq!(in_json(&estimate)["items"][0]["quantity"], "1004600", "{estimate:?}");
}

/// A running `synth logs --follow`.
struct Follower {
    child: Child,
    lines: tokio::sync::mpsc::UnboundedReceiver<String>,
    told: Vec<String>,
}

impl Follower {
    fn start(account: &Account) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_test-synth"))
            .args(["logs", "relay", "--follow", "--endpoint-url", &account.emulator.url])
            .current_dir(account.project.path("."))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = tokio::sync::mpsc::unbounded_channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { child, lines, told: Vec::new() }
    }

    async fn waits_for(&mut self, text: &str) {
        while !self.told.iter().any(|line| line.contains(text)) {
            let line = tokio::time::timeout(TOLD_TIMEOUT, self.lines.recv()).await;
            self.told.push(line.unwrap().unwrap());
        }
    }

    /// Sends Ctrl-C, and returns the printed lines.
    async fn ends(mut self) -> Vec<String> {
        // Long enough for another poll, which must not repeat lines.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
        let ended = block_in_place(|| self.child.wait()).unwrap();
        assert_eq!(ended.code(), Some(0));
        while let Some(line) = self.lines.recv().await {
            self.told.push(line);
        }
        self.told
    }
}

/// Calls an operation of the emulator, which checks only the service of a signature.
async fn call(account: &Account, service: &str, target: &str, input: Value) -> Value {
    let json = if service == "logs" { "1.1" } else { "1.0" };
    let scope = format!("test/20261122/us-east-1/{service}/aws4_request");
    let signature = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0");
    let request = reqwest::Client::new()
        .post(format!("{}/", account.emulator.url))
        .header("content-type", format!("application/x-amz-json-{json}"))
        .header("x-amz-target", target)
        .header("authorization", signature)
        .body(input.to_string());
    let reply = request.send().await.unwrap();
    let (status, body) = (reply.status(), reply.text().await.unwrap());
    assert!(status.is_success(), "{target}: {body}");
    serde_json::from_str(&body).unwrap_or_default()
}

fn in_json(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
