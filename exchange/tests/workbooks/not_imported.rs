//! Tests that an import lists all contents of a workbook that it does not take.

use rust_xlsxwriter::{
    Chart, ChartType, ConditionalFormatCell, ConditionalFormatCellRule, DataValidation,
    DataValidationRule, Format, Formula, Image, Note, ProtectionOptions, Shape, Sparkline, Table,
    Url, Workbook,
};

use super::xlsx::Parts;
use super::*;

/// A picture of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";

fn not_imported(bytes: &[u8]) -> String {
    let mut import = WorkbookImport::open(bytes, BlockSize::default()).unwrap();
    while import.next_step().unwrap().is_some() {}
    import.not_imported().to_string()
}

fn with_head(head: &str) -> String {
    let rows = "<row><c><v>1</v></c></row>";
    not_imported(&Parts { texts: "<sst/>", head, rows, ..Parts::default() }.packed())
}

/// Returns a workbook of `rust_xlsxwriter` with contents of many kinds.
fn everything() -> Vec<u8> {
    let mut workbook = Workbook::new();
    workbook.define_name("Rate", "=0.5").unwrap();
    let bold = Format::new().set_bold();
    let date = Format::new().set_num_format("[$-41E]d mmm bbbb");
    let sheet = workbook.add_worksheet();
    sheet.merge_range(0, 0, 1, 1, "merged", &bold).unwrap();
    sheet.write_url(2, 0, Url::new("https://example.com")).unwrap();
    sheet.insert_note(2, 1, &Note::new("a note")).unwrap();
    sheet.insert_note(2, 2, &Note::new("another")).unwrap();
    let rule = DataValidationRule::GreaterThan(5);
    sheet.add_data_validation(3, 0, 4, 0, &DataValidation::new().allow_whole_number(rule)).unwrap();
    let rule = ConditionalFormatCellRule::GreaterThan(5);
    let conditional = ConditionalFormatCell::new().set_rule(rule).set_format(&bold);
    sheet.add_conditional_format(3, 1, 4, 1, &conditional).unwrap();
    sheet.set_freeze_panes(1, 0).unwrap();
    sheet.set_column_width(3, 20).unwrap();
    sheet.set_column_hidden(5).unwrap();
    sheet.set_row_height(6, 40).unwrap();
    sheet.set_row_hidden(7).unwrap();
    sheet.group_rows(8, 9).unwrap();
    sheet.write_number_with_format(3, 4, 46_347, &date).unwrap();
    sheet.write_rich_string(5, 0, &[(&Format::default(), "plain "), (&bold, "bold")]).unwrap();
    sheet.write_array_formula(6, 0, 7, 0, Formula::new("=B1:B2*2")).unwrap();
    sheet.protect_with_options(&ProtectionOptions::new());
    sheet.add_table(10, 0, 12, 1, &Table::new()).unwrap();
    sheet.autofilter(20, 0, 22, 1).unwrap();
    let mut chart = Chart::new(ChartType::Line);
    chart.add_series().set_values("=Sheet1!$A$1:$A$3");
    sheet.insert_chart(0, 8, &chart).unwrap();
    sheet.insert_image(0, 10, &Image::new_from_buffer(PNG).unwrap()).unwrap();
    sheet.insert_shape(0, 12, &Shape::textbox()).unwrap();
    sheet.add_sparkline(0, 14, &Sparkline::new().set_range(("Sheet1", 0, 0, 0, 3))).unwrap();
    workbook.add_chartsheet().insert_chart(0, 0, &chart).unwrap();
    workbook.save_to_buffer().unwrap()
}

#[test]
fn everything_that_is_not_taken_of_an_xlsx_file_is_listed() {
    assert_eq!(
        not_imported(&everything()),
        "styles of 5 cells, formatting within 1 text, date format of 1 cell, 1 merged range, \
         1 column width, 1 row height, hiding of 1 row, hiding of 1 column, \
         grouping of 2 rows and columns, 1 frozen pane, 1 link, 2 comments, 1 data validation, \
         1 conditional format, 1 filter, 1 defined name, protection of 1 sheet, range or workbook, \
         1 table, 2 charts, 1 picture, 1 shape, 1 sparkline, 1 chart, dialog or macro sheet, \
         range of 1 array formula"
    );
}

#[test]
fn a_workbook_with_only_cells_has_nothing_else() {
    let cells = BTreeMap::from([
        ((0, 0), number(46_347.0, "yyyy-mm-dd")),
        ((0, 1), Cell { formula: Some("=UNIQUE(A1:A2)".into()), ..text("x") }),
    ]);
    assert_eq!(not_imported(&crate::xlsx::written(&[("s", cells)]).unwrap()), "");
    assert_eq!(with_head(""), "");
    assert_eq!(not_imported(&Parts::default().packed()), "phonetic guide of 1 text");
    assert_eq!(not_imported(&super::xlsb::workbook(super::xlsb::CELLS)), "");
}

