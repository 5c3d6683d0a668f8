//! `cellar compare`, with a file whose stored results a program has changed.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use crate::formulas::done;
use crate::journey::Project;

/// Copies `plan.xlsx` to `other.xlsx` with other results in its first sheet.
fn write_other_results(project: &Project, others: &[(&str, &str)]) {
    let file = std::fs::File::open(project.path("plan.xlsx")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut writer =
        zip::ZipWriter::new(std::fs::File::create(project.path("other.xlsx")).unwrap());
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut text = String::new();
        let name = entry.name().unwrap().into_owned();
        entry.read_to_string(&mut text).unwrap();
        if name.ends_with("worksheets/sheet1.xml") {
            for (old, new) in others {
                assert!(text.contains(old), "{old} is not in {text}");
                text = text.replace(old, new);
            }
        }
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
}

fn compared(project: &Project, arguments: &[&str], code: i32) -> Value {
    let run = project.cellar(&[&["compare"], arguments, &["--json"]].concat());
    assert_eq!(run.code, code, "{arguments:?}: {run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn results_are_compared_with_those_of_a_file() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Plan"]);
    done(
        &project,
        &["set", "A1", "2", "A2", "3", "B1", "=A1*1000", "B2", "=A2*3+0.5", "B3", "=B1/7"],
    );
    done(&project, &["sheets", "add", "Notes"]);
    done(&project, &["set", "Notes!A1", "=\"x\"&1"]);
    done(&project, &["export", "plan.xlsx"]);
    let same = compared(&project, &["plan.xlsx"], 0);
    assert_eq!((&same["formulas"], &same["equal"]), (&json!(4), &json!(4)), "{same}");
    let text = done(&project, &["compare", "plan.xlsx"]).stdout;
    assert!(text.starts_with("4 formulas at 0."), "{text}");
    assert!(text.ends_with(": 4 equal\n"), "{text}");

    let changed = [("<v>2000</v>", "<v>2001</v>"), ("<v>9.5</v>", "<v>9.500000000001</v>")];
    write_other_results(&project, &changed);
    let other = compared(&project, &["other.xlsx"], 2);
    let difference = json!({
        "sheet": "Sheet1", "cell": "B1", "formula": "=A1*1000", "in_file": 2001, "in_spreadsheet": 2000,
        "rounding": false,
    });
    assert_eq!(other["differences"], json!([difference]));
    assert_eq!((&other["different"], &other["rounding"]), (&json!(1), &json!(1)), "{other}");
    let exact = project.cellar(&["compare", "other.xlsx", "--exact", "--limit", "1"]);
    assert_eq!(exact.code, 2, "{exact:?}");
    assert!(
        exact.stdout.starts_with("Sheet1!B1   file: 2001   Cellar: 2000   =A1*1000\n4 formulas"),
        "{exact:?}"
    );
    assert!(exact.stderr.contains("More results differ; pass a larger --limit."), "{exact:?}");
    assert_eq!(compared(&project, &["other.xlsx", "--sheets", "Notes"], 0)["formulas"], 1);

    done(&project, &["set", "B2", "9.5"]);
    assert_eq!(compared(&project, &["plan.xlsx"], 0)["without_formula"], 1);
    done(&project, &["sheets", "delete", "Notes"]);
    assert_eq!(compared(&project, &["plan.xlsx"], 2)["missing_sheets"], json!(["Notes"]));
    let run = project.cellar(&["compare", "plan.xlsx", "--sheets", "Other"]);
    assert!(run.code == 1 && run.stderr.contains("the file has no sheet `Other`"), "{run:?}");
    std::fs::write(project.path("plain.csv"), "1,2\n").unwrap();
    let run = project.cellar(&["compare", "plain.csv"]);
    assert!(run.code == 64 && run.stderr.contains("is no workbook"), "{run:?}");
}
