//! The saved progress of a long run, from which a later run can resume.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::batch::Summary;
use crate::scenarios::Scenario;

/// The progress of all scenarios, and the file in which the progress is saved.
pub struct SavedProgress {
    file: Option<PathBuf>,
    reached: BTreeMap<String, ScenarioProgress>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ScenarioProgress {
    /// The next seed to run.
    next: u64,
    summary: Summary,
}

impl SavedProgress {
    /// Reads the progress from a file. Without a file, or if the file does not exist, the progress
    /// is empty.
    pub fn read(file: Option<&Path>) -> io::Result<Self> {
        let reached = match file.map(std::fs::read) {
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)?,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Err(_)) | None => BTreeMap::new(),
        };
        Ok(Self { file: file.map(Path::to_path_buf), reached })
    }

    /// Returns a scenario's summary so far and its next seed.
    pub fn scenario(&self, scenario: Scenario) -> Option<(Summary, u64)> {
        let reached = self.reached.get(scenario.name())?;
        Some((reached.summary.clone(), reached.next))
    }

    /// Updates a scenario's progress and atomically replaces the file.
    pub fn save(
        &mut self,
        scenario: Scenario,
        summary: &Summary,
        next_seed: u64,
    ) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let scenario_progress = ScenarioProgress { next: next_seed, summary: summary.clone() };
        self.reached.insert(scenario.to_string(), scenario_progress);
        let new_file = file.with_extension("new");
        std::fs::write(&new_file, serde_json::to_vec_pretty(&self.reached)?)?;
        std::fs::rename(new_file, file)
    }
}
