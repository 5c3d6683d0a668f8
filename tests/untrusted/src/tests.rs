//! Runs the readers on the corpus: inputs found by fuzzers, and handwritten ones.

use std::fs;
use std::path::PathBuf;

use super::*;

/// Maximum size of the corpus in bytes: the repository does not keep everything that a fuzzer
/// finds.
const MAX_CORPUS_BYTES: u64 = 300_000;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz-corpus")
}

fn assert_promises_are_kept(reader: Reader) {
    let (mut read, mut refused) = (0, 0);
    for file in fs::read_dir(corpus().join(reader.name)).unwrap() {
        let path = file.unwrap().path();
        println!("{}", path.display());
        let is_read = reader.check(&fs::read(&path).unwrap());
        println!("{}", if is_read { "is read" } else { "is refused" });
        *(if is_read { &mut read } else { &mut refused }) += 1;
    }
    assert!(read >= 2 && refused >= 2, "{}: {read} read, {refused} refused", reader.name);
}

macro_rules! promises_are_kept_for_the_corpus {
    ($($test:ident = $reader:ident,)*) => {
        mod promises_are_kept_for_the_corpus {
            $(#[test]
            fn $test() {
                super::assert_promises_are_kept(super::$reader);
            })*
        }

        const TESTED: &[Reader] = &[$($reader),*];
    };
}

promises_are_kept_for_the_corpus! {
    chunk = CHUNK,
    index = INDEX,
    root = ROOT,
    stored = STORED,
    entry = ENTRY,
    external = EXTERNAL,
    csv = CSV,
    workbook = WORKBOOK,
    token = TOKEN,
    request = REQUEST,
    merge = MERGE,
    stream = STREAM,
    feed = FEED,
}

#[test]
fn each_reader_has_a_small_corpus_and_a_test() {
    let names = |readers: &[Reader]| {
        let mut names: Vec<_> = readers.iter().map(|reader| reader.name.to_owned()).collect();
        names.sort_unstable();
        names
    };
    let (mut folders, mut total) = (Vec::new(), 0);
    for folder in fs::read_dir(corpus()).unwrap() {
        let folder = folder.unwrap();
        folders.push(folder.file_name().into_string().unwrap());
        let files = fs::read_dir(folder.path()).unwrap();
        total += files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>();
    }
    folders.sort_unstable();
    assert_eq!(folders, names(&READERS));
    assert_eq!(folders, names(TESTED));
    assert!(total <= MAX_CORPUS_BYTES, "{total} bytes");
}

#[test]
#[should_panic(expected = "bytes of memory")]
fn memory_is_counted() {
    let greedy = |bytes: &[u8]| std::hint::black_box(vec![bytes.len(); 2 * MB]).is_empty();
    Reader { name: "greedy", read: greedy, memory_bytes: MB }.check(b"x");
}
