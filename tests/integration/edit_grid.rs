//! `cellar edit` in a pseudoterminal: typed cells are shown immediately, also offline, and reach
//! other users soon.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::journey::{Project, free_port};

const PATIENCE: Duration = Duration::from_secs(90);
const LINES: u16 = 12;
const COLUMNS: u16 = 70;

const DOWN: &str = "\u{1b}[B";
const CONTROL_O: &str = "\u{f}";
const CONTROL_Q: &str = "\u{11}";
const CONTROL_Z: &str = "\u{1a}";
const F2: &str = "\u{1b}OQ";

/// A pseudoterminal that runs the grid.
struct Terminal {
    master: File,
    screen: Arc<Mutex<vt100::Parser>>,
    child: Child,
    reads: JoinHandle<()>,
}

impl Terminal {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let size = Winsize { ws_row: LINES, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).unwrap();
        let mut command = project.command(env!("CARGO_BIN_EXE_test-cellar"));
        command.arg("edit").args(arguments).env("TERM", "xterm-256color");
        command.stdin(Stdio::from(slave.try_clone().unwrap()));
        command.stdout(Stdio::from(slave.try_clone().unwrap())).stderr(Stdio::from(slave));
        let child = command.spawn().unwrap();
        let master = File::from(master);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(
            LINES.try_into().unwrap(),
            COLUMNS.try_into().unwrap(),
            0,
        )));
        let (mut output, shown) = (master.try_clone().unwrap(), Arc::clone(&screen));
        let reads = std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            // The output ends when the last process exits.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                shown.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self { master, screen, child, reads }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until a line of the screen has all these texts in this order.
    fn shows(&self, texts: &[&str]) {
        let has = |line: &str| {
            let mut rest = line;
            texts.iter().all(|text| {
                let found = rest.split_once(text);
                rest = found.map_or("", |(_, behind)| behind);
                found.is_some()
            })
        };
        let begun = Instant::now();
        while !self.text().lines().any(has) {
            assert!(begun.elapsed() < PATIENCE, "{texts:?} is not shown:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the command fails before it shows the grid, and returns its error on one line.
    fn fails(mut self) -> String {
        assert!(!self.child.wait().unwrap().success());
        let begun = Instant::now();
        while !self.reads.is_finished() {
            assert!(begun.elapsed() < PATIENCE, "the process does not exit");
            std::thread::sleep(Duration::from_millis(20));
        }
        let is_word = |word: &&str| !["│", "×"].contains(word);
        self.text().split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
    }

    /// Quits the grid. The screen must be restored, except for the final messages, which are
    /// returned.
    fn quit(mut self) -> String {
        self.press(CONTROL_Q);
        assert!(self.child.wait().unwrap().success());
        let begun = Instant::now();
        // The final messages may still be buffered by the terminal.
        while !self.reads.is_finished() {
            assert!(begun.elapsed() < PATIENCE, "the process does not exit");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(
            !self.screen.lock().unwrap().screen().alternate_screen(),
            "the screen is not restored"
        );
        self.text()
    }
}

/// A user without `cellar edit` before goes offline: errors and help say what to do.
#[test]
fn a_spreadsheet_is_opened_offline_only_after_it_was_opened_online() {
    let Two { alice, bob, port } = Two::start();
    assert_eq!(bob.cellar(&["set", "A1", "online"]).code, 0);
    alice.kill();
    let set = bob.cellar(&["set", "A1", "offline"]);
    assert!(set.code == 1 && set.stderr.contains("must have opened"), "{set:?}");
    let refused = Terminal::start(&bob, &[]).fails();
    for part in ["never opened", "open it once", "while the server can be reached"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let again = ["deploy", "--local", "--detach", "--no-smoke", "--port", &port];
    assert_eq!(alice.synth(&again).code, 0);
    let grid = Terminal::start(&bob, &[]);
    grid.shows(&["1", "online"]);
    grid.quit();
    alice.kill();
    let mut grid = Terminal::start(&bob, &[]);
    grid.shows(&["1", "online"]);
    grid.press("offline\r");
    grid.shows(&["1 not sent", "offline"]);
    assert!(grid.quit().contains("1 edit is not sent yet"));
    assert_eq!(alice.synth(&again).code, 0);
    assert_eq!(bob.cellar(&["sync"]).code, 0);
    let cells = bob.cellar(&["get", "--range", "A1"]).stdout;
    assert!(cells.contains("offline"), "{cells}");
}

#[test]
fn the_name_of_an_opened_spreadsheet_opens_it_offline() {
    let project = Project::new();
    project.deploy();
    let id = project.cellar(&["create", "Budget"]).stdout.trim().to_owned();
    assert_eq!(project.cellar(&["set", "A1", "rent"]).code, 0);
    assert_eq!(project.cellar(&["create", "Plan"]).code, 0);
    let grid = Terminal::start(&project, &["-s", "Budget"]);
    grid.shows(&["1", "rent"]);
    grid.quit();
    project.kill();
    for named in ["budget", id.split_at(8).0] {
        let grid = Terminal::start(&project, &["-s", named]);
        grid.shows(&["1", "rent"]);
        grid.quit();
    }
    let unknown = Terminal::start(&project, &["-s", "Plan"]).fails();
    for part in ["is named `Plan`", "offline, name it by its id", "(Budget)"] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
}

struct Two {
    alice: Project,
    bob: Project,
    port: String,
}

impl Two {
    /// Starts a cloud with a spreadsheet and two folders that edit it.
    fn start() -> Self {
        let (alice, port) = (Project::new(), free_port());
        let deploy = ["--json", "deploy", "--local", "--detach", "--no-smoke", "--port", &port];
        let deployed = alice.synth(&deploy);
        assert_eq!(deployed.code, 0, "{deployed:?}");
        let created: Value =
            serde_json::from_str(&alice.cellar(&["--json", "create"]).stdout).unwrap();
        let profile = std::fs::read_to_string(alice.path(".cellar/profile.json")).unwrap();
        let profile: Value = serde_json::from_str(&profile).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let bob = Project::new()
            .with_variable("CELLAR_URL", text(&profile["url"]))
            .with_variable("CELLAR_TOKEN", text(&profile["token"]))
            .with_variable("CELLAR_SPREADSHEET", text(&created["id"]));
        Self { alice, bob, port }
    }
}

#[test]
fn what_one_types_the_other_sees_and_nothing_is_lost_offline() {
    let Two { alice, bob, port } = Two::start();
    let mut hers = Terminal::start(&alice, &[]);
    let mut his = Terminal::start(&bob, &["--cell", "A2"]);
    hers.shows(&["A", "B", "C"]);
    hers.press("rent\t1250.5\rfood\t300\r");
    hers.shows(&["1", "rent", "1250.5"]);
    his.shows(&["2", "food", "300"]);
    // One user inserts a row above; the next edit of the other user goes to the row that he sees.
    his.press("heating\r");
    hers.shows(&["2", "heating", "300"]);
    hers.press(&format!("{}{CONTROL_O}", "\u{1b}[1;5H"));
    his.shows(&["3", "heating"]);
    his.press(CONTROL_Z);
    hers.shows(&["3", "food"]);

    // The cloud does not reply: typed cells are shown, stored and reported as pending.
    alice.kill();
    hers.press(&format!("{DOWN}{F2}, 2026\r"));
    hers.shows(&["2", "rent, 2026", "1250.5"]);
    hers.shows(&["1 not sent", "offline"]);
    assert!(hers.quit().contains("1 edit is not sent yet"), "the grid notes the unsent edit");
    let offline = alice.cellar(&["sync"]);
    assert!(offline.code == 1 && offline.stderr.contains("1 edit waits"), "{offline:?}");
    let again = ["deploy", "--local", "--detach", "--no-smoke", "--port", &port];
    assert_eq!(alice.synth(&again).code, 0);
    let hers = Terminal::start(&alice, &[]);
    hers.shows(&["2", "rent, 2026", "1250.5"]);
    his.shows(&["2", "rent, 2026", "1250.5"]);
    assert!(!hers.quit().contains("not sent"));
    his.quit();
    let cells = alice.cellar(&["get", "--range", "A1:B3"]).stdout;
    assert!(cells.contains("rent, 2026") && cells.contains("food"), "{cells}");
}

#[test]
fn an_offline_edit_whose_row_was_deleted_is_reported() {
    let Two { alice, bob, port } = Two::start();
    assert_eq!(alice.cellar(&["set", "A1", "one", "A2", "two", "A3", "three"]).code, 0);
    let grid = Terminal::start(&alice, &[]);
    grid.shows(&["3", "three"]);
    grid.quit();
    alice.kill();
    let mut grid = Terminal::start(&alice, &["--cell", "A2"]);
    grid.shows(&["3", "three"]);
    grid.press("lost\rmoved\r");
    grid.shows(&["2 not sent", "offline"]);
    grid.quit();
    let again = ["deploy", "--local", "--detach", "--no-smoke", "--port", &port];
    assert_eq!(alice.synth(&again).code, 0);
    assert_eq!(bob.cellar(&["rows", "delete", "2"]).code, 0);
    let synced = alice.cellar(&["sync"]);
    assert_eq!(synced.code, 2, "{synced:?}");
    for line in [
        "Sent 2 edits ",
        "No effect: A2 = \"lost\": others have deleted the target",
        "Others have changed the sheet: A3 = \"moved\" became A2 = \"moved\"",
    ] {
        assert!(synced.stdout.contains(line), "{synced:?}");
    }
}

#[test]
fn a_typed_formula_shows_its_value_also_offline() {
    let Two { alice, bob, port } = Two::start();
    let mut hers = Terminal::start(&alice, &[]);
    let his = Terminal::start(&bob, &[]);
    hers.shows(&["A", "B", "C"]);
    hers.press("2\t=A1*21\r");
    hers.shows(&["1", "2", "42"]);
    his.shows(&["1", "2", "42"]);
    alice.kill();
    hers.press("=B1+1\r");
    hers.shows(&["2", "43"]);
    hers.shows(&["1 not sent", "offline"]);
    let again = ["deploy", "--local", "--detach", "--no-smoke", "--port", &port];
    assert_eq!(alice.synth(&again).code, 0);
    his.shows(&["2", "43"]);
    his.quit();
    hers.quit();
    let formulas = alice.cellar(&["get", "--formulas"]).stdout;
    assert!(formulas.contains("=A1*21") && formulas.contains("=B1+1"), "{formulas}");
}

#[test]
fn an_open_grid_finds_the_stack_at_a_new_port() {
    let Two { alice, port, .. } = Two::start();
    let mut grid = Terminal::start(&alice, &[]);
    grid.shows(&["A", "B", "C"]);
    grid.press("before\r");
    grid.shows(&["1", "before"]);
    alice.kill();
    grid.press("kept\r");
    grid.shows(&["1 not sent", "offline"]);
    let again = ["--json", "deploy", "--local", "--detach", "--no-smoke", "--port", "0"];
    let deployed = alice.synth(&again);
    assert_eq!(deployed.code, 0, "{deployed:?}");
    let deployed: Value = serde_json::from_str(&deployed.stdout).unwrap();
    let url = deployed["url"].as_str().unwrap().to_owned();
    assert!(!url.ends_with(&port), "{url}");
    let begun = Instant::now();
    while !alice.cellar(&["get"]).stdout.contains("kept") {
        assert!(begun.elapsed() < PATIENCE, "the edit is not sent:\n{}", grid.text());
        std::thread::sleep(Duration::from_millis(100));
    }
    let last = grid.quit();
    assert!(!last.contains("not sent") && last.contains(&url), "{last}");
}

#[test]
fn without_a_terminal_it_says_what_else_there_is() {
    let project = Project::new();
    let run = project.cellar(&["edit"]);
    assert!(run.code == 64 && run.stderr.contains("needs a terminal"), "{run:?}");
    assert!(run.stderr.contains("cellar set"), "{run:?}");
}
