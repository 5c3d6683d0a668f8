//! The embedded DynamoDB: its file checked, its HTTP server on a port of its own.
//!
//! dynoxide's own server is not used: it answers whoever asks, any web page too, and takes no layer
//! before it.

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
use crate::error::LocalError;
use crate::roles::{Roles, tables};
use crate::server::ServerThread;

/// It answers 400 to what is not permitted.
const SERVICE: Service =
    Service { name: "dynamodb", asks: tables::asks, denied: StatusCode::BAD_REQUEST };

/// Opens the database file, which SQLite writes through to the disk (`synchronous = FULL` in WAL
/// mode is its default, and dynoxide leaves it): what is acknowledged survives a kill.
pub(crate) fn open(path: &Path) -> Result<Database, LocalError> {
    let damaged = |why: String| LocalError::Damaged { path: path.to_owned(), why };
    if path.exists() {
        check(path).map_err(|error| damaged(error.to_string()))??;
    }
    let text = path.to_str().ok_or_else(|| damaged("its path is not UTF-8".to_owned()))?;
    let database = Database::new(text).map_err(|error| damaged(error.to_string()))?;
    index_streams(path).map_err(|error| damaged(error.to_string()))?;
    Ok(database)
}

/// The order of stream records, which dynoxide keeps as texts without an index: with each write it
/// would look at all records for the last number, and with each poll for the next ones.
fn index_streams(path: &Path) -> rusqlite::Result<()> {
    rusqlite::Connection::open(path)?.execute_batch(
        "CREATE INDEX IF NOT EXISTS cellar_stream_order
         ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    )
}

/// SQLite's own check of every page; without it a damaged page shows only when it is read.
pub(crate) fn check(path: &Path) -> rusqlite::Result<Result<(), LocalError>> {
    let connection = rusqlite::Connection::open(path)?;
    let verdict: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?;
    if verdict == "ok" {
        return Ok(Ok(()));
    }
    Ok(Err(LocalError::Damaged { path: path.to_owned(), why: verdict }))
}

/// Serves the database on a free port until what is returned is dropped, to whoever may do what he asks for.
pub(crate) async fn start(
    database: Database,
    roles: Arc<Roles>,
) -> Result<ServerThread, LocalError> {
    let answer =
        async move |headers: HeaderMap, body: Bytes| requests::answer(&database, &headers, &body);
    serve_guarded("the local DynamoDB", SERVICE, roles, Router::new().fallback(answer)).await
}
