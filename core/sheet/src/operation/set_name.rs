//! The operation that defines a name or deletes it.

use std::collections::{BTreeMap, BTreeSet};

use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_formula::reference::{
    Area, Coordinate, Ends, Reference, ReferenceSheet, SheetNames, write_reference,
};
use cellar_formula::syntax::{SyntaxError, TokenKind};
use cellar_formula::{Formula, Template};
use serde::{Deserialize, Serialize};

use super::InvalidOperation;
use crate::a1::CellName;
use crate::axis_map::AxisMap;
use cellar_base::limits::{
    MAX_DEFINED_NAME_BYTES, MAX_DEFINED_NAME_FORMULA_BYTES, MAX_SHEET_NAME_CHARACTERS,
};
use cellar_grid::SheetId;

/// Place of the formulas of names. All their references are absolute, so any cell would do.
pub(crate) const PLACE: CellName = CellName { row: 0, column: 0 };

/// Defines a name for a formula, or deletes the name. Formulas can then use the name.
///
/// If several people define the same name concurrently, the later definition is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetName {
    /// The name. It starts with a letter or `_`, and consists of letters, digits, `_` and `.`. Case
    /// is ignored. A cell such as `A1`, `R1C1`, `TRUE` and `FALSE` are no names.
    pub name: String,
    /// The formula that the name stands for, such as `=Sheet1!$A$2:$A$10` or `=0.19`. Each reference names its
    /// sheet, and has a `$` before each row and column. If it is absent, the name is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Numbers of the sheets that the formula names, by the names that it uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sheets: BTreeMap<String, SheetId>,
}

/// The reason why a name or its formula is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The name does not follow the rules.
    #[error("`{name}` cannot be a name: {reason}")]
    Name {
        /// The invalid name, possibly truncated.
        name: String,
        /// The error, with a remedy.
        reason: &'static str,
    },
    /// The formula is too long.
    #[error(
        "the formula of {name} has {bytes} bytes; at most {MAX_DEFINED_NAME_FORMULA_BYTES} are \
         allowed; write a part of it in a cell and refer to the cell"
    )]
    TooLong {
        /// The name.
        name: String,
        /// Length of the formula.
        bytes: usize,
    },
    /// The syntax of the formula is wrong.
    #[error("the formula of {name} is invalid: {fault}")]
    Syntax {
        /// The name.
        name: String,
        /// The error and its place.
        fault: SyntaxError,
    },
    /// A reference names no sheet.
    #[error("the formula of {name} refers to {reference} without a sheet; write Sheet1!{absolute}")]
    NoSheet {
        /// The name.
        name: String,
        /// The reference.
        reference: String,
        /// The reference with `$`.
        absolute: String,
    },
    /// A reference is not absolute.
    #[error(
        "the formula of {name} refers to {reference}; write {absolute}, because names have no cell of their own"
    )]
    NotAbsolute {
        /// The name.
        name: String,
        /// The reference.
        reference: String,
        /// The reference with `$`.
        absolute: String,
    },
    /// A reference names a sheet that does not exist.
    #[error(
        "the formula of {name} names the sheet `{sheet}`, which does not exist; correct its name"
    )]
    NoSuchSheet {
        /// The name.
        name: String,
        /// Name of the sheet.
        sheet: String,
    },
    /// The operation does not say which sheet is meant.
    #[error("the formula of {name} names the sheet `{sheet}`; add its number to `sheets`")]
    UnknownSheet {
        /// The name.
        name: String,
        /// Name of the sheet.
        sheet: String,
    },
    /// Two names of sheets differ only in case, or a name of a sheet is too long.
    #[error("`{sheet}` in `sheets` is too long, or it is there twice")]
    SheetName {
        /// Name of the sheet, possibly truncated.
        sheet: String,
    },
}

/// Sheets by the names that a formula uses.
struct Labels<'a> {
    numbers: BTreeMap<String, SheetId>,
    /// The first of the names of each sheet.
    labels: BTreeMap<SheetId, &'a str>,
}

