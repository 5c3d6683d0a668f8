//! Stale values are marked wherever they are shown, compared, counted or added up.

use cellar::reader::Reader;
use cellar::{Client, FilterQuery, FindQuery, Spreadsheet};
use cellar_api::wire::{CreateRequest, FilterReply, FindReply, TraceReply};
use cellar_base::position::Position;
use cellar_sheet::cell::Value as CellValue;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_tests::edits::append_one;
use serde::de::DeserializeOwned;

use crate::formulas::json_of;
use crate::journey::{Project, Run};

/// Number of formulas.
const ROWS: u32 = 12;
/// A formula that is beyond the limits of a calculation.
const BEYOND: &str = "=SUM(SEQUENCE(99999999))";
const WARNING: &str = "* 12 values are older than their formulas";

/// A sheet with the numbers 1 to 12 in A, and formulas with ten times these values in B, which are
/// beyond the limits of a calculation.
struct World {
    project: Project,
    url: String,
    token: String,
    id: String,
    spreadsheet: Spreadsheet,
}

impl World {
    async fn start() -> Self {
        let project = Project::new();
        let deployed = project.deploy();
        let text = |name: &str| deployed[name].as_str().unwrap().to_owned();
        let (url, token) = (text("url"), text("token"));
        let client = Client::new(&url, Some(&token)).unwrap();
        let created = client.create(&CreateRequest::new("stale".to_owned())).await.unwrap();
        let spreadsheet = client.spreadsheet(created.id);
        let cells = (0..ROWS).flat_map(|row| {
            let number = f64::from(row + 1);
            let cell = |column, number, formula| {
                let value = Some(CellValue::Number(number));
                CellEdit { row, column, value, formula, format: None }
            };
            [cell(0, number, None), cell(1, number * 10.0, Some(BEYOND.to_owned()))]
        });
        let set = SetCells { sheet: SheetId::FIRST, cells: cells.collect() };
        let edit = append_one(created, "stale", 1, Position::FIRST, Operation::SetCells(set));
        spreadsheet.append(&edit).await.unwrap();
        Self { project, url, token, id: created.id.to_string(), spreadsheet }
    }

