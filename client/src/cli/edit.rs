//! Helpers shared by all editing commands.

use cellar_api::wire::{SheetView, SheetsReply};
use cellar_base::position::Position;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::operation::{Operation, SheetId, Spans};

use super::context::Context;
use super::destination::Destination;
use super::error::CliError;
use super::output::{Output, count};
use crate::Spreadsheet;
use crate::describe::{SheetNames, describe_operations, needs_sheet_names};
use crate::editor::{AppliedEdit, Editor};
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::text::escape;

const SHEET_IN_DOUBT: &str = "Others have deleted sheets, and it could not be checked whether this sheet still \
                              exists: list the sheets with `cellar sheets`.";

pub(super) struct CommandEditor {
    pub(super) spreadsheet: Spreadsheet,
    editor: Editor,
    destination: Destination,
}

impl CommandEditor {
    pub(super) fn open(context: &Context) -> Result<Self, CliError> {
        let spreadsheet = context.spreadsheet()?;
        let editor = context.editor(&spreadsheet);
        let destination = context.selected_destination()?;
        Ok(Self { spreadsheet, editor, destination })
    }

    /// `name` is `None` for the first sheet.
    pub(super) async fn sheet_number(&self, name: Option<&str>) -> Result<SheetId, CliError> {
        Ok(self.editor.sheet(name).await?)
    }

    /// Like [`CommandEditor::sheet_number`], and returns the names for the description of an edit. The
    /// sheet is named if the user has named it, or if there are several.
    pub(super) async fn sheet_and_names(
        &self,
        output: &Output,
        name: Option<&str>,
    ) -> Result<(SheetId, SheetNames), CliError> {
        if let Some(name) = name {
            let sheet = self.sheet_number(Some(name)).await?;
            return Ok((sheet, SheetNames::of_argument(sheet, name)));
        }
        let sheet = self.sheet_number(None).await?;
        if output.json || self.editor.has_one_sheet()? {
            return Ok((sheet, SheetNames::default()));
        }
        // If the sheets cannot be read, the edit is sent or kept nevertheless.
        let names = self.list_sheets().await.as_ref().map(SheetNames::from).unwrap_or_default();
        Ok((sheet, names))
    }

    pub(super) async fn list_sheets(&self) -> Result<SheetsReply, CliError> {
        Ok(self.editor.sheets().await?)
    }

    /// Returns the operation that defines a name.
    pub(super) async fn definition(
        &self,
        name: &str,
        formula: &str,
        sheet: Option<&str>,
    ) -> Result<Operation, CliError> {
        Ok(self.editor.definition(name, formula, sheet).await?)
    }

    pub(super) async fn apply_and_print(
        &self,
        output: &Output,
        operation: Operation,
        description: &str,
    ) -> Result<(), CliError> {
        self.apply_and_print_with_fields(output, operation, description, serde_json::Value::Null)
            .await
    }

    pub(super) async fn apply_and_print_with_fields(
        &self,
        output: &Output,
        operation: Operation,
        description: &str,
        fields: serde_json::Value,
    ) -> Result<(), CliError> {
        let applied = self.send(output, operation).await?;
        self.print_edit_as_json(output, &applied, fields)?;
        if applied.committed.as_ref().is_some_and(Vec::is_empty) {
            return Err(CliError::NoEffect { edit: description.to_owned() });
        }
        output.print_line(format!("{description}   at {}", applied.position))?;
        if let Some(committed) = &applied.committed {
            let committed_description = self.describe_committed(output, &applied, committed).await;
            output.print_note(format!(
                "Others have changed the sheet since you read it; the edit became: {committed_description}"
            ));
        }
        if applied.sheet_in_doubt {
            output.print_note(SHEET_IN_DOUBT);
        }
        self.print_destination(output);
        Ok(())
    }

    /// The description starts with a colon. Returns an empty string if the changes are unknown.
    pub(super) async fn describe_changes(&self, output: &Output, applied: &AppliedEdit) -> String {
        match &applied.committed {
            Some(committed) => {
                format!(": {}", self.describe_committed(output, applied, committed).await)
            }
            None => String::new(),
        }
    }

    /// Sheets are called by their names before the edit, and new sheets by their new names.
    async fn describe_committed(
        &self,
        output: &Output,
        applied: &AppliedEdit,
        committed: &[Operation],
    ) -> String {
        let mut names = if !output.json && committed.iter().any(needs_sheet_names) {
            read_sheet_names_before(&self.spreadsheet, applied.position).await
        } else {
            SheetNames::default()
        };
        committed.iter().for_each(|operation| names.record_added(operation));
        describe_operations(committed.iter(), &names)
    }

    /// Sends an edit and waits until it is committed. Prints a note if unsent edits of an earlier,
    /// interrupted command were sent first.
    pub(super) async fn send(
        &self,
        output: &Output,
        operation: Operation,
    ) -> Result<AppliedEdit, CliError> {
        let applied = self.editor.apply(operation).await?;
        if applied.earlier_edits > 0 {
            let edits = count(applied.earlier_edits, "edit", "edits");
            output.print_note(format!("Sent {edits} of an interrupted command first."));
        }
        Ok(applied)
    }

