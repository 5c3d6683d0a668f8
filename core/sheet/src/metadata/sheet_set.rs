//! Existing and deleted sheets of a workbook, without names: decides whether a sheet may be added
//! or deleted.

use super::SheetNumbers;
use crate::operation::Operation;
use crate::sheet_id::SheetId;
use crate::spans::Spans;
use cellar_base::limits::{MAX_SHEET_NUMBER_STEP, MAX_SHEETS};

/// Sheet numbers of one workbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetSet {
    /// Numbers of the existing sheets.
    live: Spans,
    /// Every number ever used.
    used: SheetNumbers,
}

/// Reason why an operation on a whole sheet has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetFault {
    /// No sheet has this number.
    #[error("there is no sheet {sheet}: {sheets}")]
    NoSuchSheet {
        /// The number.
        sheet: u32,
        /// Existing sheets, for messages.
        sheets: String,
    },
    /// The number of a new sheet was used before, or is too far above the next free one.
    #[error("a new sheet cannot have the number {sheet}: the next free one is {next}")]
    Number {
        /// The number.
        sheet: u32,
        /// Number that a new sheet gets.
        next: u32,
    },
    /// The spreadsheet has `MAX_SHEETS` sheets.
    #[error("the spreadsheet has {MAX_SHEETS} sheets, the most that are allowed: delete one first")]
    TooMany,
    /// The last sheet cannot be deleted.
    #[error("sheet {sheet} is the last one and cannot be deleted: add another sheet first")]
    Last {
        /// Number of the sheet.
        sheet: u32,
    },
}

/// Runs of sheet numbers listed in a message.
const NAMED_RUNS: usize = 8;

impl SheetSet {
    /// Creates the sheets of a new workbook.
    #[must_use]
    pub fn first() -> Self {
        Self::new(Spans::one(SheetId::FIRST.0, 1), SheetNumbers::default())
    }

    /// Creates a set from existing sheets; their numbers count as used.
    #[must_use]
    pub fn new(live: Spans, used: SheetNumbers) -> Self {
        let mut set = Self { live: Spans::default(), used };
        for span in live.iter() {
            set.used.cover(span);
        }
        set.live = live;
        set
    }

    /// Returns the numbers of the existing sheets.
    #[must_use]
    pub fn live(&self) -> &Spans {
        &self.live
    }

    /// Returns every number ever used.
    #[must_use]
    pub fn used(&self) -> &SheetNumbers {
        &self.used
    }

