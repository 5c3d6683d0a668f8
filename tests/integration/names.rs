//! Names of cells and values, as a user defines them on a real stack.

use serde_json::Value;

use crate::journey::{Project, Run};

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn json(project: &Project, arguments: &[&str]) -> Value {
    let run = done(project, &[arguments, &["--json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the lines that `cellar names` prints, with single spaces.
fn names(project: &Project) -> Vec<String> {
    let listed = done(project, &["names"]).stdout;
    listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn names_follow_their_cells_through_edits_undos_and_files() {
    let project = Project::new();
    project.deploy();
    std::fs::write(project.path("costs.csv"), "item,price\ntea,2.50\ncake,4\n").unwrap();
    done(&project, &["import", "costs.csv"]);
    let set = done(&project, &["names", "set", "Prices", "B2:B3"]);
    assert!(set.stdout.starts_with("Prices is =costs!$B$2:$B$3   at 0.2"), "{set:?}");
    done(&project, &["names", "set", "TAX", "0.19"]);
    done(&project, &["names", "set", "Total", "=sum(prices)*(1+TAX)"]);

    done(&project, &["rows", "insert", "1", "--count", "2"]);
    done(&project, &["sheets", "rename", "costs", "My costs"]);
    let moved = ["Prices ='My costs'!$B$4:$B$5", "TAX =0.19", "Total =SUM(prices)*(1+TAX)"];
    assert_eq!(names(&project), moved);
    let before = json(&project, &["names", "--at", "0.3"]);
    assert_eq!(before["names"][0]["formula"], "=costs!$B$2:$B$3");

    done(&project, &["rows", "delete", "4:5"]);
    assert_eq!(names(&project)[0], "Prices ='My costs'!#REF!");
    let diff = project.cellar(&["diff", "0.6"]);
    let line = "name Prices: ='My costs'!$B$4:$B$5 -> ='My costs'!#REF!";
    assert!(diff.stdout.contains(line), "{diff:?}");
    let undone = done(&project, &["undo"]);
    assert!(undone.stdout.contains("1 name"), "{undone:?}");
    assert_eq!(names(&project), moved);

    done(&project, &["export", "out.xlsx"]);
    done(&project, &["names", "delete", "tax"]);
    assert_eq!(names(&project).len(), 2);
    let history = done(&project, &["history", "--limit", "1"]).stdout;
    assert!(history.contains("deleted name TAX"), "{history}");
    done(&project, &["revert", "--to", "0.1"]);
    assert!(names(&project).is_empty());

    let imported = json(&project, &["import", "out.xlsx"]);
    assert_eq!((&imported["names"], &imported["notImported"]), (&3.into(), &serde_json::json!({})));
    assert_eq!(names(&project), moved);
    assert_eq!(done(&project, &["history"]).stdout.lines().count(), 2, "one entry");
}

#[test]
fn wrong_names_say_what_to_do_and_nothing_is_sent() {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", "Budget"]);
    for (arguments, message) in [
        (["set", "TAX2024", "1"], "`TAX2024` cannot be a name: it is a cell; put `_` before it"),
        (["set", "my tax", "1"], "other characters than letters, digits, `_` and `.`"),
        (["set", "Prices", "Costs!B2"], "names the sheet `Costs`, which does not exist"),
        (["set", "Prices", "=SUM(B2"], "`(` is not closed; add `)`"),
    ] {
        let run = project.cellar(&[&["names"][..], &arguments].concat());
        assert!(run.code == 1 && run.stderr.contains(message), "{run:?}");
    }
    let run = project.cellar(&["names", "delete", "TAX"]);
    assert!(run.code == 1 && run.stderr.contains("there is no name `TAX`"), "{run:?}");
    assert_eq!(done(&project, &["head"]).stdout.trim(), "0.0");
}
