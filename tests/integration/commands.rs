//! The commands as processes: output, errors and exit codes.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use crate::journey::{Project, Run, data};

fn running_url(project: &Project) -> String {
    let status = project.synth(&["--json", "status"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    status["running"]["url"].as_str().unwrap().to_owned()
}

#[test]
fn help_and_usage() {
    let project = Project::new();
    for run in [
        project.synth(&["--help"]),
        project.synth(&["deploy", "--help"]),
        project.synth(&["token", "--help"]),
        project.cellar(&["import", "--help"]),
        project.cellar(&["get", "--help"]),
        project.cellar(&["watch", "--help"]),
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
    fs::write(project.path("cellar.yaml"), "log_retnetion: 7d\n").unwrap();
    let run = project.synth(&["template"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("did you mean `log_retention`"), "{run:?}");
    let json = project.synth(&["--json", "template"]);
    let error: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
    assert_eq!(error["error"]["code"], "synth::config");
}

#[test]
fn a_configuration_that_is_no_text_is_named_and_keeps_no_cloud_running() {
    let project = Project::new();
    project.deploy();
    fs::write(project.path("cellar.yaml"), b"stack: caf\xe9\n").unwrap();
    let run = project.synth(&["template"]);
    assert!(run.code == 1 && run.stderr.contains("is not UTF-8 text"), "{run:?}");
    assert!(run.stderr.contains("save the file as UTF-8"), "{run:?}");
    let named = project.synth(&["--config", "cellar.yaml", "template"]);
    assert!(named.code == 1 && named.stderr.contains("save the file as UTF-8"), "{named:?}");
    let run = project.synth(&["destroy", "--local"]);
    assert!(run.code == 0 && run.stdout.contains("Stopped the local stack"), "{run:?}");
}

#[test]
fn the_key_of_the_local_cloud_is_named_where_it_is_meant() {
    let project = Project::new();
    project.deploy();
    let run = project.synth(&["token", "create", "--subject", "alice"]);
    assert!(run.code == 1 && run.stderr.contains("help: pass `--local`"), "{run:?}");
    // The command of the README.
    let minted = ["token", "create", "--local", "--subject", "alice", "--expires-in", "30d"];
    let minted = project.synth(&minted);
    assert_eq!(minted.code, 0, "{minted:?}");
    let url = running_url(&project);
    let smoke = project.synth(&["smoke", "--url", &url, "--token", minted.stdout.trim()]);
    assert_eq!(smoke.code, 0, "{smoke:?}");
}

#[test]
fn a_key_is_made_once_and_its_tokens_are_for_this_stack() {
    let project = Project::new();
    let no_key = project.synth(&["token", "create"]);
    assert!(no_key.code == 1 && no_key.stderr.contains("create the key with"), "{no_key:?}");
    assert_eq!(project.synth(&["init"]).code, 0);
    assert_eq!(project.synth(&["token", "init"]).code, 0);
    let key = fs::read(project.path(".cellar/token-key.pem")).unwrap();
    let config = fs::read(project.path("cellar.yaml")).unwrap();
    assert_eq!(project.synth(&["token", "init"]).code, 0);
    assert_eq!(fs::read(project.path("cellar.yaml")).unwrap(), config, "listed once");
    assert_eq!(fs::read(project.path(".cellar/token-key.pem")).unwrap(), key);
    let token = project.synth(&[
        "token",
        "create",
        "--subject",
        "alice",
        "--role",
        "viewer",
        "--expires-in",
        "1h",
    ]);
    assert_eq!((token.code, token.stdout.trim().split('.').count()), (0, 3));
    let template = project.synth(&["template"]).stdout;
    assert!(template.contains("public_key"), "the stack accepts the key");
    // A configuration that cannot be edited automatically: the command prints the lines to add,
    // also when it is repeated.
    fs::write(project.path("cellar.yaml"), "tokens: {issuer: me}\n").unwrap();
    for _ in 0..2 {
        let run = project.synth(&["token", "init"]);
        assert!(run.code == 1 && run.stderr.contains("public_key"), "{run:?}");
    }
    fs::remove_file(project.path("cellar.yaml")).unwrap();
    assert_eq!(project.synth(&["token", "create", "--role", "king"]).code, 64);
    let id = "00000000-0000-4000-8000-000000000000";
    assert_eq!(project.synth(&["token", "create", "--all", "--spreadsheet", id]).code, 64);
    let json = project.synth(&["--json", "nonsense"]);
    let error: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
    assert!(json.code == 64 && error["error"]["message"].is_string(), "{json:?}");
    assert_eq!(project.synth(&["token", "create", "--expires-in", "9y"]).code, 64);
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
    assert!(
        status.code == 0 && status.stdout.contains("No local stack is deployed here"),
        "{status:?}"
    );
    let destroy = project.synth(&["destroy", "--local"]);
    assert!(
        destroy.code == 0 && destroy.stdout.contains("No local stack was running"),
        "{destroy:?}"
    );
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
    assert!(run.code == 1 && run.stderr.contains("the file is missing"), "{run:?}");
    fs::write(project.path(".cellar/profile.json"), "{").unwrap();
    let run = project.cellar(&["get"]);
    assert!(run.code == 1 && run.stderr.contains("profile.json"), "{run:?}");
}

/// Removes the journals, from which SQLite would repair its file.
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
    let id = project.cellar(&["create"]).stdout.trim().to_owned();
    let run = project.cellar(&["import", "many.csv", "--into", &id, "--sheet", "Sheet1"]);
    assert!(run.code == 1 && run.stderr.contains("100,000 cells"), "{run:?}");
    assert!(run.stderr.contains("import the file as a new sheet"), "{run:?}");
    let run = project.cellar(&["import", "--ragged", "pad", "ragged.csv"]);
    assert_eq!(run.code, 0, "{run:?}");
    // Nothing of the refused files was stored: the accepted file is still current.
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
    assert_eq!(again.code, 0, "a second deployment finds the running cloud: {again:?}");
}

#[test]
fn an_emptied_database_is_not_taken_for_a_new_one() {
    let project = Project::new();
    project.deploy();
    project.kill();
    let path = project.path(".cellar/local/dynamodb.sqlite");
    remove_journals(&path);
    fs::write(&path, "").unwrap();
    let run = project.try_deploy();
    assert!(run.code == 1 && run.stderr.contains("the file is empty"), "{run:?}");
}

#[test]
fn another_stack_port_or_template_is_not_mistaken_for_what_runs() {
    let project = Project::new();
    let url = project.deploy()["url"].as_str().unwrap().to_owned();
    let refused = |arguments: &[&str], what: &str, advice: &str| {
        let run = project.synth(arguments);
        assert!(run.code == 1 && run.stderr.contains(what), "{what}: {run:?}");
        assert!(run.stderr.contains(advice), "{run:?}");
    };
    let stop = "`synth stop`";
    refused(&["deploy", "--local", "--detach", "--port", "1"], "another port", stop);
    fs::write(project.path("cellar.yaml"), "log_retention: 7d\n").unwrap();
    refused(&["deploy", "--local", "--detach"], "another template", stop);
    fs::write(project.path("cellar.yaml"), "stack: books\n").unwrap();
    refused(&["deploy", "--local", "--detach"], "another stack", stop);
    // An invalid configuration does not prevent stopping the cloud.
    fs::write(project.path("cellar.yaml"), "stak: books\n").unwrap();
    let status = project.synth(&["status"]);
    assert!(status.code == 0 && status.stdout.contains(&url), "{status:?}");
    let destroyed = project.synth(&["destroy", "--local"]);
    assert!(destroyed.code == 0 && destroyed.stdout.contains(&url), "{destroyed:?}");
    fs::write(project.path("cellar.yaml"), "stack: books\n").unwrap();
    let delete = "`synth destroy --local --delete-data`";
    refused(&["deploy", "--local", "--detach"], "belongs to the stack `cellar`", delete);
}

#[test]
fn stop_ends_the_local_cloud_and_the_next_deployment_finds_the_data() {
    let project = Project::new();
    let nothing = project.synth(&["stop"]);
    assert!(nothing.code == 0 && nothing.stdout.trim() == "No local stack was running.");
    let first = project.deploy();
    assert_eq!(first["has_spreadsheet"], false, "{first}");
    let url = first["url"].as_str().unwrap().to_owned();
    assert_eq!(project.cellar(&["create", "Budget"]).code, 0);
    assert_eq!(project.cellar(&["set", "A1", "rent"]).code, 0);
    let stopped = project.synth(&["--json", "stop"]);
    let stopped: serde_json::Value = serde_json::from_str(&stopped.stdout).unwrap();
    assert_eq!(stopped["stopped"]["url"].as_str().unwrap().trim_end_matches('/'), url);
    assert!(stopped["state"].as_str().unwrap().ends_with(".cellar/local"), "{stopped}");
    let status = project.synth(&["status"]);
    assert!(status.stdout.contains("is not running"), "{status:?}");
    let again = project.synth(&["stop"]);
    assert!(again.code == 0 && again.stdout.contains("Its data is kept in"), "{again:?}");
    let restarted = project.synth(&["deploy", "--local", "--detach", "--port", "0"]);
    let next_steps = restarted.stdout.split_once("Next steps in a terminal:").unwrap().1;
    assert!(next_steps.contains("-- list") && !next_steps.contains("-- import"), "{restarted:?}");
    // The link that opens the page is the first thing that is printed.
    let link = restarted.stdout.trim().lines().nth(1).unwrap().trim();
    let token = link.split_once("/#token=").unwrap().1;
    assert!(link.starts_with("http://127.0.0.1:") && token.starts_with("eyJ"), "{restarted:?}");
    let status = project.synth(&["status"]);
    assert_eq!(status.stdout.trim().lines().nth(1).unwrap().trim(), link);
    let status = project.synth(&["--json", "status"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["link"], link);
    let read = project.cellar(&["get"]);
    assert!(read.code == 0 && read.stdout.contains("rent"), "{read:?}");
    assert!(project.synth(&["stop"]).stdout.contains("Stopped the local stack at"));
}

#[test]
fn deleting_the_data_also_deletes_what_the_client_keeps_of_it() {
    let project = Project::new();
    let token = project.deploy()["token"].as_str().unwrap().to_owned();
    assert_eq!(project.cellar(&["import", data("airports.csv").to_str().unwrap()]).code, 0);
    assert_eq!(project.cellar(&["get", "--range", "A1:D4"]).code, 0);
    assert_eq!(project.cellar(&["set", "A1", "code"]).code, 0);
    let key = project.path(".cellar/token-key.pem");
    fs::write(&key, "key of a stack in AWS").unwrap();
    let kept = files_below(&project.path(".cellar"));
    let holds = |files: &[(PathBuf, Vec<u8>)], text: &str| {
        files.iter().any(|(_, bytes)| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
    };
    assert!(holds(&kept, &token) && kept.iter().any(|(path, _)| path.starts_with("chunks")));
    let asked = project.synth(&["destroy", "--local", "--delete-data"]);
    assert_eq!(asked.code, 1, "without --yes and a terminal, nothing is deleted: {asked:?}");
    assert_eq!(files_below(&project.path(".cellar")).len(), kept.len());
    let deleted = project.synth(&["--json", "destroy", "--local", "--delete-data", "--yes"]);
    let deleted: serde_json::Value = serde_json::from_str(&deleted.stdout).unwrap();
    assert_eq!((&deleted["deleted"], deleted["lost_edits"].as_u64()), (&true.into(), Some(0)));
    let names: Vec<PathBuf> =
        files_below(&project.path(".cellar")).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [PathBuf::from(".gitignore"), PathBuf::from("token-key.pem")]);
    let run = project.cellar(&["get"]);
    assert!(run.code == 1 && run.stderr.contains("no API URL is configured"), "{run:?}");
    assert!(!project.path(".cellar/imports").exists() && !project.path(".cellar/live").exists());
    let again = project.synth(&["destroy", "--local", "--delete-data", "--yes"]);
    assert!(again.code == 0 && again.stdout.contains("No local stack was running"), "{again:?}");
}

/// Returns the paths of all files below a folder, relative to it, and their contents.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap().to_owned();
                files.push((relative, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_record_that_is_wrong_kills_nobody_and_deletes_nothing() {
    let project = Project::new();
    project.deploy();
    let record = project.path(".cellar/local/running.json");
    let whole = fs::read_to_string(&record).unwrap();
    // An unrelated process, as if the process id had been reused.
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut wrong: serde_json::Value = serde_json::from_str(&whole).unwrap();
    wrong["pid"] = bystander.id().into();
    fs::write(&record, wrong.to_string()).unwrap();
    assert_eq!(project.synth(&["destroy", "--local"]).code, 0);
    assert!(bystander.try_wait().unwrap().is_none(), "an unrelated process was killed");
    bystander.kill().unwrap();
    bystander.wait().unwrap();

    // A locked folder whose owner is unknown: nothing is deleted.
    project.deploy();
    fs::write(&record, "garbage").unwrap();
    let lock = fs::File::open(project.path(".cellar/local/lock")).unwrap();
    let run = project.synth(&["status"]);
    assert!(run.stdout.contains("is starting or stopping"), "{run:?}");
    fs::write(&record, whole.replace("\"pid\"", "\"pid\" ")).unwrap();
    drop(lock);
    assert_eq!(project.synth(&["destroy", "--local", "--delete-data", "--yes"]).code, 0);
    assert!(!project.path(".cellar/local").exists());
}

#[test]
fn two_deployments_at_once_make_one_cloud() {
    let project = Project::new();
    for _ in 0..3 {
        let runs = std::thread::scope(|scope| {
            let one = scope.spawn(|| project.try_deploy());
            let two = scope.spawn(|| project.try_deploy());
            [one.join().unwrap(), two.join().unwrap()]
        });
        let url = running_url(&project);
        assert!(runs.iter().any(|run| run.code == 0), "{runs:?}");
        for run in runs.iter().filter(|run| run.code == 0) {
            assert!(run.stdout.contains(&url), "{url}: {run:?}");
        }
        assert_eq!(project.synth(&["destroy", "--local"]).code, 0);
    }
}

#[test]
fn a_smoke_test_that_checks_nothing_fails_and_tokens_stay_at_home() {
    let project = Project::new();
    project.deploy();
    assert_eq!(project.synth(&["smoke"]).code, 0);
    for arguments in [
        ["smoke", "--url", "notaurl", "--token", "x"],
        ["smoke", "--url", "http://127.0.0.1:1", "--token", "a b"],
    ] {
        let run = project.synth(&arguments);
        assert!(run.code == 1 && run.stdout.contains("FAILED"), "{run:?}");
    }
    // The profile's token is only for the profile's cloud, so no token is sent.
    let run = project.synth(&["smoke", "--url", "http://127.0.0.1:1"]);
    assert!(run.code == 1 && run.stderr.contains("--token"), "{run:?}");
    assert!(run.stderr.contains("no token is configured for http://127.0.0.1:1"), "{run:?}");
}

#[test]
fn a_smoke_test_checks_who_gets_in_however_the_url_is_written() {
    let project = Project::new();
    project.deploy();
    let checks = |arguments: &[&str]| {
        let run = project.synth(&[&["--json", "smoke"], arguments].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().filter(|check| check["outcome"] == "passed").count()
    };
    let url = running_url(&project);
    let all = checks(&[]);
    for url in [&url, &format!("{url}/")] {
        assert_eq!(checks(&["--url", url]), all, "{url}");
    }
}

#[test]
fn a_profile_that_cannot_be_read_is_moved_aside() {
    let project = Project::new();
    fs::create_dir(project.path(".cellar")).unwrap();
    fs::write(project.path(".cellar/profile.json"), "{").unwrap();
    project.deploy();
    assert_eq!(project.cellar(&["create"]).code, 0);
    let aside = fs::read_to_string(project.path(".cellar/profile.json.unreadable")).unwrap();
    assert_eq!(aside, "{");
}

#[test]
fn state_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.deploy();
    for name in [".cellar", ".cellar/local"] {
        let mode = fs::metadata(project.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[test]
fn what_is_behind_a_link_is_not_deleted_nor_said_to_be() {
    let project = Project::new();
    let elsewhere = project.path("elsewhere");
    fs::create_dir_all(project.path(".cellar")).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("dynamodb.sqlite"), "data").unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.path(".cellar/local")).unwrap();
    let refused = project.synth(&["destroy", "--local", "--delete-data", "--yes"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("is a link to"), "{refused:?}");
    assert!(!refused.stdout.contains("Deleted"), "{refused:?}");
    assert_eq!(fs::read_to_string(elsewhere.join("dynamodb.sqlite")).unwrap(), "data");
    assert!(project.path(".cellar/local").is_symlink());
}
