//! The commands as processes: what they print, how they fail, their exit codes.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::journey::{Project, Run};

#[test]
fn help_and_usage() {
    let project = Project::new();
    for run in [
        project.synth(&["--help"]),
        project.synth(&["deploy", "--help"]),
        project.synth(&["token", "--help"]),
        project.cellar(&["import", "--help"]),
        project.cellar(&["get", "--help"]),
    ] {
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("Examples:") && run.stderr.is_empty(), "{run:?}");
    }
    for run in [
        project.synth(&["deploy", "--nonsense"]),
        project.synth(&[]),
        project.synth(&["deploy", "--port", "1"]),
        project.cellar(&["get", "--nonsense"]),
    ] {
        assert_eq!(run.code, 64, "{run:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty());
    }
}

#[test]
fn the_template_is_the_same_in_json_and_yaml() {
    let project = Project::new();
    let json = project.synth(&["template"]);
    let yaml = project.synth(&["template", "--format", "yaml"]);
    assert_eq!((json.code, yaml.code), (0, 0));
    let from_json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let from_yaml: serde_json::Value = serde_yaml::from_str(&yaml.stdout).unwrap();
    assert_eq!(from_json, from_yaml);
    assert_eq!(json.stdout, project.synth(&["template"]).stdout);
}

#[test]
fn a_configuration_with_a_slip_is_refused_with_a_suggestion() {
    let project = Project::new();
    fs::write(project.path("cellar.yaml"), "log_retention_dyas: 7\n").unwrap();
    let run = project.synth(&["template"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("did you mean `log_retention_days`"), "{run:?}");
    let json = project.synth(&["--json", "template"]);
    let error: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
    assert_eq!(error["error"]["code"], "synth::config");
}

#[test]
fn a_key_is_made_once_and_its_tokens_are_for_this_stack() {
    let project = Project::new();
    assert_eq!(project.synth(&["token"]).code, 1, "there is no key yet");
    assert_eq!(project.synth(&["init"]).code, 0);
    assert_eq!(project.synth(&["token", "init"]).code, 0);
    let key = fs::read(project.path(".cellar/token-key.pem")).unwrap();
    assert_eq!(project.synth(&["token", "init"]).code, 1, "a key is not replaced");
    assert_eq!(fs::read(project.path(".cellar/token-key.pem")).unwrap(), key);
    let token = project.synth(&["token", "--sub", "alice", "--role", "viewer", "--expires", "1h"]);
    assert_eq!((token.code, token.stdout.trim().split('.').count()), (0, 3));
    let template = project.synth(&["template"]).stdout;
    assert!(template.contains("public_key"), "the stack accepts the key");
    assert_eq!(project.synth(&["token", "--role", "king"]).code, 64);
    assert_eq!(project.synth(&["token", "--expires", "9y"]).code, 64);
}

#[test]
fn a_port_in_use_is_named() {
    let project = Project::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for more in [vec![], vec!["--detach"]] {
        let arguments = [vec!["deploy", "--local", "--port", &port], more].concat();
        let run = project.synth(&arguments);
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains(&format!("port {port}")), "{run:?}");
        assert!(run.stderr.contains("--port"), "{run:?}");
    }
}

#[test]
fn without_a_cloud_the_next_command_is_named() {
    let project = Project::new();
    for run in [project.cellar(&["get"]), project.cellar(&["import", "x.csv"])] {
        assert_eq!(run.code, 1);
        assert!(!run.stderr.is_empty(), "{run:?}");
    }
    let run = project.cellar(&["get"]);
    assert!(run.stderr.contains("deploy --local"), "{run:?}");
    let run = project.synth(&["smoke"]);
    assert!(run.code == 1 && run.stderr.contains("deploy --local"), "{run:?}");
    let status = project.synth(&["status"]);
    assert!(status.code == 0 && status.stdout.contains("Nothing is deployed here"), "{status:?}");
    let destroy = project.synth(&["destroy", "--local"]);
    assert!(destroy.code == 0 && destroy.stdout.contains("No local cloud"), "{destroy:?}");
}

