//! The parts of a workbook besides its cells.

use super::escape::push_escaped;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
/// Numbers below are reserved for number formats that every workbook has.
const FIRST_NUMBER_FORMAT_ID: usize = 164;

pub(super) const SHEET_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>";
pub(super) const SHEET_END: &str = "</sheetData></worksheet>";

/// The only cell metadata: a formula's result may extend into other cells.
const METADATA: &str = "<metadata xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
     xmlns:xda=\"http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray\">\
     <metadataTypes count=\"1\"><metadataType name=\"XLDAPR\" minSupportedVersion=\"120000\" copy=\"1\" \
     pasteAll=\"1\" pasteValues=\"1\" merge=\"1\" splitFirst=\"1\" rowColShift=\"1\" clearFormats=\"1\" \
     clearComments=\"1\" assign=\"1\" coerce=\"1\" cellMeta=\"1\"/></metadataTypes>\
     <futureMetadata name=\"XLDAPR\" count=\"1\"><bk><extLst>\
     <ext uri=\"{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}\">\
     <xda:dynamicArrayProperties fDynamic=\"1\" fCollapsed=\"0\"/></ext></extLst></bk></futureMetadata>\
     <cellMetadata count=\"1\"><bk><rc t=\"1\" v=\"0\"/></bk></cellMetadata></metadata>";

/// Returns the name of the part of a sheet. The first sheet has the number 1.
pub(super) fn sheet_part(number: usize) -> String {
    format!("xl/worksheets/sheet{number}.xml")
}

/// `row` is zero-based.
pub(super) fn push_row_start(xml: &mut String, row: u32) {
    xml.push_str(&format!("<row r=\"{}\">", u64::from(row) + 1));
}

/// Contents of the parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    /// Names of the sheets.
    pub(super) sheets: &'a [String],
    /// Names for formulas, and what they stand for.
    pub(super) defined_names: &'a [(String, String)],
    /// Number formats.
    pub(super) codes: &'a [String],
    pub(super) has_dynamic_formulas: bool,
}

impl Parts<'_> {
    /// Returns the names and the contents of the parts.
    pub(super) fn all(self) -> Vec<(&'static str, String)> {
        let mut parts = vec![
            ("[Content_Types].xml", self.content_types()),
            ("_rels/.rels", package_relationships()),
            ("xl/workbook.xml", self.workbook()),
            ("xl/_rels/workbook.xml.rels", self.workbook_relationships()),
            ("xl/styles.xml", self.styles()),
        ];
        if self.has_dynamic_formulas {
            parts.push(("xl/metadata.xml", format!("{DECLARATION}{METADATA}")));
        }
        parts
    }

    fn content_types(self) -> String {
        let mut xml = format!(
            "{DECLARATION}<Types xmlns=\"{PACKAGE}/content-types\">\
             <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
             <Default Extension=\"xml\" ContentType=\"application/xml\"/>"
        );
        let mut push = |part: &str, kind: &str| {
            xml.push_str(&format!(
                "<Override PartName=\"/{part}\" ContentType=\"{CONTENT_TYPE}.{kind}+xml\"/>"
            ));
        };
        push("xl/workbook.xml", "sheet.main");
        push("xl/styles.xml", "styles");
        for number in 1..=self.sheets.len() {
            push(&sheet_part(number), "worksheet");
        }
        if self.has_dynamic_formulas {
            push("xl/metadata.xml", "sheetMetadata");
        }
        xml.push_str("</Types>");
        xml
    }

    fn workbook(self) -> String {
        let mut xml =
            format!("{DECLARATION}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONSHIPS}\"><sheets>");
        for (number, name) in (1_usize..).zip(self.sheets) {
            xml.push_str("<sheet name=\"");
            push_escaped(&mut xml, name);
            xml.push_str(&format!("\" sheetId=\"{number}\" r:id=\"rId{number}\"/>"));
        }
        xml.push_str("</sheets>");
        if !self.defined_names.is_empty() {
            xml.push_str("<definedNames>");
            for (name, formula) in self.defined_names {
                xml.push_str("<definedName name=\"");
                push_escaped(&mut xml, name);
                xml.push_str("\">");
                push_escaped(&mut xml, formula);
                xml.push_str("</definedName>");
            }
            xml.push_str("</definedNames>");
        }
        // Excel calculates the formulas when it opens the file.
        xml.push_str("<calcPr calcId=\"124519\" fullCalcOnLoad=\"1\"/></workbook>");
        xml
    }

    fn workbook_relationships(self) -> String {
        let sheet_count = self.sheets.len();
        let mut targets: Vec<(&str, String)> = (1..=sheet_count)
            .map(|number| ("worksheet", format!("worksheets/sheet{number}.xml")))
            .collect();
        targets.push(("styles", "styles.xml".to_owned()));
        if self.has_dynamic_formulas {
            targets.push(("sheetMetadata", "metadata.xml".to_owned()));
        }
        relationships(&targets)
    }

    fn styles(self) -> String {
        let mut xml = format!("{DECLARATION}<styleSheet xmlns=\"{MAIN}\">");
        let ids = FIRST_NUMBER_FORMAT_ID..;
        if !self.codes.is_empty() {
            xml.push_str(&format!("<numFmts count=\"{}\">", self.codes.len()));
            for (id, code) in ids.clone().zip(self.codes) {
                xml.push_str(&format!("<numFmt numFmtId=\"{id}\" formatCode=\""));
                push_escaped(&mut xml, code);
                xml.push_str("\"/>");
            }
            xml.push_str("</numFmts>");
        }
        xml.push_str(
            "<fonts count=\"1\"><font><sz val=\"11\"/><name val=\"Calibri\"/><family val=\"2\"/></font></fonts>\
             <fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>\
             <fill><patternFill patternType=\"gray125\"/></fill></fills>\
             <borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
             <cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>",
        );
        xml.push_str(&format!("<cellXfs count=\"{}\">", self.codes.len() + 1));
        xml.push_str("<xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>");
        for (id, _) in ids.zip(self.codes) {
            xml.push_str(&format!(
                "<xf numFmtId=\"{id}\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/>"
            ));
        }
        xml.push_str(
            "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles>\
             <dxfs count=\"0\"/></styleSheet>",
        );
        xml
    }
}

fn package_relationships() -> String {
    relationships(&[("officeDocument", "xl/workbook.xml".to_owned())])
}

fn relationships(targets: &[(&str, String)]) -> String {
    let mut xml = format!("{DECLARATION}<Relationships xmlns=\"{PACKAGE}/relationships\">");
    for (number, (kind, target)) in (1_usize..).zip(targets) {
        xml.push_str(&format!(
            "<Relationship Id=\"rId{number}\" Type=\"{RELATIONSHIPS}/{kind}\" Target=\"{target}\"/>"
        ));
    }
    xml.push_str("</Relationships>");
    xml
}
