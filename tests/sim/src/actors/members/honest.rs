//! A member who imports sheets and reads them while other members attack.

use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_engine::logs::{ImportFault, LogError};
use cellar_log::append::{Appended, Request};
use cellar_log::entry::Mutation;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{Operation, SheetId};

use super::content::Content;
use super::member::Member;
use crate::fleet::Server;
use crate::rare::Rare;
use crate::simulation::Simulation;
use crate::witness::ImportSeen;

/// Number of sheets that a member imports.
const IMPORTS: u32 = 2;
/// Number of distinct contents of a sheet. It is small, so that members import the same ones.
pub(super) const CHOICES: u32 = 8;

/// Imports a few sheets, one after the other.
pub(super) async fn import(simulation: Arc<Simulation>, number: u32) {
    let member = Member::new(&simulation, &format!("importer-{number}"), simulation.log);
    for _ in 0..IMPORTS {
        member.think(simulation.shape.habits.think_ms * 8).await;
        let choice = member.random().below(CHOICES);
        let Some(content) = Content::of(choice, member.random().below(2) == 0) else {
            return simulation.world.violated("a sheet cannot be packed");
        };
        if let Err(error) = one(&member, &content).await {
            return member.violated("cannot import", &error);
        }
    }
}

/// Imports a sheet, retrying until it is in the log, and reads it.
async fn one(member: &Member, content: &Content) -> Result<(), LogError> {
    let (client, (base, sheet)) = (member.another_client(), member.look().await?);
    let Some(request) = member.request(client, base, content.operation(sheet)) else {
        return Ok(());
    };
    loop {
        send(member, client, content).await?;
        match member.append(&request).await {
            Ok(appended) => return added(member, client, content, &request, &appended).await,
            // The uploads have expired.
            Err(LogError::Import(fault)) if is_gone(&fault) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Uploads all objects and has them checked.
async fn send(member: &Member, client: ClientKey, content: &Content) -> Result<(), LogError> {
    loop {
        for object in content.objects() {
            while !member.upload(client, object).await? {
                member.think(1_000).await;
            }
        }
        let mut checked = member.check(client, vec![content.tile.chunk], None).await;
        for index in &content.index {
            if checked.is_ok() {
                checked = member.check(client, Vec::new(), Some(index.chunk)).await;
            }
        }
        match checked {
            Err(LogError::Import(fault)) if is_gone(&fault) => {}
            checked => return checked.map(drop),
        }
    }
}

fn is_gone(fault: &ImportFault) -> bool {
    matches!(
        fault,
        ImportFault::Missing { .. } | ImportFault::Unchecked { .. } | ImportFault::TooOld { .. }
    )
}

async fn added(
    member: &Member,
    client: ClientKey,
    content: &Content,
    request: &Request,
    appended: &Appended,
) -> Result<(), LogError> {
    let Some(result) = appended.results.first() else { return Ok(()) };
    if let Some(rejection) = &result.rejection {
        member.violated("was rejected", &rejection.detail);
        return Ok(());
    }
    let Some(at) = result.position else { return Ok(()) };
    let Some(sheet) = number(member, client, request.lowest_base(), at).await? else {
        member.violated("does not find its import", &at);
        return Ok(());
    };
    member.simulation.world.count(Rare::Imported);
    let cells: Vec<((u32, u32), Value)> = content.cells.clone().into_iter().collect();
    let seen = ImportSeen { log: member.log, at, sheet, cells };
    read(member, &seen, at).await?;
    member.simulation.witness.imported(seen);
    Ok(())
}

/// Finds the number that the imported sheet got in the log: the answer to a repeated request lacks
/// it.
async fn number(
    member: &Member,
    client: ClientKey,
    base: Position,
    at: Position,
) -> Result<Option<SheetId>, LogError> {
    let (log, mut after) = (member.log, base);
    while after < at {
        let reads = move |server: Server| async move { server.logs.update(log, after).await };
        let news = member.until_final("read the entries after the base", reads).await?;
        if let Some(entry) = news.entries.iter().find(|entry| entry.position == at) {
            let edits = entry.edits().filter(|edits| edits.client == client);
            let operations =
                edits.iter().flat_map(|edits| &edits.mutations).flat_map(Mutation::effective);
            return Ok(operations.into_iter().find_map(|operation| match operation {
                Operation::ImportSheet(import) => Some(import.sheet),
                _ => None,
            }));
        }
        match news.entries.last() {
            Some(last) if last.position > after => after = last.position,
            // The replica that answered does not have the entry yet.
            _ => member.think(1_000).await,
        }
    }
    Ok(None)
}

/// Reads the imported sheet and compares its cells.
async fn read(member: &Member, seen: &ImportSeen, at: Position) -> Result<(), LogError> {
    let read = member.cells(at, seen.sheet).await?;
    let values: Vec<_> = read.into_iter().map(|(place, cell)| (place, cell.value)).collect();
    if values != seen.cells {
        member.violated("reads something else than it imported", &at);
    }
    Ok(())
}
