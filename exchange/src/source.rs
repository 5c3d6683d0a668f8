//! Files that an import can open several times.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

/// A file that can be opened several times. A csv file is opened once to detect column types and
/// again to create cells. For a workbook, several of its parts are read from separate streams.
pub trait Source {
    /// The type of an opened file.
    type Stream: Read;

    /// Opens the file for reading from its start.
    ///
    /// # Errors
    /// Returns the operating system's error if the file cannot be opened.
    fn open(&self) -> io::Result<Self::Stream>;

    /// Returns the file length in bytes.
    ///
    /// # Errors
    /// Returns the operating system's error if the length cannot be determined.
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
        Ok(self.len() as u64)
    }
}
