//! A long text whose object is lost: an owner finds and repairs it.

use cellar_base::identity::LogId;
use cellar_engine::ports::{BlobKey, Blobs as _};
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;
use serde_json::Value;

use crate::journey::{Project, Run};
use crate::reprocess::World;

fn done(project: &Project, arguments: &[&str]) -> Run {
    let run = project.cellar(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

fn repair(project: &Project, id: &str, options: &[&str]) -> Value {
    let command = ["--json", "reprocess", "--local", "--cells", "--spreadsheet", id];
    let run = project.synth(&[&command, options].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// Exports the sheet as csv.
fn exported(project: &Project) -> String {
    done(project, &["export", "-"]).stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sheet_with_a_lost_text_is_read_edited_exported_and_repaired() {
    let project = Project::new();
    tokio::task::block_in_place(|| project.deploy());
    let (lost, kept) = ("lost ".repeat(2_000), "kept ".repeat(2_000));
    let file = format!("name,text\none,{lost}\ntwo,{kept}\n");
    std::fs::write(project.path("texts.csv"), &file).unwrap();
    let imported = done(&project, &["import", "texts.csv", "--json"]);
    let imported: Value = serde_json::from_str(&imported.stdout).unwrap();
    let id = imported["spreadsheet"].as_str().unwrap().to_owned();
    let log: LogId = id.parse().unwrap();
    let key = BlobKey::new(chunk_key(log, ChunkHash::of(lost.as_bytes()))).unwrap();
    let blobs = World::of(&project).blobs;
    assert!(blobs.head(&key).await.unwrap().is_some());
    blobs.delete(&key).await.unwrap();

    tokio::task::block_in_place(|| {
        let shown = file.replace(&lost, "#LOST!");
        assert_eq!(exported(&project), shown);
        assert!(done(&project, &["get", "--range", "A1:B3"]).stdout.contains("#LOST!"));
        done(&project, &["export", "all.xlsx"]);
        done(&project, &["rows", "delete", "2"]);
        let difference = project.cellar(&["diff", "0.1", "0.2"]);
        assert!(difference.stdout.contains("B2 before: #LOST! -> deleted"), "{difference:?}");
        assert!(!exported(&project).contains("#LOST!"));
        // An undo writes the error as a value, which hides the loss. So check the lost cells first.
        done(&project, &["undo"]);
        assert_eq!(exported(&project), shown);
        assert_eq!(repair(&project, &id, &["--dry-run"])["cells"], Value::Array(Vec::new()));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_names_a_lost_text_and_replaces_it_once() {
    let project = Project::new();
    tokio::task::block_in_place(|| project.deploy());
    let lost = "lost ".repeat(2_000);
    std::fs::write(project.path("texts.csv"), format!("name,text\none,{lost}\n")).unwrap();
    let imported = done(&project, &["import", "texts.csv", "--json"]);
    let imported: Value = serde_json::from_str(&imported.stdout).unwrap();
    let id = imported["spreadsheet"].as_str().unwrap().to_owned();
    let key = chunk_key(id.parse().unwrap(), ChunkHash::of(lost.as_bytes()));
    let nothing = tokio::task::block_in_place(|| {
        let whole = project.synth(&["reprocess", "--local", "--cells", "--spreadsheet", &id]);
        assert_eq!(whole.stdout, "Every text of the spreadsheet can be read.\n", "{whole:?}");
        repair(&project, &id, &["--dry-run"])
    });
    assert_eq!(nothing["cells"], Value::Array(Vec::new()));
    World::of(&project).blobs.delete(&BlobKey::new(&key).unwrap()).await.unwrap();

    tokio::task::block_in_place(|| {
        let named =
            project.synth(&["reprocess", "--local", "--cells", "--spreadsheet", &id, "--dry-run"]);
        for part in ["B2", "texts", "lost lost", &key, "is missing", "--rebuild", "1 cell lost"] {
            assert!(named.stdout.contains(part), "{part}: {named:?}");
        }
        let replaced = repair(&project, &id, &[]);
        assert_eq!(replaced["cells"].as_array().unwrap().len(), 1, "{replaced}");
        assert_eq!(replaced["positions"].as_array().unwrap().len(), 1, "{replaced}");
        let again = repair(&project, &id, &[]);
        assert_eq!(again["positions"], Value::Array(Vec::new()));
        assert!(exported(&project).ends_with("one,#LOST!\n"));
        assert!(done(&project, &["history"]).stdout.contains("synth reprocess"));
        done(&project, &["set", "B2", "written again"]);
        assert!(exported(&project).ends_with("one,written again\n"));
        let missing = project.synth(&["reprocess", "--local", "--cells"]);
        assert!(missing.code == 64 && missing.stderr.contains("--spreadsheet"), "{missing:?}");
    });
}
