//! Whether what a mutation is committed as changes anything: no mutation is answered as appended and
//! silently lost.
//!
//! | operation | changes nothing if | answer |
//! |---|---|---|
//! | on a sheet or in it | its sheet never was, or was deleted before its base | rejected, `noSuchSheet` |
//! | on a sheet or in it | its sheet was deleted after its base | appended, no effect |
//! | `setCells`, `clearRange`, `setFormat`, `deleteRows`, `deleteColumns` | all rows or all columns were deleted after its base | appended, no effect |
//! | `insertRows`, `insertColumns` | it was pushed over the end of the sheet after its base | appended, no effect |
//! | `addSheet`, `importSheet` | its number was used before, or leaps | rejected, `sheetNumber` |
//! | `addSheet`, `importSheet` | there are `MAX_SHEETS` | rejected, `tooManySheets` |
//! | `deleteSheet` | it is the last sheet | rejected, `lastSheet` |
//! | `setFormat` | there are `MAX_RANGE_FORMATS` or `MAX_RANGE_FORMAT_SPANS` | rejected, `tooManyFormats` |
//! | `undo`, `revert` | nothing is left to take back | rejected, `nothingToUndo`, `nothingToRestore` |
//!
//! An operation without cells, rows, columns or a name is invalid in any state. To set the same value,
//! format or name again, to clear blank cells, and to insert or delete rows after the last one, is an
//! effect: the state is the one that the author asked for. A name that is taken gets a number, and an
//! import whose replaced sheet is gone is added after the other sheets.

use crate::entry::Content;
use crate::transform::Viewpoint;
use cellar_base::position::Position;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::metadata::{SheetFault, StateSummary};
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, SetFormat, SheetId};
use cellar_sheet::workbook::Workbook;

/// The known part of the state before the next mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownState {
    summary: StateSummary,
    /// The state but for its cells, if it was looked up.
    workbook: Option<Workbook>,
}

impl KnownState {
    /// The state in the header of an entry.
    pub(crate) fn of_summary(summary: StateSummary) -> Self {
        Self { summary, workbook: None }
    }

    /// A state that was looked up.
    pub fn from_metadata(metadata: &WorkbookMetadata) -> Self {
        let workbook = Some(Workbook::from_metadata(metadata));
        Self { summary: StateSummary::of(metadata), workbook }
    }

    /// Returns the summary for the header of an entry with this content.
    pub(super) fn after(mut self, content: &Content) -> StateSummary {
        if let Content::Edits(edits) = content {
            edits.mutations.iter().for_each(|mutation| self.follow(mutation.effective()));
        }
        self.summary
    }

    /// Goes on past committed operations.
    pub(super) fn follow(&mut self, operations: &[Operation]) {
        self.summary.apply(operations);
        if let Some(workbook) = &mut self.workbook {
            let without_cells =
                |operation: &&Operation| !matches!(operation, Operation::SetCells(_));
            operations.iter().filter(without_cells).for_each(|o| workbook.apply_operation(o));
        }
    }

    /// The operation as it is committed on this state: nothing if what it names was deleted behind
    /// `base`.
    ///
    /// # Errors
    /// Why it can never have an effect.
    pub(super) fn effective(
        &self,
        viewpoint: &Viewpoint,
        base: Position,
        operation: &Operation,
    ) -> Result<Effect, Rejection> {
        let is_past_the_end = match operation {
            Operation::InsertRows(insert) => insert.before >= Axis::Rows.limit(),
            Operation::InsertColumns(insert) => insert.before >= Axis::Columns.limit(),
            _ => false,
        };
        if is_past_the_end {
            return Ok(Effect::None);
        }
        match (self.summary.sheets.fault(operation), operation) {
            (Ok(()), Operation::SetFormat(set)) => self.check_format(set).map(|()| Effect::Some),
            (Ok(()), _) => Ok(Effect::Some),
            (Err(SheetFault::NoSuchSheet { sheet, .. }), _)
                if viewpoint.deleted_at(SheetId(sheet)) > Some(base) =>
            {
                Ok(Effect::None)
            }
            (Err(fault), _) => Err(rejection(&fault)),
        }
    }

    /// Checks that a sheet has room for one more format; uses the looked-up state where the summary is
    /// not enough.
    fn check_format(&self, set: &SetFormat) -> Result<(), Rejection> {
        let sheet = self.workbook.as_ref().and_then(|workbook| workbook.sheet(set.sheet));
        let takes = || sheet.is_none_or(|sheet| sheet.formats().has_room_for(set));
        if self.summary.has_room_for(set) || takes() {
            return Ok(());
        }
        let sheet = set.sheet.0;
        let detail = format!(
            "sheet {sheet} has too many formats of ranges for one more: set one format for a range \
             that covers some of them first"
        );
        Err(Rejection::new(RejectionReason::TooManyFormats, detail))
    }
}

/// Whether an operation changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Some,
    None,
}

/// The rejection of a mutation whose sheet its own author did not get to add.
pub(super) fn not_added(sheet: SheetId) -> Rejection {
    let detail = format!("sheet {} was not added: its addition was rejected", sheet.0);
    Rejection::new(RejectionReason::NoSuchSheet, detail)
}

fn rejection(fault: &SheetFault) -> Rejection {
    let reason = match fault {
        SheetFault::NoSuchSheet { .. } => RejectionReason::NoSuchSheet,
        SheetFault::Number { .. } => RejectionReason::SheetNumber,
        SheetFault::TooMany => RejectionReason::TooManySheets,
        SheetFault::Last { .. } => RejectionReason::LastSheet,
    };
    Rejection::new(reason, fault.to_string())
}
