use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::manifest::Manifest;
use super::occupancy::{LOCK, LOCK_PAUSE, RUNNING};
use super::*;

fn folder() -> (tempfile::TempDir, StateFolder) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = StateFolder::new(temporary.path().join("local"));
    (temporary, folder)
}

fn with_state() -> (tempfile::TempDir, StateFolder) {
    let (temporary, folder) = folder();
    drop(folder.create_and_lock().unwrap());
    let manifest = folder.open_manifest("cellar").unwrap();
    fs::write(folder.database(), "x").unwrap();
    folder.record(&Manifest { tables: vec!["t".into()], ..manifest }).unwrap();
    (temporary, folder)
}

fn running() -> RunningStack {
    RunningStack { pid: 1, url: "http://127.0.0.1:1/".into(), started_s: 2 }
}

#[test]
fn only_one_process_runs_on_a_folder() {
    let (_temporary, folder) = folder();
    assert_eq!(folder.occupancy().unwrap(), Occupancy::Free);
    let lock = folder.create_and_lock().unwrap();
    folder.record_running_stack(&running()).unwrap();
    assert_eq!(folder.occupancy().unwrap(), Occupancy::Running(running()));
    let error = folder.create_and_lock().unwrap_err();
    assert!(error.to_string().ends_with(", at http://127.0.0.1:1/"), "{error}");
    assert!(folder.delete().is_err());
    assert!(folder.path().exists());
    drop(lock);
    assert_eq!(folder.occupancy().unwrap(), Occupancy::Free);
    assert!(folder.create_and_lock().is_ok());
}

#[test]
fn ignores_records_of_earlier_processes() {
    let (_temporary, folder) = folder();
    drop(folder.create_and_lock().unwrap());
    folder.record_running_stack(&running()).unwrap();
    folder.request_stop().unwrap();
    let lock = folder.create_and_lock().unwrap();
    assert_eq!(folder.occupancy().unwrap(), Occupancy::StartingOrStopping);
    assert!(!folder.stop_requested());
    fs::write(folder.path().join(RUNNING), "garbage").unwrap();
    assert_eq!(folder.occupancy().unwrap(), Occupancy::StartingOrStopping);
    drop(lock);
    folder.delete().unwrap();
    assert!(!folder.path().exists());
}

#[test]
fn an_occupancy_check_does_not_block_a_start() {
    let (_temporary, folder) = folder();
    drop(folder.create_and_lock().unwrap());
    let checking = File::open(folder.path().join(LOCK)).unwrap();
    checking.lock_shared().unwrap();
    let starting = std::thread::spawn(move || folder.create_and_lock().map(drop));
    std::thread::sleep(LOCK_PAUSE * 3);
    drop(checking);
    assert!(starting.join().unwrap().is_ok());
}

#[test]
fn locking_makes_the_folder_private() {
    let (_temporary, folder) = folder();
    fs::create_dir_all(folder.path()).unwrap();
    drop(folder.create_and_lock().unwrap());
    assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn opens_existing_state() {
    let (_temporary, folder) = with_state();
    assert!(folder.exists());
    let identity = folder.identity().unwrap();
    assert_eq!(Some(folder.open_manifest("cellar").unwrap().identity), identity);
    assert_eq!(folder.stack().unwrap().as_deref(), Some("cellar"));
}

#[test]
fn repeats_an_interrupted_first_start() {
    let (_temporary, folder) = folder();
    drop(folder.create_and_lock().unwrap());
    folder.open_manifest("cellar").unwrap();
    folder.open_manifest("cellar").unwrap();
    fs::write(folder.database(), "").unwrap();
    folder.open_manifest("cellar").unwrap();
}

#[test]
fn reports_damage_without_writing() {
    for (name, content) in [
        (MANIFEST, Some("{")),
        (MANIFEST, Some(r#"{"layout":1,"stack":"other","identity":"x","tables":[]}"#)),
        (MANIFEST, Some(r#"{"layout":2,"stack":"cellar","identity":"x","tables":[]}"#)),
        (MANIFEST, None),
        (DATABASE, None),
        (DATABASE, Some("")),
    ] {
        let (_temporary, folder) = with_state();
        let path = folder.path().join(name);
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let error = folder.open_manifest("cellar").unwrap_err();
        assert!(error.help().is_some(), "{error}");
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), content, "{error}");
    }
}

#[test]
fn refuses_to_delete_data_behind_a_link() {
    let (temporary, folder) = with_state();
    let elsewhere = temporary.path().join("elsewhere");
    fs::rename(folder.path(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.path()).unwrap();
    let refused = folder.delete().unwrap_err();
    assert!(refused.to_string().contains(elsewhere.to_str().unwrap()), "{refused}");
    assert!(refused.help().unwrap().contains("to delete the data"));
    assert!(folder.database().exists() && folder.path().is_symlink(), "nothing was changed");

    // Test with a link to an existing target, then with a link to a missing target.
    fs::remove_file(folder.path()).unwrap();
    fs::rename(&elsewhere, folder.path()).unwrap();
    let outside = temporary.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(folder.buckets()).unwrap();
    let link = folder.buckets().join("bucket");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    for there in [true, false] {
        let refused = folder.delete().unwrap_err();
        assert!(refused.to_string().contains(link.to_str().unwrap()), "{refused}");
        assert!(folder.database().exists());
        if there {
            fs::remove_dir(&outside).unwrap();
        }
    }
    fs::remove_file(&link).unwrap();

    // A linked parent folder.
    let above = temporary.path().join("above");
    std::os::unix::fs::symlink(temporary.path(), &above).unwrap();
    let through = StateFolder::new(above.join("local"));
    assert!(matches!(through.delete(), Err(LocalError::Linked { .. })));
    assert!(folder.database().exists());
    folder.delete().unwrap();
    assert!(!folder.path().exists());
}

#[test]
fn a_probe_leaves_nothing_and_finds_space() {
    let (_temporary, folder) = folder();
    assert_eq!(folder.is_disk_full(), None, "no stack was deployed");
    let _lock = folder.create_and_lock().unwrap();
    folder.open_manifest("cellar").unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    assert_eq!(folder.is_disk_full(), Some(false));
    assert_eq!(files(), before);
}

#[test]
fn a_stop_is_requested_with_an_empty_file() {
    let (_temporary, folder) = folder();
    let _lock = folder.create_and_lock().unwrap();
    assert!(!folder.stop_requested());
    folder.request_stop().unwrap();
    assert!(folder.stop_requested());
    assert_eq!(fs::metadata(folder.path().join("stop")).unwrap().len(), 0);
}
