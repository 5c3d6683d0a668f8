//! Numbers of the sheets of a workbook. They determine whether a sheet can be added or deleted.

use super::SheetNumbers;
use crate::operation::Operation;
use cellar_base::limits::{MAX_SHEET_NUMBER_STEP, MAX_SHEETS};
use cellar_grid::SheetId;
use cellar_grid::Spans;

/// The numbers of the existing sheets, and the numbers of all sheets that ever existed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetSet {
    /// Numbers of the existing sheets.
    live: Spans,
    /// The numbers of all sheets that ever existed.
    used: SheetNumbers,
}

/// The reason why adding, deleting or using a sheet has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetFault {
    #[error("sheet {sheet} does not exist; {sheets}")]
    NoSuchSheet {
        /// Number of the missing sheet.
        sheet: u32,
        /// List of the existing sheets for the error message.
        sheets: String,
    },
    /// The number of a new sheet was already used, or is too far above the next unused number.
    #[error("a new sheet cannot have the number {sheet}; the next free number is {next}")]
    InvalidNumber {
        /// Rejected number.
        sheet: u32,
        /// Next free number.
        next: u32,
    },
    #[error("the spreadsheet has {MAX_SHEETS} sheets, the maximum; delete a sheet first")]
    TooManySheets,
    #[error("sheet {sheet} is the last sheet and cannot be deleted; add another sheet first")]
    OnlySheet {
        /// Number of the sheet.
        sheet: u32,
    },
}

const MAX_DESCRIBED_RUNS: usize = 8;

impl SheetSet {
    /// Creates the set for a new workbook, whose only sheet is [`SheetId::FIRST`].
    #[must_use]
    pub fn first() -> Self {
        Self::new(Spans::one(SheetId::FIRST.0, 1), SheetNumbers::default())
    }

    /// Creates a set from the numbers of the existing sheets and the numbers of deleted sheets.
    /// `used` may also contain existing numbers.
    #[must_use]
    pub fn new(live: Spans, used: SheetNumbers) -> Self {
        let mut used = used;
        for run in live.iter() {
            used.cover(run);
        }
        Self { live, used }
    }

    /// Returns the numbers of the existing sheets.
    #[must_use]
    pub fn live(&self) -> &Spans {
        &self.live
    }

    /// Returns the numbers of all sheets that ever existed.
    #[must_use]
    pub fn used(&self) -> &SheetNumbers {
        &self.used
    }

    /// Returns whether the sheet `sheet` exists.
    #[must_use]
    pub fn contains(&self, sheet: SheetId) -> bool {
        self.live.contains(sheet.0)
    }

    /// Adds a sheet. Its number must be unused, and at most `MAX_SHEET_NUMBER_STEP` above the next
    /// unused number. The latter prevents a client from using up all numbers.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet cannot be added.
    pub fn add(&mut self, sheet: SheetId) -> Result<(), SheetFault> {
        self.add_to_others(sheet, self.live.count())
    }

    /// Adds an imported sheet and deletes the sheet that it replaces, if any.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet cannot be added.
    pub fn import(&mut self, sheet: SheetId, replaces: Option<SheetId>) -> Result<(), SheetFault> {
        match replaces {
            Some(replaced) if self.contains(replaced) => {
                self.add_to_others(sheet, self.live.count().saturating_sub(1))?;
                self.live = self.live.without(&Spans::one(replaced.0, 1));
                Ok(())
            }
            _ => self.add(sheet),
        }
    }

    fn add_to_others(&mut self, sheet: SheetId, other_sheet_count: u64) -> Result<(), SheetFault> {
        const UNLIMITED_SPANS: usize = usize::MAX;
        if other_sheet_count >= u64::try_from(MAX_SHEETS).unwrap_or(u64::MAX) {
            return Err(SheetFault::TooManySheets);
        }
        let next_number = self.used.next().0;
        let max_number = next_number.saturating_add(MAX_SHEET_NUMBER_STEP);
        let invalid_number = SheetFault::InvalidNumber { sheet: sheet.0, next: next_number };
        if sheet.0 > max_number {
            return Err(invalid_number);
        }
        let was_unused = self.used.insert(sheet);
        if !was_unused {
            return Err(invalid_number);
        }
        self.live.insert(sheet.0, UNLIMITED_SPANS);
        Ok(())
    }

    /// Deletes a sheet unless it is the only sheet.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the sheet cannot be deleted.
    pub fn delete(&mut self, sheet: SheetId) -> Result<(), SheetFault> {
        self.check(sheet)?;
        if self.live.count() <= 1 {
            return Err(SheetFault::OnlySheet { sheet: sheet.0 });
        }
        self.live = self.live.without(&Spans::one(sheet.0, 1));
        Ok(())
    }

