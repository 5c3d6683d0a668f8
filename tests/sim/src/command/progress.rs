//! How far a long run has come, in a file from which it goes on.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::batch::Summary;
use crate::scenarios::Scenario;

/// What was done so far.
pub(super) struct Progress {
    file: Option<PathBuf>,
    reached: BTreeMap<String, Reached>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Reached {
    /// The seed to go on with.
    next: u64,
    summary: Summary,
}

impl Progress {
    /// Reads the file, if one is named and there is one.
    pub(super) fn read(file: Option<&Path>) -> io::Result<Self> {
        let reached = match file.map(std::fs::read) {
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)?,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Err(_)) | None => BTreeMap::new(),
        };
        Ok(Self { file: file.map(Path::to_path_buf), reached })
    }

    /// What came of a scenario so far, and the seed to go on with.
    pub(super) fn of(&self, scenario: Scenario) -> Option<(Summary, u64)> {
        let reached = self.reached.get(scenario.name())?;
        Some((reached.summary.clone(), reached.next))
    }

    /// A scenario has come so far. The file is replaced as a whole.
    pub(super) fn reached(
        &mut self,
        scenario: Scenario,
        summary: &Summary,
        next: u64,
    ) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let reached = Reached { next, summary: summary.clone() };
        self.reached.insert(scenario.to_string(), reached);
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec_pretty(&self.reached)?)?;
        std::fs::rename(new, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rare::Rare;

    #[test]
    fn a_run_goes_on_where_it_was() {
        let name = format!("cellar-sim-progress-{}.json", std::process::id());
        let file = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&file);
        let mut progress = Progress::read(Some(&file)).unwrap();
        assert!(progress.of(Scenario::RollRace).is_none());
        let rare = BTreeMap::from([(Rare::RollLost, 3)]);
        let summary = Summary { seeds: 9, rare, ..Summary::default() };
        progress.reached(Scenario::RollRace, &summary, 10).unwrap();
        let again = Progress::read(Some(&file)).unwrap();
        assert_eq!(again.of(Scenario::RollRace), Some((summary, 10)));
        assert!(again.of(Scenario::AppendContention).is_none());
        std::fs::write(&file, "no JSON").unwrap();
        assert!(Progress::read(Some(&file)).is_err());
        std::fs::remove_file(&file).unwrap();
    }
}
