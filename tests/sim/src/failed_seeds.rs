//! The seeds that failed once, in a file next to the code. Tests run them forever.

use std::io;
use std::path::PathBuf;

use crate::batch::FailedSeed;

/// Returns the path of the file.
#[must_use]
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("failed-seeds.json")
}

/// Reads all failed seeds; returns none if the file does not exist.
///
/// # Errors
/// An I/O error if the file cannot be read or is not valid JSON.
pub fn read() -> io::Result<Vec<FailedSeed>> {
    match std::fs::read(path()) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Adds the seeds that the file does not contain yet.
///
/// # Errors
/// An I/O error if the file cannot be read or written.
pub fn add(failed: &[FailedSeed]) -> io::Result<()> {
    let mut all = read()?;
    for new in failed {
        let is_there =
            |known: &FailedSeed| (&known.scenario, known.seed) == (&new.scenario, new.seed);
        if !all.iter().any(is_there) {
            all.push(new.clone());
        }
    }
    let mut text = serde_json::to_string_pretty(&all)?;
    text.push('\n');
    std::fs::write(path(), text)
}
