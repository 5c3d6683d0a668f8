//! Seeds that have failed at some time, stored in a file next to the code. Tests run these seeds
//! permanently.

use std::io;
use std::path::PathBuf;

use crate::batch::FailedSeed;

/// Returns the path of the file.
#[must_use]
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("failed-seeds.json")
}

/// Reads all failed seeds. If the file does not exist, there are none.
///
/// # Errors
/// Returns an I/O error if the file cannot be read or is not valid JSON.
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
/// Returns an I/O error if the file cannot be read or written.
pub fn add(new_seeds: &[FailedSeed]) -> io::Result<()> {
    let mut failed_seeds = read()?;
    for new_seed in new_seeds {
        let is_known = failed_seeds.iter().any(|known_seed| {
            known_seed.scenario == new_seed.scenario && known_seed.seed == new_seed.seed
        });
        if !is_known {
            failed_seeds.push(new_seed.clone());
        }
    }
    let mut json = serde_json::to_string_pretty(&failed_seeds)?;
    json.push('\n');
    std::fs::write(path(), json)
}
