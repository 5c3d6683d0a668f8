use std::collections::{BTreeMap, BTreeSet};

use cellar_api::rebase::PendingMutation;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use serde::Serialize;
use serde_json::{Value, json};

use super::args;
use super::context::Context;
use super::destination::Destination;
use super::error::CliError;
use super::output::{Output, count};
use super::resolve::NamedSpreadsheet;
use super::{EXIT_DIFFERENCES, EXIT_SUCCESS};
use crate::Spreadsheet;
use crate::describe::{SheetNames, describe_operation, describe_operations};
use crate::editor::{ChangedEdit, Editor, RejectedEdit, SentEdits, SentOutcome};
use crate::live::{EditOutcome, LiveSheet, SetAsideEdits};

/// Maximum number of syncs in a row. If the tables were restored, a sync recreates lost edits, and
/// only the next sync sends them.
const MAX_SYNCS: usize = 10;

struct SyncedSpreadsheet {
    destination: Destination,
    sent: SentEdits,
    set_aside: Vec<SetAsideEdits>,
    error: Option<CliError>,
}

#[derive(Serialize)]
struct SyncedView<'a> {
    spreadsheet: LogId,
    sent: usize,
    position: Option<Position>,
    rejected: Vec<Value>,
    changed: Vec<Value>,
    set_aside: Vec<Value>,
    error: Option<&'a str>,
}

pub(super) async fn send_waiting_edits(
    context: &Context,
    output: &Output,
    args: args::Sync,
) -> Result<u8, CliError> {
    let spreadsheets = if args.all { find_waiting(context)? } else { vec![context.spreadsheet()?] };
    let mut all_synced = Vec::new();
    for spreadsheet in spreadsheets {
        let synced = sync_spreadsheet(context, spreadsheet).await?;
        let is_offline = synced.error.as_ref().is_some_and(CliError::is_offline);
        all_synced.push(synced);
        if is_offline {
            break;
        }
    }
    print_synced(output, &all_synced)?;
    let needs_attention = all_synced.iter().any(SyncedSpreadsheet::needs_attention);
    match all_synced.into_iter().find_map(|synced| synced.error) {
        Some(error) => Err(error),
        None if needs_attention => Ok(EXIT_DIFFERENCES),
        None => Ok(EXIT_SUCCESS),
    }
}

fn find_waiting(context: &Context) -> Result<Vec<Spreadsheet>, CliError> {
    let client = context.client()?;
    let mut ids = BTreeSet::new();
    ids.append(&mut Editor::find_waiting(&client, &context.directory)?);
    ids.append(&mut LiveSheet::find_waiting(&client, &context.directory)?);
    Ok(ids.into_iter().map(|id| client.spreadsheet(id)).collect())
}

/// Sends the waiting edits of a spreadsheet. A failure to send them is part of the result and not
/// an error, so that other spreadsheets are still synced.
async fn sync_spreadsheet(
    context: &Context,
    spreadsheet: Spreadsheet,
) -> Result<SyncedSpreadsheet, CliError> {
    let named = NamedSpreadsheet { id: spreadsheet.id(), name: None };
    let destination = match context.selected_destination() {
        Ok(selected) if selected.spreadsheet.id == named.id => selected,
        Ok(_) | Err(_) => context.destination(named)?,
    };
    let (sent, set_aside, error) = (SentEdits::default(), Vec::new(), None);
    let mut synced = SyncedSpreadsheet { destination, sent, set_aside, error };
    synced.error = send_all(context, spreadsheet.clone(), &mut synced).await.err();
    if let Some(error) = synced.error.take_if(|error| error.is_offline()) {
        let edits = count_waiting(context, &spreadsheet)?;
        synced.error = Some(CliError::WaitingOffline { edits, source: Box::new(error) });
    }
    Ok(synced)
}

fn count_waiting(context: &Context, spreadsheet: &Spreadsheet) -> Result<usize, CliError> {
    let of_commands = context.editor(spreadsheet).count_unsent_edits()?;
    let of_grid = LiveSheet::count_unsent_edits(spreadsheet.clone(), &context.directory)?;
    Ok(of_commands.saturating_add(of_grid))
}

async fn send_all(
    context: &Context,
    spreadsheet: Spreadsheet,
    synced: &mut SyncedSpreadsheet,
) -> Result<(), CliError> {
    context.editor(&spreadsheet).send_waiting(&mut synced.sent).await?;
    let live_count = LiveSheet::count_unsent_edits(spreadsheet.clone(), &context.directory)?;
    if live_count > 0 {
        let live = LiveSheet::open(spreadsheet, &context.directory).await?;
        sync_live(live, synced).await?;
    }
    Ok(())
}

