use cellar_api::wire::CreateRequest;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use crate::outbox::new_client_id;

pub(super) async fn create_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Create,
) -> Result<(), CliError> {
    let name = args.name.map(|name| name.to_string());
    let request = CreateRequest { nonce: args.nonce.unwrap_or_else(new_client_id), name };
    let created = context.client()?.create(&request).await?;
    context.select(created.id, output)?;
    output.print_json(&created)?;
    output.print_line(created.id.to_string())?;
    output.print_note("The spreadsheet is selected. Next: cellar set A1 hello");
    Ok(())
}
