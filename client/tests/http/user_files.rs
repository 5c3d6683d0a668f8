//! Exports to links, pipes and devices, which are kept, and imports of them, which are errors.
#![cfg(unix)]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::command::Case;

/// The maximum time to wait for the reader of a pipe.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a spreadsheet with one cell.
fn case() -> Case {
    let case = Case::new();
    case.text(&["create"]);
    case.text(&["set", "A1", "one"]);
    case
}

#[test]
fn an_export_follows_a_link_and_keeps_it() {
    let case = case();
    let (link, file) = (case.path("link.csv"), case.path("file.csv"));
    fs::write(&file, "old").unwrap();
    symlink("file.csv", &link).unwrap();
    let (code, error) = case.error(&["export", "link.csv"]);
    assert!(code == 1 && error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    case.text(&["export", "link.csv", "--force"]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
}

#[test]
fn an_export_writes_through_a_pipe_and_a_device() {
    let case = case();
    let pipe = case.path("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for (arguments, begins) in [
        (["export", "pipe", "--force"].as_slice(), b"one\n".as_slice()),
        (&["export", "pipe", "--format", "xlsx"], b"PK"),
    ] {
        let (reader, (send, read)) = (pipe.clone(), channel());
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            fs::File::open(reader).unwrap().read_to_end(&mut bytes).unwrap();
            send.send(bytes)
        });
        case.text(arguments);
        assert!(read.recv_timeout(PATIENCE).unwrap().starts_with(begins), "{arguments:?}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
    case.text(&["export", "/dev/null", "--force"]);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn importing_a_pipe_is_an_error_without_waiting() {
    let case = case();
    let pipe = case.path("pipe.csv");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for arguments in [
        ["import", "pipe.csv"].as_slice(),
        &["import", "pipe.csv", "--dry-run"],
        &["import", "pipe.csv", "--into", "00000000-0000-4000-8000-000000000000", "--sheet", "A"],
        &["import", "/dev/stdin"],
        &["import", "/dev/null"],
    ] {
        let (code, error) = case.error(arguments);
        assert!(code == 1 && error.contains("is a pipe or a device"), "{arguments:?}: {error}");
        assert!(error.contains("write the data to a file first"), "{error}");
    }
    let (_, error) = case.error(&["import", "."]);
    assert!(error.contains("is a folder"), "{error}");
}
