//! Rows with gaps, filled up and written as CSV.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

/// The cells of one row that are not blank, by column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SparseRow {
    /// The row, from 0.
    pub(super) row: u32,
    /// Column, from 0, and text.
    pub(super) fields: Vec<(u32, String)>,
}

/// Writes rows, in ascending order, as CSV: each `columns` fields wide, missing rows as blank ones.
pub(super) fn write(
    rows: impl Iterator<Item = io::Result<SparseRow>>,
    columns: u64,
    target: impl Write,
) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(target);
    let mut next = 0_u32;
    for row in rows {
        let row = row?;
        while next < row.row {
            write_row(&mut writer, &[], columns)?;
            next = next.saturating_add(1);
        }
        write_row(&mut writer, &row.fields, columns)?;
        next = next.saturating_add(1);
    }
    writer.flush()
}

fn write_row(
    writer: &mut csv::Writer<impl Write>,
    fields: &[(u32, String)],
    columns: u64,
) -> io::Result<()> {
    let mut column = 0_u64;
    for (at, text) in fields {
        while column < u64::from(*at) {
            writer.write_field("").map_err(io_error)?;
            column += 1;
        }
        writer.write_field(text).map_err(io_error)?;
        column += 1;
    }
    while column < columns {
        writer.write_field("").map_err(io_error)?;
        column += 1;
    }
    writer.write_record(None::<&[u8]>).map_err(io_error)
}

/// The cause below a CSV error, so that a broken pipe is still known as one.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other("the CSV writer failed"),
    }
}
