//! Templates, the stored form of formulas.

mod code;
mod inputs;
#[cfg(test)]
mod tests;

use cellar_base::limits::{MAX_FORMULA_REFERENCES, MAX_TEMPLATE_BYTES};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

use crate::formula::Formula;
use crate::reference::{Reference, ReferenceSheet, SheetNames, write_reference};

/// Control characters that enclose each encoded reference. Formulas cannot contain them.
const REFERENCE_START: char = '\u{1}';
const REFERENCE_END: char = '\u{2}';

/// A formula in a form that is independent of its cell: coordinates without `$` are stored as
/// distances from the cell. All cells of a filled column therefore have the same template.
///
/// Sheets are stored by number, so renaming a sheet does not change templates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Template(String);

/// Error for an invalid stored formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableTemplate {
    /// The stored formula is too long.
    #[error("the stored formula has {bytes} bytes; at most {MAX_TEMPLATE_BYTES} are allowed")]
    TooLong {
        /// Length of the stored formula in bytes.
        bytes: usize,
    },
    /// The stored formula has too many references.
    #[error("the stored formula has more than {MAX_FORMULA_REFERENCES} references")]
    TooManyReferences,
    /// The stored formula does not start with `=`, or a reference is malformed.
    #[error("the stored formula is malformed at byte {byte}")]
    Malformed {
        /// Byte offset of the error, from 0.
        byte: usize,
    },
}

/// A part of a template: text or an encoded reference.
enum Part<'a> {
    Text(&'a str),
    /// An encoded reference, and its byte offset in the template.
    Code {
        code: &'a str,
        byte: usize,
    },
}

impl Template {
    /// Creates the template of a formula in `cell`.
    #[must_use]
    pub fn of(formula: &Formula, cell: CellName) -> Self {
        Self(formula.text_with(|reference, text| push_code(reference, cell, text)))
    }

    /// Decodes a stored template. Only the references are checked, not the syntax of the formula.
    ///
    /// # Errors
    /// Returns [`UnreadableTemplate`] if the template is too long, does not start with `=` or has
    /// too many references, or if a reference is malformed.
    pub fn decode(encoded: String) -> Result<Self, UnreadableTemplate> {
        if encoded.len() > MAX_TEMPLATE_BYTES {
            return Err(UnreadableTemplate::TooLong { bytes: encoded.len() });
        }
        if !encoded.starts_with('=') {
            return Err(UnreadableTemplate::Malformed { byte: 0 });
        }
        let mut reference_count = 0;
        for part in Parts::of(&encoded) {
            match part {
                Part::Text(text) if text.contains([REFERENCE_START, REFERENCE_END]) => {
                    return Err(UnreadableTemplate::Malformed { byte: encoded.len() });
                }
                Part::Text(_) => {}
                Part::Code { code, byte } => {
                    reference_count += 1;
                    if code::decode(code, CellName { row: 0, column: 0 }).is_none() {
                        return Err(UnreadableTemplate::Malformed { byte });
                    }
                }
            }
        }
        if reference_count > MAX_FORMULA_REFERENCES {
            return Err(UnreadableTemplate::TooManyReferences);
        }
        Ok(Self(encoded))
    }

    /// Returns the encoded template.
    #[must_use]
    pub fn encoded(&self) -> &str {
        &self.0
    }

    /// Returns the text of the formula in `cell`. A reference that extends beyond the largest
    /// possible sheet, or to a sheet that does not exist, is written as `#REF!`.
    #[must_use]
    pub fn text_at(&self, cell: CellName, names: &impl SheetNames) -> String {
        let mut text = String::with_capacity(self.0.len());
        for part in Parts::of(&self.0) {
            match part {
                Part::Text(unchanged) => text.push_str(unchanged),
                Part::Code { code, .. } => {
                    if let Some(reference) = code::decode(code, cell) {
                        write_reference(&reference, names, &mut text);
                    }
                }
            }
        }
        text
    }

