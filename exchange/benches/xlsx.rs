//! Benchmarks time and memory for writing and reading an xlsx file with a million cells.
//!
//! Run with `cargo bench -p cellar-exchange --bench xlsx [-- ROWS]`.

use std::fs::File;
use std::time::Instant;

use cellar_exchange::{
    BlockSize, CellToWrite, FileSource, Import as _, ImportStep, Spill, WorkbookImport, XlsxWriter,
};
use cellar_sheet::cell::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: u32 = std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rows.xlsx");
    let begun = Instant::now();
    write(&path, rows)?;
    report("written", begun, u64::from(rows) * 10);
    println!("{} bytes", std::fs::metadata(&path)?.len());
    let begun = Instant::now();
    let mut import = WorkbookImport::open(FileSource(path), BlockSize::default())?;
    let mut cells = 0;
    while let Some(step) = import.next_step()? {
        if let ImportStep::Block(block) = step {
            cells += u64::try_from(block.tile.cell_count())?;
        }
    }
    report("read", begun, cells);
    Ok(())
}

fn write(path: &std::path::Path, rows: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = XlsxWriter::new(None)?;
    writer.start_sheet("rows")?;
    for row in 0..rows {
        for column in 0..10 {
            let number = f64::from(row.wrapping_mul(2_654_435_761) % 100_000) / 100.0;
            let value = match column {
                0..7 => Value::Number(number),
                7 => Value::Bool(row % 10 > 0),
                _ => Value::Text(format!("Product {}", row % 200)),
            };
            let format = (column == 4).then_some("0.00");
            writer.write_cell(
                row,
                column,
                &CellToWrite { value: &value, formula: None, format, spill: Spill::None },
            )?;
        }
    }
    Ok(writer.finish(File::create(path)?)?)
}

fn report(what: &str, begun: Instant, cells: u64) {
    let seconds = begun.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let ns_per_cell = seconds * 1e9 / cells as f64;
    println!("{what}: {cells} cells, {seconds:.3} s, {ns_per_cell:.0} ns a cell; {peak}");
}
