//! `cellar watch` as a process: its output during edits and while the cloud is stopped, and its
//! exit.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::journey::{Project, free_port};

/// Maximum time until a line is printed. A disconnected watch first retries within seconds, later
/// at least once per minute.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `cellar watch`.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut command = project.command(env!("CARGO_BIN_EXE_test-cellar"));
        let command = command.arg("watch").args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line in time")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Sends Ctrl-C. Returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn a_watch_shows_what_is_done_says_when_it_is_offline_and_ends_on_an_interrupt() {
    let project = Project::new();
    let port = free_port();
    let deploy = || {
        let run = project.synth(&["deploy", "--local", "--detach", "--no-smoke", "--port", &port]);
        assert_eq!(run.code, 0, "{run:?}");
    };
    let cellar = |arguments: &[&str]| {
        let run = project.cellar(arguments);
        assert_eq!(run.code, 0, "{run:?}");
    };
    deploy();
    cellar(&["create"]);
    cellar(&["set", "A1", "before"]);

    // Past entries only, for scripts: the command exits by itself.
    let past = project.cellar(&["watch", "--after", "0.0", "--until", "0.1"]);
    assert_eq!((past.code, past.stdout.lines().count()), (0, 1), "{past:?}");
    assert!(past.stdout.starts_with("0.1 ") && past.stdout.contains("A1 = \"before\""), "{past:?}");
    let nothing = project.cellar(&["watch", "--for", "1s"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""), "{nothing:?}");
    let unknown = project.cellar(&["watch", "--sheet", "Costs"]);
    assert!(unknown.code == 64 && unknown.stderr.contains("Sheet1"), "{unknown:?}");

    let all = Watching::start(&project, &["--json", "--after", "0.1"]);
    let part = Watching::start(&project, &["--range", "B2:C3", "--after", "0.1"]);
    cellar(&["set", "D9", "outside"]);
    cellar(&["set", "B2", "inside"]);
    let first = all.json();
    assert_eq!((&first["event"], &first["what"]), (&"entry".into(), &"D9 = \"outside\"".into()));
    assert!(first["author"].is_string() && first["created_s"].is_u64(), "{first}");
    assert_eq!(first["client_key"].as_str().unwrap().len(), 16);
    assert_eq!(all.json()["what"], "B2 = \"inside\"");
    let line = part.line();
    assert!(line.starts_with("0.3 ") && line.ends_with("B2 = \"inside\""), "{line}");

    project.kill();
    let offline = all.json();
    assert!(offline["event"] == "offline" && offline["why"].is_string(), "{offline}");
    deploy();
    cellar(&["set", "C3", "back"]);
    assert_eq!(all.json()["event"], "online");
    assert_eq!(all.json()["what"], "C3 = \"back\"");
    assert!(part.line().ends_with("C3 = \"back\""));
    assert_eq!((all.interrupt(), part.interrupt()), (Some(0), Some(0)));
}
