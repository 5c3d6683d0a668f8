//! A member who imports sheets and reads them while hostile members attack.

use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_engine::logs::{ImportFault, LogError};
use cellar_log::append::{Appended, Request};
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{Operation, SheetId};

use super::content::Content;
use super::member::Member;
use crate::fleet::Server;
use crate::rare::RareEvent;
use crate::simulation::Simulation;
use crate::witness::ImportSeen;

/// Number of sheets per member to import.
const IMPORTS: u32 = 2;
/// Number of different sheet contents. The number is small, so that members import the same
/// contents.
pub(super) const CHOICES: u32 = 8;

/// Imports a few sheets one after another.
pub(super) async fn run_importer(simulation: Arc<Simulation>, number: u32) {
    let member = Member::new(&simulation, &format!("importer-{number}"), simulation.log);
    for _ in 0..IMPORTS {
        member.think(simulation.shape.habits.think_ms * 8).await;
        let choice = member.random().draw_below(CHOICES);
        let Some(content) = Content::with_text(choice, member.random().draw_below(2) == 0) else {
            return simulation.world.report_violation("a sheet cannot be packed");
        };
        if let Err(error) = import_sheet(&member, &content).await {
            return member.report_violation("cannot import", &error);
        }
    }
}

/// Imports a sheet, retrying until the import is in the log, and then reads the sheet.
async fn import_sheet(member: &Member, content: &Content) -> Result<(), LogError> {
    let client = member.another_client();
    let (base, new_sheet) = member.read_position_and_new_sheet().await?;
    let Some(request) = member.build_request(client, base, content.operation(new_sheet)) else {
        return Ok(());
    };
    loop {
        upload_and_check(member, client, content).await?;
        match member.append(&request).await {
            Ok(appended) => {
                return check_import(member, client, content, &request, &appended).await;
            }
            // The uploads have expired.
            Err(LogError::Import(fault)) if is_expired(&fault) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Uploads all objects and requests a check of them.
async fn upload_and_check(
    member: &Member,
    client: ClientKey,
    content: &Content,
) -> Result<(), LogError> {
    loop {
        for object in content.objects() {
            while !member.upload(client, object).await? {
                member.think(1_000).await;
            }
        }
        match check_uploads(member, client, content).await {
            Ok(()) => return Ok(()),
            Err(LogError::Import(fault)) if is_expired(&fault) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn check_uploads(
    member: &Member,
    client: ClientKey,
    content: &Content,
) -> Result<(), LogError> {
    member.check(client, vec![content.tile.chunk], None).await?;
    for index_object in &content.index {
        member.check(client, Vec::new(), Some(index_object.chunk)).await?;
    }
    Ok(())
}

fn is_expired(fault: &ImportFault) -> bool {
    matches!(
        fault,
        ImportFault::Missing { .. } | ImportFault::Unchecked { .. } | ImportFault::TooOld { .. }
    )
}

async fn check_import(
    member: &Member,
    client: ClientKey,
    content: &Content,
    request: &Request,
    appended: &Appended,
) -> Result<(), LogError> {
    let Some(result) = appended.results.first() else { return Ok(()) };
    if let Some(rejection) = &result.rejection {
        member.report_violation("was rejected", &rejection.detail);
        return Ok(());
    }
    let Some(import_position) = result.position else { return Ok(()) };
    let Some(sheet_id) =
        find_sheet_number(member, client, request.lowest_base(), import_position).await?
    else {
        member.report_violation("cannot find its import", &import_position);
        return Ok(());
    };
    member.simulation.world.count(RareEvent::Imported);
    let cells: Vec<((u32, u32), Value)> = content.cells.clone().into_iter().collect();
    let import = ImportSeen { log: member.log, at: import_position, sheet: sheet_id, cells };
    check_cells(member, &import, import_position).await?;
    member.simulation.witness.record_import(import);
    Ok(())
}

/// Finds in the log the number that the imported sheet got, because the response to a repeated
/// request does not contain the number.
async fn find_sheet_number(
    member: &Member,
    client: ClientKey,
    base: Position,
    import_position: Position,
) -> Result<Option<SheetId>, LogError> {
    let log = member.log;
    let mut after = base;
    while after < import_position {
        let read_entries =
            move |server: Server| async move { server.logs.update(log, after).await };
        let update =
            member.retry_until_final("read the entries after the base", read_entries).await?;
        if let Some(entry) = update.entries.iter().find(|entry| entry.position == import_position) {
            return Ok(imported_sheet(entry, client));
        }
        match update.entries.last() {
            Some(last_entry) if last_entry.position > after => after = last_entry.position,
            // The replica that responded does not contain the entry yet.
            _ => member.think(1_000).await,
        }
    }
    Ok(None)
}

fn imported_sheet(entry: &Entry, client: ClientKey) -> Option<SheetId> {
    let edits = entry.edits().filter(|edits| edits.client == client)?;
    for operation in edits.mutations.iter().flat_map(Mutation::committed_operations) {
        if let Operation::ImportSheet(import) = operation {
            return Some(import.sheet);
        }
    }
    None
}

/// Reads the imported sheet and checks its cells.
async fn check_cells(
    member: &Member,
    import: &ImportSeen,
    position: Position,
) -> Result<(), LogError> {
    let cells = member.cells(position, import.sheet).await?;
    let values: Vec<_> = cells.into_iter().map(|at| ((at.row, at.column), at.cell.value)).collect();
    if values != import.cells {
        member.report_violation("reads other cells than it imported", &position);
    }
    Ok(())
}