#[test]
fn contents_with_their_default_value_are_not_listed() {
    for head in [
        "<sheetViews><sheetView><pane xSplit=\"9\" state=\"split\"/></sheetView></sheetViews>",
        "<cols><col min=\"1\" max=\"3\" width=\"9\" customWidth=\"0\" hidden=\"false\"/></cols>",
        "<sheetProtection sheet=\"0\"/>",
    ] {
        assert_eq!(with_head(head), "", "{head}");
    }
    for (head, expected) in [
        (
            "<cols><col min=\"2\" max=\"4\" hidden=\"1\" style=\"1\"/></cols>",
            "styles of 3 rows and columns, hiding of 3 columns",
        ),
        (
            "<cols><col min=\"9\" max=\"99999999999\" hidden=\"1\"/></cols>",
            "hiding of 16,384 columns",
        ),
        ("<cols><col min=\"9\" max=\"2\" customWidth=\"true\"/></cols>", "1 column width"),
        ("<x:protectedRange/>", "protection of 1 sheet, range or workbook"),
        ("<x14:cfRule priority=\"1\"/><x14:cfRule/>", "1 conditional format"),
    ] {
        assert_eq!(with_head(head), expected, "{head}");
    }
    let styles = "<styleSheet><cellXfs><xf fontId=\"1\"><alignment wrapText=\"0\"/></xf><xf numFmtId=\"2\" fontId=\"1\"><alignment wrapText=\"0\"/></xf><xf fontId=\"1\"><alignment wrapText=\"1\"/></xf></cellXfs></styleSheet>";
    let rows = "<row><c s=\"0\"><v>1</v></c><c s=\"1\"><v>1</v></c><c s=\"2\"/></row>";
    let bytes = Parts { styles, rows, texts: "<sst/>", ..Parts::default() }.packed();
    assert_eq!(not_imported(&bytes), "style of 1 cell");
}

#[test]
fn what_is_not_taken_of_an_xlsb_file_is_listed() {
    let mut pane = [0; 29];
    pane[28] = 1;
    let records = [
        (151, &pane[..]),
        // Columns B to D with a width that was set.
        (60, &[1, 0, 0, 0, 3, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 2, 0]),
        // A hidden row of an outline.
        (0, &[0, 0, 0, 0, 0, 0, 0, 0, 44, 1, 0, 0x11]),
        (9, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0]),
        (176, &[0; 16]),
        (176, &[0; 16]),
        (494, &[]),
        (535, &[]),
    ];
    assert_eq!(
        not_imported(&super::xlsb::workbook(&records)),
        "2 merged ranges, 3 column widths, hiding of 1 row, grouping of 1 row or column, \
         1 frozen pane, 1 link, protection of 1 sheet, range or workbook, 1 formula"
    );
    for short in [(0, &[0, 0, 0, 0][..]), (60, &[0; 17]), (151, &[0; 28])] {
        assert_eq!(not_imported(&super::xlsb::workbook(&[short])), "");
    }
}

#[test]
fn what_is_not_taken_of_an_ods_file_is_listed() {
    let content = r##"<office:document-content>
 <office:automatic-styles>
  <style:style style:name="ce1" style:family="table-cell"><style:text-properties fo:font-weight="bold"/></style:style>
  <style:style style:name="ce2" style:family="table-cell" style:parent-style-name="Default"/>
  <style:style style:name="Default" style:family="table-cell"><style:text-properties/></style:style>
 </office:automatic-styles>
 <office:body><office:spreadsheet>
  <table:content-validations><table:content-validation/></table:content-validations>
  <table:table table:name="A" table:protected="true">
   <table:table-column table:visibility="collapse"/>
   <table:table-row table:number-rows-repeated="2"><table:table-cell table:style-name="ce1" office:value-type="float" office:value="1" table:number-columns-spanned="2" table:number-rows-spanned="1"><office:annotation><text:p>note</text:p></office:annotation></table:table-cell><table:covered-table-cell/><table:table-cell table:style-name="ce2" office:value-type="string"><text:p><text:a>link</text:a></text:p></table:table-cell></table:table-row>
   <table:table-row table:visibility="collapse"><table:table-cell><draw:frame><draw:object/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame><draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame></table:table-cell></table:table-row>
  </table:table>
  <table:named-expressions><table:named-range/></table:named-expressions>
  <table:database-ranges><table:database-range table:name="__Anonymous_Sheet_DB__0"/></table:database-ranges>
 </office:spreadsheet></office:body></office:document-content>"##;
    assert_eq!(
        not_imported(&super::ods::document(content)),
        "styles of 2 cells, 1 merged range, hiding of 1 row, hiding of 1 column, 1 link, 1 comment, \
         1 data validation, 1 filter, 1 defined name, protection of 1 sheet, range or workbook, \
         1 chart, 1 picture"
    );
}

#[test]
fn formulas_that_cannot_be_calculated_are_counted() {
    let rows = "<row><c><f>1+</f><v>1</v></c><c><f>Table1[a]</f><v>2</v></c>\
                <c><f>Missing!A1</f><v>3</v></c><c><f>[1]Sheet1!A1</f><v>4</v></c>\
                <c><f>NO.SUCH(1)</f><v>5</v></c></row>\
                <row><c><f t=\"shared\" si=\"0\" ref=\"A2:B2\">SUM(One:Two!A1)</f><v>6</v></c>\
                <c><f t=\"shared\" si=\"0\"/><v>7</v></c></row>";
    let bytes = Parts { texts: "<sst/>", rows, ..Parts::default() }.packed();
    assert_eq!(not_imported(&bytes), "calculation of 5 formulas");
    let cells = &read(&bytes).unwrap()[0].1;
    let formulas: Vec<_> = cells.values().map(|cell| cell.formula.as_deref().unwrap()).collect();
    let expected = [
        "=1+",
        "=Table1[a]",
        "=Missing!A1",
        "=[1]Sheet1!A1",
        "=NO.SUCH(1)",
        "=SUM(One:Two!A1)",
        "=SUM(One:Two!B1)",
    ];
    assert_eq!(formulas, expected);
    assert_eq!(cells[&(0, 0)].value, Value::Number(1.0));
}
