//! Tests with handwritten ods files.

use cellar_base::limits::MAX_TEXT_BYTES;

use super::*;

pub(super) const CONTENT: &str = r##"<?xml version="1.0"?>
<office:document-content>
 <office:automatic-styles>
  <number:date-style style:name="N1"><number:day number:style="long"/><number:text>.</number:text><number:month/><number:text>.</number:text><number:year/></number:date-style>
  <number:percentage-style style:name="N2"><number:number number:decimal-places="1"/><number:text>%</number:text></number:percentage-style>
  <number:currency-style style:name="N3"><number:number number:decimal-places="2" number:grouping="true"/><number:text> </number:text><number:currency-symbol>EUR</number:currency-symbol></number:currency-style>
  <style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"/>
  <style:style style:name="ce2" style:family="table-cell" style:data-style-name="N2"/>
  <style:style style:name="ce3" style:family="table-cell" style:parent-style-name="money"/>
  <style:style style:name="money" style:family="table-cell" style:data-style-name="N3"/>
  <style:style style:name="round1" style:family="table-cell" style:parent-style-name="round2"/>
  <style:style style:name="round2" style:family="table-cell" style:parent-style-name="round1"/>
  <style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>
 </office:automatic-styles>
 <office:body><office:spreadsheet>
  <table:table table:name="Simple" table:style-name="ta1">
   <table:table-row><table:table-cell office:value-type="string"><text:p>ä &lt;</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="2.5"><text:p>2.50</text:p></table:table-cell></table:table-row>
   <table:table-row table:number-rows-repeated="3"><table:table-cell/></table:table-row>
   <table:table-row><table:table-cell/><table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>TRUE</text:p></table:table-cell></table:table-row>
  </table:table>
  <table:table table:name="Rich" table:style-name="ta2">
   <table:table-column table:number-columns-repeated="2"/><table:table-column table:default-cell-style-name="ce1"/>
   <table:table-header-rows>
   <table:table-row><table:table-cell office:value-type="string"><office:annotation><text:p>a note</text:p></office:annotation><text:p>two<text:s text:c="2"/><text:span>words</text:span></text:p><text:p>line<text:tab/>two</text:p></table:table-cell><table:covered-table-cell/><table:table-cell office:value-type="date" office:date-value="2012-01-01"><text:p>01.1.12</text:p></table:table-cell><table:table-cell office:value-type="date" office:date-value="2012-01-01T12:00:00"/></table:table-row>
   </table:table-header-rows>
   <table:table-row><table:table-cell table:style-name="ce2" office:value-type="percentage" office:value="0.5"/><table:table-cell table:style-name="ce3" office:value-type="currency" office:value="7"/><table:table-cell table:style-name="round1" office:value-type="time" office:time-value="PT36H"/><table:table-cell table:formula="of:=SUM([.A2:.B2];1)" office:value-type="float" office:value="8.5"/><table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell></table:table-row>
   <table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="1"/><table:table-cell table:number-columns-repeated="9999" table:style-name="ce1"/></table:table-row>
   <table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384" table:style-name="ce2"/></table:table-row>
  </table:table>
  <table:table table:name="Empty"/>
 </office:spreadsheet></office:body>
</office:document-content>"##;

pub(super) fn document(content: &str) -> Vec<u8> {
    const MANIFEST: &[u8] = b"<manifest:manifest/>";
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", MANIFEST),
        ("content.xml", content.as_bytes()),
    ])
}

#[test]
fn everything_that_a_cell_may_have() {
    let sheets = read(&document(CONTENT)).unwrap();
    let starts: Vec<_> =
        sheets.iter().map(|(start, _)| (start.name.as_deref().unwrap(), start.hidden)).collect();
    assert_eq!(starts, [("Simple", false), ("Rich", true), ("Empty", false)]);
    let simple = BTreeMap::from([
        ((0, 0), text("ä <")),
        ((0, 1), number(2.5, "")),
        ((4, 1), cell(Value::Bool(true))),
    ]);
    assert_eq!(sheets[0].1, simple);
    let formula = |value: Cell, formula: &str| Cell { formula: Some(formula.into()), ..value };
    let rich = BTreeMap::from([
        ((0, 0), text("two  words\nline\ttwo")),
        ((0, 2), number(40_909.0, "dd.m.yy")),
        ((0, 3), number(40_909.5, "yyyy-mm-dd hh:mm:ss")),
        ((1, 0), number(0.5, "0.0%")),
        ((1, 1), number(7.0, "#,##0.00 \"EUR\"")),
        ((1, 2), number(1.5, "[h]:mm:ss")),
        ((1, 3), formula(number(8.5, ""), "=SUM(A2:B2,1)")),
        ((1, 4), formula(error(ErrorCode::Div0), "=1/0")),
        ((2, 0), number(1.0, "")),
        ((2, 1), number(1.0, "")),
        ((3, 0), number(1.0, "")),
        ((3, 1), number(1.0, "")),
    ]);
    assert_eq!(sheets[1].1, rich);
    assert!(sheets[2].1.is_empty());
}

