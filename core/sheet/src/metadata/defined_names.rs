//! Defined names, such as `TAX` for `=Sheet1!$B$1`.

use std::collections::BTreeMap;

use cellar_formula::changes::MovedLines;
use cellar_formula::reference::{Area, Reference, ReferenceSheet, SheetNames};
use cellar_formula::{Template, UnreadableTemplate};

use super::SheetSet;
use crate::operation::set_name::PLACE;
use crate::operation::{InvalidName, Operation, SetName, check_name};
use cellar_base::limits::{MAX_DEFINED_NAMES, MAX_DEFINED_NAMES_BYTES};
use cellar_grid::{Axis, SheetId};

/// Maximum length of the stored form of an absolute reference, in bytes.
const REFERENCE_BYTES: usize = "\u{1}4294967295!R1073741823C4194303:R1073741823C4194303\u{2}".len();

/// A name and its formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedName {
    name: String,
    template: Template,
}

/// The defined names of a spreadsheet. Two names that differ only in case are the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DefinedNames {
    by_lowercase: BTreeMap<String, DefinedName>,
    bytes: usize,
}

/// Error if a spreadsheet would have too many names or their total size would be too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the spreadsheet has too many names: at most {MAX_DEFINED_NAMES} names with \
     {MAX_DEFINED_NAMES_BYTES} bytes in total are allowed; delete names that are not used"
)]
pub struct TooManyNames;

