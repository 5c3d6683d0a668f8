//! Installs a Node package from npm.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names and contents of a package's files.
pub type Files<'a> = &'a [(&'a str, &'a str)];

const MIN_NODE_MAJOR: u32 = 20;
const HINT: &str = "install Node 20 or newer, with npm, so that `node` and `npm` are on the PATH";

/// Writes a package to `folder`. Installs the dependencies in its lock file, unless they are
/// already installed.
///
/// # Panics
/// Panics if Node is missing or too old, or if the installation fails.
pub fn install(folder: &Path, package: Files<'_>, lock_file: &str) {
    check_version();
    fs::create_dir_all(folder).unwrap();
    // Concurrent runs may need the package at the same time.
    let lock = File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    for (name, text) in package {
        fs::write(folder.join(name), text).unwrap();
    }
    // The marker file is written last, so that an interrupted installation is repeated.
    let installed = folder.join("installed");
    if fs::read_to_string(&installed).ok().as_deref() == Some(lock_file) {
        return;
    }
    fs::write(folder.join("package-lock.json"), lock_file).unwrap();
    // Optional packages are needed only to build the peer from its source.
    let how = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
    run(Command::new("npm").arg("ci").args(how).current_dir(folder));
    fs::write(&installed, lock_file).unwrap();
}

fn check_version() {
    // v20.1.0
    let version = run(Command::new("node").arg("--version"));
    let major = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    let major: u32 = major.parse().unwrap_or_default();
    assert!(major >= MIN_NODE_MAJOR, "Node {} is too old: {HINT}", version.trim());
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}: {HINT}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
