use cellar_api::wire::{DiffReply, Head};
use cellar_base::position::Position;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::operation::{Operation, RejectionReason, Revert, SheetId, Span};
use cellar_sheet::workbook::{AxisDiff, CellDiff, SheetChange, SheetDiff};

use super::advice::Advised;
use super::args;
use super::at::{FoundPosition, print_json_with_times, with_times};
use super::context::Context;
use super::diff::{ListedCells, WholeSheets, is_empty, print_diff};
use super::edit::{CommandEditor, choose_sheet_name, rectangle_spans};
use super::error::CliError;
use super::get::range_text;
use super::output::Output;
use super::reversal::{ReversalVerb, print_reversal};
use super::undo::{EntryLookup, read_entry_at};
use crate::editor::EditorError;
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::text::{escape, shell_quoted};

/// Maximum number of cells that a dry run lists. `cellar diff` can list more.
const MAX_LISTED_CELLS: u32 = 1_000;

pub(super) async fn revert_to_position(
    context: &Context,
    output: &Output,
    args: args::Revert,
) -> Result<(), CliError> {
    let sheet_name = choose_sheet_name(args.sheet, args.range.as_ref())?;
    let editor = CommandEditor::open(context)?;
    let to = args.to.find_and_print(&editor.spreadsheet, output).await?;
    let position = to.position;
    // Check that the position exists before sending the revert, because the server appends a log
    // entry even if it rejects the revert.
    if let EntryLookup::Missing { why } = read_entry_at(&editor.spreadsheet, position).await? {
        return Err(CliError::NoPosition { position, why });
    }
    let dry_run_at = if args.dry_run { Some(read_newest(context, &editor).await?) } else { None };
    let part = if sheet_name.is_some() || args.range.is_some() {
        RevertedPart::find(&editor, position, sheet_name, args.range).await?
    } else {
        RevertedPart::whole(position)
    };
    if let Some(newest) = dry_run_at {
        return print_revertible(output, &editor, &to, newest, &part).await;
    }
    let applied = match editor.send(output, Operation::Revert(part.revert)).await {
        Ok(applied) => applied,
        Err(error) => {
            return match Refusal::of(&error) {
                Some(Refusal::Nothing) => {
                    print_nothing_to_revert(&editor, output, &to, &part).await
                }
                Some(Refusal::TooLarge) => Err(CliError::TooMuchToRevert { position }),
                None => Err(error),
            };
        }
    };
    let fields = serde_json::json!({
        "reverted_to": position,
        "sheet": part.sheet_name,
        "range": part.range_text,
        "reversal": applied.reversal,
    });
    let fields = serde_json::json!(with_times(&fields, [Some(&to)]));
    editor.print_edit_as_json(output, &applied, fields)?;
    let changes = editor.describe_changes(output, &applied).await;
    let name = part.described();
    let reverted = if name.is_empty() { "reverted".to_owned() } else { format!("reverted {name}") };
    let summary = format!("{reverted} to {position}{changes}   at {}", applied.position);
    print_reversal(output, &applied, ReversalVerb::Undid, summary)?;
    editor.print_destination(output);
    Ok(())
}

/// The dry run shows the newest state, so that the sheet and range mean those in it. The next revert
/// is based on it as well. Returns its position.
async fn read_newest(context: &Context, editor: &CommandEditor) -> Result<Position, CliError> {
    let spreadsheet = &editor.spreadsheet;
    let newest = spreadsheet.sheets_at_or_after(context.seen_position(spreadsheet)).await?;
    let read_at = Head { head: newest.position, incarnation: newest.incarnation };
    context.record_seen(spreadsheet, read_at, newest.sheets.first().map(|first| first.sheet));
    Ok(newest.position)
}

/// Prints the changes from the position to the newest one in the part to revert.
async fn print_revertible(
    output: &Output,
    editor: &CommandEditor,
    to: &FoundPosition,
    newest: Position,
    part: &RevertedPart,
) -> Result<(), CliError> {
    let mut diff = editor.spreadsheet.diff(to.position, newest).await?;
    part.limit(&mut diff);
    if is_empty(&diff) {
        return print_nothing_to_revert(editor, output, to, part).await;
    }
    let result = serde_json::json!({
        "reverted_to": null,
        "would_revert_to": to.position,
        "sheet": part.sheet_name,
        "range": part.range_text,
        "changes": diff,
    });
    print_json_with_times(output, &result, [Some(to)])?;
    let cells = ListedCells { whole_sheets: WholeSheets::OnlyCounted, limit: MAX_LISTED_CELLS };
    print_diff(output, &diff.into(), cells)?;
    output.print_note(format!(
        "These changes since {} would be reverted. Nothing was changed.",
        to.position
    ));
    Ok(())
}