    /// Checks that a sheet exists.
    ///
    /// # Errors
    /// Returns [`SheetFault::NoSuchSheet`] if the sheet does not exist.
    pub fn check(&self, sheet: SheetId) -> Result<(), SheetFault> {
        if self.contains(sheet) {
            return Ok(());
        }
        Err(SheetFault::NoSuchSheet { sheet: sheet.0, sheets: self.describe_sheets() })
    }

    /// Applies an operation to the set of sheets. Only adding, importing and deleting a sheet
    /// change the set.
    ///
    /// # Errors
    /// Returns [`SheetFault`] and changes nothing if the operation has no effect, for example
    /// because its sheet does not exist.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), SheetFault> {
        match operation {
            Operation::AddSheet(add) => self.add(add.sheet),
            Operation::ImportSheet(import) => self.import(import.sheet, import.replaces),
            Operation::DeleteSheet(delete) => self.delete(delete.sheet),
            operation => operation.sheet().map_or(Ok(()), |sheet| self.check(sheet)),
        }
    }

    /// Checks that [`SheetSet::apply`] would succeed.
    ///
    /// # Errors
    /// Returns [`SheetFault`] if the operation would have no effect, for example because its sheet
    /// does not exist.
    pub fn check_operation(&self, operation: &Operation) -> Result<(), SheetFault> {
        match operation {
            Operation::AddSheet(_) | Operation::ImportSheet(_) | Operation::DeleteSheet(_) => {
                self.clone().apply(operation)
            }
            operation => operation.sheet().map_or(Ok(()), |sheet| self.check(sheet)),
        }
    }

    /// Lists the existing sheets in words, such as `the sheets are 0 to 3, 7`.
    fn describe_sheets(&self) -> String {
        let described_runs: Vec<String> = self
            .live
            .iter()
            .take(MAX_DESCRIBED_RUNS)
            .map(|run| match run.count {
                1 => run.first.to_string(),
                _ => format!("{} to {}", run.first, run.end().saturating_sub(1)),
            })
            .collect();
        let suffix = if self.live.len() > MAX_DESCRIBED_RUNS { " and more" } else { "" };
        format!("the sheets are {}{suffix}", described_runs.join(", "))
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
    fn rejects_used_numbers_and_deleting_the_last_sheet() {
        let mut set = SheetSet::first();
        assert_eq!(set.delete(SheetId(0)), Err(SheetFault::OnlySheet { sheet: 0 }));
        set.add(SheetId(1)).unwrap();
        set.delete(SheetId(0)).unwrap();
        assert_eq!(set.add(SheetId(0)), Err(SheetFault::InvalidNumber { sheet: 0, next: 2 }));
        assert_eq!(
            set.import(SheetId(1), None),
            Err(SheetFault::InvalidNumber { sheet: 1, next: 2 })
        );
        set.import(SheetId(2), Some(SheetId(1))).unwrap();
        set.import(SheetId(4), Some(SheetId(1))).unwrap();
        assert_eq!(numbers(&set), [2, 4]);
        let gone = set.check(SheetId(77)).unwrap_err().to_string();
        assert_eq!(gone, "sheet 77 does not exist; the sheets are 2, 4");
    }

    #[test]
    fn limits_sheets_and_number_steps() {
        let most = u32::try_from(MAX_SHEETS).unwrap();
        let mut set = SheetSet::new(Spans::one(0, most - 1), SheetNumbers::default());
        let highest = most - 1 + MAX_SHEET_NUMBER_STEP;
        assert_eq!(
            set.add(SheetId(highest + 1)),
            Err(SheetFault::InvalidNumber { sheet: highest + 1, next: most - 1 })
        );
        set.add(SheetId(highest)).unwrap();
        assert_eq!(set.add(SheetId(highest + 1)), Err(SheetFault::TooManySheets));
        set.import(SheetId(highest + 1), Some(SheetId(highest))).unwrap();
        assert_eq!(set.import(SheetId(highest + 2), None), Err(SheetFault::TooManySheets));
    }

    #[test]
    fn messages_list_a_limited_number_of_sheets() {
        let many = Spans::of((0..10).map(|sheet| sheet * 2));
        let set = SheetSet::new(many, SheetNumbers::default());
        let gone = set.check(SheetId(1)).unwrap_err().to_string();
        assert_eq!(
            gone,
            "sheet 1 does not exist; the sheets are 0, 2, 4, 6, 8, 10, 12, 14 and more"
        );
    }
}
