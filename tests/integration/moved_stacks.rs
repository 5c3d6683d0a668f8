//! A folder whose profile names the URL of an earlier stack.

use std::fs;

use crate::journey::Project;
use crate::login_commands::log_in;

/// An address where nothing listens.
const GONE: &str = "http://127.0.0.1:9";

fn profile_of(project: &Project) -> serde_json::Value {
    serde_json::from_slice(&fs::read(project.path(".cellar/profile.json")).unwrap()).unwrap()
}

fn save_profile(project: &Project, profile: &serde_json::Value) {
    fs::create_dir_all(project.path(".cellar")).unwrap();
    fs::write(project.path(".cellar/profile.json"), profile.to_string()).unwrap();
}

#[test]
fn a_folder_moves_to_another_stack_if_nothing_is_lost() {
    let stack = Project::new();
    let url = stack.deploy()["url"].as_str().unwrap().to_owned();
    let id = stack.cellar(&["create", "Budget"]).stdout.trim().to_owned();
    let token = profile_of(&stack)["token"].as_str().unwrap().to_owned();

    let alice = Project::new();
    save_profile(&alice, &serde_json::json!({ "url": GONE, "token": "only-here" }));
    let login = log_in(&alice, &[&url], &token);
    assert!(login.stderr.contains(&format!("cellar use --url {url} NAME")), "{login:?}");
    let refused = alice.cellar(&["use", "--url", &url, "Budget"]);
    assert_eq!(refused.code, 64, "{refused:?}");
    for part in ["kept only in", "profile.json", &format!("cellar login {GONE}"), "delete the file"]
    {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    assert_eq!(profile_of(&alice)["url"], GONE);

    save_profile(&alice, &serde_json::json!({ "url": GONE, "spreadsheet": id }));
    let kept = alice.cellar(&["set", "A1", "unsent", "--token", &token, "--url", GONE]);
    assert_eq!(kept.code, 1, "{kept:?}");
    let used = alice.cellar(&["use", "--url", &url, "Budget"]);
    assert_eq!(used.code, 0, "an edit that was certainly not sent is not kept: {used:?}");
    assert!(used.stderr.contains(&format!("no longer use {GONE}")), "{used:?}");
    assert_eq!(
        (profile_of(&alice)["url"].as_str(), profile_of(&alice)["token"].as_str()),
        (Some(&*url), None)
    );
    assert_eq!(alice.cellar(&["set", "A1", "new"]).code, 0);
}