impl<'a> Labels<'a> {
    fn of(sheets: &'a BTreeMap<String, SheetId>) -> Self {
        let mut labels = BTreeMap::new();
        for (label, number) in sheets {
            labels.entry(*number).or_insert(label.as_str());
        }
        let numbers = sheets.iter().map(|(label, number)| (label.to_lowercase(), *number));
        Self { numbers: numbers.collect(), labels }
    }
}

impl SheetNames for Labels<'_> {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.numbers.get(&name.to_lowercase()).copied()
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.labels.get(&sheet).copied()
    }
}

impl SetName {
    /// Creates the definition of a name by a formula with the sheet names of `names`.
    ///
    /// # Errors
    /// Returns an error if the name or the formula is invalid, or if no sheet has a name that the
    /// formula contains.
    pub fn define(
        name: &str,
        formula: &str,
        names: &impl SheetNames,
    ) -> Result<Self, InvalidOperation> {
        let parsed = parse(name, formula, names)?;
        for placed in parsed.references() {
            if let ReferenceSheet::Unknown(sheet) = &placed.reference.sheet {
                let (name, sheet) = (shown(name), shown(sheet));
                return Err(InvalidName::NoSuchSheet { name, sheet }.into());
            }
        }
        let numbers = numbers_of(&parsed).into_iter();
        let sheets = numbers.filter_map(|number| Some((names.name(number)?.to_owned(), number)));
        let sheets = sheets.collect();
        let formula = Some(parsed.canonical_text(names));
        let set = Self { name: name.to_owned(), formula, sheets }.validated()?;
        set.check_length()?;
        Ok(set)
    }

    /// Creates the definition of a name by a formula that was defined before, with the sheet names of
    /// `names`. Returns `None` if moved references or longer names of sheets have made the formula
    /// too long.
    #[must_use]
    pub fn restored(name: &str, formula: &str, names: &impl SheetNames) -> Option<Self> {
        let parsed = Formula::parse(formula, names).ok()?;
        let numbers = numbers_of(&parsed).into_iter();
        let sheets = numbers.filter_map(|number| Some((names.name(number)?.to_owned(), number)));
        let (name, formula) = (name.to_owned(), Some(formula.to_owned()));
        Self { name, formula, sheets: sheets.collect() }.validated().ok()
    }

    /// Creates the deletion of a name.
    #[must_use]
    pub fn delete(name: &str) -> Self {
        Self { name: name.to_owned(), formula: None, sheets: BTreeMap::new() }
    }

    pub(super) fn validated(self) -> Result<Self, InvalidOperation> {
        check_name(&self.name)?;
        let Some(formula) = &self.formula else { return Ok(Self::delete(&self.name)) };
        self.check_labels()?;
        let labels = Labels::of(&self.sheets);
        let parsed = parse(&self.name, formula, &labels)?;
        for placed in parsed.references() {
            check_reference(&self.name, placed.reference, &labels)?;
        }
        // The canonical text has one name of each sheet that it uses.
        let used = numbers_of(&parsed).into_iter();
        let sheets = used.filter_map(|number| Some((labels.name(number)?.to_owned(), number)));
        let sheets = sheets.collect();
        let formula = Some(parsed.canonical_text(&labels));
        Ok(Self { name: self.name.clone(), formula, sheets })
    }

    /// Checks the length of a formula as it is typed. Moved references may make it longer.
    pub(super) fn check_length(&self) -> Result<(), InvalidOperation> {
        let bytes = self.formula.as_ref().map_or(0, String::len);
        if bytes > MAX_DEFINED_NAME_FORMULA_BYTES {
            return Err(InvalidName::TooLong { name: self.name.clone(), bytes }.into());
        }
        Ok(())
    }

    fn check_labels(&self) -> Result<(), InvalidName> {
        let mut seen = BTreeSet::new();
        for label in self.sheets.keys() {
            let is_too_long = label.chars().nth(MAX_SHEET_NAME_CHARACTERS).is_some();
            if is_too_long || !seen.insert(label.to_lowercase()) {
                return Err(InvalidName::SheetName { sheet: shown(label) });
            }
        }
        Ok(())
    }