    fn done(&self, arguments: &[&str]) -> Run {
        let run = self.project.cellar(&[&["-s", &self.id], arguments].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run
    }

    /// Runs a command. Returns its output, which a warning about all stale values must follow.
    fn warned(&self, arguments: &[&str]) -> String {
        let run = self.done(arguments);
        let warnings = run.stderr.matches(WARNING).count();
        assert_eq!(warnings, 1, "{arguments:?}: {run:?}");
        run.stdout
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        json_of(&self.project, &[&["-s", &self.id], arguments].concat())
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> T {
        let mut url = reqwest::Url::parse(&self.url).unwrap();
        url.set_path(&format!("/v1/spreadsheets/{}/cells/{path}", self.id));
        url.query_pairs_mut().extend_pairs(query);
        let request = reqwest::Client::new().get(url).bearer_auth(&self.token);
        request.send().await.unwrap().json().await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_mark_stale_values_counts_sums_and_absences() {
    let world = World::start().await;
    for remote in [&["get", "B8"][..], &["get", "B8", "--remote"]] {
        assert!(world.done(remote).stdout.contains(" 80 * "), "{remote:?}");
    }
    assert_eq!(world.warned(&["find", "80"]), "Sheet1!B8   80 *\n");
    assert_eq!(world.warned(&["find", "80", "--count"]), "1 cell *\n");
    assert_eq!(world.warned(&["find", "no such text"]), "");
    let none = world.done(&["find", "no such text"]).stderr;
    assert!(none.contains("No cell matches. *"), "{none}");
    let found = world.json(&["find", "80"]);
    let cell = &found["cells"][0];
    assert_eq!((&found["stale_cells"], &cell["stale"]), (&12.into(), &true.into()), "{found}");
    assert!(cell["note"].as_str().unwrap().contains("99999999"), "{found}");
    assert_eq!((&cell["text"], &cell["formula"]), (&"80".into(), &BEYOND.into()));

    for remote in [&[][..], &["--remote"]] {
        let get = |arguments: &[&str]| world.warned(&[&["get"], remote, arguments].concat());
        let rows = get(&["--where", "B>=110"]);
        assert!(rows.contains(" 110 * ") && rows.contains(" 120 * "), "{rows}");
        assert_eq!(get(&["--where", "B>=110", "--count"]), "2 rows *\n");
        let totals = ["--where", "B>=110", "--count", "--sum", "B", "--sum", "A"];
        let sums = "2 rows *\nsum of B: 230 (2 numbers) *\nsum of A: 23 (2 numbers) *\n";
        assert_eq!(get(&totals), sums);
        assert_eq!(get(&["--sum", "B"]), "sum of B: 780 (12 numbers) *\n");
        assert_eq!(get(&["--where", "A>0", "--sum", "B"]), "sum of B: 780 (12 numbers) *\n");
        assert_eq!(get(&["--where", "B>=999"]), "No row fulfils the conditions. *\n");
    }
    let totals = world.json(&["get", "--where", "B>=110", "--sum", "B"]);
    assert_eq!((&totals["stale_cells"], &totals["sum"]["stale_cells"]), (&12.into(), &2.into()));

    let traced = world.done(&["trace", "B8"]);
    assert!(traced.stdout.contains(&format!("{BEYOND} is 80 *")), "{traced:?}");
    assert!(traced.stderr.contains("* Sheet1!B8: ") && traced.stderr.contains("99999999"));
    let traced = world.json(&["trace", "B8"]);
    assert_eq!((&traced["stale"], &traced["content"]["value"]), (&true.into(), &80.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_depends_on_no_stale_value_is_not_marked() {
    let world = World::start().await;
    for (arguments, output) in [
        (&["find", "11", "-r", "A:A"][..], "Sheet1!A11   11\n"),
        (&["find", "11", "-r", "A:A", "--count"], "1 cell\n"),
        (
            &["get", "--where", "A>=11", "--count", "--sum", "A"],
            "2 rows\nsum of A: 23 (2 numbers)\n",
        ),
        (&["get", "--where", "A>99"], "No row fulfils the conditions.\n"),
        (&["get", "--count"], "12 rows\n"),
    ] {
        let run = world.done(arguments);
        assert_eq!(run.stdout, output, "{arguments:?}");
        assert!(!run.stderr.contains('*'), "{run:?}");
    }
    let json = world.json(&["find", "11", "-r", "A:A"]);
    assert!(json.get("stale_cells").is_none() && json["cells"][0].get("stale").is_none(), "{json}");
    let trace = world.done(&["trace", "A8"]);
    let shown = format!("{}{}", trace.stdout, trace.stderr);
    assert!(shown.contains("Sheet1!A8") && !shown.contains('*'), "{trace:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_and_the_library_mark_and_count_stale_values() {
    let world = World::start().await;
    let found: FindReply = world.get("find", &[("text", "80")]).await;
    assert_eq!((found.count, found.stale_cells), (1, 12));
    assert!(found.cells[0].cell.stale && found.cells[0].cell.note.is_some(), "{found:?}");
    let query = [("where", "B>=110 && A>0"), ("sum", "B"), ("count_only", "true")];
    let filtered: FilterReply = world.get("filter", &query).await;
    let sum = filtered.sum.unwrap();
    assert_eq!((filtered.rows, filtered.stale_cells, sum.numbers, sum.stale_cells), (2, 12, 2, 2));
    let trace: TraceReply = world.get("trace", &[("cell", "B8")]).await;
    assert!(trace.stale && trace.note.unwrap().contains("99999999"));
    let trace: TraceReply = world.get("trace", &[("cell", "A8")]).await;
    assert_eq!((trace.stale, trace.note), (false, None));

    let counted = world.spreadsheet.count_found(FindQuery::of_text("80")).await.unwrap();
    assert_eq!((counted.cells, counted.stale_cells), (1, 12));
    let query = FilterQuery::of("B>=110").with_sum("B");
    let totals = world.spreadsheet.filter_totals(query).await.unwrap();
    assert_eq!((totals.rows, totals.stale_cells, totals.stale_summed), (2, 12, 2));
    let mut reader = Reader::open(world.spreadsheet.clone(), None, None).await.unwrap();
    let trace = reader.trace(None, "B8".parse().unwrap()).await.unwrap();
    assert!(trace.stale && trace.note.is_some(), "{trace:?}");
}
