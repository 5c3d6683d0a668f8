//! A local stack whose disk is full: the API, `status` and `stop` say so at once, nothing is lost, and
//! the data can be deleted. The disk is a small file system in a namespace of the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::journey::Project;

/// Before, a refusal took as long as all retries: a minute.
const AT_ONCE: Duration = Duration::from_secs(10);
const END_OF_OUTPUT: &str = "exit code of the command: ";
const FILL: &str = "cat /dev/zero > filler 2> /dev/null";

/// A shell whose working directory is on the small disk. Other processes do not see the disk.
struct SmallDisk {
    shell: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl SmallDisk {
    fn mount(folder: &Path) -> Self {
        let mut shell = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, output) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
        let mut disk = Self { shell, commands, output: BufReader::new(output) };
        let mounted =
            disk.run("mkdir disk && mount -t tmpfs -o size=24m,mode=700 tmpfs disk && cd disk");
        assert_eq!(mounted.0, 0, "the disk cannot be mounted");
        disk
    }

    /// Returns the exit code and the standard output of a command.
    fn run(&mut self, command: &str) -> (i32, String) {
        writeln!(self.commands, "{command}\ncode=$?; echo; echo \"{END_OF_OUTPUT}$code\"").unwrap();
        let mut output = String::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the shell has ended: {output}");
            match line.trim().strip_prefix(END_OF_OUTPUT) {
                Some(code) => return (code.parse().unwrap(), output.trim().to_owned()),
                None => output.push_str(&line),
            }
        }
    }

    fn synth(&mut self, arguments: &str) -> (i32, String) {
        self.run(&format!("'{}' {arguments}", env!("CARGO_BIN_EXE_test-synth")))
    }

    fn deploy(&mut self) -> Value {
        let arguments = "--json deploy --local --detach --no-smoke --port 0";
        let (code, deployed) = self.synth(arguments);
        assert_eq!(code, 0, "{deployed}");
        serde_json::from_str(&deployed).unwrap()
    }

    fn fill(&mut self) {
        assert_ne!(self.run(FILL).0, 0, "the disk is not full");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = writeln!(
            self.commands,
            "rm -f filler; '{}' stop; exit",
            env!("CARGO_BIN_EXE_test-synth")
        );
        let _ = self.shell.wait();
    }
}

/// A client whose own files are on another disk.
fn client_of(deployed: &Value) -> Project {
    let text = |name: &str| deployed[name].as_str().unwrap().to_owned();
    Project::new()
        .with_variable("CELLAR_URL", text("url"))
        .with_variable("CELLAR_TOKEN", text("token"))
}

#[test]
#[ignore = "mounts a file system: `.ci/run` runs it"]
fn a_full_disk_is_named_at_once_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = SmallDisk::mount(folder.path());
    let deployed = disk.deploy();
    let client = client_of(&deployed);
    let created = client.cellar(&["--json", "create", "Budget"]);
    let created: Value = serde_json::from_str(&created.stdout).unwrap();
    assert_eq!(client.cellar(&["set", "A1", "before"]).code, 0);
    let (_, status) = disk.synth("status");
    assert!(status.contains("(healthy)"), "{status}");

    disk.fill();
    let begun = Instant::now();
    let refused = client.cellar(&["--json", "set", "A2", "after"]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    let error: Value = serde_json::from_str(&refused.stderr).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("Storage full (507)") && message.contains("nothing was changed"),
        "{error}"
    );
    assert!(error["error"]["help"].as_str().unwrap().contains("free some space"), "{error}");
    let read = client.cellar(&["get"]);
    assert!(read.code == 0 && read.stdout.contains("before") && !read.stdout.contains("after"));
    let (code, status) = disk.synth("status");
    assert!(code == 0 && status.contains("DISK IS FULL"), "{status}");
    let (_, status) = disk.synth("--json status");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["disk_full"], &status["healthy"]), (&true.into(), &true.into()));
    let (code, stopped) = disk.synth("stop");
    assert!(code == 0 && stopped.contains("Stopped the local stack"), "{stopped}");

    disk.run("rm filler");
    let deployed = disk.deploy();
    let client = client_of(&deployed)
        .with_variable("CELLAR_SPREADSHEET", created["id"].as_str().unwrap().to_owned());
    let set = client.cellar(&["set", "A2", "after"]);
    assert_eq!(set.code, 0, "{set:?}");
    let read = client.cellar(&["get"]);
    assert!(read.stdout.contains("before") && read.stdout.contains("after"), "{read:?}");
    disk.fill();
    let (code, destroyed) = disk.synth("destroy --local --delete-data --yes");
    assert!(code == 0 && destroyed.contains("Deleted"), "{destroyed}");
    assert_ne!(disk.run("test -e .cellar/local").0, 0, "the data is left");
}
