//! `cellar fork` and `cellar forks`

use cellar_api::{wire::ForkRequest, wire::ForkView};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::time::utc;
use crate::outbox::new_client_id;
use crate::table::escape;

/// Separator of columns.
const GAP: &str = "   ";

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: args::Fork,
) -> Result<(), CliError> {
    let (spreadsheet, client) = (context.spreadsheet()?, context.client()?);
    let nonce = args.nonce.unwrap_or_else(new_client_id);
    let name = args.name.map(|name| name.to_string());
    let fork = client.fork(spreadsheet, &ForkRequest { nonce, at: args.at, name }).await?;
    if !args.no_use {
        context.remember(fork.id, output)?;
    }
    output.result(&fork)?;
    output.say(fork.id.to_string())?;
    let shared = format!("The fork shares {} up to {}.", fork.source, fork.position);
    output.note(match args.no_use {
        true => format!("{shared} Read it: cellar get -s {}", fork.id),
        false => {
            format!("{shared} It is selected. Select the source again: cellar use {spreadsheet}")
        }
    });
    Ok(())
}

pub(super) async fn list(context: &Context, output: &Output) -> Result<(), CliError> {
    let (spreadsheet, client) = (context.spreadsheet()?, context.client()?);
    let (mut forks, mut after) = (Vec::new(), None);
    loop {
        let page = client.forks(spreadsheet, after).await?;
        forks.extend(page.forks);
        // A page that does not go on would be asked for again for ever.
        after = page.next.filter(|next| after.is_none_or(|after| *next > after));
        if after.is_none() {
            break;
        }
    }
    output.result(&serde_json::json!({ "forks": forks }))?;
    for line in lines(&forks) {
        output.say(line)?;
    }
    if forks.is_empty() {
        output.note("There is none yet. To make one: cellar fork");
    }
    Ok(())
}

/// A line for each fork, the oldest first.
fn lines(forks: &[ForkView]) -> Vec<String> {
    let width = forks.iter().map(|fork| fork.position.to_string().len()).max().unwrap_or(0);
    let line = |fork: &ForkView| {
        let author = escape(fork.author.as_deref().unwrap_or("-"));
        let position = format!("{:>width$}", fork.position.to_string());
        [fork.id.to_string(), position, utc(fork.created_s), author].join(GAP)
    };
    forks.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_base::position::Position;

    use super::*;

    #[test]
    fn a_line_says_which_fork_from_where_when_and_whose() {
        let fork = |byte, num, author: Option<&str>| ForkView {
            id: LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16])),
            position: Position::new(0, num).unwrap(),
            created_s: 1_700_000_000,
            author: author.map(str::to_owned),
        };
        let shown = lines(&[fork(1, 42, Some("alice\u{1b}")), fork(2, 7, None)]);
        let expected = [
            "01010101-0101-0101-0101-010101010101   0.42   2023-11-14 22:13:20Z   alice\\u{1b}",
            "02020202-0202-0202-0202-020202020202    0.7   2023-11-14 22:13:20Z   -",
        ];
        assert_eq!(shown, expected);
        assert!(lines(&[]).is_empty());
    }
}