    /// Prints to which spreadsheet and stack the edit went. With `--json`, the printed edit contains
    /// both.
    pub(super) fn print_destination(&self, output: &Output) {
        self.destination.print(*output);
    }

    /// `more_fields` must be a JSON object.
    pub(super) fn print_edit_as_json(
        &self,
        output: &Output,
        applied: &AppliedEdit,
        more_fields: serde_json::Value,
    ) -> Result<(), CliError> {
        let mut fields = serde_json::Map::new();
        fields.insert("spreadsheet".to_owned(), serde_json::json!(self.spreadsheet.id()));
        fields.insert("position".to_owned(), serde_json::json!(applied.position));
        fields.insert("earlier".to_owned(), serde_json::json!(applied.earlier_edits));
        if let Some(committed) = &applied.committed {
            fields.insert("committed".to_owned(), serde_json::json!(committed));
        }
        if let serde_json::Value::Object(more_fields) = more_fields {
            fields.extend(more_fields);
        }
        Ok(output.print_json(&self.destination.add_to(&fields))?)
    }
}

/// Returns no names if the sheets cannot be read.
pub(super) async fn read_sheet_names(spreadsheet: &Spreadsheet, at: Position) -> SheetNames {
    let sheets = spreadsheet.sheets_at(at).await;
    sheets.as_ref().map(SheetNames::from).unwrap_or_default()
}

/// Returns no names if the sheets cannot be read.
pub(super) async fn read_sheet_names_before(
    spreadsheet: &Spreadsheet,
    position: Position,
) -> SheetNames {
    // A log segment's first entry has no predecessor in the segment. It is a Snapshot entry, which
    // never changes sheet names.
    let position_before = previous_position_in_segment(position).unwrap_or(position);
    read_sheet_names(spreadsheet, position_before).await
}

fn previous_position_in_segment(position: Position) -> Option<Position> {
    Position::new(position.segment(), position.entry_number().checked_sub(1)?).ok()
}

/// Fails if both `--sheet` and the range name a sheet and the names differ.
pub(super) fn choose_sheet_name(
    sheet_option: Option<String>,
    range: Option<&Range>,
) -> Result<Option<String>, CliError> {
    let range_sheet = range.and_then(|range| range.sheet.clone());
    if let (Some(option), Some(range_sheet)) = (&sheet_option, &range_sheet)
        && option.to_lowercase() != range_sheet.to_lowercase()
    {
        return Err(CliError::usage(
            format!("--sheet selects sheet `{option}`, but the range is in sheet `{range_sheet}`"),
            "select one sheet, with --sheet or in the range",
        ));
    }
    Ok(sheet_option.or(range_sheet))
}

/// `name` is `None` for the first sheet.
pub(super) fn find_sheet_number(
    sheets: &[SheetView],
    name: Option<&str>,
) -> Result<SheetId, CliError> {
    let selected_sheet = match name {
        Some(name) => find_sheet(sheets, name),
        None => sheets.first(),
    };
    if let Some(view) = selected_sheet {
        return Ok(view.sheet);
    }
    let missing_name = escape(name.unwrap_or_default());
    let existing_names = list_sheet_names(sheets);
    Err(CliError::usage(
        format!("sheet `{missing_name}` does not exist; the sheets are: {existing_names}"),
        "`cellar sheets` lists the sheets",
    ))
}

pub(super) fn rectangle_spans(rectangle: Rectangle) -> (Spans, Spans) {
    let Rectangle { first, last } = rectangle;
    let rows = Spans::one(first.row, last.row - first.row + 1);
    let columns = Spans::one(first.column, last.column - first.column + 1);
    (rows, columns)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::axis_map::Axis;

    use super::*;

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    #[test]
    fn spans_of_whole_columns_and_rows_cover_the_axis() {
        let of = |text: &str| rectangle_spans(range(text).rectangle);
        assert_eq!(of("B2:C5"), (Spans::one(1, 4), Spans::one(1, 2)));
        assert_eq!(of("A:C"), (Spans::all(Axis::Rows), Spans::one(0, 3)));
        assert_eq!(of("3:5"), (Spans::one(2, 3), Spans::all(Axis::Columns)));
    }

    #[test]
    fn sheet_option_and_range_must_agree() {
        let named = range("'My sheet'!A1");
        let flag = |text: &str| Some(text.to_owned());
        assert_eq!(choose_sheet_name(None, Some(&named)).unwrap(), flag("My sheet"));
        assert_eq!(choose_sheet_name(flag("my SHEET"), Some(&named)).unwrap(), flag("my SHEET"));
        assert_eq!(choose_sheet_name(flag("x"), Some(&range("A1"))).unwrap(), flag("x"));
        assert_eq!(choose_sheet_name(None, None).unwrap(), None);
        assert_eq!(choose_sheet_name(flag("x"), Some(&named)).unwrap_err().exit_code(), 64);
    }
}
