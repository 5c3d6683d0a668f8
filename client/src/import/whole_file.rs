//! Imports a file in one call, with its journal in the client's folder.

use std::path::{Path, PathBuf};

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::Name;

use super::file::unreadable;
use super::sheets::{Imported, JournalKey, ProgressMonitor, Target, import_sheets};
use super::{ImportError, ReadOptions};
use crate::{Client, Spreadsheet};

impl Client {
    /// Imports a csv, xlsx, xlsb or ods file of any size as a new spreadsheet with the name of the
    /// file. For options and progress, use [`import_sheets`].
    ///
    /// If the import is interrupted, calling this method again resumes it, and each sheet is
    /// imported exactly once. After the process has ended, an import can be resumed only if the
    /// client has a folder ([`Client::with_folder`]).
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] whose variant states whether anything was imported.
    pub async fn import_file(&self, path: impl AsRef<Path>) -> Result<Imported, ImportError> {
        import_whole_file(self, path.as_ref(), None).await
    }
}

impl Spreadsheet {
    /// Imports each sheet of a file as a new sheet. Otherwise like [`Client::import_file`].
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] whose variant states whether anything was imported.
    pub async fn import_file(&self, path: impl AsRef<Path>) -> Result<Imported, ImportError> {
        import_whole_file(self.client(), path.as_ref(), Some(self.id())).await
    }
}

/// Imports a file into a spreadsheet, or into a new one if `into` is `None`.
async fn import_whole_file(
    client: &Client,
    path: &Path,
    into: Option<LogId>,
) -> Result<Imported, ImportError> {
    let path = std::path::absolute(path).map_err(|source| unreadable(path, source))?;
    let options = ReadOptions::for_file(&path);
    let target = Target {
        into,
        name: name_of_file(&path),
        replace: None,
        journal: journal_path(client, &path, &options, into)?,
        restart: false,
    };
    import_sheets(client, &path, &options, &target, &ProgressMonitor::default()).await
}

fn journal_path(
    client: &Client,
    path: &Path,
    options: &ReadOptions,
    into: Option<LogId>,
) -> Result<PathBuf, ImportError> {
    let (cloud, subject) = (client.identity(), client.subject());
    let key = JournalKey { cloud, subject, file: path, options, into, replace: None };
    Ok(key.path(client.folder()?))
}

/// Returns the file name without its extension, if it is a valid name of a spreadsheet.
pub(crate) fn name_of_file(path: &Path) -> Option<Name> {
    Name::new(path.file_stem()?.to_str()?).ok()
}