/// Returns whether a formula that names the sheet has lost references.
fn has_lost_reference(cell: &CellDiff, sheet_name: &str) -> bool {
    let (Some(before), Some(after)) = (&cell.before.formula, &cell.after.formula) else {
        return false;
    };
    let lost_count = |formula: &str| formula.matches("#REF!").count();
    let (formula, name) = (before.to_lowercase(), sheet_name.replace('\'', "''").to_lowercase());
    let names_sheet = [format!("{name}!"), format!("{name}'!")];
    lost_count(before) < lost_count(after) && names_sheet.iter().any(|name| formula.contains(name))
}

/// The part of the spreadsheet to revert.
struct RevertedPart {
    revert: Revert,
    /// The sheet that has the name of the reverted one now, if that was deleted or replaced since.
    replacement: Option<SheetId>,
    /// `None` if all sheets are reverted.
    sheet_name: Option<String>,
    /// `None` if the revert is not limited to a range.
    range_text: Option<String>,
    rectangle: Option<Rectangle>,
}

impl RevertedPart {
    fn whole(position: Position) -> Self {
        Self {
            revert: Revert::whole(position),
            replacement: None,
            sheet_name: None,
            range_text: None,
            rectangle: None,
        }
    }

    /// `name` is `None` for the first sheet. If the sheet was replaced since, `name` selects the
    /// sheet that had this name at `position`.
    async fn find(
        editor: &CommandEditor,
        position: Position,
        name: Option<String>,
        range: Option<Range>,
    ) -> Result<Self, CliError> {
        let current = editor.list_sheets().await?.sheets;
        let earlier = editor.spreadsheet.sheets_at(position).await?.sheets;
        let current_sheet = match &name {
            Some(name) => find_sheet(&current, name),
            None => current.first(),
        };
        let name =
            name.or_else(|| current_sheet.map(|sheet| sheet.name.clone())).unwrap_or_default();
        let kept_sheet = current_sheet
            .filter(|sheet| earlier.iter().any(|earlier_sheet| earlier_sheet.sheet == sheet.sheet));
        let Some(sheet) = kept_sheet.or_else(|| find_sheet(&earlier, &name)) else {
            return Err(CliError::usage(
                format!(
                    "sheet `{}` did not exist at {position}; the sheets were: {}",
                    escape(&name),
                    list_sheet_names(&earlier)
                ),
                "pass the name of one of these sheets; nothing was changed",
            ));
        };
        if current_sheet.is_none() && range.is_some() {
            let name = shell_quoted(&name);
            return Err(CliError::usage(
                format!("sheet {name} was deleted since {position}, and with it the range"),
                format!("revert the sheet: cellar revert --to {position} --sheet {name}"),
            ));
        }
        let replacement = current_sheet.map(|current| current.sheet);
        let whole = Revert { sheet: Some(sheet.sheet), ..Revert::whole(position) };
        let revert = range.as_ref().map_or(whole, |range| limit_to(whole, range.rectangle));
        let range_text = range.as_ref().map(range_text);
        let rectangle = range.map(|range| range.rectangle);
        Ok(Self { revert, replacement, sheet_name: Some(name), range_text, rectangle })
    }

    /// Leaves only the changes in this part. Inserted and deleted rows and columns stay if a range is
    /// reverted.
    fn limit(&self, diff: &mut DiffReply) {
        if self.revert.sheet.is_none() {
            return;
        }
        diff.names.clear();
        diff.order = None;
        let is_whole_sheet = self.rectangle.is_none();
        let sheet_name = self.sheet_name.as_deref().unwrap_or_default();
        diff.sheets.retain_mut(|changed| {
            if self.is_of_sheet(changed) {
                return true;
            }
            // A revert of the sheet also restores references of other formulas to it.
            changed.cells.retain(|cell| is_whole_sheet && has_lost_reference(cell, sheet_name));
            changed.deleted_cells.clear();
            (changed.rows, changed.columns) = Default::default();
            changed.formats_changed = false;
            changed.change = SheetChange::Kept;
            !changed.cells.is_empty()
        });
        let Some(rectangle) = self.rectangle else { return };
        for changed in &mut diff.sheets {
            changed.cells.retain(|cell| rectangle.contains(cell.row, cell.column));
            changed.deleted_cells.clear();
            (changed.rows, changed.columns) = Default::default();
        }
        diff.sheets.retain(|changed| !changed.cells.is_empty() || changed.formats_changed);
    }

