//! Undos, reverts and merges of a person who has never used `cellar`.

use crate::journey::{Project, Run};

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn run_all(project: &Project, commands: &[&str]) {
    for command in commands {
        done(project, &command.split(' ').collect::<Vec<_>>());
    }
}

/// Returns the formulas and values that `get` prints, without the frame of the table.
fn formulas(project: &Project, range: &str) -> String {
    let table = done(project, &["get", range, "--formulas", "--json"]).stdout;
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    table["cells"].to_string()
}

fn project_with(spreadsheet: &str) -> Project {
    let project = Project::new();
    project.deploy();
    done(&project, &["create", spreadsheet]);
    project
}

#[test]
fn everything_is_undone_and_redone_in_a_sheet_that_comes_back() {
    let project = project_with("redo");
    run_all(&project, &["sheets add T", "set T!A1 1", "undo", "undo", "undo 0.4", "undo 0.3"]);
    assert!(done(&project, &["get", "T!A1"]).stdout.contains('1'));
    std::fs::write(project.path("costs.csv"), "name,n\nalpha,5\n").unwrap();
    run_all(&project, &["import costs.csv --name costs", "set A2 gamma", "undo", "undo"]);
    // The sheet of the edit is not there yet.
    let refused = project.cellar(&["undo", "0.3"]);
    assert!(refused.code == 1 && refused.stderr.contains("was deleted at 0.4"), "{refused:?}");
    let newest = done(&project, &["history", "--limit", "9"]).stdout;
    assert!(newest.contains("0.4 "), "{newest}");
    run_all(&project, &["undo 0.4", "undo 0.3"]);
    assert!(done(&project, &["get", "A2"]).stdout.contains("gamma"));
    // Repeated undos take back the edit and then the import.
    run_all(&project, &["undo", "undo"]);
    assert_eq!(done(&project, &["get", "A1:B2"]).stdout, "The cells are empty.\n");
}

#[test]
fn formulas_that_lost_a_replaced_sheet_are_listed_and_restored() {
    let project = project_with("replaced");
    run_all(&project, &["sheets add Costs", "sheets add Last", "set Costs!A1 alpha Costs!A2 5"]);
    run_all(&project, &["set Last!A1 =Costs!A2*2", "sheets delete Costs", "sheets add Costs"]);
    let lost = "Last\n  A1: =Costs!A2*2 -> =#REF!*2\n";
    let diff = project.cellar(&["diff", "0.4"]);
    assert!(diff.code == 2 && diff.stdout.contains(lost), "{diff:?}");
    let revert = ["revert", "--to", "0.4", "--sheet", "Costs"];
    let dry_run = done(&project, &[&revert[..], &["--dry-run"]].concat());
    assert!(dry_run.stdout.contains(lost), "{dry_run:?}");
    done(&project, &revert);
    assert!(done(&project, &["get", "Last!A1"]).stdout.contains("10"));
    assert_eq!(project.cellar(&["diff", "0.4"]).code, 0);
}

#[test]
fn a_revert_of_a_sheet_keeps_formulas_of_other_sheets() {
    let project = project_with("rows");
    run_all(&project, &["sheets add Report", "set Sheet1!A1 10 Sheet1!A2 20 Sheet1!A3 30"]);
    run_all(&project, &["set Report!A1 =Sheet1!A3 Report!A2 =SUM(Sheet1!A1:A3)"]);
    let before = formulas(&project, "Report!A1:A2");
    run_all(&project, &["rows delete 3 --sheet Sheet1", "undo", "set Sheet1!A1 11"]);
    let revert = ["revert", "--to", "0.3", "--sheet", "Sheet1"];
    let dry_run = done(&project, &[&revert[..], &["--dry-run"]].concat());
    assert_eq!(dry_run.stdout, "Sheet1\n  A1: 10 -> 11\n");
    let reverted = done(&project, &revert);
    assert!(reverted.stdout.contains("took back: 1 cell\n"), "{reverted:?}");
    assert_eq!(formulas(&project, "Report!A1:A2"), before);
    // A deleted row comes back, and the references of the other sheet to it.
    run_all(&project, &["rows delete 3 --sheet Sheet1"]);
    let dry_run = done(&project, &[&revert[..], &["--dry-run"]].concat());
    assert!(dry_run.stdout.contains("A1: =Sheet1!A3 -> =Sheet1!#REF!"), "{dry_run:?}");
    done(&project, &revert);
    assert_eq!(formulas(&project, "Report!A1:A2"), before);
}

