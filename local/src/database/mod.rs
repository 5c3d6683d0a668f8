//! The embedded DynamoDB. Opens and checks the database file, and serves the database over HTTP.
//!
//! The dynoxide crate has its own HTTP server, which is not used: it responds to every client,
//! including web pages, and does not support access checks.

mod group_sync;
mod requests;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use dynoxide::Database;

use group_sync::GroupSync;
pub(crate) use group_sync::{OperationKind, SyncError};

use crate::access::{Service, serve_guarded};
use crate::disk_space;
use crate::error::LocalError;
use crate::roles::{Roles, tables};
use crate::server::ServerThread;

const SERVICE: Service = Service {
    name: "dynamodb",
    read_access_requests: tables::access_requests,
    denied_status: StatusCode::BAD_REQUEST,
};

/// The embedded DynamoDB. Its answers depend only on data that survives a crash of the machine.
#[derive(Clone)]
pub(crate) struct DurableDatabase {
    database: Database,
    group_sync: GroupSync,
}

impl DurableDatabase {
    /// Returns a database in memory, which never waits for a disk.
    #[cfg(test)]
    pub(crate) fn in_memory(database: Database) -> Self {
        Self { database, group_sync: GroupSync::new(|| Ok(())) }
    }

    /// Returns the database for operations whose results need not be on disk.
    pub(crate) fn unsynced(&self) -> &Database {
        &self.database
    }

    /// Runs an operation, and returns its result when everything that it has written or read is on
    /// disk.
    pub(crate) async fn run<T>(
        &self,
        kind: OperationKind,
        operation: impl FnOnce(&Database) -> T,
    ) -> Result<T, SyncError> {
        self.group_sync.run(kind, || operation(&self.database)).await
    }
}

impl std::fmt::Debug for DurableDatabase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DurableDatabase")
    }
}

/// Syncs the write-ahead log, in which SQLite has stored all changes that are not in the database
/// file yet.
fn sync_write_ahead_log(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_data()
}

/// Opens the database file.
///
/// SQLite does not wait for the disk at the end of each write (`synchronous = NORMAL` in WAL mode).
/// A crash of the machine could then lose the newest writes, but damages nothing. Instead,
/// [`DurableDatabase::run`] waits until the log is on disk, once for all operations that wait.
pub(crate) fn open(path: &Path) -> Result<DurableDatabase, LocalError> {
    let damaged = |why: String| LocalError::Damaged { path: path.to_owned(), why };
    if path.exists() {
        check_integrity(path)?;
    }
    let Some(utf8_path) = path.to_str() else {
        return Err(damaged("its path is not UTF-8".to_owned()));
    };
    let full = || LocalError::DiskFull { path: path.to_owned() };
    let database = Database::new(utf8_path).map_err(|error| {
        if disk_space::is_database_full(&error) { full() } else { damaged(error.to_string()) }
    })?;
    index_streams(path).map_err(|error| {
        if disk_space::is_sqlite_full(&error) { full() } else { damaged(error.to_string()) }
    })?;
    // Sets `synchronous = NORMAL`, and other settings to their defaults.
    database.disable_bulk_loading().map_err(|error| damaged(error.to_string()))?;
    let log_path = PathBuf::from(format!("{utf8_path}-wal"));
    let group_sync = GroupSync::new(move || sync_write_ahead_log(&log_path));
    Ok(DurableDatabase { database, group_sync })
}

/// Creates an index on the sequence numbers of stream records. dynoxide stores the sequence numbers
/// as text without an index; every write and every poll would otherwise scan all records.
fn index_streams(path: &Path) -> rusqlite::Result<()> {
    rusqlite::Connection::open(path)?.execute_batch(
        "CREATE INDEX IF NOT EXISTS cellar_stream_order
         ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    )
}

/// Runs SQLite's integrity check. Otherwise, a damaged page would remain unnoticed until a request
/// reads it.
pub(crate) fn check_integrity(path: &Path) -> Result<(), LocalError> {
    let damaged = |why: String| LocalError::Damaged { path: path.to_owned(), why };
    let report = integrity_report(path).map_err(|error| damaged(error.to_string()))?;
    if report != "ok" {
        return Err(damaged(report));
    }
    Ok(())
}

fn integrity_report(path: &Path) -> rusqlite::Result<String> {
    let connection = rusqlite::Connection::open(path)?;
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
}

/// Serves the database on a free port until the returned server is dropped.
pub(crate) fn start(
    database: DurableDatabase,
    roles: Arc<Roles>,
) -> Result<ServerThread, LocalError> {
    let respond = async move |headers: HeaderMap, body: Bytes| {
        requests::handle_request(&database, &headers, &body).await
    };
    serve_guarded("the local DynamoDB", SERVICE, roles, Router::new().fallback(respond))
}
