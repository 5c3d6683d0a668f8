//! Runs the script that posts the comment, with a recording replacement of GitHub's API.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Calls the script as `actions/github-script` does, and prints what it would have sent.
const HARNESS: &str = r"
const [script, bodies] = [process.env.SCRIPT, JSON.parse(process.env.BODIES)];
const AsyncFunction = (async () => {}).constructor;
const calls = { created: [], updated: [], failed: null };
const issues = {
  listComments: null,
  createComment: async (comment) => calls.created.push(comment),
  updateComment: async (comment) => calls.updated.push(comment),
};
const github = {
  rest: { issues },
  paginate: async () => bodies.map((body, id) => ({ id, body, user: { type: 'Bot' } })),
};
const context = { repo: { owner: 'o', repo: 'r' }, issue: { number: 1 } };
const core = { setFailed: (message) => { calls.failed = message; } };
new AsyncFunction('github', 'context', 'core', 'require', script)(github, context, core, require)
  .then(() => console.log(JSON.stringify(calls)));
";

/// Returns the comments that the script `created` and `updated`, and why it `failed`. `existing` are
/// the comments of the pull request.
pub(super) fn post(workflow: &Path, comment: &str, existing: &[&str]) -> Value {
    let workflow: Value = serde_yaml::from_str(&fs::read_to_string(workflow).unwrap()).unwrap();
    let step = &workflow["jobs"]["comment"]["steps"][1];
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("diff")).unwrap();
    fs::write(folder.path().join("diff/comment.md"), comment).unwrap();
    fs::write(folder.path().join("diff/code"), "1\n").unwrap();
    let output = Command::new("node")
        .args(["--eval", HARNESS])
        .current_dir(folder.path())
        .env("SCRIPT", step["with"]["script"].as_str().unwrap())
        .env("MARKER", step["env"]["MARKER"].as_str().unwrap())
        .env("BODIES", serde_json::to_string(existing).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
