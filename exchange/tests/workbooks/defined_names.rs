//! Names of cells and values in xlsx files.

use cellar_base::limits::{MAX_DEFINED_NAME_FORMULA_BYTES, MAX_DEFINED_NAMES};
use cellar_exchange::XlsxWriter;

use super::xlsx::Parts;
use super::*;

/// Returns the names and their formulas.
fn names(bytes: &[u8]) -> Vec<(String, String)> {
    let import = WorkbookImport::open(bytes, BlockSize::default()).unwrap();
    let names = import.names().iter();
    names.map(|name| (name.name.clone(), name.formula.clone())).collect()
}

fn workbook(defined_names: &str) -> Vec<u8> {
    let workbook = format!(
        "<workbook xmlns:r=\"r\"><sheets><sheet name=\"A &amp; B\" sheetId=\"1\" r:id=\"s1\"/></sheets>\
         <definedNames>{defined_names}</definedNames></workbook>"
    );
    Parts { workbook: &workbook, ..Parts::default() }.packed()
}

fn pair(name: &str, formula: &str) -> (String, String) {
    (name.to_owned(), formula.to_owned())
}

#[test]
fn names_of_the_workbook_are_read_and_others_are_not() {
    let found = names(&workbook(
        "<definedName name=\"Prices\">'A &amp; B'!$A$2:$A$10</definedName>\
         <definedName name=\"TAX\" comment=\"rate\" hidden=\"1\">0.19</definedName>\
         <definedName name=\"new\">_xlfn.XLOOKUP(1,'A &amp; B'!$A:$A,_x005F_x0041_)</definedName>\
         <definedName name=\"_xlnm.Print_Area\" localSheetId=\"0\">'A &amp; B'!$A$1</definedName>\
         <definedName name=\"_XLNM.Criteria\">'A &amp; B'!$A$1</definedName>\
         <definedName name=\"local\" localSheetId=\"0\">1</definedName>\
         <definedName name=\"macro\" function=\"1\" xlm=\"1\">1</definedName>\
         <definedName>1</definedName><definedName name=\"empty\"/>",
    ));
    let expected = [
        pair("Prices", "='A & B'!$A$2:$A$10"),
        pair("TAX", "=0.19"),
        pair("new", "=XLOOKUP(1,'A & B'!$A:$A,_x0041_)"),
        pair("empty", "="),
    ];
    assert_eq!(found, expected);
}

#[test]
fn names_are_read_up_to_the_limits() {
    let longest = "1".repeat(MAX_DEFINED_NAME_FORMULA_BYTES - 1);
    let name = |formula: &str| format!("<definedName name=\"x\">{formula}</definedName>");
    assert_eq!(names(&workbook(&name(&longest))).len(), 1);
    assert_eq!(names(&workbook(&name(&format!("{longest}1")))).len(), 0);
    let many = |count: usize| names(&workbook(&name("1").repeat(count))).len();
    assert_eq!(many(MAX_DEFINED_NAMES), MAX_DEFINED_NAMES);
    assert_eq!(many(MAX_DEFINED_NAMES + 1), MAX_DEFINED_NAMES);
}

#[test]
fn written_names_are_read_again() {
    let mut writer = XlsxWriter::new(None).unwrap();
    writer.start_sheet("a<b").unwrap();
    let written = [
        pair("Prices", "=SUM('a<b'!$A$2:$A$10)&\"_x0041_\""),
        pair("Newest", "=XLOOKUP(1,'a<b'!$A:$A,'a<b'!$B:$B)"),
        pair("TAX", "=0.19"),
    ];
    for (name, formula) in &written {
        writer.define_name(name, formula);
    }
    let mut target = Cursor::new(Vec::new());
    writer.finish(&mut target).unwrap();
    let bytes = target.into_inner();
    assert_eq!(names(&bytes), written);
    assert_eq!(read(&bytes).unwrap().len(), 1);
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut xml = String::new();
    std::io::Read::read_to_string(&mut zip.by_name("xl/workbook.xml").unwrap(), &mut xml).unwrap();
    let order = ["</sheets><definedNames>", "=\"Newest\">_xlfn.XLOOKUP(", "</definedNames><calcPr"];
    for part in order {
        assert!(xml.contains(part), "{part} in {xml}");
    }
}
