//! The catalog commands of users who share a spreadsheet, on a real cloud.

use serde_json::Value;

use crate::journey::{Project, Run};

/// A person with their own folder and token.
pub(crate) struct Person(Project);

impl Person {
    pub(crate) fn of(project: &Project, name: &str) -> Self {
        let minted = project.synth(&["token", "create", "--local", "--subject", name]);
        assert_eq!(minted.code, 0, "{minted:?}");
        Self::with(project, minted.stdout.trim())
    }

    /// Creates a person with this token.
    pub(crate) fn with(project: &Project, token: &str) -> Self {
        let profile = std::fs::read_to_string(project.path(".cellar/profile.json")).unwrap();
        let profile: Value = serde_json::from_str(&profile).unwrap();
        let person = Project::new()
            .with_variable("CELLAR_URL", profile["url"].as_str().unwrap().to_owned())
            .with_variable("CELLAR_TOKEN", token.to_owned());
        std::fs::create_dir(person.path(".cellar")).unwrap();
        Self(person)
    }

    pub(crate) fn does(&self, arguments: &[&str]) -> Run {
        let run = self.0.cellar(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run
    }

    pub(crate) fn tries(&self, arguments: &[&str]) -> Run {
        self.0.cellar(arguments)
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.does(&[arguments, &["--json"]].concat()).stdout).unwrap()
    }

    /// Checks that a command is refused with this reason and this help.
    pub(crate) fn may_not(&self, arguments: &[&str], why: &str, help: &str) {
        let run = self.0.cellar(arguments);
        assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(why) && run.stderr.contains(help), "{arguments:?}: {run:?}");
    }
}

#[test]
fn people_share_a_spreadsheet_and_take_that_back() {
    let project = Project::new();
    project.deploy();
    let [alice, bob, mallory] = ["alice", "bob", "mallory"].map(|name| Person::of(&project, name));
    let id = alice.does(&["create", "--name", "Budget"]).stdout.trim().to_owned();
    alice.does(&["set", "A1", "rent"]);
    let run =
        |person: &Person, arguments: &[&str]| person.does(&[arguments, &["-s", &id]].concat());
    bob.may_not(&["get", "-s", &id], "Not found (404)", "to which you have access");
    let shared = alice.does(&["share", "bob"]);
    assert_eq!(shared.stdout, "bob has the role viewer\n");
    assert!(run(&bob, &["get"]).stdout.contains("rent"));
    bob.may_not(&["set", "A2", "no", "-s", &id], "role viewer cannot write", "cellar details");
    alice.does(&["share", "bob", "--role", "editor"]);
    run(&bob, &["set", "A2", "hers"]);
    assert_eq!(run(&bob, &["rename", "Plan"]).stdout, "renamed to Plan\n");
    let told = alice.does(&["details"]).stdout;
    assert!(told.starts_with("Plan\n") && told.contains("bob     editor"), "{told}");
    mallory.may_not(&["details", "-s", &id], "Not found (404)", "to which you have access");
    let changes = alice.does(&["details", "--changes"]).stdout;
    assert!(changes.contains("bob     renamed the spreadsheet to Plan\n"), "{changes}");
    assert!(changes.contains("alice   shared the spreadsheet with bob: editor\n"), "{changes}");
    alice.may_not(&["unshare", "alice"], "the last owner", "cellar details");
    assert_eq!(alice.does(&["unshare", "bob"]).stdout, "revoked the access of bob\n");
    bob.may_not(&["get", "-s", &id], "Not found (404)", "to which you have access");
    assert!(alice.does(&["history"]).stdout.contains("bob"), "the history keeps his changes");
}

/// Returns the bearer token of a link such as `http://127.0.0.1:8480/#/s/ID?link=SECRET`.
fn token_of(link: &str) -> String {
    let (_, id_and_secret) = link.split_once("/#/s/").unwrap();
    let (id, secret) = id_and_secret.split_once("?link=").unwrap();
    format!("cellar-link.{id}.{secret}")
}

#[test]
fn whoever_has_a_link_needs_nothing_else() {
    let project = Project::new();
    project.deploy();
    let alice = Person::of(&project, "alice");
    alice.does(&["create"]);
    alice.does(&["set", "A1", "open"]);
    let read = alice.does(&["links", "create", "--expires-in", "1d", "--label", "press"]);
    let edit = alice.json(&["links", "create", "--role", "editor"]);
    let link = read.stdout.trim();
    let anybody = Project::new();
    let opened = anybody.cellar(&["get", "-s", link]);
    assert!(opened.code == 0 && opened.stdout.contains("open"), "the URL suffices: {opened:?}");
    let reader = Person::with(&project, &token_of(link));
    let editor = Person::with(&project, edit["token"].as_str().unwrap());
    assert!(reader.does(&["get"]).stdout.contains("open"));
    reader.may_not(&["set", "A2", "no"], "role viewer cannot write", "cellar details");
    editor.does(&["set", "A2", "by link"]);
    editor.does(&["undo"]);
    let id = edit["id"].as_str().unwrap();
    assert!(alice.does(&["history"]).stdout.contains(&format!("link {id}")));
    let listed = alice.does(&["links"]).stdout;
    assert!(listed.contains("press") && listed.contains("until ") && listed.contains("no expiry"));
    reader.may_not(&["links"], "only owners", "cellar details");
    alice.does(&["links", "revoke", id]);
    editor.may_not(&["get"], "has expired or was revoked", "cellar links create");
    let cut = edit["token"].as_str().unwrap().trim_end_matches(|it| it != '.');
    let run = Person::with(&project, cut).0.cellar(&["get"]);
    assert!(run.code == 64 && run.stderr.contains("copy"), "{run:?}");
    assert!(reader.does(&["get"]).stdout.contains("open"));
}

#[test]
fn what_is_archived_or_deleted_comes_back() {
    let project = Project::new();
    project.deploy();
    let alice = Person::of(&project, "alice");
    std::fs::write(alice.0.path("Costs 2026.csv"), "a,b\n1,2\n").unwrap();
    alice.does(&["import", "Costs 2026.csv"]);
    assert!(alice.does(&["details"]).stdout.starts_with("Costs 2026\n"), "named after its file");
    alice.does(&["archive"]);
    alice.may_not(&["set", "A1", "x"], "archived", "cellar unarchive");
    assert!(alice.does(&["get"]).stdout.contains('2'));
    alice.does(&["unarchive"]);
    alice.does(&["set", "A1", "x"]);
    let deleted = alice.does(&["delete"]);
    assert!(deleted.stdout.contains("owners can undelete it until 20"), "{deleted:?}");
    alice.may_not(&["get"], "deleted", "cellar undelete");
    assert_eq!(alice.json(&["details"])["status"], "deleted");
    alice.does(&["undelete"]);
    assert!(alice.does(&["get"]).stdout.contains('x'));
    alice.does(&["fork", "--name", "What if"]);
    assert!(alice.does(&["details"]).stdout.starts_with("What if\n"));
}

#[test]
fn bad_names_people_and_links_are_refused_before_anything_is_sent() {
    let project = Project::new();
    let long = "x".repeat(257);
    for arguments in [
        &["rename", &long][..],
        &["rename", " "],
        &["create", "--name", "a\nb"],
        &["share", "bob", "--role", "admin"],
        &["links", "create", "--role", "owner"],
        &["links", "create", "--expires-in", "0s"],
        &["links", "revoke", "none"],
    ] {
        let run = project.cellar(arguments);
        assert_eq!(run.code, 64, "{arguments:?}: {run:?}");
    }
}
