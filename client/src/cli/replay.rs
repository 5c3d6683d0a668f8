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
use crate::text::escape;

/// Column separator.
const GAP: &str = "   ";

pub(super) async fn replay_fork(
    context: &mut Context,
    output: &Output,
    args: args::Replay,
) -> Result<u8, CliError> {
    let fork = match args.fork {
        Some(fork) => fork,
        None => context.spreadsheet()?,
    };
    let client = context.client()?;
    let replay = ForkReplay::plan(&client, fork, args.onto.0).await?;
    let edits = count(replay.count(), "edit", "edits");
    let (from, onto, source) = (replay.from, replay.onto, replay.source);
    output.note(format!("{edits} of the fork, from position {from} onto {onto} of {source}"));
    let (id, mutations) = if args.dry_run {
        (None, replay.preview().await?)
    } else {
        let replayed = replay.create_replayed_fork().await?;
        (Some(replayed.id), replayed.mutations)
    };
    if let Some(id) = id
        && !args.no_use
    {
        context.select(id, output)?;
    }
    output.result(&json!({
        "id": id,
        "source": source,
        "from": from,
        "onto": onto,
        "mutations": mutations,
    }))?;
    for line in format_edits(&mutations) {
        output.say(line)?;
    }
    match id {
        None => output.note("Dry run: nothing was changed."),
        Some(id) => {
            output.say(id.to_string())?;
            output
                .note(format!("The existing fork is unchanged. Select it with: cellar use {fork}"));
        }
    }
    let is_lost = |edit: &ReplayedEdit| {
        matches!(edit.outcome, ReplayOutcome::Dropped | ReplayOutcome::Rejected)
    };
    Ok(if mutations.iter().any(is_lost) { EXIT_DIFFERENCES } else { EXIT_FINE })
}

/// Formats replayed edits and their outcomes, one line per edit.
fn format_edits(edits: &[ReplayedEdit]) -> Vec<String> {
    let width = edits.iter().map(|edit| edit.position.to_string().len()).max().unwrap_or(0);
    let names = SheetNames::default();
    let format_edit = |edit: &ReplayedEdit| {
        let position = format!("{:>width$}", edit.position.to_string());
        let author = escape(edit.author.as_deref().unwrap_or("-"));
        let outcome = match edit.outcome {
            ReplayOutcome::Unchanged => "unchanged  ",
            ReplayOutcome::Transformed => "transformed",
            ReplayOutcome::Dropped => "dropped    ",
            ReplayOutcome::Rejected => "rejected   ",
        };
        let mut description = describe_operations(edit.operations.iter(), &names);
        if edit.outcome == ReplayOutcome::Transformed {
            let committed = edit.committed.iter().flatten();
            let committed = describe_operations(committed, &names);
            description = format!("{description} (as: {committed})");
        }
        if let Some(rejection) = &edit.rejection {
            description = format!("{description}: {}", escape(&rejection.detail));
        }
        [position, outcome.to_owned(), author, description].join(GAP)
    };
    edits.iter().map(format_edit).collect()
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_sheet::operation::{InsertBefore, Operation, Rejection, RejectionReason, SheetId};

    use super::*;

    #[test]
    fn a_line_contains_the_outcome_of_an_edit() {
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
        let shown = format_edits(&[
            own(9, ReplayOutcome::Unchanged, None, None),
            own(10, ReplayOutcome::Transformed, Some(vec![insert(5)]), None),
            own(11, ReplayOutcome::Dropped, Some(vec![]), None),
            own(12, ReplayOutcome::Rejected, None, Some(why)),
        ]);
        let one = crate::describe::describe_operation(&insert(3));
        let moved = crate::describe::describe_operation(&insert(5));
        let expected = [
            format!(" 1.9   unchanged     bob\\u{{1b}}   {one}"),
            format!("1.10   transformed   bob\\u{{1b}}   {one} (as: {moved})"),
            format!("1.11   dropped       bob\\u{{1b}}   {one}"),
            format!("1.12   rejected      bob\\u{{1b}}   {one}: too far\\u{{1b}}"),
        ];
        assert_eq!(shown, expected);
    }
}
