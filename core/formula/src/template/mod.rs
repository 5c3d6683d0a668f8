//! The stored form of formulas.

mod code;
#[cfg(test)]
mod tests;

use cellar_base::limits::{MAX_FORMULA_REFERENCES, MAX_TEMPLATE_BYTES};
use cellar_grid::a1::CellName;

use crate::formula::Formula;
use crate::reference::{Reference, SheetNames, write_reference};

/// Characters around each reference. A formula cannot contain them.
const REFERENCE_START: char = '\u{1}';
const REFERENCE_END: char = '\u{2}';

/// A formula in a form that is independent of its cell: references without `$` are stored as
/// distances from the cell. A formula that is filled into other cells has the same template there.
///
/// Sheets are stored by their numbers, so that renaming a sheet changes no template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Template(String);

/// Error for an invalid stored form of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableTemplate {
    /// The text is too long.
    #[error("a stored formula has {bytes} bytes; at most {MAX_TEMPLATE_BYTES} are allowed")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// There are too many references.
    #[error("a stored formula has more than {MAX_FORMULA_REFERENCES} references")]
    TooManyReferences,
    /// A reference cannot be decoded, or the formula does not start with `=`.
    #[error("byte {byte} of a stored formula is not readable")]
    Malformed {
        /// Place of the error, in bytes from 0.
        byte: usize,
    },
}

/// A part of a template.
enum Part<'a> {
    Text(&'a str),
    /// The stored form of a reference, and its place in the template.
    Code {
        code: &'a str,
        byte: usize,
    },
}

impl Template {
    /// Returns the template of a formula in `cell`.
    #[must_use]
    pub fn of(formula: &Formula, cell: CellName) -> Self {
        Self(formula.text_with(|reference, text| push_code(reference, cell, text)))
    }

    /// Decodes a stored template.
    ///
    /// # Errors
    /// Returns [`UnreadableTemplate`] if the text is too long, or if a reference is malformed or
    /// outside the largest possible sheet. The syntax around the references is not checked.
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

    /// Returns the stored form, which is text.
    #[must_use]
    pub fn encoded(&self) -> &str {
        &self.0
    }

    /// Returns the text of the formula in `cell`. A reference to a cell outside the largest possible
    /// sheet, or to a sheet that does not exist, becomes `#REF!`.
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

    /// Returns the references of the formula in `cell`, in the order of the text.
    pub fn references_at(&self, cell: CellName) -> impl Iterator<Item = Reference> + '_ {
        Parts::of(&self.0).filter_map(move |part| match part {
            Part::Text(_) => None,
            Part::Code { code, .. } => code::decode(code, cell),
        })
    }

    /// Returns the template of the formula in `new_cell` that is the formula in `old_cell` with
    /// changed references.
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

/// Iterates over the parts of a template.
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
