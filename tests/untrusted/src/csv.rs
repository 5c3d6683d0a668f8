//! Csv files.

use cellar_exchange::{BlockSize, CsvImport, CsvOptions};

use super::pieces::{SMALL, is_read, read_all};

/// How it is read, and the file: the same cells come in large blocks and in small ones.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some((how, file)) = bytes.split_first() else { return false };
    let delimiter = match how & 3 {
        0 => b',',
        1 => b'\t',
        2 => b';',
        _ => b'|',
    };
    let pad = how & 4 != 0;
    let options = |block| CsvOptions { delimiter, pad, block, ..CsvOptions::default() };
    let read = |block: BlockSize| CsvImport::open(file, &options(block)).ok().and_then(read_all);
    is_read(read(BlockSize::default()), read(SMALL))
}
