use cellar_api::wire::CreateRequest;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::resolve::NamedSpreadsheet;
use crate::outbox::new_client_id;

pub(super) async fn create_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Create,
) -> Result<(), CliError> {
    let name = args.name.or(args.name_option).map(|name| name.to_string());
    let nonce = args.nonce.unwrap_or_else(new_client_id);
    let request = CreateRequest { nonce, name: name.clone() };
    let reply = context.client()?.create(&request).await?;
    let created = NamedSpreadsheet { id: reply.id, name: Some(name.unwrap_or_default()) };
    context.select(&created, output)?;
    let destination = context.destination(created)?;
    output.print_json(&destination.add_to(&reply))?;
    output.print_line(reply.id.to_string())?;
    output.print_note("The spreadsheet is selected. Next: cellar set A1 hello");
    destination.print(*output);
    Ok(())
}
