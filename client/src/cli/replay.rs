//! `cellar replay`

use cellar_base::count::count;
use serde_json::json;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::{EXIT_DIFFERENCES, EXIT_FINE};
use crate::describe::{SheetNames, describe_operations};
use crate::replay::{ForkReplay, ReplayOutcome, ReplayedEdit};
use crate::table::escape;

/// Between two columns.
const GAP: &str = "   ";

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: args::Replay,
) -> Result<u8, CliError> {
    let fork = args.fork.map_or_else(|| context.spreadsheet(), Ok)?;
    let client = context.client()?;
    let replay = ForkReplay::plan(&client, fork, args.onto.0).await?;
    let edits = count(replay.count(), "edit", "edits");
    let (from, onto, source) = (replay.from, replay.onto, replay.source);
    output.note(format!("{edits} of the fork, from position {from} onto {onto} of {source}"));
    let (id, mutations) = match args.dry_run {
        true => (None, replay.preview().await?),
        false => {
            let replayed = replay.carry_out().await?;
            (Some(replayed.id), replayed.mutations)
        }
    };
    if let Some(id) = id.filter(|_| !args.no_use) {
        context.remember(id, output)?;
    }
    let told =
        json!({ "id": id, "source": source, "from": from, "onto": onto, "mutations": mutations });
    output.result(&told)?;
    for line in lines(&mutations) {
        output.say(line)?;
    }
    match id {
        None => output.note("Dry run: nothing was changed."),
        Some(id) => {
            output.say(id.to_string())?;
            output.note(format!("The existing fork is unchanged. Select it: cellar use {fork}"));
        }
    }
    let is_lost = |own: &ReplayedEdit| {
        matches!(own.outcome, ReplayOutcome::Dropped | ReplayOutcome::Rejected)
    };
    Ok(if mutations.iter().any(is_lost) { EXIT_DIFFERENCES } else { EXIT_FINE })
}

/// A line for each mutation, the oldest first.
fn lines(mutations: &[ReplayedEdit]) -> Vec<String> {
    let width = mutations.iter().map(|own| own.position.to_string().len()).max().unwrap_or(0);
    let names = SheetNames::default();
    let line = |own: &ReplayedEdit| {
        let position = format!("{:>width$}", own.position.to_string());
        let author = escape(own.author.as_deref().unwrap_or("-"));
        let outcome = match own.outcome {
            ReplayOutcome::Unchanged => "unchanged  ",
            ReplayOutcome::Transformed => "transformed",
            ReplayOutcome::Dropped => "dropped    ",
            ReplayOutcome::Rejected => "rejected   ",
        };
        let mut what = describe_operations(own.operations.iter(), &names);
        if own.outcome == ReplayOutcome::Transformed {
            let committed = own.committed.iter().flatten();
            what = format!("{what} (as: {})", describe_operations(committed, &names));
        }
        if let Some(rejection) = &own.rejection {
            what = format!("{what}: {}", escape(&rejection.detail));
        }
        [position, outcome.to_owned(), author, what].join(GAP)
    };
    mutations.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_sheet::operation::{InsertBefore, Operation, Rejection, RejectionReason, SheetId};

    use super::*;

    #[test]
    fn a_line_says_what_became_of_an_edit() {
        let sheet = SheetId::FIRST;
        let insert = |before| Operation::InsertRows(InsertBefore { sheet, before, count: 1 });
        let own = |num, outcome, committed, rejection| ReplayedEdit {
            position: Position::new(1, num).unwrap(),
            author: Some("bob\u{1b}".into()),
            created: 0,
            outcome,
            operations: vec![insert(3)],
            committed,
            rejection,
        };
        let why = Rejection::new(RejectionReason::TooFarBehind, "too far\u{1b}");
        let shown = lines(&[
            own(9, ReplayOutcome::Unchanged, None, None),
            own(10, ReplayOutcome::Transformed, Some(vec![insert(5)]), None),
            own(11, ReplayOutcome::Dropped, Some(vec![]), None),
            own(12, ReplayOutcome::Rejected, None, Some(why)),
        ]);
        let one = describe_operation(&insert(3));
        let moved = describe_operation(&insert(5));
        let expected = [
            format!(" 1.9   unchanged     bob\\u{{1b}}   {one}"),
            format!("1.10   transformed   bob\\u{{1b}}   {one} (as: {moved})"),
            format!("1.11   dropped       bob\\u{{1b}}   {one}"),
            format!("1.12   rejected      bob\\u{{1b}}   {one}: too far\\u{{1b}}"),
        ];
        assert_eq!(shown, expected);
    }
}
