//! What the commands that edit have in common.

use cellar_api::wire::SheetView;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::{Range, Rectangle};
use cellar_sheet::operation::{Operation, SheetId, Spans};

use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use crate::Client;
use crate::describe::{SheetNames, describe_operations, needs_sheet_names};
use crate::editor::{AppliedEdit, Editor};
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::table::escape;

const IN_DOUBT: &str = "Others have deleted sheets since you read them, and it could not be found \
                        out whether this one is still there: look with `cellar sheets`.";

/// An edit to be made in the current spreadsheet.
pub(super) struct Edit {
    pub(super) client: Client,
    pub(super) spreadsheet: LogId,
    pub(super) editor: Editor,
}

impl Edit {
    pub(super) fn new(context: &Context) -> Result<Self, CliError> {
        let spreadsheet = context.spreadsheet()?;
        let client = context.client()?;
        let editor = context.editor(&client, spreadsheet);
        Ok(Self { client, spreadsheet, editor })
    }

    /// The number of the sheet with a name; of the first without one.
    pub(super) async fn sheet(&self, name: Option<&str>) -> Result<SheetId, CliError> {
        Ok(self.editor.sheet(name).await?)
    }

    /// Makes the edit and says what was done, in the words of `what`, and where it landed.
    pub(super) async fn apply(
        &self,
        output: &Output,
        operation: Operation,
        what: &str,
    ) -> Result<(), CliError> {
        self.apply_with(output, operation, what, serde_json::Value::Null).await
    }

    /// As [`Edit::apply`]; programs are told the fields of `more`, too.
    pub(super) async fn apply_with(
        &self,
        output: &Output,
        operation: Operation,
        what: &str,
        more: serde_json::Value,
    ) -> Result<(), CliError> {
        let applied = self.send(output, operation).await?;
        self.tell(output, &applied, more)?;
        output.say(format!("{what}   at {}", applied.position))?;
        if let Some(committed) = &applied.committed {
            output.note(landed(&self.described(output, &applied, committed).await, committed));
        }
        if applied.sheet_in_doubt {
            output.note(IN_DOUBT);
        }
        Ok(())
    }

    /// What an edit was committed as, in words, with the names that the sheets had before it.
    pub(super) async fn described(
        &self,
        output: &Output,
        applied: &AppliedEdit,
        committed: &[Operation],
    ) -> String {
        let wanted = !output.json && committed.iter().any(needs_sheet_names);
        let names = match before(applied.position).filter(|_| wanted) {
            Some(before) => sheet_names(&self.client, self.spreadsheet, before).await,
            None => SheetNames::default(),
        };
        describe_operations(committed.iter(), &names)
    }

    /// Makes the edit.
    pub(super) async fn send(
        &self,
        output: &Output,
        operation: Operation,
    ) -> Result<AppliedEdit, CliError> {
        let applied = self.editor.apply(operation).await?;
        if applied.earlier_edits > 0 {
            let edits = count(applied.earlier_edits, "edit", "edits");
            output.note(format!("{edits} of an interrupted run went first."));
        }
        Ok(applied)
    }

    /// Tells programs about an edit; the fields of `more` go along.
    pub(super) fn tell(
        &self,
        output: &Output,
        applied: &AppliedEdit,
        more: serde_json::Value,
    ) -> Result<(), CliError> {
        let mut result = serde_json::json!({
            "spreadsheet": self.spreadsheet,
            "position": applied.position,
            "earlier": applied.earlier_edits,
        });
        if let Some(result) = result.as_object_mut() {
            let committed = applied.committed.as_ref();
            result.extend(committed.map(|done| ("committed".to_owned(), serde_json::json!(done))));
            if let serde_json::Value::Object(more) = more {
                result.extend(more);
            }
        }
        Ok(output.result(&result)?)
    }
}

/// The names that the sheets had at a position; none if they cannot be read: what is described by
/// them has its number then.
pub(super) async fn sheet_names(client: &Client, spreadsheet: LogId, at: Position) -> SheetNames {
    let sheets = client.sheets(spreadsheet, Some(at), None).await;
    sheets.as_ref().map(SheetNames::from).unwrap_or_default()
}

/// The position before one, if it is in the same segment.
pub(super) fn before(position: Position) -> Option<Position> {
    Position::new(position.segment(), position.num().checked_sub(1)?).ok()
}

/// Where an edit landed that others had moved.
fn landed(described: &str, committed: &[Operation]) -> String {
    if committed.is_empty() {
        return "Nothing of it was left to do: others have deleted what it was about.".to_owned();
    }
    format!("Others have changed the sheet since you read it, so it became: {described}")
}

/// The sheet that --sheet and a range name, if they do; they must agree.
pub(super) fn one_sheet(
    flag: Option<String>,
    range: Option<&Range>,
) -> Result<Option<String>, CliError> {
    match (flag, range.and_then(|range| range.sheet.clone())) {
        (Some(one), Some(two)) if one.to_lowercase() != two.to_lowercase() => Err(CliError::usage(
            format!("--sheet says `{one}` and the range `{two}`"),
            "name the sheet once",
        )),
        (one, two) => Ok(one.or(two)),
    }
}

/// The number of the sheet with a name among these; of the first without one.
pub(super) fn find(sheets: &[SheetView], name: Option<&str>) -> Result<SheetId, CliError> {
    let found = match name {
        Some(name) => find_sheet(sheets, name),
        None => sheets.first(),
    };
    found.map(|sheet| sheet.sheet).ok_or_else(|| {
        let name = escape(name.unwrap_or_default());
        let there = list_sheet_names(sheets);
        CliError::usage(
            format!("there is no sheet `{name}`; there are {there}"),
            "`cellar sheets` lists the sheets",
        )
    })
}

/// The rows and the columns of a rectangle; of whole columns or rows, all of the axis.
pub(super) fn spans(rectangle: Rectangle) -> (Spans, Spans) {
    let Rectangle { first, last } = rectangle;
    let one =
        |first: u32, last: u32| Spans::one(first, last.saturating_sub(first).saturating_add(1));
    (one(first.row, last.row), one(first.column, last.column))
}

#[cfg(test)]
mod tests {
    use cellar_sheet::axis_map::Axis;

    use super::*;

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    #[test]
    fn whole_columns_and_rows_are_all_of_their_axis() {
        let of = |text: &str| spans(range(text).rectangle);
        assert_eq!(of("B2:C5"), (Spans::one(1, 4), Spans::one(1, 2)));
        assert_eq!(of("A:C"), (Spans::all(Axis::Rows), Spans::one(0, 3)));
        assert_eq!(of("3:5"), (Spans::one(2, 3), Spans::all(Axis::Columns)));
    }

    #[test]
    fn the_sheet_is_named_once() {
        let named = range("'My sheet'!A1");
        let flag = |text: &str| Some(text.to_owned());
        assert_eq!(one_sheet(None, Some(&named)).unwrap(), flag("My sheet"));
        assert_eq!(one_sheet(flag("my SHEET"), Some(&named)).unwrap(), flag("my SHEET"));
        assert_eq!(one_sheet(flag("x"), Some(&range("A1"))).unwrap(), flag("x"));
        assert_eq!(one_sheet(None, None).unwrap(), None);
        assert_eq!(one_sheet(flag("x"), Some(&named)).unwrap_err().exit_code(), 64);
    }
}
