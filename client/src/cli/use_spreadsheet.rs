use serde_json::json;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::resolve::NamedSpreadsheet;
use crate::text::escape;

pub(super) async fn select_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Use,
) -> Result<(), CliError> {
    context.check_other_stack_can_be_left()?;
    let found = context.find(&args.target).await?;
    let spreadsheet = context.client()?.spreadsheet(found.id);
    // Read the spreadsheet, so that a wrong id is reported now and not by the next command.
    let (head, details) = tokio::join!(spreadsheet.head(), spreadsheet.details());
    let head = head?;
    // The name is only for messages, so an error is ignored.
    let name = details.ok().map(|details| details.name).or(found.name);
    let selected = NamedSpreadsheet { id: found.id, name };
    let left = context.leave_other_stack();
    context.select(&selected, output)?;
    let destination = context.destination(selected)?;
    let fields = json!({ "id": found.id, "head": head.head, "incarnation": head.incarnation });
    output.print_json(&destination.add_to(&fields))?;
    output.print_line(format!("selected {} at {}", found.id, head.head))?;
    if let Some(url) = left {
        output.print_note(format!("Commands in this folder no longer use {}.", escape(&url)));
    }
    if let Some(file) = context.link_file() {
        output.print_note(format!(
            "Commands use the link for this spreadsheet. It is kept in {} until `cellar use` selects another \
             spreadsheet or `cellar logout` removes it.",
            file.display()
        ));
    }
    destination.print(*output);
    Ok(())
}