    /// Returns the references of the formula in `cell`, in text order.
    pub fn references_at(&self, cell: CellName) -> impl Iterator<Item = Reference> + '_ {
        Parts::of(&self.0).filter_map(move |part| match part {
            Part::Text(_) => None,
            Part::Code { code, .. } => code::decode(code, cell),
        })
    }

    /// Returns the names of sheets that the template contains instead of their numbers.
    pub fn sheet_names(&self) -> impl Iterator<Item = String> + '_ {
        Parts::of(&self.0).filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Code { code, .. } => Some(code::named_sheet(code)?.0),
        })
    }

    /// Returns whether the template contains the number of a sheet.
    #[must_use]
    pub fn has_sheet_number(&self) -> bool {
        self.references_at(CellName { row: 0, column: 0 })
            .any(|reference| matches!(reference.sheet, ReferenceSheet::Numbered(_)))
    }

    /// Replaces names of sheets by the numbers that `number_of` returns. A name without a number is
    /// kept. Does not depend on the cell of the formula.
    #[must_use]
    pub fn with_sheet_numbers(self, number_of: impl Fn(&str) -> Option<SheetId>) -> Self {
        if self.sheet_names().all(|name| number_of(&name).is_none()) {
            return self;
        }
        let mut encoded = String::with_capacity(self.0.len());
        for part in Parts::of(&self.0) {
            match part {
                Part::Text(unchanged) => encoded.push_str(unchanged),
                Part::Code { code, .. } => {
                    encoded.push(REFERENCE_START);
                    let named = code::named_sheet(code);
                    match named.and_then(|(name, area)| Some((number_of(&name)?, area))) {
                        Some((sheet, area)) => encoded.push_str(&format!("{}!{area}", sheet.0)),
                        None => encoded.push_str(code),
                    }
                    encoded.push(REFERENCE_END);
                }
            }
        }
        Self(encoded)
    }

    /// Applies `change` to each reference of the formula in `old_cell`, and returns the template of
    /// the result in `new_cell`.
    #[must_use]
    pub fn map_references(
        &self,
        old_cell: CellName,
        new_cell: CellName,
        change: impl Fn(&Reference) -> Reference,
    ) -> Self {
        let mut encoded = String::with_capacity(self.0.len());
        for part in Parts::of(&self.0) {
            match part {
                Part::Text(unchanged) => encoded.push_str(unchanged),
                Part::Code { code, .. } => {
                    if let Some(reference) = code::decode(code, old_cell) {
                        push_code(&change(&reference), new_cell, &mut encoded);
                    }
                }
            }
        }
        Self(encoded)
    }
}

fn push_code(reference: &Reference, cell: CellName, text: &mut String) {
    text.push(REFERENCE_START);
    code::encode(reference, cell, text);
    text.push(REFERENCE_END);
}

/// Iterator over the parts of a template.
struct Parts<'a> {
    encoded: &'a str,
    position: usize,
}

impl<'a> Parts<'a> {
    fn of(encoded: &'a str) -> Self {
        Self { encoded, position: 0 }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let rest = self.encoded.get(self.position..).filter(|rest| !rest.is_empty())?;
        let reference = rest.strip_prefix(REFERENCE_START).and_then(|after_start| {
            let code = after_start.get(..after_start.find(REFERENCE_END)?)?;
            Some(Part::Code { code, byte: self.position })
        });
        let (part, bytes) = match reference {
            Some(Part::Code { code, byte }) => (Part::Code { code, byte }, code.len() + 2),
            _ => {
                let after_first = rest.char_indices().nth(1).map_or(rest.len(), |(index, _)| index);
                let next = rest.get(after_first..).and_then(|text| text.find(REFERENCE_START));
                let bytes = next.map_or(rest.len(), |index| after_first + index);
                (Part::Text(rest.get(..bytes)?), bytes)
            }
        };
        self.position += bytes;
        Some(part)
    }
}