async fn sync_live(mut live: LiveSheet, synced: &mut SyncedSpreadsheet) -> Result<(), CliError> {
    for _ in 0..MAX_SYNCS {
        let describe = |edit: &PendingMutation| (edit.id, describe_operation(&edit.operation));
        let mut descriptions: BTreeMap<u64, String> =
            live.pending().map(|(edit, _)| describe(edit)).collect();
        if descriptions.is_empty() {
            return Ok(());
        }
        let report = live.sync().await?;
        for settlement in report.settled {
            let description = descriptions.remove(&settlement.id).unwrap_or_default();
            let outcome = match &settlement.outcome {
                EditOutcome::Rejected(rejection) => SentOutcome::Rejected(rejection),
                EditOutcome::Transformed(committed) => SentOutcome::Committed(Some(committed)),
                EditOutcome::Unchanged | EditOutcome::Unknown => SentOutcome::Committed(None),
            };
            synced.sent.record(description, settlement.position, outcome);
        }
        synced.set_aside.extend(report.set_aside);
    }
    match live.pending().count() {
        0 => Ok(()),
        waiting => Err(CliError::StillWaiting { waiting: count(waiting, "edit", "edits") }),
    }
}

fn print_synced(output: &Output, all_synced: &[SyncedSpreadsheet]) -> Result<(), CliError> {
    let sent_count: usize = all_synced.iter().map(|synced| synced.sent.committed).sum();
    let views: Vec<Value> = all_synced.iter().map(SyncedSpreadsheet::to_json).collect();
    output.print_json(&json!({ "sent": sent_count, "spreadsheets": views }))?;
    for synced in all_synced {
        synced.print(output)?;
    }
    let is_complete = all_synced.iter().all(|synced| synced.error.is_none());
    if is_complete && all_synced.iter().all(SyncedSpreadsheet::is_empty) {
        output.print_line("No edits were waiting.")?;
    }
    Ok(())
}

impl SyncedSpreadsheet {
    fn is_empty(&self) -> bool {
        self.sent.committed == 0 && !self.needs_attention()
    }

    fn needs_attention(&self) -> bool {
        !self.sent.rejected.is_empty()
            || !self.set_aside.is_empty()
            || self.sent.has_edit_without_effect()
    }

    fn to_json(&self) -> Value {
        let error = self.error.as_ref().map(ToString::to_string);
        let rejected = |edit: &RejectedEdit| {
            let RejectedEdit { description, rejection } = edit;
            json!({ "edit": description, "reason": rejection.reason, "detail": rejection.detail })
        };
        let changed =
            |edit: &ChangedEdit| json!({ "edit": edit.description, "committed": edit.committed });
        let view = SyncedView {
            spreadsheet: self.destination.spreadsheet.id,
            sent: self.sent.committed,
            position: self.sent.position,
            rejected: self.sent.rejected.iter().map(rejected).collect(),
            changed: self.sent.changed.iter().map(changed).collect(),
            set_aside: self
                .set_aside
                .iter()
                .map(|aside| json!({ "file": aside.file, "edits": aside.edits }))
                .collect(),
            error: error.as_deref(),
        };
        self.destination.add_to(&view)
    }

    fn print(&self, output: &Output) -> Result<(), CliError> {
        if self.is_empty() {
            return Ok(());
        }
        let position = self.sent.position.map(|position| format!("   at {position}"));
        let edits = count(self.sent.committed, "edit", "edits");
        output.print_line(format!("Sent {edits}{}", position.unwrap_or_default()))?;
        for RejectedEdit { description, rejection } in &self.sent.rejected {
            output.print_line(format!("Rejected: {description}: {}", rejection.detail))?;
        }
        for edit in &self.sent.changed {
            output.print_line(changed_line(edit))?;
        }
        for SetAsideEdits { file, edits } in &self.set_aside {
            let edits = count(*edits, "edit", "edits");
            output.print_line(format!("Not sent again: {edits}, stored in {}", file.display()))?;
        }
        self.destination.print(*output);
        Ok(())
    }
}

fn changed_line(ChangedEdit { description, committed }: &ChangedEdit) -> String {
    if committed.is_empty() {
        return format!("No effect: {description}: others have deleted the target");
    }
    let effect = describe_operations(committed.iter(), &SheetNames::default());
    format!("Others have changed the sheet: {description} became {effect}")
}
