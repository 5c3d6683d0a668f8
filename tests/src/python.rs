//! Third-party Python programs, each installed into a separate virtual environment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the Python interpreter of a virtual environment that contains the package. Installs the
/// package if necessary.
///
/// # Panics
/// Panics if the installation fails.
pub fn with_package(folder: &Path, package: &str) -> PathBuf {
    let environment = folder.join(package.replace("==", "-"));
    fs::create_dir_all(folder).unwrap();
    // Concurrent tests and test runs may need the same environment at the same time.
    let lock = File::create(environment.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let python = environment.join("bin/python");
    let installed = environment.join("installed");
    if !installed.exists() {
        let _ = fs::remove_dir_all(&environment);
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment));
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
        run(Command::new(&python).args(pip));
        fs::write(&installed, package).unwrap();
    }
    python
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}
