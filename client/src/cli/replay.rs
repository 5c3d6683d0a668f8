use cellar_base::count::count;
use console::Alignment;
use serde_json::json;

use super::args;
use super::at::{At, FoundPosition, print_json_with_times};
use super::context::Context;
use super::destination::Destination;
use super::error::CliError;
use super::output::{Output, format_rows};
use super::resolve::NamedSpreadsheet;
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::Spreadsheet;
use crate::describe::{SheetNames, describe_operations};
use crate::replay::{ForkReplay, KeptDetails, ReplayOutcome, ReplayedEdit};
use crate::text::escape;

pub(super) async fn replay_fork(
    context: &mut Context,
    output: &Output,
    args: args::Replay,
) -> Result<u8, CliError> {
    let fork = match args.fork {
        Some(fork) => context.client()?.spreadsheet(context.find(&fork).await?.id),
        None => context.spreadsheet()?,
    };
    let onto = find_onto(output, &fork, args.onto.at.as_ref()).await?;
    let position = onto.as_ref().map(|onto| onto.position);
    let replay = ForkReplay::plan(&fork, position).await?;
    print_plan_note(output, &replay);
    let (new_fork, edits) = if args.dry_run {
        (None, replay.preview().await?)
    } else {
        let replayed = replay.create_replayed_fork().await?;
        let name = Some(replay.kept.name.clone()).filter(|name| !name.is_empty());
        let new_fork = NamedSpreadsheet { id: replayed.id, name };
        if !args.no_use {
            context.select(&new_fork, output)?;
        }
        (Some(context.destination(new_fork)?), replayed.mutations)
    };
    print_replay(output, &replay, onto.as_ref(), new_fork.as_ref(), &edits)?;
    let has_lost_edits = edits
        .iter()
        .any(|edit| matches!(edit.outcome, ReplayOutcome::Dropped | ReplayOutcome::Rejected));
    Ok(if has_lost_edits { EXIT_DIFFERENCES } else { EXIT_SUCCESS })
}

/// Times are looked up in the source of the fork.
async fn find_onto(
    output: &Output,
    fork: &Spreadsheet,
    onto: Option<&At>,
) -> Result<Option<FoundPosition>, CliError> {
    let Some(onto) = onto else { return Ok(None) };
    if let Some(position) = onto.position() {
        return Ok(Some(position.into()));
    }
    let source = ForkReplay::source_of(fork).await?;
    onto.find_and_print(&source, output).await.map(Some)
}

fn print_plan_note(output: &Output, replay: &ForkReplay) {
    let edits = count(replay.count(), "edit", "edits");
    let ForkReplay { from, onto, source, .. } = replay;
    output.print_note(format!(
        "Replaying {edits} of the fork from position {from} onto position {onto} of {source}."
    ));
}

/// `new_fork` is `None` for a dry run.
fn print_replay(
    output: &Output,
    replay: &ForkReplay,
    onto: Option<&FoundPosition>,
    new_fork: Option<&Destination>,
    edits: &[ReplayedEdit],
) -> Result<(), CliError> {
    let fields = json!({
        "id": new_fork.map(|new_fork| new_fork.spreadsheet.id),
        "source": replay.source,
        "from": replay.from,
        "onto": replay.onto,
        "kept": replay.kept,
        "mutations": edits,
    });
    let result = match new_fork {
        Some(new_fork) => new_fork.add_to(&fields),
        None => fields,
    };
    print_json_with_times(output, &result, [onto])?;
    output.print_lines(format_edits(edits))?;
    let Some(new_fork) = new_fork else {
        output.print_note("Dry run: nothing was changed.");
        output.print_note(describe_kept(&replay.kept));
        return Ok(());
    };
    output.print_line(new_fork.spreadsheet.id.to_string())?;
    output.print_note(describe_kept(&replay.kept));
    output.print_note(format!(
        "The existing fork is unchanged. Select it with: cellar use {}",
        replay.fork
    ));
    new_fork.print(*output);
    Ok(())
}

/// Says what the new fork has from the existing one, and what it lacks.
fn describe_kept(kept: &KeptDetails) -> String {
    let name = match kept.name.as_str() {
        "" => "no name".to_owned(),
        name => format!("the name {}", escape(name)),
    };
    let members = match &kept.members {
        Some(members) => count(members.len(), "member", "members"),
        None => "only you as a member, because your role does not show the others".to_owned(),
    };
    let links = match kept.links_left {
        Some(0) => String::new(),
        Some(links) => {
            let links = count(links, "share link does", "share links do");
            format!(" {links} not open it: create new ones with `cellar links create`.")
        }
        None => " Share links of the existing fork do not open it.".to_owned(),
    };
    format!("The new fork has {name} and {members}.{links}")
}

fn format_edits(edits: &[ReplayedEdit]) -> Vec<String> {
    let edit_columns = |edit: &ReplayedEdit| {
        let author = escape(edit.author.as_deref().unwrap_or("-"));
        let outcome = outcome_name(edit.outcome).to_owned();
        [edit.position.to_string(), outcome, author, describe_edit(edit)]
    };
    let rows: Vec<_> = edits.iter().map(edit_columns).collect();
    format_rows([Alignment::Right, Alignment::Left, Alignment::Left, Alignment::Left], &rows)
}

fn outcome_name(outcome: ReplayOutcome) -> &'static str {
    match outcome {
        ReplayOutcome::Unchanged => "unchanged",
        ReplayOutcome::Transformed => "transformed",
        ReplayOutcome::Dropped => "dropped",
        ReplayOutcome::Rejected => "rejected",
    }
}

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
