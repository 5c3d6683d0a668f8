//! `cellar login` and `cellar logout`, and the URL of a spreadsheet.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::journey::{Project, Run};

const FILE: &str = "config/cellar/tokens.json";

/// Runs `cellar login` with a token on standard input.
pub(crate) fn log_in(project: &Project, arguments: &[&str], token: &str) -> Run {
    let mut command = project.command(env!("CARGO_BIN_EXE_test-cellar"));
    command.arg("login").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut login = command.spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = login.stdin.take().unwrap().write_all(token.as_bytes());
    let output = login.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Run { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn token_of(project: &Project, person: &str) -> String {
    let minted = project.synth(&["token", "create", "--local", "--subject", person]);
    assert_eq!(minted.code, 0, "{minted:?}");
    minted.stdout
}

#[test]
fn a_login_is_kept_for_its_stack_until_the_logout() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    let url = project.deploy()["url"].as_str().unwrap().to_owned();
    let alice = Project::new();
    let refused = log_in(&alice, &[&url], "not-a-token");
    assert!(refused.code == 1 && refused.stderr.contains("401"), "{refused:?}");
    assert!(!alice.path(FILE).exists(), "a refused token is not saved");
    let token = token_of(&project, "alice");
    let in_arguments = log_in(&alice, &[&url, "--token", token.trim()], "");
    assert!(in_arguments.code == 64 && !alice.path(FILE).exists(), "{in_arguments:?}");
    assert_eq!(log_in(&alice, &[&url], " \n").code, 64);

    let run = log_in(&alice, &[&url], &token);
    assert_eq!((run.code, run.stdout), (0, format!("logged in to {url} as alice\n")));
    let mode = |name: &str| fs::metadata(alice.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("config/cellar"), mode(FILE)), (0o700, 0o600));
    let created = alice.cellar(&["create", "Budget"]);
    assert_eq!(created.code, 0, "neither URL nor token is passed: {created:?}");
    let profile = fs::read_to_string(alice.path(".cellar/profile.json")).unwrap();
    assert!(!profile.contains(token.trim()), "the token is in one place only: {profile}");
    assert_eq!(alice.cellar(&["set", "A1", "rent"]).code, 0);

    let out = alice.cellar(&["logout"]);
    assert_eq!((out.code, out.stdout), (0, format!("logged out of {url}\n")));
    assert!(!fs::read_to_string(alice.path(FILE)).unwrap().contains(token.trim()));
    let get = alice.cellar(&["get"]);
    assert!(get.code == 1 && get.stderr.contains("cellar login"), "{get:?}");
    let again = alice.cellar(&["logout"]);
    assert!(again.code == 64 && again.stderr.contains("no token is saved"), "{again:?}");
}

#[test]
fn a_url_names_a_spreadsheet_and_its_stack() {
    let project = Project::new();
    let url = project.deploy()["url"].as_str().unwrap().to_owned();
    let created = project.cellar(&["--json", "create", "Budget"]);
    let created: Value = serde_json::from_str(&created.stdout).unwrap();
    let link = created["url"].as_str().unwrap();
    assert_eq!(link, format!("{url}/#/s/{}", created["id"].as_str().unwrap()));
    project.cellar(&["set", "A1", "rent"]);
    project.cellar(&["share", "bob", "--role", "editor"]);

    let bob = Project::new();
    let stranger = bob.cellar(&["get", "-s", link]);
    assert!(stranger.code == 1 && stranger.stderr.contains("401"), "{stranger:?}");
    // The URL of a spreadsheet is also accepted for the login.
    assert_eq!(log_in(&bob, &[link], &token_of(&project, "bob")).code, 0);
    for arguments in [&["get", "-s", link][..], &["use", link], &["get"], &["stats", link]] {
        let run = bob.cellar(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    }
    fs::write(bob.path("more.csv"), "1,2\n").unwrap();
    let imported = bob.cellar(&["import", "more.csv", "--into", link]);
    assert!(imported.code == 0 && imported.stderr.contains(link), "{imported:?}");

    // A token that was passed for one stack is not sent to the URL of a link.
    let careless = Project::new().with_variable("CELLAR_TOKEN", token_of(&project, "ann"));
    let refused = careless.cellar(&["get", "-s", link]);
    assert!(refused.code == 64 && refused.stderr.contains("refused to send"), "{refused:?}");
    let other = project.cellar(&["get", "-s", link, "--url", "http://127.0.0.1:1"]);
    assert!(other.code == 64 && other.stderr.contains("the link belongs to"), "{other:?}");
}

#[test]
fn a_share_link_is_one_url_that_can_be_selected() {
    let project = Project::new();
    project.deploy();
    project.cellar(&["create", "Budget"]);
    project.cellar(&["set", "A1", "open"]);
    let link = project.cellar(&["links", "create", "--role", "editor"]).stdout.trim().to_owned();
    assert!(link.contains("/#/s/") && link.contains("?link="), "{link}");
    let anybody = Project::new();
    let needless = log_in(&anybody, &[&link], "");
    assert!(needless.code == 64 && needless.stderr.contains("cellar use 'LINK'"), "{needless:?}");
    assert_eq!(anybody.cellar(&["use", &link]).code, 0);
    assert!(anybody.cellar(&["get"]).stdout.contains("open"));
    assert_eq!(anybody.cellar(&["set", "A2", "by link"]).code, 0);
    let cut = anybody.cellar(&["get", "-s", link.split_at(link.len() - 3).0]);
    assert!(cut.code == 64 && cut.stderr.contains("copy it in full"), "{cut:?}");
    let not_a_login = log_in(&anybody, &[&link], &{
        let (_, rest) = link.split_once("/#/s/").unwrap();
        let (id, secret) = rest.split_once("?link=").unwrap();
        format!("cellar-link.{id}.{secret}")
    });
    assert!(not_a_login.code == 64 && not_a_login.stderr.contains("share link"), "{not_a_login:?}");
}