    /// Returns the stored form of the formula, or `None` if the name is deleted or the formula is
    /// invalid, which happens only in a damaged log.
    #[must_use]
    pub fn template(&self) -> Option<Template> {
        let labels = Labels::of(&self.sheets);
        let formula = Formula::parse(self.formula.as_deref()?, &labels).ok()?;
        let is_valid = |reference: &Reference| check_reference("", reference, &labels).is_ok();
        let are_valid = formula.references().all(|placed| is_valid(placed.reference));
        are_valid.then(|| Template::of(&formula, PLACE))
    }

    /// Returns the operation in a later state. `map_of` returns, for each sheet, its number in the
    /// later state and how its rows and columns moved. A sheet without a number does not exist
    /// there, and references to it become `#REF!`.
    #[must_use]
    pub fn moved(&self, map_of: impl Fn(SheetId) -> (Option<SheetId>, AxisMap, AxisMap)) -> Self {
        let labels = Labels::of(&self.sheets);
        let Some(text) = &self.formula else { return self.clone() };
        let Ok(formula) = Formula::parse(text, &labels) else { return self.clone() };
        let mut moves = MovedLines::default();
        let mut sheets = BTreeMap::new();
        for (label, number) in &self.sheets {
            let (target, rows, columns) = map_of(*number);
            moves.insert(*number, SheetLines::of_axis_maps(rows, columns));
            sheets.extend(target.map(|target| (label.clone(), target)));
        }
        let exists = |number| labels.name(number).is_some_and(|label| sheets.contains_key(label));
        let moved = formula.map_references(|reference| match reference.sheet {
            ReferenceSheet::Numbered(number) if !exists(number) => {
                reference.after_sheet_deletion(SheetId::FIRST, number)
            }
            _ => reference.moved(SheetId::FIRST, &moves),
        });
        Self { name: self.name.clone(), formula: Some(moved.text(&labels)), sheets }
    }

    /// Returns the approximate size of the operation in memory or in a response, in bytes.
    pub(super) fn weight_bytes(&self) -> usize {
        let text_bytes = crate::cell::json_text_bytes;
        let sheet_bytes: usize = self.sheets.keys().map(|label| text_bytes(label) + 12).sum();
        text_bytes(&self.name) + self.formula.as_deref().map_or(0, text_bytes) + sheet_bytes
    }
}

fn numbers_of(formula: &Formula) -> BTreeSet<SheetId> {
    let numbers = formula.references().filter_map(|placed| match placed.reference.sheet {
        ReferenceSheet::Numbered(number) => Some(number),
        ReferenceSheet::Own | ReferenceSheet::Unknown(_) => None,
    });
    numbers.collect()
}

fn parse(name: &str, formula: &str, names: &impl SheetNames) -> Result<Formula, InvalidName> {
    let syntax = |fault| InvalidName::Syntax { name: shown(name), fault };
    let parsed = Formula::parse(formula, names).map_err(syntax)?;
    parsed.check_supported().map_err(syntax)?;
    Ok(parsed)
}

fn check_reference(
    name: &str,
    reference: &Reference,
    labels: &Labels<'_>,
) -> Result<(), InvalidName> {
    if reference.area == Area::Deleted && reference.sheet == ReferenceSheet::Own {
        return Ok(());
    }
    let name = shown(name);
    let absolute = absolute(reference);
    match &reference.sheet {
        ReferenceSheet::Own => Err(InvalidName::NoSheet {
            name,
            reference: text_of(reference, labels),
            absolute: text_of(&absolute, labels),
        }),
        ReferenceSheet::Unknown(sheet) => {
            Err(InvalidName::UnknownSheet { name, sheet: shown(sheet) })
        }
        ReferenceSheet::Numbered(_) if absolute != *reference => Err(InvalidName::NotAbsolute {
            name,
            reference: text_of(reference, labels),
            absolute: text_of(&absolute, labels),
        }),
        ReferenceSheet::Numbered(_) => Ok(()),
    }
}

fn text_of(reference: &Reference, names: &impl SheetNames) -> String {
    let mut text = String::new();
    write_reference(reference, names, &mut text);
    text
}

