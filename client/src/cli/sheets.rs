//! `cellar sheets`

use cellar_api::wire::SheetsReply;
use cellar_sheet::operation::{AddSheet, DeleteSheet, Operation, RenameSheet};

use super::args::{self, SheetsCommand};
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::{Output, count};
use crate::sheet_deletion::find_sheet;
use crate::text::escape;

pub(super) async fn list_or_edit_sheets(
    context: &Context,
    output: &Output,
    args: args::Sheets,
) -> Result<(), CliError> {
    match args.command {
        None => list_sheets(context, output, args.at).await,
        Some(SheetsCommand::Add { name }) => add_sheet(context, output, name).await,
        Some(SheetsCommand::Rename { old, new }) => rename_sheet(context, output, &old, new).await,
        Some(SheetsCommand::Delete { name }) => delete_sheet(context, output, &name).await,
    }
}

async fn list_sheets(
    context: &Context,
    output: &Output,
    at: Option<cellar_base::position::Position>,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let min_position = match at {
        Some(_) => None,
        None => context.seen_position(&client, spreadsheet),
    };
    let sheets = client.sheets(spreadsheet, at, min_position).await?;
    output.result(&sheets)?;
    let names: Vec<String> = sheets.sheets.iter().map(|sheet| escape(&sheet.name)).collect();
    let width = names.iter().map(|name| console::measure_text_width(name)).max().unwrap_or(0);
    for (name, sheet) in names.iter().zip(&sheets.sheets) {
        let name = console::pad_str(name, width, console::Alignment::Left, None);
        let extent = sheet.extent;
        output.say(format!(
            "{name}   {}, {}",
            count(extent.rows, "row", "rows"),
            count(extent.columns, "column", "columns"),
        ))?;
    }
    context.note_unsent(&client, spreadsheet, output);
    Ok(())
}

async fn add_sheet(context: &Context, output: &Output, name: String) -> Result<(), CliError> {
    let edit = Edit::new(context)?;
    let sheets = edit.editor.sheets().await?;
    check_name_is_free(&sheets, &name)?;
    let description = format!("added sheet {}", escape(&name));
    let operation = Operation::AddSheet(AddSheet { sheet: sheets.next_sheet, name });
    edit.apply(output, operation, &description).await
}

async fn rename_sheet(
    context: &Context,
    output: &Output,
    old: &str,
    new: String,
) -> Result<(), CliError> {
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(Some(old)).await?;
    // If the names differ only in case, the sheet found is the renamed sheet itself.
    if old.to_lowercase() != new.to_lowercase() {
        check_name_is_free(&edit.editor.sheets().await?, &new)?;
    }
    let description = format!("renamed sheet {} to {}", escape(old), escape(&new));
    edit.apply(output, Operation::RenameSheet(RenameSheet { sheet, name: new }), &description).await
}

async fn delete_sheet(context: &Context, output: &Output, name: &str) -> Result<(), CliError> {
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(Some(name)).await?;
    if edit.editor.sheets().await?.sheets.len() == 1 {
        return Err(CliError::LastSheet { name: escape(name) });
    }
    let description = format!("deleted sheet {}", escape(name));
    edit.apply(output, Operation::DeleteSheet(DeleteSheet { sheet }), &description).await
}

/// Fails if a sheet with this name exists. Otherwise the server would append a number to the name,
/// which may surprise the user.
fn check_name_is_free(sheets: &SheetsReply, name: &str) -> Result<(), CliError> {
    match find_sheet(&sheets.sheets, name) {
        Some(existing) => Err(CliError::SheetExists { name: escape(&existing.name) }),
        None => Ok(()),
    }
}
