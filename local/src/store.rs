//! SQLite file for state that AWS keeps outside of the tables: queue messages, and the positions of
//! event sources in change streams. Every change is synced to disk before it is acknowledged.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_engine::ports::PortError;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::database::check_integrity;
use crate::disk_space;
use crate::error::LocalError;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_ms INTEGER NOT NULL,
        visible_from_ms INTEGER NOT NULL,
        receive_count INTEGER NOT NULL,
        chain_invocations INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX IF NOT EXISTS messages_by_queue ON messages (queue, visible_from_ms);
    CREATE TABLE IF NOT EXISTS positions (
        source TEXT NOT NULL,
        shard TEXT NOT NULL,
        sequence_number TEXT NOT NULL,
        PRIMARY KEY (source, shard)
    ) STRICT;
";

/// SQLite file that stores queue messages and stream positions.
#[derive(Debug)]
pub(crate) struct EventStore {
    connection: Mutex<Connection>,
}

impl EventStore {
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>, LocalError> {
        if path.exists() {
            check_integrity(path)?;
        }
        let connection = open_connection(path).map_err(|error| {
            let path = path.to_owned();
            if disk_space::is_sqlite_full(&error) {
                return LocalError::DiskFull { path };
            }
            LocalError::Damaged { path, why: error.to_string() }
        })?;
        Ok(Arc::new(Self { connection: Mutex::new(connection) }))
    }

    /// Runs SQL on a blocking thread.
    pub(crate) async fn run_sql<T: Send + 'static>(
        self: &Arc<Self>,
        sql: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, PortError> {
        let store = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let mut connection = store.connection.lock().unwrap_or_else(PoisonError::into_inner);
            sql(&mut connection)
        });
        let sql_result = task.await.map_err(|error| PortError::temporary(error.to_string()))?;
        sql_result
            .map_err(|error| PortError::temporary(format!("the local event store failed: {error}")))
    }

    /// Returns `None` if the event source has not processed any record.
    pub(crate) async fn position(
        self: &Arc<Self>,
        source: &str,
        shard: &str,
    ) -> Result<Option<String>, PortError> {
        let (source, shard) = (source.to_owned(), shard.to_owned());
        self.run_sql(move |connection| {
            let sql = "SELECT sequence_number FROM positions WHERE source = ?1 AND shard = ?2";
            connection.query_row(sql, params![source, shard], |row| row.get(0)).optional()
        })
        .await
    }

    pub(crate) async fn set_position(
        self: &Arc<Self>,
        source: &str,
        shard: &str,
        sequence_number: &str,
    ) -> Result<(), PortError> {
        let row = [source.to_owned(), shard.to_owned(), sequence_number.to_owned()];
        self.run_sql(move |connection| {
            connection.execute("INSERT OR REPLACE INTO positions VALUES (?1, ?2, ?3)", row)?;
            Ok(())
        })
        .await
    }
}

fn open_connection(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(SCHEMA)?;
    add_missing_columns(&connection)?;
    Ok(connection)
}

/// Adds the columns that are missing in a file from an earlier version of Cellar.
fn add_missing_columns(connection: &Connection) -> rusqlite::Result<()> {
    if !connection.column_exists(None, "messages", "chain_invocations")? {
        connection.execute_batch(
            "ALTER TABLE messages ADD COLUMN chain_invocations INTEGER NOT NULL DEFAULT 0",
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_without_chains_is_migrated_with_its_messages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let old_file = Connection::open(&path).unwrap();
        let old_schema =
            SCHEMA.replace(",\n        chain_invocations INTEGER NOT NULL DEFAULT 0", "");
        assert_ne!(old_schema, SCHEMA);
        old_file.execute_batch(&old_schema).unwrap();
        old_file.execute("INSERT INTO messages VALUES (1, 'q', 'body', 2, 3, 4)", []).unwrap();
        drop(old_file);
        for _ in ["migrates", "has migrated"] {
            let store = EventStore::open(&path).unwrap();
            let read = store.run_sql(|connection| {
                let sql = "SELECT body, receive_count, chain_invocations FROM messages";
                connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            });
            let expected: (String, u32, u32) = ("body".to_owned(), 4, 0);
            assert_eq!(read.await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn positions_survive_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let store = EventStore::open(&path).unwrap();
        assert_eq!(store.position("a", "s").await.unwrap(), None);
        store.set_position("a", "s", "1").await.unwrap();
        store.set_position("a", "s", "2").await.unwrap();
        drop(store);
        let store = EventStore::open(&path).unwrap();
        assert_eq!(store.position("a", "s").await.unwrap().as_deref(), Some("2"));
        assert_eq!(store.position("a", "t").await.unwrap(), None);
    }

    #[test]
    fn reports_a_file_that_is_not_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        std::fs::write(&path, "x".repeat(10_000)).unwrap();
        let error = EventStore::open(&path).err().unwrap();
        assert!(matches!(error, LocalError::Damaged { .. }), "{error}");
    }
}
