//! The embedded DynamoDB: its file checked, its HTTP server on a port of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use dynoxide::Database;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::LocalError;

/// Each request holds its thread until SQLite has synced: some must be left to answer others.
const SERVER_THREADS: usize = 4;

/// How long its last requests may take.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// A DynamoDB that serves on 127.0.0.1 until it is dropped.
#[derive(Debug)]
pub(crate) struct DatabaseServer {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: mpsc::Receiver<()>,
}

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

impl DatabaseServer {
    /// Serves the database on a free port.
    pub(crate) async fn start(database: Database) -> Result<Self, LocalError> {
        let fault = |why: String| LocalError::Server { what: "the local DynamoDB", why };
        let (stop, stopped) = oneshot::channel::<()>();
        let (started, address) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        // A runtime of its own: its blocking work must not hold up the API's tasks.
        let runtime = Builder::new_multi_thread()
            .worker_threads(SERVER_THREADS)
            .enable_all()
            .build()
            .map_err(|error| fault(error.to_string()))?;
        let serve = move || {
            runtime.block_on(async move {
                let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
                    Ok(listener) => listener,
                    Err(error) => return drop(started.send(Err(error))),
                };
                drop(started.send(listener.local_addr()));
                let stopped = async { drop(stopped.await) };
                if let Err(error) =
                    dynoxide::server::serve_with_shutdown(listener, database, stopped).await
                {
                    tracing::error!(error, "the local DynamoDB ended");
                }
            });
            drop(runtime);
            // Nobody waits if the process ends in another way.
            let _ = end.send(());
        };
        std::thread::Builder::new()
            .name("dynamodb".to_owned())
            .spawn(serve)
            .map_err(|error| fault(error.to_string()))?;
        let address = address.await.map_err(|error| fault(error.to_string()))?;
        let address = address.map_err(|error| fault(error.to_string()))?;
        Ok(Self { address, stop: Some(stop), ended })
    }
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The server may have ended by itself.
            let _ = stop.send(());
        }
        // So that SQLite has closed its file before the folder is free for another process.
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
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