#[test]
fn a_damaged_state_folder_is_named_and_left_as_it_is() {
    for (file, damage) in [
        ("cloud.json", "{"),
        ("dynamodb.sqlite", "this is no database, and long enough to be looked at as one"),
        ("token-key.pem", "no key"),
    ] {
        let project = Project::new();
        project.deploy();
        project.kill();
        let path = project.path(&format!(".cellar/local/{file}"));
        remove_journals(&path);
        fs::write(&path, damage).unwrap();
        let run = project.try_deploy();
        assert_eq!(run.code, 1, "{file}: {run:?}");
        let named = run.stderr.contains(file) || run.stderr.contains("private key");
        assert!(named, "{file}: {run:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damage);
    }
    let project = Project::new();
    project.deploy();
    project.kill();
    fs::remove_file(project.path(".cellar/local/dynamodb.sqlite")).unwrap();
    let run = project.try_deploy();
    assert!(run.code == 1 && run.stderr.contains("is gone"), "{run:?}");
    fs::write(project.path(".cellar/profile.json"), "{").unwrap();
    let run = project.cellar(&["get"]);
    assert!(run.code == 1 && run.stderr.contains("profile.json"), "{run:?}");
}

/// SQLite would repair its file from these.
fn remove_journals(path: &Path) {
    for suffix in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
}

#[test]
fn files_that_cannot_be_imported() {
    let project = Project::new();
    project.deploy();
    for (name, content, expected) in [
        ("latin1.csv", b"a,b\nM\xfcnchen,1\n".as_slice(), "UTF-8"),
        ("ragged.csv", b"a,b\n1,2\n3\n", "line 3"),
        ("empty.csv", b"", "empty"),
        ("quote.csv", b"a,b\n\"1,2\n3,4\n", "quote"),
    ] {
        fs::write(project.path(name), content).unwrap();
        let run = project.cellar(&["import", name]);
        assert_eq!(run.code, 1, "{name}: {run:?}");
        assert!(run.stderr.contains(expected), "{name}: {run:?}");
    }
    let run = project.cellar(&["import", "no-such-file.csv"]);
    assert!(run.code == 1 && run.stderr.contains("no-such-file.csv"), "{run:?}");
    let many = "x\n".repeat(100_001);
    fs::write(project.path("many.csv"), many).unwrap();
    let run = project.cellar(&["import", "many.csv"]);
    assert!(run.code == 1 && run.stderr.contains("100"), "{run:?}");
    let run = project.cellar(&["import", "--ragged", "pad", "ragged.csv"]);
    assert_eq!(run.code, 0, "{run:?}");
    // Nothing of the files that were refused was stored: the one that was accepted is current.
    let exported = project.cellar(&["export", "-"]);
    assert_eq!(exported.stdout, "a,b\n1,2\n3,\n");
}

#[test]
fn a_wrong_token_or_spreadsheet_is_explained() {
    let project = Project::new();
    project.deploy();
    let run = project.cellar(&["create"]);
    assert_eq!(run.code, 0, "{run:?}");
    let bad = |run: Run, expected: &str| {
        assert!(run.code == 1 && run.stderr.contains(expected), "{expected}: {run:?}");
    };
    bad(project.cellar(&["--token", "x.y.z", "get"]), "token");
    let unknown = "00000000-0000-4000-8000-000000000000";
    bad(project.cellar(&["-s", unknown, "get"]), "404");
    bad(project.cellar(&["get", "--range", "A1:BDWGN1000000"]), "cells");
    bad(project.cellar(&["get", "--range", "Other!A1"]), "Other");
    bad(project.cellar(&["get", "--at", "0.99"]), "0.99");
    bad(
        project.cellar(&["--url", "http://127.0.0.1:1", "--token", "x.y.z", "health"]),
        "127.0.0.1:1",
    );
    let again = project.try_deploy();
    assert_eq!(again.code, 0, "deploying again finds what runs: {again:?}");
}
