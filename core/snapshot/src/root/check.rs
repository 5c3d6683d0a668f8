//! What a root must be, whoever wrote it.

use std::collections::HashSet;

use super::{PackedFormats, Root, RootSheet};
use crate::SnapshotError;
use crate::index::{Kept, check_chunk, ensure};
use cellar_base::limits::{
    MAX_COLUMNS, MAX_LEVELS, MAX_RANGE_FORMATS, MAX_ROWS, MAX_SHEET_NAME_CHARACTERS, MAX_SHEETS,
};
use cellar_sheet::metadata::SheetNumbers;

type Checked = Result<(), SnapshotError>;

impl Root {
    pub(super) fn check(&self) -> Checked {
        self.check_sheets()?;
        self.check_levels()?;
        self.clients.iter().try_for_each(check_chunk)
    }

    fn check_sheets(&self) -> Checked {
        let some = (1..=MAX_SHEETS).contains(&self.sheets.len());
        ensure(some, "there is no sheet, or there are too many")?;
        let (mut numbers, mut names) = (HashSet::new(), HashSet::new());
        for sheet in &self.sheets {
            ensure(numbers.insert(sheet.sheet), "two sheets have one number")?;
            ensure(names.insert(sheet.name.to_lowercase()), "two sheets have one name")?;
            sheet.check()?;
        }
        match &self.used {
            Kept::Chunk(chunk) => check_chunk(chunk),
            Kept::Inline(used) => {
                used.check()?;
                self.check_numbers(&used.0)
            }
        }
    }

    /// Whether the numbers that sheets ever had are those of this root.
    pub(crate) fn check_numbers(&self, used: &SheetNumbers) -> Checked {
        let all = self.sheets.iter().all(|sheet| used.contains(sheet.sheet));
        ensure(all, "a sheet has a number that none ever had")
    }

    /// Levels follow each other, from the log's beginning to the root's position. There may be none
    /// in a root of nothing.
    fn check_levels(&self) -> Checked {
        ensure(self.all_levels().count() <= MAX_LEVELS, "there are too many levels")?;
        let mut after = None;
        for level in self.all_levels() {
            ensure(level.after == after, "a level does not begin where the one below ends")?;
            let ascends = after.is_none_or(|after| after < level.last);
            ensure(ascends, "a level ends before it begins")?;
            level.level.check()?;
            after = Some(level.last);
        }
        let reaches = after.is_none_or(|last| last == self.position);
        ensure(reaches, "the newest level does not end at the root's position")
    }
}

impl RootSheet {
    fn check(&self) -> Checked {
        let characters = self.name.chars().take(MAX_SHEET_NAME_CHARACTERS + 1).count();
        let named = (1..=MAX_SHEET_NAME_CHARACTERS).contains(&characters);
        ensure(named, "the name of a sheet is empty or too long")?;
        let within = self.extent.rows <= MAX_ROWS && self.extent.columns <= MAX_COLUMNS;
        ensure(within, "a sheet is larger than any may be")?;
        match &self.formats {
            PackedFormats::Inline(records) => records.check(),
            PackedFormats::Chunks(chunks) => {
                let some = (1..=MAX_RANGE_FORMATS).contains(&chunks.len());
                ensure(some, "the formats of a sheet are in no chunk or in too many")?;
                chunks.iter().try_for_each(check_chunk)
            }
        }
    }
}
