//! CSV files.

use cellar_exchange::{BlockSize, CsvImport, CsvOptions};

use super::pieces::{SMALL, compare_reads, read_all};

/// Sample size for the detection of column types, in bytes.
const SAMPLE_BYTES: u64 = 64;

/// Reads an option byte and a CSV file. The cells must not depend on the block size, or on whether
/// the whole file is sampled.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some((how, file)) = bytes.split_first() else { return false };
    let delimiter = match how & 3 {
        0 => Some(b','),
        1 => Some(b'\t'),
        2 => Some(b';'),
        _ => None,
    };
    let encoding = match how & 24 {
        0 => None,
        8 => "utf-16le".parse().ok(),
        16 => "windows-1252".parse().ok(),
        _ => "gb18030".parse().ok(),
    };
    let pads_short_rows = how & 4 != 0;
    let read = |block: BlockSize, sample_bytes: Option<u64>| {
        let options = CsvOptions {
            delimiter,
            encoding,
            pads_short_rows,
            block,
            sample_bytes,
            ..CsvOptions::default()
        };
        CsvImport::open(file, &options).ok().and_then(read_all)
    };
    compare_reads(read(BlockSize::default(), None), read(SMALL, Some(SAMPLE_BYTES)))
}