/// Returns the reference with `$` before each row and column.
fn absolute(reference: &Reference) -> Reference {
    let one = |coordinate: Coordinate| Coordinate { is_absolute: true, ..coordinate };
    let both = |ends: Ends| Ends { first: one(ends.first), last: one(ends.last) };
    let area = match reference.area {
        Area::Cell { row, column } => Area::Cell { row: one(row), column: one(column) },
        Area::Range { rows, columns } => Area::Range { rows: both(rows), columns: both(columns) },
        Area::Rows(rows) => Area::Rows(both(rows)),
        Area::Columns(columns) => Area::Columns(both(columns)),
        Area::Deleted => Area::Deleted,
    };
    Reference { sheet: reference.sheet.clone(), area }
}

/// Returns a formula whose references name a sheet and have `$` before each row and column.
/// References without a sheet are those of `own_sheet`. A text without `=`, such as `B2:B10`, is a
/// formula too.
///
/// # Errors
/// Returns an error if the syntax is wrong.
pub fn completed_formula(
    name: &str,
    text: &str,
    own_sheet: SheetId,
    names: &impl SheetNames,
) -> Result<String, InvalidOperation> {
    let text = text.trim();
    let formula = if text.starts_with('=') { text.to_owned() } else { format!("={text}") };
    let parsed = parse(name, &formula, names)?;
    let complete = |reference: &Reference| {
        let with_dollars = absolute(reference);
        match with_dollars.area {
            Area::Deleted => with_dollars,
            _ => with_dollars.on_another_sheet(own_sheet),
        }
    };
    Ok(parsed.map_references(complete).text(names))
}

/// Maximum number of characters of a name that an error message contains.
const MAX_SHOWN_CHARACTERS: usize = 40;

fn shown(name: &str) -> String {
    name.chars().take(MAX_SHOWN_CHARACTERS).collect()
}

/// Checks a name by the rules of Excel, so that workbooks can be exported.
///
/// # Errors
/// Returns an error that says what is wrong with the name and what to do.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    match fault_of_name(name) {
        None => Ok(()),
        Some(reason) => Err(InvalidName::Name { name: shown(name), reason }),
    }
}

fn fault_of_name(name: &str) -> Option<&'static str> {
    let Some(first) = name.chars().next() else { return Some("it is empty; type a name") };
    let is_allowed =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    if name.len() > MAX_DEFINED_NAME_BYTES {
        return Some("it has more than 255 bytes; choose a shorter name");
    }
    if !(first.is_alphabetic() || first == '_') {
        return Some("it does not start with a letter or `_`; put `_` before it");
    }
    if !name.chars().all(is_allowed) {
        return Some("it contains other characters than letters, digits, `_` and `.`");
    }
    let lowercase = name.to_lowercase();
    if lowercase.starts_with("_xlnm") || lowercase.starts_with("_xlfn") {
        return Some("names with this start have a meaning in Excel files; remove the start");
    }
    if is_r1c1(&lowercase) {
        return Some("it is a cell, row or column in R1C1 notation; put `_` before it");
    }
    let tokens = Formula::parse(&format!("={name}"), &Labels::of(&BTreeMap::new()));
    match tokens.as_ref().map(|formula| formula.tokens()) {
        Ok([_, only]) if only.kind == TokenKind::Name => None,
        Ok([_, only]) if only.kind == TokenKind::Boolean => {
            Some("it is a logical value; put `_` before it")
        }
        _ => Some("it is a cell; put `_` before it"),
    }
}

/// Returns whether a lowercase text is a cell, a row or a column in R1C1 notation.
fn is_r1c1(lowercase: &str) -> bool {
    let without_number = |text: &str| {
        text.trim_start_matches(|character: char| character.is_ascii_digit()).to_owned()
    };
    let after_row = lowercase.strip_prefix('r').map(without_number);
    let column = after_row.as_deref().unwrap_or(lowercase);
    let after_column = column.strip_prefix('c').map(without_number);
    match (&after_row, &after_column) {
        (_, Some(rest)) => rest.is_empty(),
        (Some(rest), None) => rest.is_empty(),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests;
