//! Determines whether committed mutations have an effect, so that no mutation is reported as
//! appended although its effect was lost.
//!
//! | operation | changes nothing if | result |
//! |---|---|---|
//! | any operation on a sheet | the sheet never existed, or was deleted before the base | rejected, `noSuchSheet` |
//! | any operation on a sheet | the sheet was deleted after the base | appended, no effect |
//! | `setCells`, `clearRange`, `setFormat`, `deleteRows`, `deleteColumns` | all target cells, rows or columns were deleted after the base | appended, no effect |
//! | `insertRows`, `insertColumns` | inserts after the base moved the target position past the end of the sheet | appended, no effect |
//! | `addSheet`, `importSheet` | the sheet number was used before, or is too far above the highest used number | rejected, `sheetNumber` |
//! | `addSheet`, `importSheet` | the workbook has `MAX_SHEETS` sheets | rejected, `tooManySheets` |
//! | `deleteSheet` | the workbook has no other sheet | rejected, `lastSheet` |
//! | `setFormat` | the sheet has `MAX_RANGE_FORMATS` formats or `MAX_RANGE_FORMAT_SPANS` spans | rejected, `tooManyFormats` |
//! | `setName` | there are `MAX_DEFINED_NAMES` names or `MAX_DEFINED_NAMES_BYTES` bytes of names | rejected, `tooManyNames` |
//! | `setName` | a sheet that it names never existed, or was deleted before the base | rejected, `noSuchSheet` |
//! | `undo`, `revert` | nothing is left to reverse | rejected, `nothingToUndo` or `nothingToRevert` |
//!
//! An operation without cells, rows, columns or a name is invalid in any state.
//!
//! The following operations count as having an effect, because they produce the requested state:
//! setting an unchanged value, format or name, clearing blank cells, and inserting or deleting rows
//! after the last used row. If a sheet name is taken, a number is appended to the new name. If the
//! sheet that an import replaces was deleted, the imported sheet is added as the last sheet.

use crate::entry::Content;
use crate::viewpoint::Viewpoint;
use cellar_base::position::Position;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{SheetFault, StateSummary, TooManyNames, WorkbookMetadata};
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, SetFormat, SetName, SheetId};
use cellar_sheet::workbook::Workbook;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    ChangesState,
    /// The operation changes nothing, because changes after its base have made it obsolete.
    Nothing,
}

/// The state of the workbook before the next mutation, as far as it is known without reading cells.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownState {
    summary: StateSummary,
    /// The workbook without its cells. Set only if the workbook metadata was read.
    workbook: Option<Workbook>,
}

impl KnownState {
    pub(crate) fn from_summary(summary: StateSummary) -> Self {
        Self { summary, workbook: None }
    }

    /// Creates a known state from workbook metadata.
    pub fn from_metadata(metadata: &WorkbookMetadata) -> Self {
        let workbook = Some(Workbook::from_metadata(metadata));
        Self { summary: StateSummary::of(metadata), workbook }
    }

    pub(super) fn into_summary_after(mut self, content: &Content) -> StateSummary {
        if let Content::Edits(edits) = content {
            edits.mutations.iter().for_each(|mutation| self.apply(mutation.committed_operations()));
        }
        self.summary
    }

    pub(super) fn apply(&mut self, operations: &[Operation]) {
        self.summary.apply(operations);
        let Some(workbook) = &mut self.workbook else { return };
        for operation in operations {
            // The cloned workbook contains no cells.
            if !matches!(operation, Operation::SetCells(_)) {
                workbook.apply_operation(operation);
            }
        }
    }

    /// Returns the effect of an operation on this state. The operation has no effect if, after
    /// `base`, its sheet was deleted or its target was moved past the end of the sheet.
    ///
    /// # Errors
    /// Returns a rejection if the operation can never have an effect.
    pub(super) fn effect_of(
        &self,
        viewpoint: &Viewpoint,
        base: Position,
        operation: &Operation,
    ) -> Result<Effect, Rejection> {
        if inserts_past_the_end(operation) {
            return Ok(Effect::Nothing);
        }
        if let Err(fault) = self.summary.sheets.check_operation(operation) {
            return match fault {
                SheetFault::NoSuchSheet { sheet, .. }
                    if viewpoint.was_deleted_after(base, SheetId(sheet)) =>
                {
                    Ok(Effect::Nothing)
                }
                fault => Err(rejection_of_sheet_fault(&fault)),
            };
        }
        if let Operation::SetFormat(set_format) = operation {
            self.check_format_limit(set_format)?;
        }
        if let Operation::SetName(set) = operation {
            self.check_name(viewpoint, base, set)?;
        }
        Ok(Effect::ChangesState)
    }

    /// Counts the range formats in the workbook if the summary alone is not precise enough.
    fn check_format_limit(&self, set_format: &SetFormat) -> Result<(), Rejection> {
        if self.summary.has_room_for(set_format) {
            return Ok(());
        }
        let sheet = self.workbook.as_ref().and_then(|workbook| workbook.sheet(set_format.sheet));
        if sheet.is_none_or(|sheet| sheet.formats().has_room_for(set_format)) {
            return Ok(());
        }
        let detail = format!(
            "sheet {} has too many range formats; first set one format on a range that covers \
             several of them",
            set_format.sheet.0
        );
        Err(Rejection::new(RejectionReason::TooManyFormats, detail))
    }

    /// A sheet that was deleted after the base is allowed: the name then refers to `#REF!`.
    fn check_name(
        &self,
        viewpoint: &Viewpoint,
        base: Position,
        set: &SetName,
    ) -> Result<(), Rejection> {
        for sheet in set.sheets.values() {
            if let Err(fault) = self.summary.sheets.check(*sheet)
                && !viewpoint.was_deleted_after(base, *sheet)
            {
                return Err(rejection_of_sheet_fault(&fault));
            }
        }
        match &self.workbook {
            Some(workbook) if !workbook.names().has_room_for(set) => {
                Err(Rejection::new(RejectionReason::TooManyNames, TooManyNames.to_string()))
            }
            _ => Ok(()),
        }
    }
}

fn inserts_past_the_end(operation: &Operation) -> bool {
    match operation {
        Operation::InsertRows(insert) => insert.before >= Axis::Rows.limit(),
        Operation::InsertColumns(insert) => insert.before >= Axis::Columns.limit(),
        _ => false,
    }
}

/// Returns the rejection of a mutation that targets a sheet whose creation was rejected.
pub(super) fn rejection_of_missing_sheet(sheet: SheetId) -> Rejection {
    let detail = format!("sheet {} does not exist, because its addition was rejected", sheet.0);
    Rejection::new(RejectionReason::NoSuchSheet, detail)
}

fn rejection_of_sheet_fault(fault: &SheetFault) -> Rejection {
    let reason = match fault {
        SheetFault::NoSuchSheet { .. } => RejectionReason::NoSuchSheet,
        SheetFault::InvalidNumber { .. } => RejectionReason::SheetNumber,
        SheetFault::TooManySheets => RejectionReason::TooManySheets,
        SheetFault::OnlySheet { .. } => RejectionReason::LastSheet,
    };
    Rejection::new(reason, fault.to_string())
}
