//! Computes the operations that reverse all edits after a position, in all sheets or in one sheet or
//! range.

use std::ops::ControlFlow;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_log::append::ResolutionRequest;
use cellar_log::transform::transform;
use cellar_log::viewpoint::Viewpoint;
use cellar_sheet::operation::{
    ClearRange, Operation, Rejection, RejectionReason, Revert, SheetId, Spans,
};
use cellar_sheet::workbook::{
    DeletedSheets, PartFault, Reversal, Workbook, revert, revert_range, revert_sheet,
    sheet_in_place,
};

use super::lost_references::{LostReferences, RestoringOperations};
use super::recovered_sheets::number_now;
use super::resolve::Resolved;
use super::sheet_places::TabStates;
use super::{LogError, Logs};

/// Rows and columns.
type Range = (Spans, Spans);

impl Logs {
    /// Reads only the cells that differ. Returns no operations if the states are equal or the
    /// position of the revert does not exist. `min_position` is a position that the log is known to
    /// contain.
    pub(super) async fn resolve_revert(
        &self,
        log_id: LogId,
        request: ResolutionRequest,
        reverted: Revert,
        min_position: Position,
    ) -> Result<Resolved, LogError> {
        let target = reverted.position;
        let head = self.head(log_id, Some(min_position)).await?.head;
        let refuse =
            |reason, detail: String| Ok(Resolved::rejected(head, Rejection::new(reason, detail)));
        let nothing_to_revert = |detail| refuse(RejectionReason::NothingToRevert, detail);
        let missing = || format!("nothing to revert: position {target} does not exist");
        if target >= head {
            let is_head = target == head;
            let detail = if is_head { describe_no_difference(reverted) } else { missing() };
            return nothing_to_revert(detail);
        }
        let mut changes = match self.read_changes(log_id, target, head).await {
            Ok(changes) => changes,
            Err(LogError::NoSuchPosition { .. }) => return nothing_to_revert(missing()),
            Err(error) => return Err(error),
        };
        // A revert of a range inserts no rows and columns.
        let lost_references = match reverted.range() {
            None => self.add_formulas_that_lost_references(log_id, target, &mut changes).await?,
            Some(_) => LostReferences::Complete,
        };
        let (now, numbers) = &changes.state_with_recovered_sheets()?;
        let before = &changes.before.with_recovered_numbers(numbers);
        let tabs = TabStates { before: before.tabs(), between: Vec::new(), now: now.tabs() };
        let deleted_sheets = DeletedSheets {
            imports: self.restorable_imports(log_id, target, before, now).await?,
            places: self.sheet_places(log_id, target, head, tabs).await?,
            ..DeletedSheets::default()
        };
        let reversal = match reverted.sheet {
            None => Ok(revert(before, now, &deleted_sheets)),
            Some(sheet) => match (reverted.range(), number_now(numbers, sheet)) {
                (None, sheet) => revert_sheet(before, now, sheet, &deleted_sheets),
                (Some(range), sheet) => {
                    let current_sheet = sheet_in_place(before, now, sheet).unwrap_or(sheet);
                    match self.range_at(log_id, request, head, current_sheet, range).await? {
                        Some((rows, columns)) => revert_range(before, now, sheet, &rows, &columns),
                        None => Ok(Reversal::default()),
                    }
                }
            },
        };
        match reversal {
            Err(fault) => {
                refuse(RejectionReason::NoSuchSheet, describe_fault(fault, reverted, now))
            }
            Ok(reversal) if reversal.operations.is_empty() => {
                nothing_to_revert(describe_no_difference(reverted))
            }
            Ok(reversal) => {
                let (mut operations, report) = (RestoringOperations::default(), reversal.report);
                operations.add(reversal);
                Ok(operations.resolve(head, Operation::Revert(reverted), report, lost_references))
            }
        }
    }

    /// Maps a range from the base of the revert to the state at `head`. Returns `None` if all its
    /// rows or columns were deleted since.
    async fn range_at(
        &self,
        log_id: LogId,
        request: ResolutionRequest,
        head: Position,
        sheet: SheetId,
        (rows, columns): Range,
    ) -> Result<Option<Range>, LogError> {
        let range = Operation::ClearRange(ClearRange { sheet, rows, columns });
        let mapped = self.operation_at(log_id, request.client, (request.base, head), range).await?;
        Ok(match mapped {
            Some(Operation::ClearRange(ClearRange { rows, columns, .. })) => Some((rows, columns)),
            _ => None,
        })
    }

    /// Maps an operation of the client from its base to the state at `head`. Returns `None` if it has no
    /// effect there or cannot be mapped.
    pub(super) async fn operation_at(
        &self,
        log_id: LogId,
        client: ClientKey,
        (base, head): (Position, Position),
        operation: Operation,
    ) -> Result<Option<Operation>, LogError> {
        if base >= head {
            return Ok(Some(operation));
        }
        let viewpoint = self.viewpoint_at(log_id, client, base, head).await?;
        let Ok(map) = viewpoint.map_from(base) else { return Ok(None) };
        Ok(match transform(&operation, &map) {
            None => Some(operation),
            Some(operations) => operations.into_iter().next(),
        })
    }

    /// Returns what the client has seen at `base`, and all entries from there up to `head`.
    async fn viewpoint_at(
        &self,
        log_id: LogId,
        client: ClientKey,
        base: Position,
        head: Position,
    ) -> Result<Viewpoint, LogError> {
        let mut start = base;
        loop {
            let mut viewpoint = Viewpoint::new(client);
            self.walk(log_id, start, Some(head), |entry| {
                if entry.position > head {
                    return Ok(ControlFlow::Break(()));
                }
                viewpoint.add_entry(entry);
                Ok(ControlFlow::Continue(()))
            })
            .await?;
            let first_needed = viewpoint.first_needed_position(base);
            if first_needed >= start {
                return Ok(viewpoint);
            }
            start = first_needed;
        }
    }
}

fn describe_fault(fault: PartFault, reverted: Revert, now: &Workbook) -> String {
    let number = reverted.sheet.map_or(0, |sheet| sheet.0);
    let name = reverted.sheet.and_then(|sheet| now.tabs().name(sheet));
    let sheet = name.map_or_else(|| format!("sheet {number}"), |name| format!("sheet `{name}`"));
    format!("cannot revert {sheet} to {}: {fault}", reverted.position)
}

fn describe_no_difference(reverted: Revert) -> String {
    let part = match (reverted.sheet, reverted.range()) {
        (None, _) => "the spreadsheet",
        (Some(_), None) => "the sheet",
        (Some(_), Some(_)) => "the range",
    };
    format!("nothing to revert: {part} does not differ from position {}", reverted.position)
}