    /// Returns whether a sheet exists.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.live.contains(sheet.0)
    }

    /// Adds a sheet. A number can be used once, and is at most `MAX_SHEET_NUMBER_STEP` above the
    /// next free one, so that no client exhausts the numbers.
    ///
    /// # Errors
    /// [`SheetFault`], without a change.
    pub fn add(&mut self, sheet: SheetId) -> Result<(), SheetFault> {
        self.add_beside(sheet, self.live.count())
    }

    /// Adds an imported sheet; it replaces another, if that exists.
    ///
    /// # Errors
    /// [`SheetFault`], without a change.
    pub fn import(&mut self, sheet: SheetId, replaces: Option<SheetId>) -> Result<(), SheetFault> {
        let replaced = replaces.filter(|replaced| self.contains(*replaced));
        let others = self.live.count().saturating_sub(u64::from(replaced.is_some()));
        self.add_beside(sheet, others)?;
        if let Some(replaced) = replaced {
            self.live = self.live.without(&Spans::one(replaced.0, 1));
        }
        Ok(())
    }

    fn add_beside(&mut self, sheet: SheetId, others: u64) -> Result<(), SheetFault> {
        if others >= u64::try_from(MAX_SHEETS).unwrap_or(u64::MAX) {
            return Err(SheetFault::TooMany);
        }
        let next = self.used.next();
        let highest = next.0.saturating_add(MAX_SHEET_NUMBER_STEP);
        if sheet.0 > highest || !self.used.insert(sheet) {
            return Err(SheetFault::Number { sheet: sheet.0, next: next.0 });
        }
        self.live.insert(sheet.0, usize::MAX);
        Ok(())
    }

    /// Deletes a sheet; the last one cannot be deleted.
    ///
    /// # Errors
    /// [`SheetFault`], without a change.
    pub fn delete(&mut self, sheet: SheetId) -> Result<(), SheetFault> {
        self.check(sheet)?;
        if self.live.count() <= 1 {
            return Err(SheetFault::Last { sheet: sheet.0 });
        }
        self.live = self.live.without(&Spans::one(sheet.0, 1));
        Ok(())
    }

    /// Checks that a sheet with this number exists.
    ///
    /// # Errors
    /// [`SheetFault::NoSuchSheet`].
    pub fn check(&self, sheet: SheetId) -> Result<(), SheetFault> {
        if self.contains(sheet) {
            return Ok(());
        }
        Err(SheetFault::NoSuchSheet { sheet: sheet.0, sheets: self.described() })
    }

    /// Applies the effect of an operation on the set of sheets.
    ///
    /// # Errors
    /// [`SheetFault`] if the operation has no effect because of its sheet; without a change.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), SheetFault> {
        match operation {
            Operation::AddSheet(add) => self.add(add.sheet),
            Operation::ImportSheet(import) => self.import(import.sheet, import.replaces),
            Operation::DeleteSheet(delete) => self.delete(delete.sheet),
            operation => operation.sheet().map_or(Ok(()), |sheet| self.check(sheet)),
        }
    }

    /// Checks whether the set of sheets allows an operation to have an effect.
    ///
    /// # Errors
    /// As [`SheetSet::apply`].
    pub fn fault(&self, operation: &Operation) -> Result<(), SheetFault> {
        match operation {
            Operation::AddSheet(_) | Operation::ImportSheet(_) | Operation::DeleteSheet(_) => {
                self.clone().apply(operation)
            }
            operation => operation.sheet().map_or(Ok(()), |sheet| self.check(sheet)),
        }
    }

    /// Describes the existing sheets, for messages.
    fn described(&self) -> String {
        let runs = self.live.iter().take(NAMED_RUNS).map(|run| match run.count {
            1 => run.first.to_string(),
            _ => format!("{} to {}", run.first, run.end().saturating_sub(1)),
        });
        let named = runs.collect::<Vec<_>>().join(", ");
        let more = if self.live.len() > NAMED_RUNS { " and more" } else { "" };
        format!("the sheets are {named}{more}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::MAX_SHEET_NUMBER_STEP;

    fn numbers(set: &SheetSet) -> Vec<u32> {
        set.live().iter().flat_map(|run| run.first..run.end()).collect()
    }

    #[test]
    fn a_number_is_used_once_and_the_last_sheet_stays() {
        let mut set = SheetSet::first();
        assert_eq!(set.delete(SheetId(0)), Err(SheetFault::Last { sheet: 0 }));
        set.add(SheetId(1)).unwrap();
        set.delete(SheetId(0)).unwrap();
        assert_eq!(set.add(SheetId(0)), Err(SheetFault::Number { sheet: 0, next: 2 }));
        assert_eq!(set.import(SheetId(1), None), Err(SheetFault::Number { sheet: 1, next: 2 }));
        set.import(SheetId(2), Some(SheetId(1))).unwrap();
        set.import(SheetId(4), Some(SheetId(1))).unwrap();
        assert_eq!(numbers(&set), [2, 4]);
        let gone = set.check(SheetId(77)).unwrap_err().to_string();
        assert_eq!(gone, "there is no sheet 77: the sheets are 2, 4");
    }

    #[test]
    fn there_are_so_many_sheets_and_no_leaps() {
        let most = u32::try_from(MAX_SHEETS).unwrap();
        let mut set = SheetSet::new(Spans::one(0, most - 1), SheetNumbers::default());
        let leap = most - 1 + MAX_SHEET_NUMBER_STEP;
        assert_eq!(
            set.add(SheetId(leap + 1)),
            Err(SheetFault::Number { sheet: leap + 1, next: most - 1 })
        );
        set.add(SheetId(leap)).unwrap();
        assert_eq!(set.add(SheetId(leap + 1)), Err(SheetFault::TooMany));
        set.import(SheetId(leap + 1), Some(SheetId(leap))).unwrap();
        assert_eq!(set.import(SheetId(leap + 2), None), Err(SheetFault::TooMany));
    }

    #[test]
    fn a_message_names_some_of_the_sheets() {
        let many = Spans::of((0..10).map(|sheet| sheet * 2));
        let set = SheetSet::new(many, SheetNumbers::default());
        let gone = set.check(SheetId(1)).unwrap_err().to_string();
        assert_eq!(gone, "there is no sheet 1: the sheets are 0, 2, 4, 6, 8, 10, 12, 14 and more");
    }
}
