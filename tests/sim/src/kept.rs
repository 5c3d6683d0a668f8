//! Seeds that failed once, in a file beside the code: the tests run them for ever.

use std::io;
use std::path::PathBuf;

use crate::batch::FailedSeed;

/// Where they are.
#[must_use]
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("failed-seeds.json")
}

/// All of them; none if there is no such file.
///
/// # Errors
/// If the file cannot be read, or is not what it should be.
pub fn read() -> io::Result<Vec<FailedSeed>> {
    match std::fs::read(path()) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Adds those that are not there yet.
///
/// # Errors
/// If the file cannot be read or written.
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
