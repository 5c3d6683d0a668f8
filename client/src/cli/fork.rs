//! `cellar fork` and `cellar forks`

use std::collections::BTreeMap;

use cellar_api::wire::{DetailsReply, ForkRequest, ForkView};
use cellar_base::identity::LogId;
use console::Alignment;

use super::args;
use super::at::{find_optional, print_json_with_times};
use super::context::Context;
use super::error::CliError;
use super::list::display_name;
use super::output::{Output, format_rows};
use super::resolve::NamedSpreadsheet;
use crate::SpreadsheetsQuery;
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
    let name = match name {
        Some(name) => Some(name),
        // The server chooses a name. It is only for messages, so an error is ignored.
        None => details_of(context, fork.id).await.map(|details| details.name),
    };
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

async fn details_of(context: &Context, id: LogId) -> Option<DetailsReply> {
    context.client().ok()?.spreadsheet(id).details().await.ok()
}

pub(super) async fn list_forks(context: &Context, output: &Output) -> Result<(), CliError> {
    let forks = context.spreadsheet()?.forks().collect().await?;
    output.print_json(&serde_json::json!({ "forks": forks }))?;
    if !output.json && !forks.is_empty() {
        let listed = context.client()?.spreadsheets(SpreadsheetsQuery::default()).collect().await?;
        let names = listed.iter().map(|view| (view.id, display_name(view))).collect();
        output.print_lines(format_forks(&forks, &names))?;
    }
    if forks.is_empty() {
        output.print_note("The spreadsheet has no forks. Create one with: cellar fork");
    }
    Ok(())
}

/// The first line is a header. Forks that the caller cannot list have no name.
fn format_forks(forks: &[ForkView], names: &BTreeMap<LogId, String>) -> Vec<String> {
    let mut rows = vec![["fork", "name", "at", "created", "by"].map(str::to_owned)];
    for fork in forks {
        let author = escape(fork.author.as_deref().unwrap_or("-"));
        let name = names.get(&fork.id).cloned().unwrap_or_else(|| "-".to_owned());
        let (position, created) = (fork.position.to_string(), format_utc(fork.created_s));
        rows.push([fork.id.to_string(), name, position, created, author]);
    }
    let left = Alignment::Left;
    format_rows([left, left, Alignment::Right, left, left], &rows)
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;

    use super::*;

    #[test]
    fn a_line_contains_id_name_position_time_and_author() {
        let fork = |byte, num, author: Option<&str>| ForkView {
            id: LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16])),
            position: Position::new(0, num).unwrap(),
            created_s: 1_700_000_000,
            author: author.map(str::to_owned),
        };
        let forks = [fork(1, 42, Some("alice\u{1b}")), fork(2, 7, None)];
        let shown = format_forks(&forks, &BTreeMap::from([(forks[0].id, "What if".to_owned())]));
        let expected = [
            "fork                                   name        at   created                by",
            "01010101-0101-0101-0101-010101010101   What if   0.42   2023-11-14T22:13:20Z   alice\\u{1b}",
            "02020202-0202-0202-0202-020202020202   -          0.7   2023-11-14T22:13:20Z   -",
        ];
        assert_eq!(shown, expected);
    }
}
