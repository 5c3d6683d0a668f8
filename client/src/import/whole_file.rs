//! Imports a whole file in one call. The import's journal is stored in the client's folder.

use std::path::{Path, PathBuf};

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::Name;

use super::file::unreadable;
use super::sheets::{Imported, JournalKey, ProgressMonitor, Target, import_sheets};
use super::{ImportError, ReadOptions};
use crate::{Client, Spreadsheet};

impl Client {
    /// Imports a csv, xlsx, xlsb or ods file of any size as a new spreadsheet, which is named after
    /// the file. For options and progress, use [`import_sheets`].
    ///
    /// If the import is interrupted, calling this method again resumes it, and each sheet is
    /// imported exactly once. To resume an import after the process has ended, the client must have
    /// a folder ([`Client::with_folder`]).
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] whose variant states whether anything was imported.
    pub async fn import_file(&self, path: impl AsRef<Path>) -> Result<Imported, ImportError> {
        import_whole_file(self, path.as_ref(), None).await
    }
}

impl Spreadsheet {
    /// Imports each sheet of a file as a new sheet of the spreadsheet. Like
    /// [`Client::import_file`], except that no spreadsheet is created.
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] whose variant states whether anything was imported.
    pub async fn import_file(&self, path: impl AsRef<Path>) -> Result<Imported, ImportError> {
        import_whole_file(self.client(), path.as_ref(), Some(self.id())).await
    }
}

/// Creates a spreadsheet if `into` is `None`.
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

/// Returns `None` if the file name without its extension is not a valid spreadsheet name.
pub(crate) fn name_of_file(path: &Path) -> Option<Name> {
    Name::new(path.file_stem()?.to_str()?).ok()
}
