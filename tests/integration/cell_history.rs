//! The history of cells: `cellar history B2`, the HTTP API and the library.

use cellar::{CellHistoryQuery, Client};
use cellar_api::wire::CellHistoryChange;
use serde_json::Value;

use crate::journey::{Project, Run};

/// Runs a command that succeeds.
fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

/// Returns the lines without their times and authors: position and change.
fn lines(run: &Run) -> Vec<String> {
    let without_time_and_author = |line: &str| {
        let columns: Vec<&str> = line.split("   ").map(str::trim).collect();
        assert!(columns[1].ends_with('Z') && !columns[2].is_empty(), "{line}");
        format!("{} {}", columns[0], columns[3])
    };
    run.stdout.trim_start().lines().map(|line| without_time_and_author(line.trim_start())).collect()
}

/// Edits cells, rows and sheets. Returns the output of the deployment.
fn edit(project: &Project) -> Value {
    let deployed = project.deploy();
    for arguments in [
        &["create"][..],
        &["set", "B2", "10", "C2", "a"],
        &["rows", "insert", "1", "--count", "3"],
        &["set", "B5", "20"],
        &["sheets", "add", "Costs"],
        &["set", "Costs!B2", "elsewhere"],
        &["sheets", "rename", "Sheet1", "Prices"],
        &["rows", "delete", "2"],
        &["clear", "A4:C4"],
        &["undo"],
    ] {
        done(project, arguments);
    }
    deployed
}

#[test]
fn a_cell_shows_who_changed_it_from_what_to_what() {
    let project = Project::new();
    edit(&project);
    let expected = [
        "0.9 Prices!B4: empty -> 20",
        "0.8 Prices!B4: 20 -> empty",
        "0.3 Sheet1!B5: 10 -> 20",
        "0.1 Sheet1!B2: empty -> 10",
    ];
    assert_eq!(lines(&done(&project, &["history", "B4"])), expected);
    assert_eq!(lines(&done(&project, &["history", "Prices!B4", "--limit", "4"])), expected);
    let limited = done(&project, &["history", "B4", "--limit", "3"]);
    assert_eq!(lines(&limited), expected[..3]);
    assert!(limited.stderr.contains("--limit"), "{limited:?}");
    assert_eq!(lines(&done(&project, &["history", "B4", "--since", "0.3"])), expected[..2]);
    assert_eq!(lines(&done(&project, &["history", "B5", "--until", "0.3"])), expected[2..]);
    assert_eq!(lines(&done(&project, &["history", "B4", "--since", "yesterday"])), expected);
    let nobody = done(&project, &["history", "B4", "--by", "nobody"]);
    assert!(nobody.stdout.is_empty() && nobody.stderr.contains("No change found"), "{nobody:?}");
    let all_by_nobody = done(&project, &["history", "--by", "nobody"]);
    assert!(all_by_nobody.stdout.is_empty(), "{all_by_nobody:?}");
    let all_since = done(&project, &["history", "--since", "0.7"]);
    assert_eq!(all_since.stdout.lines().count(), 2, "{all_since:?}");
}

#[test]
fn a_range_and_a_sheet_show_all_their_changes() {
    let project = Project::new();
    edit(&project);
    let row = lines(&done(&project, &["history", "A4:C4"]));
    assert_eq!(row.len(), 7, "{row:?}");
    assert!(row.contains(&"0.1 Sheet1!C2: empty -> \"a\"".to_owned()), "{row:?}");
    let sheet = lines(&done(&project, &["history", "Costs"]));
    let expected = ["0.5 Costs!B2: empty -> \"elsewhere\"", "0.4 Costs: added the sheet"];
    assert_eq!(sheet, expected);
    let whole = lines(&done(&project, &["history", "--sheet", "Prices"]));
    assert!(whole.contains(&"0.7 Prices: deleted row 2".to_owned()), "{whole:?}");
    assert!(whole.contains(&"0.2 Sheet1: inserted rows 1:3".to_owned()), "{whole:?}");
    let missing = project.cellar(&["history", "Nowhere"]);
    assert!(missing.code == 1 && missing.stderr.contains("cellar sheets"), "{missing:?}");

    let json = done(&project, &["--json", "history", "B4"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let newest = &json["changes"][0];
    assert_eq!((&newest["position"], &newest["name"]), (&9.into(), &"Prices".into()));
    assert_eq!(newest["change"]["cell"]["after"]["value"], 20, "{newest}");
    assert!(newest["author"].is_string() && newest["created_s"].is_u64(), "{newest}");
    assert_eq!((&json["complete"], &json["truncated"]), (&true.into(), &false.into()));
}

#[tokio::test]
async fn the_api_and_the_library_return_pages_of_changes() {
    let project = Project::new();
    let (project, deployed) = tokio::task::spawn_blocking(move || {
        let deployed = edit(&project);
        (project, deployed)
    })
    .await
    .unwrap();
    let profile = std::fs::read_to_string(project.path(".cellar/profile.json")).unwrap();
    let profile: Value = serde_json::from_str(&profile).unwrap();
    let id = profile["spreadsheet"].as_str().unwrap();
    let (url, token) = (deployed["url"].as_str().unwrap(), deployed["token"].as_str().unwrap());
    let get = async |query: &str| -> (u16, Value) {
        let url = format!("{url}/v1/spreadsheets/{id}/cells/history?{query}");
        let response = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    };
    let (mut query, mut positions) = ("range=B4&limit=1".to_owned(), Vec::new());
    loop {
        let (status, page) = get(&query).await;
        assert_eq!(status, 200, "{page}");
        let changes = page["changes"].as_array().unwrap();
        assert!(changes.len() <= 1, "{page}");
        positions.extend(changes.iter().map(|change| change["position"].as_u64().unwrap()));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("range=B4&limit=1&cursor={next}");
    }
    assert_eq!(positions, [9, 8, 3, 1]);
    for (query, status) in [
        ("limit=0", 400),
        ("limit=1001", 400),
        ("range=x", 422),
        ("cursor=x", 422),
        ("cursor=99~0~0-1~0-1", 422),
        ("until=0.99", 422),
        ("sheet=Nowhere", 404),
    ] {
        let (actual, problem) = get(query).await;
        assert_eq!(actual, status, "{query}: {problem}");
    }

    let client = Client::new(url, Some(token)).unwrap();
    let spreadsheet = client.spreadsheet(id.parse().unwrap());
    let history = spreadsheet.cell_history(CellHistoryQuery::of_range("B4"));
    let changes = history.collect().await.unwrap();
    let cells: Vec<String> = changes
        .iter()
        .map(|entry| match &entry.change {
            CellHistoryChange::Cell(diff) => {
                format!("{}>{}", diff.before.text(), diff.after.text())
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(cells, [">20", "20>", "10>20", ">10"]);
    tokio::task::spawn_blocking(move || drop(project)).await.unwrap();
}
