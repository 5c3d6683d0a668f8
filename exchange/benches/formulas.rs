//! Measures time and memory for importing an xlsx file with a million formulas: with a text in each
//! cell, and as one shared formula.
//!
//! Run with `cargo bench -p cellar-exchange --bench formulas [-- ROWS text|shared|values]`.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use cellar_exchange::{BlockSize, FileSource, Import as _, ImportStep, WorkbookImport};
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::merge::SheetWriter;
use cellar_snapshot::tile::Tile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

type Failure = Box<dyn std::error::Error>;

const CONTENT_TYPES: &str =
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";
const RELATIONSHIPS: &str = "<Relationships><Relationship Id=\"r\" \
    Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
    Target=\"xl/workbook.xml\"/></Relationships>";
const WORKBOOK: &str =
    "<workbook><sheets><sheet name=\"rows\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>";
const WORKBOOK_RELATIONSHIPS: &str = "<Relationships><Relationship Id=\"r1\" \
    Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
    Target=\"worksheets/sheet1.xml\"/></Relationships>";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.iter().find_map(|text| text.parse().ok()).unwrap_or(1_000_000);
    let kinds = ["values", "text", "shared"];
    let kind = kinds.into_iter().find(|kind| arguments.iter().any(|text| text == kind));
    let folder = tempfile::tempdir()?;
    for kind in kinds.into_iter().filter(|other| kind.is_none_or(|kind| kind == *other)) {
        let path = folder.path().join(format!("{kind}.xlsx"));
        write(&path, rows, kind)?;
        read(&path, kind)?;
        import(&path, kind)?;
    }
    Ok(())
}

/// Writes two columns of numbers, and a third one with `kind`.
fn write(path: &Path, rows: u32, kind: &str) -> Result<(), Failure> {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(path)?));
    let parts = [
        ("[Content_Types].xml", CONTENT_TYPES),
        ("_rels/.rels", RELATIONSHIPS),
        ("xl/workbook.xml", WORKBOOK),
        ("xl/_rels/workbook.xml.rels", WORKBOOK_RELATIONSHIPS),
    ];
    for (name, text) in parts {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    zip.start_file("xl/worksheets/sheet1.xml", SimpleFileOptions::default())?;
    write!(zip, "<worksheet><sheetData>")?;
    for row in 1..=rows {
        let number = f64::from(row.wrapping_mul(2_654_435_761) % 100_000) / 100.0;
        let formula = match kind {
            "values" => String::new(),
            "shared" if row > 1 => "<f t=\"shared\" si=\"0\"/>".to_owned(),
            "shared" => format!("<f t=\"shared\" si=\"0\" ref=\"C1:C{rows}\">A1*B1+$E$1</f>"),
            _ => format!("<f>A{row}*B{row}+$E$1</f>"),
        };
        write!(
            zip,
            "<row r=\"{row}\"><c r=\"A{row}\"><v>{number}</v></c><c r=\"B{row}\"><v>{row}</v></c>\
             <c r=\"C{row}\">{formula}<v>{}</v></c></row>",
            number * f64::from(row)
        )?;
    }
    write!(zip, "</sheetData></worksheet>")?;
    zip.finish()?;
    Ok(())
}

fn read(path: &Path, kind: &str) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut formulas = 0;
    for_each_block(path, |tile| {
        formulas += tile.formula_count();
        Ok(())
    })?;
    report(&format!("{kind}: read"), begun, formulas);
    Ok(())
}

/// Writes the chunks as an import does, in one thread.
fn import(path: &Path, kind: &str) -> Result<(), Failure> {
    let begun = Instant::now();
    let bytes = Cell::new(0_usize);
    let encode = |tile: &Tile| {
        let chunk = chunk_of(tile)?;
        bytes.set(bytes.get() + chunk.stored.len());
        Some(chunk)
    };
    let mut writer = SheetWriter::default();
    for_each_block(path, |tile| {
        writer.push(tile, &encode)?;
        Ok(())
    })?;
    let (sheet, _) = writer.finish(&encode)?;
    report(&format!("{kind}: chunks"), begun, usize::try_from(sheet.formulas)?);
    println!("  {} cells, {} bytes encoded", sheet.cells, bytes.get());
    Ok(())
}

fn for_each_block(
    path: &Path,
    mut visit: impl FnMut(Tile) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut import = WorkbookImport::open(FileSource(path.to_owned()), BlockSize::default())?;
    while let Some(step) = import.next_step()? {
        if let ImportStep::Block(block) = step {
            visit(block.tile)?;
        }
    }
    Ok(())
}

fn report(what: &str, begun: Instant, formulas: usize) {
    let seconds = begun.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{what}: {formulas} formulas, {seconds:.3} s; {peak}");
}
