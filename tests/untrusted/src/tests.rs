//! What fuzzers found, and what was written by hand.

use std::fs;
use std::path::PathBuf;

use super::*;

/// Bytes of all files together: a repository is no place for all that a fuzzer finds.
const MAX_CORPUS_BYTES: u64 = 300_000;

#[test]
fn promises_are_kept_for_the_corpus() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz-corpus");
    let mut folders: Vec<_> =
        fs::read_dir(&corpus).unwrap().map(|one| one.unwrap().file_name()).collect();
    let mut names: Vec<_> = READERS.iter().map(|reader| reader.name).collect();
    folders.sort_unstable();
    names.sort_unstable();
    assert_eq!(folders, names, "a folder for each reader");
    let mut total = 0;
    for reader in READERS {
        let (mut read, mut refused) = (0, 0);
        for file in fs::read_dir(corpus.join(reader.name)).unwrap() {
            let path = file.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            println!("{}", path.display());
            *(if reader.check(&bytes) { &mut read } else { &mut refused }) += 1;
            total += bytes.len() as u64;
        }
        assert!(read >= 2 && refused >= 2, "{}: {read} read, {refused} refused", reader.name);
    }
    assert!(total <= MAX_CORPUS_BYTES, "{total} bytes");
}

#[test]
#[should_panic(expected = "bytes of memory")]
fn memory_is_counted() {
    let greedy = |bytes: &[u8]| std::hint::black_box(vec![bytes.len(); 2 * MB]).is_empty();
    Reader { name: "greedy", read: greedy, memory_bytes: MB }.check(b"x");
}
