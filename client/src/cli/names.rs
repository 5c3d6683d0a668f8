use cellar_api::wire::NameView;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SetName};
use console::Alignment;
use serde::Serialize;

use super::args::{self, NamesCommand};
use super::at::{At, find_optional, print_json_with_times};
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::{Output, format_rows};
use crate::text::escape;

pub(super) async fn list_or_edit_names(
    context: &Context,
    output: &Output,
    args: args::Names,
) -> Result<(), CliError> {
    match args.command {
        None => list_names(context, output, args.at.as_ref()).await,
        Some(NamesCommand::Set { name, formula, sheet }) => {
            set_name(context, output, &name, &formula, sheet.as_deref()).await
        }
        Some(NamesCommand::Delete { name }) => delete_name(context, output, &name).await,
    }
}

/// The JSON output of `cellar names`.
#[derive(Serialize)]
struct ListedNames<'a> {
    position: Position,
    names: &'a [NameView],
}

async fn list_names(context: &Context, output: &Output, at: Option<&At>) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let at = find_optional(at, &spreadsheet, output).await?;
    let reply = match &at {
        Some(at) => spreadsheet.sheets_at(at.position).await?,
        None => spreadsheet.sheets_at_or_after(context.seen_position(&spreadsheet)).await?,
    };
    let listed = ListedNames { position: reply.position, names: &reply.names };
    print_json_with_times(output, &listed, [at.as_ref()])?;
    output.print_lines(format_names(&reply.names))?;
    if reply.names.is_empty() {
        output.print_note("No names. Define one with `cellar names set NAME CELLS`.");
    }
    context.print_unsent_note(&spreadsheet, output);
    Ok(())
}

fn format_names(names: &[NameView]) -> Vec<String> {
    let lines: Vec<_> =
        names.iter().map(|name| [escape(&name.name), escape(&name.formula)]).collect();
    format_rows([Alignment::Left; 2], &lines)
}

async fn set_name(
    context: &Context,
    output: &Output,
    name: &str,
    formula: &str,
    sheet: Option<&str>,
) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let operation = editor.definition(name, formula, sheet).await?;
    let defined = match &operation {
        Operation::SetName(set) => set.formula.clone().unwrap_or_default(),
        _ => String::new(),
    };
    let description = format!("{} is {}", escape(name), escape(&defined));
    editor.apply_and_print(output, operation, &description).await
}

async fn delete_name(context: &Context, output: &Output, name: &str) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let names = editor.list_sheets().await?.names;
    let is_same = |other: &&NameView| other.name.to_lowercase() == name.to_lowercase();
    let Some(found) = names.iter().find(is_same) else {
        return Err(CliError::UnknownName { name: escape(name) });
    };
    let description = format!("deleted name {}", escape(&found.name));
    let operation = Operation::SetName(SetName::delete(&found.name));
    editor.apply_and_print(output, operation, &description).await
}
