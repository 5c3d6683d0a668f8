//! Where a file comes from: something that can be opened, and opened again.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

/// A file of another program. It is opened more than once: csv is read twice, once to find out what
/// each column is, and a workbook's parts are read one beside the other.
pub trait Source {
    /// What is read from it.
    type Stream: Read;

    /// Opens it at its beginning.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self) -> io::Result<Self::Stream>;

    /// Its length in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn bytes(&self) -> io::Result<u64>;
}

/// A file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSource(pub PathBuf);

impl Source for FileSource {
    type Stream = File;

    fn open(&self) -> io::Result<File> {
        File::open(&self.0)
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(std::fs::metadata(&self.0)?.len())
    }
}

/// A file in memory.
impl<'a> Source for &'a [u8] {
    type Stream = Cursor<&'a [u8]>;

    fn open(&self) -> io::Result<Self::Stream> {
        Ok(Cursor::new(self))
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(u64::try_from(self.len()).unwrap_or(u64::MAX))
    }
}