#[test]
fn a_range_with_deleted_rows_is_not_said_to_be_the_same() {
    let project = project_with("range");
    run_all(&project, &["set A1 a A2 b A3 c", "rows delete 2"]);
    for dry_run in [&[][..], &["--dry-run"]] {
        let revert = [&["revert", "--to", "0.1", "--range", "A1:A3"], dry_run].concat();
        let run = done(&project, &revert);
        assert!(run.stdout.ends_with("from 0.1, except for deleted rows\n"), "{run:?}");
        assert!(run.stderr.contains("cellar revert --to 0.1 --sheet Sheet1"), "{run:?}");
    }
    done(&project, &["revert", "--to", "0.1", "--sheet", "Sheet1"]);
    assert_eq!(project.cellar(&["diff", "0.1"]).code, 0);
}

#[test]
fn a_conflict_names_the_cell_and_the_value_of_the_source() {
    let project = project_with("source");
    run_all(&project, &["set A1 one A2 two A3 three", "fork --name draft", "use draft"]);
    run_all(&project, &["rows insert 1", "set A3 TWO", "use source", "set A2 zwei"]);
    for options in [&["--dry-run"][..], &[]] {
        let merge = project.cellar(&[&["merge", "draft"], options].concat());
        let expected = "the source changed Sheet1!A2 to \"zwei\"";
        assert!(merge.stdout.contains(expected), "{merge:?}");
    }
}

#[test]
fn a_merge_counts_the_cells_that_it_leaves_out() {
    let project = project_with("source");
    run_all(&project, &["set A1 1 B2 2 C4 3", "fork --name draft", "use draft"]);
    run_all(&project, &["set B2 20 C4 30", "use source", "rows delete 4"]);
    let merge = project.cellar(&["merge", "draft"]);
    assert_eq!(merge.code, 2, "{merge:?}");
    assert!(merge.stdout.contains("1 cell is left out: its row, column or sheet is"), "{merge:?}");
    assert!(merge.stderr.contains("1 cell was left out, because"), "{merge:?}");
}

#[test]
fn an_undo_is_taken_back_by_redo() {
    let project = project_with("redo");
    let refused = project.cellar(&["redo"]);
    assert!(refused.code == 1 && refused.stderr.contains("you undid nothing"), "{refused:?}");
    run_all(&project, &["set A1 1", "set A2 2", "undo", "undo"]);
    let redone = done(&project, &["redo"]);
    assert!(redone.stdout.contains("redid 0.1: A1 = 1   at 0.5"), "{redone:?}");
    assert!(redone.stdout.contains("brought back: 1 cell"), "{redone:?}");
    done(&project, &["redo"]);
    assert_eq!(project.cellar(&["diff", "0.2"]).code, 0);
    let refused = project.cellar(&["redo"]);
    assert!(refused.code == 1 && refused.stderr.contains("the edit at 0.2"), "{refused:?}");
}

#[test]
fn cells_of_different_sheets_are_not_the_same_cell() {
    let project = project_with("sheets");
    done(&project, &["sheets", "add", "Report"]);
    let set = project.cellar(&["set", "Sheet1!A1", "1", "Report!A1", "2"]);
    assert!(set.code == 64 && set.stderr.contains("are in different sheets"), "{set:?}");
}

