//! Bundled SQLite: one file, write-ahead log, no fsync.

use std::path::Path;

use cellar_reference_data::{COLUMNS, POPULATED_PER_1000_ROWS, ReferenceValue, value};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params, params_from_iter};

use super::sheet::Measured;
use crate::Failure;
use crate::clock::{Stopwatch, median_s};
use crate::data::Edit;
use crate::works::fold::SNAPSHOT_EDITS;

/// A value in the types of SQLite.
struct Stored(ReferenceValue);

impl ToSql for Stored {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match &self.0 {
            ReferenceValue::Empty => ValueRef::Null,
            // An integer is usually half the size of a REAL.
            ReferenceValue::Number(number) if number.fract() == 0.0 => {
                ValueRef::Integer(*number as i64)
            }
            ReferenceValue::Number(number) => ValueRef::Real(*number),
            ReferenceValue::Bool(value) => ValueRef::Integer(i64::from(*value)),
            ReferenceValue::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn open(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    Ok(connection)
}

/// Returns the CPU seconds of edits, in transactions of a snapshot's size, and of a final
/// checkpoint.
pub(super) fn fold_cpu_s(edits: u32, rows: u32) -> Result<f64, Failure> {
    let folder = tempfile::tempdir()?;
    let mut connection = open(&folder.path().join("cells.db"))?;
    connection.execute_batch(
        "CREATE TABLE cells (row INTEGER, col INTEGER, value, PRIMARY KEY (row, col)) WITHOUT ROWID",
    )?;
    let mut watch = Stopwatch::default();
    for first in (0..edits).step_by(SNAPSHOT_EDITS as usize) {
        let numbers = first..edits.min(first + SNAPSHOT_EDITS);
        let list = numbers.map(|number| Edit::numbered(number, rows));
        let list: Vec<_> = list.map(|edit| (edit.row, edit.column, Stored(edit.value))).collect();
        watch.run(|| -> Result<(), Failure> {
            let transaction = connection.transaction()?;
            let mut insert =
                transaction.prepare_cached("INSERT OR REPLACE INTO cells VALUES (?, ?, ?)")?;
            for (row, column, value) in &list {
                insert.execute(params![row, column, value])?;
            }
            drop(insert);
            Ok(transaction.commit()?)
        })?;
    }
    watch.run(|| connection.close().map_err(|(_, error)| error))?;
    Ok(watch.total_s())
}

/// Measures a table with a column for each column of the sheet, filled in one transaction.
pub(super) fn measured(rows: u32) -> Result<Measured, Failure> {
    const BATCH: u32 = 4_096;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("sheet.db");
    let mut connection = open(&path)?;
    let columns: Vec<String> = (0..COLUMNS).map(|number| format!("c{number}")).collect();
    connection.execute_batch(&format!("CREATE TABLE sheet ({})", columns.join(", ")))?;
    let insert = format!("INSERT INTO sheet VALUES ({})", vec!["?"; columns.len()].join(", "));
    let mut watch = Stopwatch::default();
    let transaction = connection.transaction()?;
    for first in (0..rows).step_by(BATCH as usize) {
        let row = |row| (0..COLUMNS).map(|column| Stored(value(row, column))).collect::<Vec<_>>();
        let block: Vec<Vec<Stored>> = (first..rows.min(first + BATCH)).map(row).collect();
        watch.run(|| -> Result<(), Failure> {
            let mut insert = transaction.prepare_cached(&insert)?;
            for row in &block {
                insert.execute(params_from_iter(row))?;
            }
            Ok(())
        })?;
    }
    watch.run(|| transaction.commit())?;
    watch.run(|| connection.close().map_err(|(_, error)| error))?;
    let scale = 1e6 / f64::from(rows);
    let cells = f64::from(rows) * f64::from(POPULATED_PER_1000_ROWS) / 1e3;
    Ok(Measured {
        name: "SQLite",
        bytes_per_cell: Some(std::fs::metadata(&path)?.len() as f64 / cells),
        import_cpu_s: Some(watch.total_s() * scale),
        far_view_ms: Some(median_s(21, || far_view(&path, rows)) * 1e3),
        ..Measured::default()
    })
}

/// Opens a new connection, and reads 50 rows at nine tenths of the sheet.
fn far_view(path: &Path, rows: u32) -> Result<usize, Failure> {
    let connection = Connection::open(path)?;
    let first = rows / 10 * 9;
    let mut select =
        connection.prepare("SELECT * FROM sheet WHERE rowid > ?1 AND rowid <= ?1 + 50")?;
    let mut found = select.query([first])?;
    let mut cells = 0;
    while let Some(row) = found.next()? {
        for column in 0..COLUMNS as usize {
            cells += usize::from(!matches!(row.get_ref(column)?, ValueRef::Null));
        }
    }
    Ok(cells)
}
