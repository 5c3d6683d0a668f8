//! `cellar fork` and `cellar forks`

use cellar_api::wire::{ForkRequest, ForkView};
use console::Alignment;

use super::args;
use super::at::{find_optional, print_json_with_times};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, format_rows};
use super::resolve::NamedSpreadsheet;
use crate::outbox::new_client_id;
use crate::text::escape;
use cellar_api::time::format_utc;

pub(super) async fn fork_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Fork,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let nonce = args.nonce.unwrap_or_else(new_client_id);
    let name = args.name.map(|name| name.to_string());
    let at = find_optional(args.at.as_ref(), &spreadsheet, output).await?;
    let position = at.as_ref().map(|at| at.position);
    let request = ForkRequest { name: name.clone(), ..ForkRequest::new(nonce, position) };
    let fork = spreadsheet.fork(&request).await?;
    let named_fork = NamedSpreadsheet { id: fork.id, name };
    if !args.no_use {
        context.select(&named_fork, output)?;
    }
    let destination = context.destination(named_fork)?;
    print_json_with_times(output, &destination.add_to(&fork), [at.as_ref()])?;
    output.print_line(fork.id.to_string())?;
    let shared = format!("The fork shares {} up to {}.", fork.source, fork.position);
    output.print_note(if args.no_use {
        format!("{shared} Read it with: cellar get -s {}", fork.id)
    } else {
        format!("{shared} The fork is selected. Select the source with: cellar use {}", fork.source)
    });
    destination.print(*output);
    Ok(())
}

pub(super) async fn list_forks(context: &Context, output: &Output) -> Result<(), CliError> {
    let forks = context.spreadsheet()?.forks().collect().await?;
    output.print_json(&serde_json::json!({ "forks": forks }))?;
    output.print_lines(format_forks(&forks))?;
    if forks.is_empty() {
        output.print_note("The spreadsheet has no forks. Create one with: cellar fork");
    }
    Ok(())
}

fn format_forks(forks: &[ForkView]) -> Vec<String> {
    let fork_columns = |fork: &ForkView| {
        let author = escape(fork.author.as_deref().unwrap_or("-"));
        [fork.id.to_string(), fork.position.to_string(), format_utc(fork.created_s), author]
    };
    let rows: Vec<_> = forks.iter().map(fork_columns).collect();
    format_rows([Alignment::Left, Alignment::Right, Alignment::Left, Alignment::Left], &rows)
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_base::position::Position;

    use super::*;

    #[test]
    fn a_line_contains_id_position_time_and_author() {
        let fork = |byte, num, author: Option<&str>| ForkView {
            id: LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16])),
            position: Position::new(0, num).unwrap(),
            created_s: 1_700_000_000,
            author: author.map(str::to_owned),
        };
        let shown = format_forks(&[fork(1, 42, Some("alice\u{1b}")), fork(2, 7, None)]);
        let expected = [
            "01010101-0101-0101-0101-010101010101   0.42   2023-11-14T22:13:20Z   alice\\u{1b}",
            "02020202-0202-0202-0202-020202020202    0.7   2023-11-14T22:13:20Z   -",
        ];
        assert_eq!(shown, expected);
        assert!(format_forks(&[]).is_empty());
    }
}