/// Error when reading stored names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableName {
    /// The name does not follow the rules for names.
    #[error(transparent)]
    Invalid(#[from] InvalidName),
    /// The stored formula cannot be decoded.
    #[error(transparent)]
    Formula(#[from] UnreadableTemplate),
    /// A reference has no sheet or is not absolute.
    #[error("a reference in the formula of a name has no sheet or is not absolute")]
    Reference,
    /// The names are not sorted, or a name occurs twice.
    #[error("the names are not sorted, or a name occurs twice")]
    Order,
    /// There are too many names.
    #[error(transparent)]
    TooMany(#[from] TooManyNames),
}

impl DefinedName {
    /// Returns the name, capitalized as in its definition.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stored form of the formula. It is independent of the cell that uses the name.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Returns the formula with the current names of the sheets, such as `=Sheet1!$A$2:$A$10`.
    /// References to deleted cells and sheets are `#REF!`.
    #[must_use]
    pub fn formula(&self, sheets: &impl SheetNames) -> String {
        self.template.text_at(PLACE, sheets)
    }

    /// Returns the references in the order in which they occur in the formula. Each reference is
    /// either absolute and has a sheet number, or is deleted.
    pub fn references(&self) -> impl Iterator<Item = Reference> + '_ {
        self.template.references_at(PLACE)
    }

    /// Returns the name with `change` applied to each reference of its formula.
    pub(crate) fn map_references(&self, change: impl Fn(&Reference) -> Reference) -> Self {
        let template = self.template.map_references(PLACE, PLACE, change);
        Self { name: self.name.clone(), template }
    }

    pub(crate) fn moved(&self, moves: &MovedLines) -> Self {
        self.map_references(|reference| reference.moved(SheetId::FIRST, moves))
    }

    /// Returns the size in bytes that counts toward `MAX_DEFINED_NAMES_BYTES`. Each reference
    /// counts as the longest possible one, so the size does not change when references move.
    fn bytes(&self) -> usize {
        const FRAME_BYTES: usize = 16;
        let mut parts = self.template.encoded().split('\u{1}');
        let before_references = parts.next().map_or(0, str::len);
        let reference_and_text = |part: &str| {
            let text = part.split_once('\u{2}').map_or(part, |(_, text)| text);
            REFERENCE_BYTES.saturating_add(text.len())
        };
        let others: usize = parts.map(reference_and_text).sum();
        FRAME_BYTES + self.name.len() + before_references + others
    }
}

impl DefinedNames {
    /// Returns the definition of a name, ignoring case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&DefinedName> {
        self.by_lowercase.get(&name.to_lowercase())
    }

    /// Returns the names in alphabetical order, ignoring case.
    pub fn iter(&self) -> impl Iterator<Item = &DefinedName> {
        self.by_lowercase.values()
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_lowercase.len()
    }

    /// Returns whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_lowercase.is_empty()
    }

    /// Creates the names from stored pairs of a name and its template, which must be in the order
    /// of [`DefinedNames::iter`].
    ///
    /// # Errors
    /// Returns an [`UnreadableName`] if a pair is invalid, the pairs are not in order, or there are
    /// too many names.
    pub fn from_stored(
        stored: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, UnreadableName> {
        let mut names = Self::default();
        for (name, encoded) in stored {
            check_name(&name)?;
            let template = Template::decode(encoded)?;
            if !template.references_at(PLACE).all(|reference| is_absolute_or_deleted(&reference)) {
                return Err(UnreadableName::Reference);
            }
            let last = names.by_lowercase.last_key_value();
            if last.is_some_and(|(last, _)| *last >= name.to_lowercase()) {
                return Err(UnreadableName::Order);
            }
            names.try_insert(DefinedName { name, template })?;
        }
        Ok(names)
    }

    /// Returns whether [`DefinedNames::follow`] can apply a definition without exceeding a limit.
    #[must_use]
    pub fn has_room_for(&self, set: &SetName) -> bool {
        let Some(template) = set.template() else { return true };
        self.has_room(&DefinedName { name: set.name.clone(), template })
    }

    fn has_room(&self, new: &DefinedName) -> bool {
        let old = self.get(&new.name);
        let others = self.len().saturating_sub(usize::from(old.is_some()));
        let other_bytes = self.bytes.saturating_sub(old.map_or(0, DefinedName::bytes));
        others < MAX_DEFINED_NAMES
            && other_bytes.saturating_add(new.bytes()) <= MAX_DEFINED_NAMES_BYTES
    }

    fn try_insert(&mut self, new: DefinedName) -> Result<(), TooManyNames> {
        if !self.has_room(&new) {
            return Err(TooManyNames);
        }
        self.remove(&new.name);
        self.bytes = self.bytes.saturating_add(new.bytes());
        self.by_lowercase.insert(new.name.to_lowercase(), new);
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        if let Some(removed) = self.by_lowercase.remove(&name.to_lowercase()) {
            self.bytes = self.bytes.saturating_sub(removed.bytes());
        }
    }

    /// Applies a committed operation: defines or deletes a name, or moves the references of all
    /// names. `sheets` are the sheets before the operation. An operation that cannot be applied to
    /// the current state has no effect.
    pub fn follow(&mut self, operation: &Operation, sheets: &SheetSet) {
        if let Operation::SetName(set) = operation {
            return self.set(set);
        }
        if self.is_empty() {
            return;
        }
        // References to a deleted sheet keep its number, which is never reused.
        let moves = operation.moved_lines();
        if operation.sheet().is_some_and(|sheet| sheets.contains(sheet)) {
            for name in self.by_lowercase.values_mut() {
                *name = name.moved(&moves);
            }
        }
    }

    /// Returns the names with `change` applied to each reference of their formulas.
    pub(crate) fn map_references(&self, change: impl Fn(&Reference) -> Reference) -> Self {
        let mut names = self.clone();
        for name in names.by_lowercase.values_mut() {
            *name = name.map_references(&change);
        }
        names
    }

    fn set(&mut self, set: &SetName) {
        if set.formula.is_none() {
            self.remove(&set.name);
        } else if let Some(template) = set.template() {
            // Only an undo can exceed a limit here: other edits were checked before they were
            // committed.
            let _ = self.try_insert(DefinedName { name: set.name.clone(), template });
        }
    }
}

fn is_absolute_or_deleted(reference: &Reference) -> bool {
    let is_absolute = [Axis::Rows, Axis::Columns].into_iter().all(|axis| {
        reference.area.ends(axis).is_none_or(|ends| ends.first.is_absolute && ends.last.is_absolute)
    });
    match reference.sheet {
        ReferenceSheet::Own => reference.area == Area::Deleted,
        ReferenceSheet::Numbered(_) => is_absolute,
        ReferenceSheet::Unknown(_) => false,
    }
}

#[cfg(test)]
mod tests;
