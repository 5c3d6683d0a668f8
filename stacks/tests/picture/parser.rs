//! Pictures as the parser of Mermaid reads them. Ignored by default, because the parser is installed
//! from npm; `.ci/run` runs this test.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cellar_peer::node::{Files, install};
use cellar_stacks::Config;
use cellar_stacks::picture::draw_stack;
use serde_json::{Value, json};

use super::bounds::hostile_document;
use super::drawing::Drawing;
use super::{picture, picture_of_changes, template, variants};

const PACKAGE: Files<'static> = &[
    ("package.json", include_str!("mermaid/package.json")),
    ("parse.mjs", include_str!("mermaid/parse.mjs")),
];
const LOCK_FILE: &str = include_str!("mermaid/package-lock.json");

/// Runs the parser once for all pictures.
fn parse(folder: &Path, pictures: &[String]) -> Vec<Value> {
    let mut command = Command::new("node");
    command.arg("parse.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut parser = command.spawn().unwrap();
    let input = json!(pictures).to_string();
    parser.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = parser.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns what our own reader finds, in the form that `parse.mjs` prints.
fn read(picture: &str) -> Value {
    let drawing = Drawing::read(picture);
    let sorted = |names: &Vec<String>| {
        let mut names = names.clone();
        names.sort();
        names
    };
    let groups: BTreeMap<&String, Vec<String>> =
        drawing.groups.iter().map(|(title, names)| (title, sorted(names))).collect();
    let mut coloured_arrows = drawing.coloured_arrows.clone();
    coloured_arrows.sort_unstable();
    json!({
        "nodes": drawing.nodes,
        "classes": drawing.classes,
        "groups": groups,
        "arrows": drawing.arrows,
        "colouredArrows": coloured_arrows,
    })
}

#[test]
#[ignore = "installs the parser of Mermaid from npm"]
fn mermaid_reads_every_picture_as_it_was_drawn() {
    let mut pictures = vec![draw_stack(&hostile_document()).unwrap()];
    let default = template(&Config::default());
    for (_, config) in variants() {
        let variant = template(&config);
        pictures.push(picture(&config));
        pictures.push(picture_of_changes(&default, &variant));
        pictures.push(picture_of_changes(&variant, &default));
    }
    let without_resources = json!({"Resources": {}});
    pictures.push(picture_of_changes(&default, &without_resources));
    // The parser must be able to reject a picture.
    let broken = pictures[1].replacen("[(\"", "[(", 1);
    pictures.push(broken);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mermaid");
    install(&folder, PACKAGE, LOCK_FILE);
    let mut parsed = parse(&folder, &pictures);
    let rejection = parsed.pop().unwrap();
    assert!(rejection["error"].as_str().unwrap().contains("Parse error"), "{rejection}");
    pictures.pop();
    assert_eq!(parsed.len(), pictures.len());
    for (picture, mut found) in pictures.iter().zip(parsed) {
        let found_map = found.as_object_mut().unwrap();
        // Mermaid lists groups in the order in which they end.
        let groups = found_map.remove("groups").unwrap();
        let groups: BTreeMap<String, Vec<String>> =
            serde_json::from_value::<Vec<(String, Vec<String>)>>(groups)
                .unwrap()
                .into_iter()
                .collect();
        found_map.insert("groups".to_owned(), json!(groups));
        // Each class that a box has is defined.
        let styles = found_map.remove("styles").unwrap();
        let styles = styles.as_array().unwrap();
        let classes = found["classes"].as_object().unwrap();
        assert!(classes.values().all(|class| styles.contains(class)), "{found}\n{picture}");
        assert_eq!(found, read(picture), "{picture}");
    }
}
