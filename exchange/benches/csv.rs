//! Benchmarks time and memory for reading a csv file with 10 million cells.
//!
//! Run with `cargo bench -p cellar-exchange [-- ROWS]`.

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use cellar_exchange::{CsvImport, CsvOptions, FileSource, Import as _, ImportStep};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows: u64 =
        std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("rows.csv");
    write(&mut BufWriter::new(File::create(&path)?), rows)?;
    let bytes = std::fs::metadata(&path)?.len();
    println!("{rows} rows x 10 columns, {bytes} bytes");
    for sample_bytes in [None, Some(4 * 1024 * 1024)] {
        let options = CsvOptions { sample_bytes, ..CsvOptions::default() };
        read(CsvImport::open(FileSource(path.clone()), &options)?, rows)?;
    }
    Ok(())
}

fn read(mut import: CsvImport<FileSource>, rows: u64) -> Result<(), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let cpu_before = cpu_seconds();
    let (mut cells, mut first_cells) = (0, 0.0);
    while let Some(step) = import.next_step()? {
        match step {
            ImportStep::Working => {}
            ImportStep::Restart => cells = 0,
            ImportStep::Sheet(_) => first_cells = begun.elapsed().as_secs_f64(),
            ImportStep::Block(block) => cells += block.tile.cell_count(),
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu_before;
    let all = f64::from(u32::try_from(rows * 10)?);
    println!(
        "{cells} cells in {seconds:.3} s, the first after {first_cells:.3} s; CPU {cpu:.2} s, {:.1} ns a \
         field; peak {}",
        cpu * 1e9 / all,
        peak()
    );
    Ok(())
}

fn write(file: &mut impl std::io::Write, rows: u64) -> std::io::Result<()> {
    writeln!(file, "id,product,code,quantity,price,measure,day,active,note,total")?;
    for row in 0..rows {
        let hash = |salt: u64| mix(row ^ (salt << 40));
        let product = (hash(1) % 200) * (hash(2) % 200) / 200;
        let quantity = hash(3) % 1_000;
        let cents = hash(4) % 100_000;
        write!(file, "{row},Product {product:03},{:012X},{quantity}", hash(5) >> 16)?;
        write!(file, ",{}.{:02},", cents / 100, cents % 100)?;
        if !hash(6).is_multiple_of(20) {
            let unit = hash(7) as f64 / u64::MAX as f64;
            write!(file, "{}", unit * 1_000.0)?;
        }
        let day = row / 300;
        write!(file, ",2{:03}-{:02}-{:02}", day / 336 % 1000, day / 28 % 12 + 1, day % 28 + 1)?;
        write!(file, ",{},", if hash(8).is_multiple_of(10) { "FALSE" } else { "TRUE" })?;
        if hash(9) % 10 >= 7 {
            for word in 0..=hash(10) % 8 {
                let space = if word > 0 { " " } else { "" };
                write!(file, "{space}word{}", hash(11 + word) % 500)?;
            }
        }
        let total = quantity * cents;
        writeln!(file, ",{}.{:02}", total / 100, total % 100)?;
    }
    file.flush()
}

/// Returns a pseudo-random number derived from the row.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns this process's CPU time in seconds (Linux only).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat.split(' ').map(|field| field.parse().unwrap_or(0.0)).collect();
    (fields.get(13).unwrap_or(&0.0) + fields.get(14).unwrap_or(&0.0)) / 100.0
}

/// Returns this process's peak memory usage (Linux only).
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map(|line| line.trim_start_matches("VmHWM:").trim().to_owned()).unwrap_or_default()
}
