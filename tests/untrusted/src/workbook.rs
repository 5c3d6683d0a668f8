//! Workbooks: xlsx, xlsb and ods.

use std::io::{Cursor, Write as _};

use cellar_exchange::{BlockSize, WorkbookImport};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use super::parts::split;
use super::pieces::{SMALL, compare_reads, read_first};

const OF_XLSX: [&str; 7] = [
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/sharedStrings.xml",
    "xl/styles.xml",
    "xl/worksheets/sheet1.xml",
    "[Content_Types].xml",
    "xl/comments1.xml",
];
const OF_XLSB: [&str; 5] = [
    "xl/workbook.bin",
    "xl/_rels/workbook.bin.rels",
    "xl/sharedStrings.bin",
    "xl/styles.bin",
    "xl/worksheets/sheet1.bin",
];
const OF_ODS: [&str; 2] = ["content.xml", "styles.xml"];

/// Reads the parts of an xlsx file after `x`, of an xlsb file after `b`, or of an ods file after
/// `o`, because a fuzzer cannot find the checksums of an archive; after any other byte, the file
/// itself. The cells must not depend on the block size.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else { return false };
    let file = match kind {
        b'x' => archive(&OF_XLSX, "xl/workbook.xml", rest),
        b'b' => archive(&OF_XLSB, "xl/workbook.bin", rest),
        b'o' => archive(&OF_ODS, "content.xml", rest),
        _ => rest.to_vec(),
    };
    let read = |block| {
        let file = file.as_slice();
        WorkbookImport::open(file, block).ok().and_then(read_first)
    };
    compare_reads(read(BlockSize::default()), read(SMALL))
}

fn archive(names: &[&str], main: &str, parts: &[u8]) -> Vec<u8> {
    let relation = format!(
        "<Relationships><Relationship Id=\"r\" Type=\"x/officeDocument\" Target=\"{main}\"/></Relationships>"
    );
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &[u8]| {
        zip.start_file(name, options).unwrap();
        zip.write_all(content).unwrap();
    };
    if main.starts_with("xl/") {
        add("_rels/.rels", relation.as_bytes());
    }
    for (name, content) in names.iter().zip(split(parts)) {
        add(name, content);
    }
    zip.finish().unwrap().into_inner()
}
