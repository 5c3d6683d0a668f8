//! `cellar replay`

use cellar_base::count::count;
use cellar_base::identity::LogId;
use serde_json::json;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{COLUMN_GAP, Output};
use super::{EXIT_DIFFERENCES, EXIT_FINE};
use crate::describe::{SheetNames, describe_operations};
use crate::replay::{ForkReplay, ReplayOutcome, ReplayedEdit};
use crate::text::escape;

pub(super) async fn replay_fork(
    context: &mut Context,
    output: &Output,
    args: args::Replay,
) -> Result<u8, CliError> {
    let fork = match args.fork {
        Some(fork_id) => context.client()?.spreadsheet(fork_id),
        None => context.spreadsheet()?,
    };
    let replay = ForkReplay::plan(&fork, args.onto.0).await?;
    note_plan(output, &replay);
    let (new_fork, edits) = if args.dry_run {
        (None, replay.preview().await?)
    } else {
        let replayed = replay.create_replayed_fork().await?;
        (Some(replayed.id), replayed.mutations)
    };
    if let Some(new_fork) = new_fork
        && !args.no_use
    {
        context.select(new_fork, output)?;
    }
    print_replay(output, &replay, new_fork, &edits)?;
    let has_lost_edits = edits
        .iter()
        .any(|edit| matches!(edit.outcome, ReplayOutcome::Dropped | ReplayOutcome::Rejected));
    Ok(if has_lost_edits { EXIT_DIFFERENCES } else { EXIT_FINE })
}

fn note_plan(output: &Output, replay: &ForkReplay) {
    let edits = count(replay.count(), "edit", "edits");
    let ForkReplay { from, onto, source, .. } = replay;
    output.print_note(format!("{edits} of the fork, from position {from} onto {onto} of {source}"));
}

/// Prints the outcome of each edit and the new fork. `new_fork` is `None` for a dry run.
fn print_replay(
    output: &Output,
    replay: &ForkReplay,
    new_fork: Option<LogId>,
    edits: &[ReplayedEdit],
) -> Result<(), CliError> {
    output.print_json(&json!({
        "id": new_fork,
        "source": replay.source,
        "from": replay.from,
        "onto": replay.onto,
        "mutations": edits,
    }))?;
    for line in format_edits(edits) {
        output.print_line(line)?;
    }
    let Some(new_fork) = new_fork else {
        output.print_note("Dry run: nothing was changed.");
        return Ok(());
    };
    output.print_line(new_fork.to_string())?;
    output.print_note(format!(
        "The existing fork is unchanged. Select it with: cellar use {}",
        replay.fork
    ));
    Ok(())
}

/// Formats replayed edits and their outcomes, one line per edit.
fn format_edits(edits: &[ReplayedEdit]) -> Vec<String> {
    let position_widths = edits.iter().map(|edit| edit.position.to_string().len());
    let position_width = position_widths.max().unwrap_or(0);
    let format_edit = |edit: &ReplayedEdit| {
        let position = format!("{:>position_width$}", edit.position.to_string());
        let outcome = format!("{:<11}", outcome_name(edit.outcome));
        let author = escape(edit.author.as_deref().unwrap_or("-"));
        [position, outcome, author, describe_edit(edit)].join(COLUMN_GAP)
    };
    edits.iter().map(format_edit).collect()
}

fn outcome_name(outcome: ReplayOutcome) -> &'static str {
    match outcome {
        ReplayOutcome::Unchanged => "unchanged",
        ReplayOutcome::Transformed => "transformed",
        ReplayOutcome::Dropped => "dropped",
        ReplayOutcome::Rejected => "rejected",
    }
}

/// Describes an edit of the existing fork and, if it was transformed, the resulting operations in
/// the new fork.
fn describe_edit(edit: &ReplayedEdit) -> String {
    let sheet_names = SheetNames::default();
    let mut description = describe_operations(edit.operations.iter(), &sheet_names);
    if edit.outcome == ReplayOutcome::Transformed {
        let committed = edit.committed.iter().flatten();
        let committed_description = describe_operations(committed, &sheet_names);
        description = format!("{description} (as: {committed_description})");
    }
    if let Some(rejection) = &edit.rejection {
        description = format!("{description}: {}", escape(&rejection.detail));
    }
    description
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
