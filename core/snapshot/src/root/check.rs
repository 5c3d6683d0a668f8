//! Validates stored roots, which may be damaged or hostile.

use std::collections::HashSet;

use super::{PackedFormats, Root, RootSheet};
use crate::error::SnapshotError;
use crate::index::{InlineOrChunk, check_chunk, ensure};
use crate::level::ChunkRef;
use cellar_base::limits::{
    MAX_COLUMNS, MAX_LEVELS, MAX_RANGE_FORMATS, MAX_ROWS, MAX_SHEET_NAME_CHARACTERS, MAX_SHEETS,
};
use cellar_sheet::metadata::SheetNumbers;

type CheckResult = Result<(), SnapshotError>;

impl Root {
    pub(super) fn check(&self) -> CheckResult {
        self.check_sheets()?;
        self.check_levels()?;
        self.clients.iter().try_for_each(check_chunk)
    }

    fn check_sheets(&self) -> CheckResult {
        let has_valid_count = (1..=MAX_SHEETS).contains(&self.sheets.len());
        ensure(has_valid_count, "the root has no sheet or too many sheets")?;
        let mut seen_ids = HashSet::new();
        let mut seen_names = HashSet::new();
        for sheet in &self.sheets {
            let is_new_id = seen_ids.insert(sheet.sheet);
            ensure(is_new_id, "two sheets have the same id")?;
            let is_new_name = seen_names.insert(sheet.name.to_lowercase());
            ensure(is_new_name, "two sheets have the same name")?;
            sheet.check()?;
        }
        match &self.used {
            InlineOrChunk::Chunk(chunk) => check_chunk(chunk),
            InlineOrChunk::Inline(stored_numbers) => {
                stored_numbers.check()?;
                self.check_numbers(&stored_numbers.0)
            }
        }
    }

    /// Checks that `used_numbers` contains all existing sheet ids.
    pub(crate) fn check_numbers(&self, used_numbers: &SheetNumbers) -> CheckResult {
        let contains_all = self.sheets.iter().all(|sheet| used_numbers.contains(sheet.sheet));
        ensure(contains_all, "a sheet's id is missing from the used sheet ids")
    }

    /// Checks that the levels cover all entries from the start of the log to the root's position
    /// without gaps or overlaps. A root without levels is valid and has no cells.
    fn check_levels(&self) -> CheckResult {
        ensure(self.all_levels().count() <= MAX_LEVELS, "the root has too many levels")?;
        let mut older_last = None;
        for level in self.all_levels() {
            let is_contiguous = level.after == older_last;
            ensure(is_contiguous, "a level does not start where the next older level ends")?;
            // A level of calculated values ends where the next older level ends.
            let is_after_start = level.after.is_none_or(|after| after <= level.last);
            ensure(is_after_start, "a level ends before its start")?;
            level.level.check()?;
            older_last = Some(level.last);
        }
        let ends_at_position = older_last.is_none_or(|last| last == self.position);
        ensure(ends_at_position, "the newest level does not end at the root's position")
    }
}

impl RootSheet {
    fn check(&self) -> CheckResult {
        let counted_characters = self.name.chars().take(MAX_SHEET_NAME_CHARACTERS + 1).count();
        let has_valid_name = (1..=MAX_SHEET_NAME_CHARACTERS).contains(&counted_characters);
        ensure(has_valid_name, "the name of a sheet is empty or too long")?;
        let is_within_limits = self.extent.rows <= MAX_ROWS && self.extent.columns <= MAX_COLUMNS;
        ensure(is_within_limits, "a sheet's extent exceeds the row or column limit")?;
        match &self.formats {
            PackedFormats::Inline(records) => records.check(),
            PackedFormats::Chunks(chunks) => check_format_chunks(chunks),
        }
    }
}

fn check_format_chunks(chunks: &[ChunkRef]) -> CheckResult {
    let has_valid_count = (1..=MAX_RANGE_FORMATS).contains(&chunks.len());
    ensure(has_valid_count, "the range formats of a sheet are stored in no chunk or in too many")?;
    chunks.iter().try_for_each(check_chunk)
}