    /// Returns whether the changes are of the sheet to revert. A diff lists a replaced sheet under the
    /// number of its replacement.
    fn is_of_sheet(&self, changed: &SheetDiff) -> bool {
        [self.revert.sheet, self.replacement].contains(&Some(changed.sheet))
    }

    /// Returns which lines of the sheet were deleted since, or `None` if none were.
    async fn deleted_lines(
        &self,
        editor: &CommandEditor,
        position: Position,
    ) -> Result<Option<&'static str>, CliError> {
        let newest = editor.spreadsheet.head_at_or_after(Some(position)).await?.head;
        let mut diff = editor.spreadsheet.diff(position, newest).await?;
        diff.sheets.retain(|changed| self.is_of_sheet(changed));
        let has_deleted = |axis: fn(&SheetDiff) -> &AxisDiff| {
            diff.sheets.iter().any(|sheet| !axis(sheet).deleted.is_empty())
        };
        let (rows, columns) =
            (has_deleted(|sheet| &sheet.rows), has_deleted(|sheet| &sheet.columns));
        Ok(match (rows, columns) {
            (true, true) => Some("rows and columns"),
            (true, false) => Some("rows"),
            (false, true) => Some("columns"),
            (false, false) => None,
        })
    }

    /// Returns an empty text for the whole spreadsheet.
    fn described(&self) -> String {
        match (&self.range_text, &self.sheet_name) {
            (Some(range), Some(sheet)) => format!("{range} of sheet `{}`", escape(sheet)),
            (None, Some(sheet)) => format!("sheet `{}`", escape(sheet)),
            (_, None) => String::new(),
        }
    }
}

fn limit_to(revert: Revert, rectangle: Rectangle) -> Revert {
    let (rows, columns) = rectangle_spans(rectangle);
    let only_span = |spans: cellar_sheet::operation::Spans| -> Option<Span> { spans.iter().next() };
    Revert { rows: only_span(rows), columns: only_span(columns), ..revert }
}

/// The reason why nothing was reverted, if the command explains it.
enum Refusal {
    Nothing,
    TooLarge,
}

impl Refusal {
    fn of(error: &CliError) -> Option<Self> {
        let CliError::Editor(Advised(error)) = error else { return None };
        match error {
            EditorError::NothingToReverse { .. } => Some(Self::Nothing),
            EditorError::Rejected { rejection, .. } => match rejection.reason {
                RejectionReason::NothingToRevert => Some(Self::Nothing),
                RejectionReason::TooLarge => Some(Self::TooLarge),
                _ => None,
            },
            _ => None,
        }
    }
}

async fn print_nothing_to_revert(
    editor: &CommandEditor,
    output: &Output,
    to: &FoundPosition,
    part: &RevertedPart,
) -> Result<(), CliError> {
    let position = to.position;
    let result = serde_json::json!({
        "reverted_to": null,
        "sheet": part.sheet_name,
        "range": part.range_text,
    });
    print_json_with_times(output, &result, [Some(to)])?;
    let name = part.described();
    let difference = if name.is_empty() {
        format!("no difference from {position}")
    } else {
        format!("{name} does not differ from {position}")
    };
    let deleted_lines = match part.rectangle {
        None => None,
        Some(_) => part.deleted_lines(editor, position).await?,
    };
    let Some(deleted_lines) = deleted_lines else {
        output.print_line(format!("nothing to revert: {difference}"))?;
        return Ok(());
    };
    output.print_line(format!(
        "nothing to revert: {difference}, except for deleted {deleted_lines}"
    ))?;
    let sheet = part.sheet_name.as_deref().unwrap_or_default();
    output.print_note(format!(
        "A revert of a range does not bring deleted {deleted_lines} back. Revert the sheet instead: \
         cellar revert --to {position} --sheet {}",
        shell_quoted(sheet)
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_sheet::workbook::OrderDiff;

    use super::super::diff::reply_of;
    use super::*;

    #[test]
    fn only_the_whole_spreadsheet_has_an_order_of_sheets_to_revert() {
        let order = Some(OrderDiff { before: vec!["A".into()], after: vec!["B".into()] });
        let diff = reply_of(Vec::new(), Vec::new(), order);
        for (sheet, is_left) in [(None, true), (Some(SheetId(1)), false)] {
            let revert = Revert { sheet, ..Revert::whole(Position::FIRST) };
            let part = RevertedPart { revert, ..RevertedPart::whole(Position::FIRST) };
            let mut diff = diff.clone();
            part.limit(&mut diff);
            assert_eq!(!is_empty(&diff), is_left, "{sheet:?}");
        }
    }
}
