//! Reads the defined names of a workbook.

use std::io::Read;

use cellar_base::limits::{MAX_DEFINED_NAME_FORMULA_BYTES, MAX_DEFINED_NAMES};
use quick_xml::events::{BytesStart, Event};

use super::strings::unescape;
use crate::WorkbookError;
use crate::workbook::functions::without_prefixes;
use crate::workbook::xml::{Xml, attribute, is_true, push_text};

/// Start of the names that have a meaning in Excel, such as print areas.
const BUILT_IN_PREFIX: &str = "_xlnm";

/// A name of a workbook that formulas can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameInFile {
    /// The name. It may not follow the rules of names in Cellar.
    pub name: String,
    /// The formula that the name stands for, such as `=Sheet1!$B$1`, with the sheet names of the file.
    pub formula: String,
}

/// The attributes of a `definedName` element that matter.
#[derive(Debug)]
pub(super) struct NameTag {
    name: Option<String>,
}

impl NameTag {
    /// Names of macros, of one sheet only, and those with a meaning in Excel are not read.
    pub(super) fn of(tag: &BytesStart<'_>) -> Self {
        let is_set = |name| attribute(tag, name).is_some_and(|value| is_true(&value));
        let is_other = ["function", "vbProcedure", "xlm"].into_iter().any(is_set)
            || attribute(tag, "localSheetId").is_some();
        let name = attribute(tag, "name").filter(|name| {
            let start = name.get(..BUILT_IN_PREFIX.len()).unwrap_or_default();
            !is_other && !start.eq_ignore_ascii_case(BUILT_IN_PREFIX)
        });
        Self { name }
    }

    /// Reads the text of the element, and adds the name unless there are too many or it is too long.
    pub(super) fn read_into<R: Read>(
        self,
        xml: &mut Xml<R>,
        names: &mut Vec<NameInFile>,
    ) -> Result<(), WorkbookError> {
        let mut formula = String::from("=");
        loop {
            let event = xml.next_event()?;
            match event {
                Event::End(_) | Event::Eof => break,
                // The text of a longer formula is not needed, because the name is not added.
                _ if formula.len() > MAX_DEFINED_NAME_FORMULA_BYTES => {}
                event => push_text(&event, &mut formula),
            }
        }
        xml.record_content();
        let fits =
            formula.len() <= MAX_DEFINED_NAME_FORMULA_BYTES && names.len() < MAX_DEFINED_NAMES;
        if let Some(name) = self.name
            && fits
        {
            let formula = without_prefixes(&unescape(&formula));
            names.push(NameInFile { name: unescape(&name).into_owned(), formula });
        }
        Ok(())
    }
}