fn with_row(row: &str) -> Vec<u8> {
    let start =
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">";
    let end = "</table:table></office:spreadsheet></office:body></office:document-content>";
    document(&format!("{start}{row}{end}"))
}

#[test]
fn repetitions_are_counted_and_texts_have_their_limit() {
    let cell = "<table:table-cell table:number-columns-repeated=\"1000\" office:value-type=\"float\" office:value=\"1\"/>";
    let rows = |count: u32| {
        with_row(&format!(
            "<table:table-row table:number-rows-repeated=\"{count}\">{cell}</table:table-row>"
        ))
    };
    assert_eq!(read(&rows(3)).unwrap()[0].1.len(), 3_000);
    let too_many = read_in(&rows(20_001), BlockSize::default()).map(|_| "no error");
    let expected = WorkbookError::TooManyCells { sheet: "S".into() }.to_string();
    assert_eq!(too_many.unwrap_err().to_string(), expected);
    for count in ["99999999999999999999", "70000", "4294967295"] {
        let row = format!(
            "<table:table-row><table:table-cell table:number-columns-repeated=\"{count}\"/><table:table-cell office:value-type=\"float\" office:value=\"1\"/></table:table-row>"
        );
        let outcome = read(&with_row(&row)).map(|_| ());
        assert!(outcome.is_err(), "{count}");
    }
    let spaces = |count: u32| {
        with_row(&format!(
            "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>x<text:s text:c=\"{count}\"/></text:p></table:table-cell></table:table-row>"
        ))
    };
    assert!(read(&spaces(65_535)).is_ok());
    for count in [65_536, u32::MAX] {
        assert!(matches!(workbook_fault(&spaces(count)), WorkbookError::TextTooLong { .. }));
    }
}

#[test]
fn empty_paragraphs_are_counted_while_the_cell_is_read() {
    // The cell never ends, so only a check after each paragraph can notice the limit.
    let unfinished_cell = |paragraph_count: usize| {
        let paragraphs = "<text:p/>".repeat(paragraph_count);
        with_row(&format!(
            "<table:table-row><table:table-cell office:value-type=\"string\">{paragraphs}"
        ))
    };
    let is_too_long = |paragraph_count| {
        let fault = workbook_fault(&unfinished_cell(paragraph_count));
        matches!(fault, WorkbookError::TextTooLong { .. })
    };
    assert!(!is_too_long(MAX_TEXT_BYTES + 1), "each line break between paragraphs is a byte");
    assert!(is_too_long(MAX_TEXT_BYTES + 2));
}

#[test]
fn what_ends_in_the_middle_or_is_encrypted() {
    for end in [CONTENT.len() / 2, CONTENT.len() - 100] {
        let error = workbook_fault(&document(&CONTENT[..end]));
        assert!(matches!(error, WorkbookError::Damaged { .. }), "{error}");
    }
    let manifest: &[u8] =
        b"<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>";
    let parts = [("META-INF/manifest.xml", manifest), ("content.xml", b"\x01\x02".as_slice())];
    assert!(matches!(workbook_fault(&archive(&parts)), WorkbookError::Encrypted));
}

#[test]
fn what_is_repeated_more_often_than_can_be_counted_is_damaged() {
    let with = |from: &str, times: &str| {
        let content =
            CONTENT.replacen(&format!("repeated=\"{from}\""), &format!("repeated=\"{times}\""), 1);
        assert_ne!(content, CONTENT);
        read(&document(&content))
    };
    for (from, times) in
        [("3", "4294967297"), ("9999", "4294967296"), ("2", "-1"), ("1048000", "x")]
    {
        match with(from, times) {
            Err(ReadError::InWorkbook(WorkbookError::Damaged { why, .. })) => {
                assert!(why.contains(times), "{why}");
            }
            other => panic!("{from} as {times}: {other:?}"),
        }
    }
    assert!(with("1048000", "4294967295").is_ok(), "rows without cells to the end of the sheet");
}
