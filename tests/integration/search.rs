//! Finding cells and filtering rows: `cellar find`, `cellar get --where`, the HTTP API and the library.

use std::path::Path;
use std::sync::Arc;

use cellar::{Client, FilterQuery, FindQuery};
use cellar_base::limits::MAX_SEARCH_BYTES;
use cellar_sheet::cell::{Cell, Value as CellValue};
use cellar_sheet::condition::Conditions;
use cellar_sheet::text_pattern::TextPattern;
use serde_json::Value;

use crate::journey::{Project, Run};
use crate::snapshot_reads::{Author, FastClock, operation, replayed, start, wait_for_snapshot};

/// Runs a command that succeeds.
fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn lines(run: &Run) -> Vec<&str> {
    run.stdout.lines().collect()
}

/// Imports the airports. Returns the output of the deployment.
fn airports(project: &Project) -> Value {
    let deployed = project.deploy();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
    done(project, &["import", file.to_str().unwrap()]);
    deployed
}

#[test]
fn cells_are_found_by_their_text() {
    let project = Project::new();
    airports(&project);
    let found = done(&project, &["find", "AUSTIN"]);
    assert_eq!(found.stdout.lines().count(), 7, "{found:?}");
    assert_eq!(lines(&found)[5], "airports!C892   Austin");
    for arguments in [
        &["rows", "insert", "2", "--count", "2"][..],
        &["rows", "delete", "744"],
        &["set", "A2", "Austin was here", "B2", "2026-01-01"],
        &["sheets", "add", "Costs"],
        &["set", "Costs!C3", "austin"],
        &["set", "Costs!C4", "1.50"],
    ] {
        done(&project, arguments);
    }
    let expected = [
        "airports!A2   Austin was here",
        "airports!B890   Austin Municipal",
        "airports!C890   Austin",
        "airports!B893   Austin-Bergstrom International",
        "airports!C893   Austin",
        "airports!B1642   Austin Straubel International",
        "Costs!C3   austin",
    ];
    assert_eq!(lines(&done(&project, &["find", "austin"])), expected);
    assert_eq!(done(&project, &["find", "austin", "--count"]).stdout, "7 cells\n");
    assert_eq!(lines(&done(&project, &["find", "austin", "--sheet", "Costs"])), expected[6..]);
    assert_eq!(lines(&done(&project, &["find", "austin", "-r", "airports!A:A"])), expected[..1]);
    let regex = done(&project, &["find", "--regex", "^Austin( [A-Z].*)?$", "-r", "airports!B:B"]);
    assert_eq!(lines(&regex), [expected[1], expected[5]]);
    let dates = done(&project, &["find", "2026-01", "--range", "A1:C9"]);
    assert_eq!(lines(&dates), ["airports!B2   2026-01-01"]);
    assert_eq!(lines(&done(&project, &["find", "1.50"])).last(), Some(&"Costs!C4   1.50"));
    let limited = done(&project, &["find", "austin", "--limit", "2"]);
    assert_eq!(lines(&limited), expected[..2]);
    assert!(limited.stderr.contains("--limit"), "{limited:?}");
    let earlier = done(&project, &["find", "austin", "--at", "0.1", "--count"]);
    assert_eq!(earlier.stdout, "7 cells\n");
    let none = done(&project, &["find", "no such text"]);
    assert!(none.stdout.is_empty() && none.stderr.contains("No cell"), "{none:?}");
    let json = done(&project, &["find", "austin", "--json", "--sheet", "Costs"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let cell = &json["cells"][0];
    assert_eq!((&cell["row"], &cell["text"]), (&2.into(), &"austin".into()), "{json}");
    assert_eq!(json["complete"], true);
    for (text, why) in [("(", "regular expression is invalid"), ("a{9999}", "repetitions")] {
        let bad = project.cellar(&["find", "--regex", text]);
        assert!(bad.code == 64 && bad.stderr.contains(why), "{bad:?}");
    }
}

#[test]
fn rows_are_filtered_counted_and_added_up() {
    let project = Project::new();
    airports(&project);
    let texas = done(&project, &["get", "--where", "D=tx && F<25.95", "--range", "A:D"]);
    let expected = [
        "┌──────┬─────┬──────────────────────────────────────────┬─────────────┬────┐",
        "│      ┆  A  ┆                     B                    ┆      C      ┆  D │",
        "╞══════╪═════╪══════════════════════════════════════════╪═════════════╪════╡",
        "│ 1004 ┆ BRO ┆ Brownsville/S.Padre Island International ┆ Brownsville ┆ TX │",
        "└──────┴─────┴──────────────────────────────────────────┴─────────────┴────┘",
    ];
    assert_eq!(lines(&texas), expected);
    let totals = ["get", "--where", "D=TX", "--count", "--sum", "f"];
    let expected = ["209 rows", "sum of F: 6580.32467221 (209 numbers)"];
    assert_eq!(lines(&done(&project, &totals)), expected);
    for arguments in [
        &["rows", "insert", "2"][..],
        &["set", "D2", "TX", "F2", "0.5"],
        &["set", "D3", "TX", "F3", "not a number"],
        &["rows", "delete", "1005"],
    ] {
        done(&project, arguments);
    }
    let expected = ["210 rows", "sum of F: 6554.91783888 (209 numbers)"];
    assert_eq!(lines(&done(&project, &totals)), expected);
    let two = ["get", "--where", "D=TX", "--where", "F<1", "--json"];
    let json: Value = serde_json::from_str(&done(&project, &two).stdout).unwrap();
    assert_eq!(json["rows"], serde_json::json!([1]), "{json}");
    assert_eq!(json["texts"], serde_json::json!(["TX", "0.5"]), "{json}");
    let sums: Value = serde_json::from_str(
        &done(&project, &["get", "--where", "B!=", "--sum", "F", "--json"]).stdout,
    )
    .unwrap();
    assert_eq!((&sums["rows"], &sums["sum"]["column"]), (&3_376.into(), &"F".into()), "{sums}");
    let limited = done(&project, &["get", "--where", "D=TX", "--limit", "3"]);
    assert_eq!(limited.stdout.lines().count(), 4 + 3, "{limited:?}");
    assert!(limited.stderr.contains("--limit"), "{limited:?}");
    let none = done(&project, &["get", "--where", "D=nowhere"]);
    assert_eq!(none.stdout, "No row fulfils the conditions.\n");
    let earlier = done(&project, &["get", "--where", "D=TX", "--count", "--at", "0.1"]);
    assert_eq!(earlier.stdout, "209 rows\n");
    for (conditions, why) in [
        ("D", "write a column, an operator and a value"),
        ("state=TX", "columns are named by letters"),
        ("D=~(", "regular expression is invalid"),
        ("F>1e5", "write the number as 100000"),
        ("D=", "add a condition"),
    ] {
        let bad = project.cellar(&["get", "--where", conditions]);
        assert!(bad.code == 64 && bad.stderr.replace('\n', " ").contains(why), "{bad:?}");
    }
}

struct SearchApi {
    url: String,
    token: String,
    id: String,
}

impl SearchApi {
    fn of(project: &Project, deployed: &Value) -> Self {
        let profile = std::fs::read_to_string(project.path(".cellar/profile.json")).unwrap();
        let profile: Value = serde_json::from_str(&profile).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            url: text(&deployed["url"]),
            token: text(&deployed["token"]),
            id: text(&profile["spreadsheet"]),
        }
    }

    async fn get(&self, path: &str, query: &[(&str, &str)]) -> (u16, Value) {
        let mut url = reqwest::Url::parse(&self.url).unwrap();
        url.set_path(&format!("/v1/spreadsheets/{}/cells/{path}", self.id));
        url.query_pairs_mut().extend_pairs(query);
        let request = reqwest::Client::new().get(url).bearer_auth(&self.token);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

#[tokio::test]
async fn the_api_and_the_library_return_pages() {
    let project = Project::new();
    let (project, deployed) = tokio::task::spawn_blocking(move || {
        let deployed = airports(&project);
        (project, deployed)
    })
    .await
    .unwrap();
    let api = SearchApi::of(&project, &deployed);
    let (status, found) = api.get("find", &[("text", "bergstrom")]).await;
    assert_eq!((status, &found["count"]), (200, &1.into()), "{found}");
    assert_eq!(found["cells"][0]["value"], "Austin-Bergstrom International");
    let (status, rows) = api.get("filter", &[("where", "D=TX && B~bergstrom"), ("sum", "F")]).await;
    assert_eq!((status, &rows["rows"]), (200, &1.into()), "{rows}");
    assert_eq!(
        rows["sum"],
        serde_json::json!({"numbers": 1, "parts": [30.194_532_78], "too_large": false})
    );
    // The page of a cursor starts at this cell, and does not count a row that it continues.
    let query = [("where", "D=TX && B~bergstrom"), ("cursor", "C892")];
    let (_, rows) = api.get("filter", &query).await;
    assert_eq!((&rows["rows"], rows["cells"].as_array().unwrap().len()), (&0.into(), 5), "{rows}");
    refuses_invalid_searches(&api).await;

    let client = Client::new(&api.url, Some(&api.token)).unwrap();
    let spreadsheet = client.spreadsheet(api.id.parse().unwrap());
    let found = spreadsheet.find(FindQuery::of_text("austin")).collect().await.unwrap();
    assert_eq!(found.len(), 7);
    let regex = FindQuery::of_regex("^Austin$").in_range("airports!C:C");
    assert_eq!(spreadsheet.count_found(regex).await.unwrap().cells, 3);
    let query = FilterQuery::of("C=Austin").in_range("A:C").with_sum("G");
    let cells = spreadsheet.filter(query.clone()).collect().await.unwrap();
    assert_eq!((cells.len(), cells[0].text().as_str()), (9, "9U3"));
    let totals = spreadsheet.filter_totals(query).await.unwrap();
    let expected = [-117.195_370_3, -92.933_385, -97.669_871_94].iter().sum::<f64>();
    assert_eq!((totals.rows, totals.numbers), (3, 3));
    assert!((totals.sum.unwrap() - expected).abs() < 1e-9, "{totals:?}");
    tokio::task::spawn_blocking(move || drop(project)).await.unwrap();
}

async fn refuses_invalid_searches(api: &SearchApi) {
    let long = "a".repeat(MAX_SEARCH_BYTES + 1);
    let long_conditions = format!("D={long}");
    let sixteen = ["A=1"; 17].join("&&");
    for (path, name, value, status) in [
        ("find", "text", "", 422),
        ("find", "text", long.as_str(), 422),
        ("filter", "where", "", 422),
        ("filter", "where", "D", 422),
        ("filter", "where", "D=~(", 422),
        ("filter", "where", "D=~((a{99}){99}){99}", 422),
        ("filter", "where", "D=", 422),
        ("filter", "where", long_conditions.as_str(), 422),
        ("filter", "where", sixteen.as_str(), 422),
    ] {
        let (actual, problem) = api.get(path, &[(name, value)]).await;
        assert_eq!(actual, status, "{path} {value:.20}: {problem}");
        assert!(problem["detail"].as_str().unwrap().len() < 400, "{problem}");
    }
    for (path, query, status) in [
        ("find", vec![], 400),
        ("find", vec![("text", "x"), ("regex", "maybe")], 400),
        ("find", vec![("text", "("), ("regex", "true")], 422),
        ("find", vec![("text", "x"), ("range", "x")], 422),
        ("find", vec![("text", "x"), ("cursor", "B2")], 422),
        ("find", vec![("text", "x"), ("cursor", "77~B2")], 404),
        ("find", vec![("text", "x"), ("sheet", "Nowhere")], 404),
        ("filter", vec![("where", "D=TX"), ("sum", "7")], 422),
        ("filter", vec![("where", "D=TX"), ("cursor", "7")], 422),
        ("filter", vec![("where", "D=TX"), ("at", "0.99")], 422),
        ("filter", vec![("where", "D=TX"), ("sheet", "Nowhere")], 404),
    ] {
        let (actual, problem) = api.get(path, &query).await;
        assert_eq!(actual, status, "{path} {query:?}: {problem}");
    }
}

/// Edits after a snapshot insert rows, clear cells and set others.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_over_a_snapshot_and_later_entries_equals_a_search_of_a_replay() {
    let clock = Arc::new(FastClock::default());
    let cloud = start(&clock).await;
    let mut author = Author::new(&cloud, "searches").await;
    let log = author.created.id;
    for number in 0..40 {
        author.edit(&cloud, operation(number)).await;
    }
    let marked = author.base.entry_number() / 11 * 11;
    wait_for_snapshot(&cloud, log, cellar::Position::new(0, marked).unwrap(), &clock).await;
    for number in 40..48 {
        author.edit(&cloud, operation(number)).await;
    }
    let cells = replayed(&cloud, log, author.base).await;
    let spreadsheet = cloud.client("alice").spreadsheet(log);
    for text in ["text 1", "33", "7", "."] {
        let pattern = TextPattern::containing(text).unwrap();
        let is_found = |cell: &&((u32, u32), Cell)| pattern.matches(&cell.1.text());
        let expected: Vec<_> = cells.iter().filter(is_found).map(|(place, _)| *place).collect();
        let query = FindQuery::of_text(text).at_position(author.base);
        let found = spreadsheet.find(query).collect().await.unwrap();
        let places: Vec<_> =
            found.iter().map(|found| (found.cell.row, found.cell.column)).collect();
        assert!(!expected.is_empty() && places == expected, "{text}: {places:?} {expected:?}");
    }
    for conditions in ["B>1000", "A!= && C!=", "D~text && A!=", "L<=900000 && B= && A!="] {
        let parsed: Conditions = conditions.parse().unwrap();
        let mut rows: Vec<u32> = cells.iter().map(|((row, _), _)| *row).collect();
        rows.dedup();
        let cell_at = |row: u32, column: u32| {
            let cell = cells.iter().find(|(place, _)| *place == (row, column));
            cell.map(|(_, cell)| cell.clone()).unwrap_or_default()
        };
        rows.retain(|row| {
            parsed
                .list()
                .iter()
                .all(|condition| condition.is_fulfilled_by(&cell_at(*row, condition.column())))
        });
        let expected: Vec<_> =
            cells.iter().map(|(place, _)| *place).filter(|(row, _)| rows.contains(row)).collect();
        let query = FilterQuery::of(conditions).at_position(author.base).with_sum("B");
        let found = spreadsheet.filter(query.clone()).collect().await.unwrap();
        let places: Vec<_> = found.iter().map(|cell| (cell.row, cell.column)).collect();
        assert_eq!(places, expected, "{conditions}");
        let totals = spreadsheet.filter_totals(query).await.unwrap();
        let numbers =
            rows.iter().filter(|row| matches!(cell_at(**row, 1).value, CellValue::Number(_)));
        assert_eq!((totals.rows, totals.numbers), (rows.len() as u64, numbers.count() as u64));
    }
}
