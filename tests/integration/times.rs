//! Times in place of positions, in the command and in the HTTP API.

use std::time::Duration;

use cellar_api::time::format_utc;
use serde_json::Value;

use crate::journey::{Project, Run, json};

/// A spreadsheet with two edits of A1, at different times.
struct Edited {
    project: Project,
    url: String,
    token: String,
    id: String,
    /// Time of the first edit, which is at position 0.1.
    first_edit_s: u64,
}

impl Edited {
    fn new() -> Self {
        let project = Project::new();
        let deployed = project.deploy();
        let text = |name: &str| deployed[name].as_str().unwrap().to_owned();
        let (url, token) = (text("url"), text("token"));
        let id = project.cellar(&["create"]).stdout.trim().to_owned();
        assert_eq!(project.cellar(&["set", "A1", "before"]).code, 0);
        // Times are whole seconds.
        std::thread::sleep(Duration::from_millis(2_100));
        assert_eq!(project.cellar(&["set", "A1", "after"]).code, 0);
        let history = json(&project.cellar(&["--json", "history"]));
        let first_edit_s = history["entries"][1]["created_s"].as_u64().unwrap();
        Self { project, url, token, id, first_edit_s }
    }

    fn first_edit(&self) -> String {
        format_utc(self.first_edit_s)
    }

    /// Runs a command that succeeds.
    fn cellar(&self, arguments: &[&str]) -> Run {
        let run = self.project.cellar(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let url = format!("{}/v1/spreadsheets/{}/{path}", self.url, self.id);
        let request = reqwest::Client::new().get(url).bearer_auth(&self.token);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

#[test]
fn every_command_that_takes_a_position_takes_a_time() {
    let edited = Edited::new();
    let time = edited.first_edit();
    let note = format!("{time}: position 0.1, written at {time}.");
    for arguments in [
        &["get", "--at", &time][..],
        &["export", "-", "--at", &time],
        &["history", "--until", &time],
    ] {
        let run = edited.cellar(arguments);
        assert!(run.stdout.contains("before") && !run.stdout.contains("after"), "{run:?}");
        assert!(run.stderr.contains(&note), "{run:?}");
    }
    assert!(edited.cellar(&["sheets", "--at", &time]).stderr.contains(&note));
    let watched = edited.cellar(&["watch", "--after", &time, "--until", "0.2"]);
    assert!(watched.stdout.starts_with("0.2 ") && watched.stderr.contains(&note), "{watched:?}");

    let diff = edited.project.cellar(&["diff", &time]);
    assert!(diff.code == 2 && diff.stdout.contains("A1: \"before\" -> \"after\""), "{diff:?}");
    assert!(diff.stderr.contains(&note), "{diff:?}");

    let fork = json(&edited.cellar(&["--json", "fork", "--no-use", "--at", &time]));
    assert_eq!(fork["position"], 1);
    assert_eq!(fork["times"][0]["position"], 1);
    assert_eq!(fork["times"][0]["created_s"], edited.first_edit_s);
    let fork_id = fork["id"].as_str().unwrap();
    let replay = ["replay", fork_id, "--onto", &time, "--dry-run"];
    assert!(edited.cellar(&replay).stderr.contains(&note));

    let reverted = edited.cellar(&["revert", "--to", &time]);
    assert!(reverted.stdout.starts_with("reverted to 0.1"), "{reverted:?}");
    assert!(reverted.stderr.contains(&note), "{reverted:?}");
    assert!(edited.cellar(&["get"]).stdout.contains("before"));
}

#[test]
fn relative_times_say_what_they_became() {
    let edited = Edited::new();
    let got = json(&edited.cellar(&["--json", "get", "--at", "1 second ago"]));
    let found = &got["times"][0];
    assert_eq!((&found["given"], &found["position"]), (&"1 second ago".into(), &got["position"]));
    assert!(found["time"].as_str().unwrap().ends_with('Z'), "{got}");
    let old = edited.project.cellar(&["get", "--at", "yesterday"]);
    assert!(old.code == 1 && old.stderr.contains("it was created at"), "{old:?}");
    assert!(old.stderr.contains("cellar history") && old.stderr.contains("--at 0.0"), "{old:?}");
    let at =
        |text: &str| json(&edited.cellar(&["--json", "get", "--at", text]))["times"][0].clone();
    assert_eq!(at("now")["position"], at("0 edits ago")["position"]);
    let before = edited.project.cellar(&["get", "--at", "1 edit ago"]);
    assert!(before.stdout.contains("before"), "{before:?}");
    let many = edited.project.cellar(&["get", "--at", "99 edits ago"]);
    assert!(many.code == 64 && many.stderr.contains("has only"), "{many:?}");
    for (text, why) in [
        ("2026-11-24", "is a day"),
        ("2026-11-24T00:14", "append Z for UTC"),
        ("2 hours", "write `2 hours ago`"),
        ("tomorrow", "neither a position"),
    ] {
        let run = edited.project.cellar(&["revert", "--to", text]);
        assert!(run.code == 64 && run.stderr.contains(why), "{text}: {run:?}");
    }
}

#[tokio::test]
async fn the_http_api_takes_positions_in_every_form() {
    let edited = tokio::task::spawn_blocking(Edited::new).await.unwrap();
    let time = edited.first_edit();
    for at in ["1", "0.1", &time, &time.replace('Z', "%2B00:00")] {
        let (status, cells) = edited.get(&format!("cells?at={at}")).await;
        assert_eq!((status, &cells["position"]), (200, &1.into()), "{at}: {cells}");
        assert_eq!(cells["cells"][0]["value"], "before", "{at}: {cells}");
        let (status, sheets) = edited.get(&format!("sheets?at={at}")).await;
        assert_eq!((status, &sheets["position"]), (200, &1.into()), "{at}: {sheets}");
        let (status, history) = edited.get(&format!("history?until={at}")).await;
        assert_eq!((status, &history["entries"][0]["position"]), (200, &1.into()), "{history}");
        let (status, diff) = edited.get(&format!("diff?from={at}&to=0.2")).await;
        assert_eq!((status, &diff["from"], &diff["to"]), (200, &1.into(), &2.into()), "{diff}");
    }
    // No position is that late: the reply is of the newest, and says so.
    let (status, cells) = edited.get("cells?min_position=99").await;
    let (_, head) = edited.get("head").await;
    assert_eq!((status, &cells["position"]), (200, &head["head"]), "{cells}");
    for (query, status, why) in [
        ("cells?at=0.x", 400, "at: `0.x` is neither a position"),
        ("cells?at=2026-11-24", 400, "is a day"),
        ("history?until=2026-11-24T00:14", 400, "append Z for UTC"),
        ("cells?at=0.9", 422, "position 0.9 does not exist"),
        ("cells?at=2000-01-01T00:00:00Z", 422, "it was created at"),
        ("cells?min_position=0.1", 400, "invalid query parameter: min_position"),
    ] {
        let (actual, problem) = edited.get(query).await;
        let detail = problem["detail"].as_str().unwrap();
        assert!(actual == status && detail.contains(why), "{query}: {problem}");
    }
}
