//! The embedded DynamoDB: its file checked, its HTTP server on a port of its own.

use std::path::Path;

use dynoxide::Database;

use crate::error::LocalError;
use crate::server::{ServerThread, Stopped};

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

/// Serves the database on a free port until what is returned is dropped.
pub(crate) async fn start(database: Database) -> Result<ServerThread, LocalError> {
    ServerThread::start("the local DynamoDB", async move |listener, stopped: Stopped| {
        let stopped = async { drop(stopped.await) };
        dynoxide::server::serve_with_shutdown(listener, database, stopped).await
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_database_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dynamodb.sqlite");
        std::fs::write(&path, "x".repeat(10_000)).unwrap();
        let error = open(&path).err().unwrap();
        assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x".repeat(10_000));
    }

    #[test]
    fn the_last_and_the_next_stream_records_are_found_by_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dynamodb.sqlite");
        for _ in 0..2 {
            drop(open(&path).unwrap());
        }
        let connection = rusqlite::Connection::open(&path).unwrap();
        // As dynoxide 3.2 asks.
        for query in [
            "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records
             WHERE table_name = 'T'",
            "SELECT event_name FROM _stream_records WHERE table_name = 'T' AND shard_id = 's'
             AND CAST(sequence_number AS INTEGER) > 7
             ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9",
        ] {
            let plan = format!("EXPLAIN QUERY PLAN {query}");
            let plan: String = connection.query_row(&plan, [], |row| row.get(3)).unwrap();
            assert!(plan.contains("INDEX cellar_stream_order (table_name=?"), "{plan}");
        }
    }

    #[test]
    fn a_damaged_page_is_found_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dynamodb.sqlite");
        drop(open(&path).unwrap());
        assert!(open(&path).is_ok());
        let mut bytes = std::fs::read(&path).unwrap();
        // The header of the second page.
        bytes[4_096..4_196].fill(0xa5);
        for extra in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("dynamodb.sqlite{extra}")));
        }
        std::fs::write(&path, &bytes).unwrap();
        let error = open(&path).err().unwrap();
        assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
    }
}
