//! Paths through csv files.

use cellar_exchange::{CsvImport, CsvOptions, CsvRow, CsvWriter, Import as _, ImportStep};
use cellar_reference_data::{COLUMNS, ReferenceValue, value};
use cellar_sheet::cell::general;

use crate::{Failure, PreparedPath};

const ROWS: u32 = 1_000;

fn text(row: u32, column: u32) -> String {
    match value(row, column) {
        ReferenceValue::Empty => String::new(),
        ReferenceValue::Number(number) => general(number),
        ReferenceValue::Bool(true) => "TRUE".to_owned(),
        ReferenceValue::Bool(false) => "FALSE".to_owned(),
        ReferenceValue::Text(text) => text,
    }
}

fn encode(texts: &[Vec<String>]) -> Result<Vec<u8>, Failure> {
    let mut writer = CsvWriter::new(Vec::new(), b',', COLUMNS);
    let mut encoded_row = CsvRow::new(b',');
    for (row, texts) in (0..).zip(texts) {
        encoded_row.start(row);
        for (column, text) in (0..).zip(texts) {
            encoded_row.push_field(column, text)?;
        }
        writer.write_row(row, encoded_row.field_count(), encoded_row.encoded())?;
    }
    Ok(writer.finish()?)
}

fn reference_texts() -> Vec<Vec<String>> {
    (0..ROWS).map(|row| (0..COLUMNS).map(|column| text(row, column)).collect()).collect()
}

pub(crate) fn import_csv() -> Result<PreparedPath, Failure> {
    let file = encode(&reference_texts())?;
    Ok(Box::new(move || {
        let mut import = CsvImport::open(file.as_slice(), &CsvOptions::default())?;
        let mut cell_count = 0;
        while let Some(step) = import.next_step()? {
            if let ImportStep::Block(block) = step {
                cell_count += block.tile.cell_count();
            }
        }
        Ok(cell_count)
    }))
}

pub(crate) fn export_csv() -> Result<PreparedPath, Failure> {
    let texts = reference_texts();
    Ok(Box::new(move || Ok(encode(&texts)?.len())))
}