#[test]
fn a_revert_of_a_recovered_sheet_keeps_what_refers_to_it() {
    let project = project_with("recovered");
    run_all(&project, &["sheets add Data", "set Data!A1 1 Data!A2 2"]);
    run_all(&project, &["set Sheet1!A1 =SUM(Data!A1:A2)", "names set DD Data!A1:A2"]);
    run_all(&project, &["sheets delete Data", "undo"]);
    let diff = project.cellar(&["diff", "0.4"]);
    assert_eq!((diff.code, diff.stdout.as_str()), (0, ""), "the name does not differ");
    done(&project, &["set", "Data!A1", "5"]);
    let revert = ["revert", "--to", "0.4", "--sheet", "Data"];
    let dry_run = done(&project, &[&revert[..], &["--dry-run"]].concat());
    assert_eq!(dry_run.stdout, "Data\n  A1: 1 -> 5\n");
    let reverted = done(&project, &revert);
    assert!(reverted.stdout.contains("took back: 1 cell\n"), "{reverted:?}");
    assert!(formulas(&project, "Sheet1!A1").contains("=SUM(Data!A1:A2)"));
    assert_eq!(project.cellar(&["diff", "0.4"]).code, 0);
    // A range of a deleted sheet cannot be reverted, which the dry run says as well.
    done(&project, &["sheets", "delete", "Data"]);
    for dry_run in [&[][..], &["--dry-run"]] {
        let range = [&["revert", "--to", "0.4", "--range", "Data!A1:A2"], dry_run].concat();
        let refused = project.cellar(&range);
        let help = "cellar revert --to 0.4 --sheet Data";
        assert!(refused.code == 64 && refused.stderr.contains(help), "{refused:?}");
    }
}

#[test]
fn edits_are_undone_after_the_undo_of_a_merge_that_replaced_their_sheet() {
    let project = project_with("source");
    run_all(&project, &["sheets add Data", "set Data!A1 1 Data!A2 2 Data!A3 3"]);
    run_all(&project, &["set Sheet1!A1 =SUM(Data!A1:A3)", "fork --name draft", "use draft"]);
    run_all(&project, &["sheets delete Data", "undo", "use source", "set Data!A3 30"]);
    project.cellar(&["merge", "draft"]);
    run_all(&project, &["undo", "undo"]);
    let sum = done(&project, &["get", "Sheet1!A1"]).stdout;
    assert!(sum.contains('6') && !sum.contains("33"), "{sum}");
    assert!(formulas(&project, "Sheet1!A1").contains("=SUM(Data!A1:A3)"));
}

#[test]
fn an_edit_of_a_formatted_import_is_undone_after_its_sheet_came_back() {
    let project = project_with("prices");
    std::fs::write(project.path("prices.csv"), "item,price\napple,1.50\npear,2.25\n").unwrap();
    run_all(&project, &["import prices.csv --into prices", "set prices!B2 5"]);
    run_all(&project, &["sheets delete prices", "undo", "undo"]);
    assert!(done(&project, &["get", "prices!B2"]).stdout.contains("1.50"));
    // The import was recovered with the edit. It is undone as a whole, because the edit is undone.
    done(&project, &["undo"]);
    assert_eq!(project.cellar(&["diff", "0.0"]).code, 0);
}

#[test]
fn formulas_refer_to_the_sheet_that_replaces_theirs() {
    let project = project_with("weekly");
    std::fs::write(project.path("costs.csv"), "name,n\nalpha,5\n").unwrap();
    run_all(&project, &["import costs.csv --into weekly", "sheets add Report"]);
    run_all(&project, &["set Report!A1 =costs!B2*2", "names set FIRST costs!B2"]);
    run_all(&project, &["set Report!A2 =FIRST+1"]);
    std::fs::write(project.path("costs.csv"), "name,n\nbeta,7\n").unwrap();
    let import = ["import", "costs.csv", "--into", "weekly", "--replace", "costs"];
    let replaced = done(&project, &import);
    assert!(
        replaced.stdout.contains("refer to the new sheet now: 1 name, 1 formula"),
        "{replaced:?}"
    );
    let report = done(&project, &["get", "Report!A1:A2"]).stdout;
    assert!(report.contains(" 14 ") && report.contains(" 8 "), "{report}");
    let history = done(&project, &["history", "Report!A1"]).stdout;
    assert!(history.contains("0.3") && !history.contains("0.6"), "{history}");
    let newest = done(&project, &["history", "--limit", "1"]).stdout;
    assert!(newest.contains("replacing sheet `costs`\n"), "{newest}");
    // A second week, and back.
    let again: serde_json::Value =
        serde_json::from_str(&done(&project, &[&["--json"], &import[..]].concat()).stdout).unwrap();
    assert_eq!(
        (&again["followed"]["formulas"], &again["followedIncomplete"]),
        (&1.into(), &false.into())
    );
    run_all(&project, &["undo", "undo"]);
    let report = done(&project, &["get", "Report!A1:A2"]).stdout;
    assert!(report.contains(" 10 ") && report.contains(" 6 "), "{report}");
}
