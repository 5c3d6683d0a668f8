//! The saved progress of a long run.

use std::collections::BTreeMap;

use cellar_sim::batch::Summary;
use cellar_sim::command::progress::SavedProgress;
use cellar_sim::rare::RareEvent;
use cellar_sim::scenarios::Scenario;

#[test]
fn a_run_resumes_from_its_saved_progress() {
    let name = format!("cellar-sim-progress-{}.json", std::process::id());
    let file = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&file);
    let mut progress = SavedProgress::read(Some(&file)).unwrap();
    assert!(progress.scenario(Scenario::RollRace).is_none());
    let rare = BTreeMap::from([(RareEvent::RollLost, 3)]);
    let summary = Summary { seeds: 9, rare, ..Summary::default() };
    progress.save(Scenario::RollRace, &summary, 10).unwrap();
    let again = SavedProgress::read(Some(&file)).unwrap();
    assert_eq!(again.scenario(Scenario::RollRace), Some((summary, 10)));
    assert!(again.scenario(Scenario::AppendContention).is_none());
    std::fs::write(&file, "no JSON").unwrap();
    assert!(SavedProgress::read(Some(&file)).is_err());
    std::fs::remove_file(&file).unwrap();
}
