//! The embedded DynamoDB. Opens and checks the database file, and serves the database over HTTP.
//!
//! The dynoxide crate has its own HTTP server, which is not used: it responds to every client,
//! including web pages, and does not support access checks.

mod requests;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use dynoxide::Database;

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

/// Opens the database file. Acknowledged writes survive a crash, because dynoxide keeps SQLite's
/// default of `synchronous = FULL` in WAL mode.
pub(crate) fn open(path: &Path) -> Result<Database, LocalError> {
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
    Ok(database)
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
pub(crate) async fn start(
    database: Database,
    roles: Arc<Roles>,
) -> Result<ServerThread, LocalError> {
    let respond = async move |headers: HeaderMap, body: Bytes| {
        requests::handle_request(&database, &headers, &body)
    };
    serve_guarded("the local DynamoDB", SERVICE, roles, Router::new().fallback(respond)).await
}
