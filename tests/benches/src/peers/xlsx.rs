//! xlsx, written by rust_xlsxwriter and read by calamine. Measures a twentieth of the rows and
//! scales the results: both libraries process the whole file, so that time and calamine's memory
//! grow with it.

use std::io::Cursor;

use calamine::{Reader, Xlsx};
use cellar_reference_data::{COLUMNS, ReferenceValue, value};
use rust_xlsxwriter::Workbook;

use super::sheet::Measured;
use crate::Failure;
use crate::clock::timed;

/// Divisor of the number of rows.
pub(super) const SCALE: u32 = 20;

pub(super) fn measured(rows: u32) -> Result<Measured, Failure> {
    let few = rows / SCALE;
    let file = written(few)?;
    let (cells, cpu_s) = timed(|| read(&file));
    let scale = 1e6 / f64::from(few);
    Ok(Measured {
        name: "xlsx (calamine, scaled)",
        bytes_per_cell: Some(file.len() as f64 / cells? as f64),
        import_cpu_s: Some(cpu_s * scale),
        far_view_ms: Some(cpu_s * scale * 1e3),
        far_view_kb: Some(file.len() as f64 * scale / 1e3),
        ..Measured::default()
    })
}

pub(super) fn written(rows: u32) -> Result<Vec<u8>, Failure> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet_with_constant_memory()?;
    for row in 0..rows {
        for column in 0..COLUMNS {
            let at = u16::try_from(column)?;
            match value(row, column) {
                ReferenceValue::Empty => continue,
                ReferenceValue::Number(number) => sheet.write_number(row, at, number)?,
                ReferenceValue::Bool(value) => sheet.write_boolean(row, at, value)?,
                ReferenceValue::Text(text) => sheet.write_string(row, at, text)?,
            };
        }
    }
    Ok(workbook.save_to_buffer()?)
}

pub(super) fn read(file: &[u8]) -> Result<usize, Failure> {
    let mut workbook: Xlsx<_> = calamine::open_workbook_from_rs(Cursor::new(file))?;
    let range = workbook.worksheet_range_at(0).ok_or("there is no sheet")??;
    Ok(range.used_cells().count())
}
