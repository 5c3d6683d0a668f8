//! Tests of workbooks: of other libraries, handwritten, and damaged.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod comparison;
mod damaged;
mod defined_names;
mod dynamic_arrays;
mod not_imported;
mod ods;
mod xlsb;
mod xlsx;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use cellar_exchange::{
    BlockSize, Import as _, ImportStep, ReadError, SheetStart, WorkbookError, WorkbookImport,
};
use cellar_sheet::cell::{Cell, ErrorCode, Value};
use zip::write::SimpleFileOptions;

/// Cells by row and column.
type Cells = BTreeMap<(u32, u32), Cell>;

/// A sheet and its cells.
type Sheet = (SheetStart, Cells);

fn read_in(bytes: &[u8], block: BlockSize) -> Result<Vec<Sheet>, ReadError> {
    let mut import = WorkbookImport::open(bytes, block)?;
    let mut sheets: Vec<Sheet> = Vec::new();
    while let Some(step) = import.next_step()? {
        match step {
            ImportStep::Working => {}
            ImportStep::Restart => panic!("workbooks say what their cells are"),
            ImportStep::Sheet(start) => sheets.push((start, BTreeMap::new())),
            ImportStep::Block(block) => {
                let cells = &mut sheets.last_mut().unwrap().1;
                for found in block.cells() {
                    let cell = Cell {
                        value: found.value,
                        formula: found.formula.map(Cow::into_owned),
                        format: found.format.map(str::to_owned),
                    };
                    assert!(cells.insert((found.row, found.column), cell).is_none());
                }
            }
        }
    }
    assert!(import.next_step()?.is_none());
    assert_eq!(import.progress().done, import.progress().total);
    Ok(sheets)
}

/// Reads a workbook in large and in small blocks, and compares the results.
fn read(bytes: &[u8]) -> Result<Vec<Sheet>, ReadError> {
    let sheets = read_in(bytes, BlockSize::default());
    let again = read_in(bytes, BlockSize { rows: 2, cells: 3 });
    assert_eq!(format!("{sheets:?}"), format!("{again:?}"));
    sheets
}

fn workbook_fault(bytes: &[u8]) -> WorkbookError {
    match read(bytes).map(|_| "no error") {
        Err(ReadError::InWorkbook(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Returns an archive with the parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn cell(value: Value) -> Cell {
    Cell { value, ..Cell::default() }
}

fn number(number: f64, format: &str) -> Cell {
    let format = (!format.is_empty()).then(|| format.to_owned());
    Cell { value: Value::Number(number), format, ..Cell::default() }
}

fn text(text: &str) -> Cell {
    cell(Value::Text(text.into()))
}

fn error(code: ErrorCode) -> Cell {
    cell(Value::Error(code))
}
