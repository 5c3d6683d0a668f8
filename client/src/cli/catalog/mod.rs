//! The commands for the catalog: `details`, `rename`, `share`, `unshare`, `links`, `archive`, `delete`, and
//! `restore` without a position.

pub(super) mod describe;
mod link;

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_core::access::Role;
use cellar_core::api::{
    DetailsReply, LinkRequest, PersonRequest, ShareRequest, SpreadsheetStatus, UpdateDetailsRequest,
};
use cellar_core::catalog::{LinkId, LinkRole, Status};
use cellar_core::identity::LogId;
use serde_json::json;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use super::time::utc;
use crate::table::escape;
use crate::{Client, ClientError};

pub(super) async fn details(
    context: &Context,
    output: &Output,
    args: args::Details,
) -> Result<(), CliError> {
    let (spreadsheet, client) = (context.spreadsheet()?, context.client()?);
    if args.changes {
        return list_changes(spreadsheet, &client, output).await;
    }
    let details = client.details(spreadsheet).await?;
    output.result(&details)?;
    for line in describe::lines(&details, now_s()) {
        output.say(line)?;
    }
    Ok(())
}

async fn list_changes(
    spreadsheet: LogId,
    client: &Client,
    output: &Output,
) -> Result<(), CliError> {
    let (mut changes, mut below) = (Vec::new(), None);
    loop {
        let page = client.changes(spreadsheet, below).await?;
        changes.extend(page.changes);
        // A page that does not go back would be asked for again for ever.
        below = page.next.filter(|next| below.is_none_or(|below| *next < below));
        if below.is_none() {
            break;
        }
    }
    output.result(&json!({ "changes": changes }))?;
    for line in describe::changes(&changes) {
        output.say(line)?;
    }
    Ok(())
}

pub(super) async fn rename(
    context: &Context,
    output: &Output,
    args: args::Rename,
) -> Result<(), CliError> {
    let request = UpdateDetailsRequest { name: Some(args.name.to_string()), status: None };
    let details = change(context, output, async |client, id, seen| {
        client.update_details(id, &request, seen).await
    });
    let details = details.await?;
    Ok(output.say(format!("it is called {} now", escape(&details.name)))?)
}

pub(super) async fn share(
    context: &Context,
    output: &Output,
    args: args::Share,
) -> Result<(), CliError> {
    let args::Share { person, role, issuer } = args;
    let request = ShareRequest { subject: person, issuer, role };
    change(context, output, async |client, id, seen| client.share(id, &request, seen).await)
        .await?;
    output.say(format!("{} is {role} now", escape(&request.subject)))?;
    output.note("With whom it is shared: cellar details");
    Ok(())
}

pub(super) async fn unshare(
    context: &Context,
    output: &Output,
    args: args::Unshare,
) -> Result<(), CliError> {
    let person = PersonRequest { subject: args.person, issuer: args.issuer };
    change(context, output, async |client, id, seen| client.unshare(id, &person, seen).await)
        .await?;
    Ok(output.say(format!("it is not shared with {}", escape(&person.subject)))?)
}

pub(super) async fn archive(context: &Context, output: &Output) -> Result<(), CliError> {
    set_status(context, output, SpreadsheetStatus::Archived).await?;
    output.say("it is archived: it can be read and not changed")?;
    output.note("To use it again: cellar restore");
    Ok(())
}

pub(super) async fn delete(context: &Context, output: &Output) -> Result<(), CliError> {
    let details = set_status(context, output, SpreadsheetStatus::Deleted).await?;
    let until_s = details.status_since_s.and_then(|at_s| Status::Deleted { at_s }.kept_until_s());
    let until = until_s.map(|until_s| format!(" until {}", utc(until_s))).unwrap_or_default();
    output.say(format!("it is deleted; owners can bring it back{until}"))?;
    output.note(format!("To bring it back: cellar restore -s {}", details.id));
    Ok(())
}

/// `cellar restore` without a position.
pub(super) async fn use_again(context: &Context, output: &Output) -> Result<(), CliError> {
    set_status(context, output, SpreadsheetStatus::Active).await?;
    output.say("it is in use, neither archived nor deleted")?;
    output.note("To take back edits: cellar restore --to POSITION");
    Ok(())
}

pub(super) async fn links(
    context: &Context,
    output: &Output,
    args: args::Links,
) -> Result<(), CliError> {
    match args.command {
        None => list_links(context, output).await,
        Some(args::Link::Add { role, label, expires }) => {
            add_link(context, output, role, label, expires).await
        }
        Some(args::Link::Remove { id }) => remove_link(context, output, id).await,
    }
}

async fn list_links(context: &Context, output: &Output) -> Result<(), CliError> {
    let details = context.client()?.details(context.spreadsheet()?).await?;
    // Of what is not in the catalog yet, its owners are told of none.
    let links = match (&details.links, details.role) {
        (Some(links), _) => links.as_slice(),
        (None, Some(Role::Owner)) => &[],
        (None, _) => return Err(CliError::OnlyOwners),
    };
    output.result(&json!({ "links": links }))?;
    for line in describe::links(links, now_s()) {
        output.say(line)?;
    }
    if links.is_empty() {
        output.note("There is none yet. To make one: cellar links add");
    }
    Ok(())
}

async fn add_link(
    context: &Context,
    output: &Output,
    role: LinkRole,
    label: String,
    expires: Option<Duration>,
) -> Result<(), CliError> {
    let (spreadsheet, client) = (context.spreadsheet()?, context.client()?);
    let expires_s = expires.map(|lifetime| now_s().saturating_add(lifetime.as_secs()));
    // Made here, before it is sent: repeated, the request finds the link that it made.
    let secret = link::secret().to_string();
    let request = LinkRequest { secret, role, label, expires_s };
    let seen = client.details(spreadsheet).await?.changes;
    let link = client.add_link(spreadsheet, &request, Some(seen)).await?;
    output.result(&link)?;
    output.say(&link.token)?;
    output.note(format!(
        "Whoever has it may {} the spreadsheet: cellar --url {} --token LINK get. Keep it: it cannot be looked \
         up again. To end it: cellar links remove {}",
        match role {
            LinkRole::Viewer => "read",
            LinkRole::Editor => "edit",
        },
        client.url(),
        link.id
    ));
    Ok(())
}

async fn remove_link(context: &Context, output: &Output, id: LinkId) -> Result<(), CliError> {
    change(context, output, async |client, spreadsheet, seen| {
        client.remove_link(spreadsheet, id, seen).await
    })
    .await?;
    Ok(output.say(format!("the link {id} has ended"))?)
}

async fn set_status(
    context: &Context,
    output: &Output,
    status: SpreadsheetStatus,
) -> Result<DetailsReply, CliError> {
    let request = UpdateDetailsRequest { name: None, status: Some(status) };
    change(context, output, async |client, id, seen| {
        client.update_details(id, &request, seen).await
    })
    .await
}

/// Changes what the catalog says of the spreadsheet, if nobody else has since it was looked at.
async fn change<F>(
    context: &Context,
    output: &Output,
    change: impl FnOnce(Client, LogId, Option<u64>) -> F,
) -> Result<DetailsReply, CliError>
where
    F: Future<Output = Result<DetailsReply, ClientError>>,
{
    let (spreadsheet, client) = (context.spreadsheet()?, context.client()?);
    let seen = client.details(spreadsheet).await?.changes;
    let details = change(client, spreadsheet, Some(seen)).await?;
    output.result(&details)?;
    Ok(details)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
