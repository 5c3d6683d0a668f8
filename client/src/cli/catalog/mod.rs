//! Commands for a spreadsheet's details, members, share links and status.

pub(super) mod describe;
mod link;

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_api::wire::{
    DetailsReply, LinkRequest, PersonRequest, ShareRequest, SpreadsheetStatus, UpdateDetailsRequest,
};
use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::{LinkId, LinkRole, LinkToken, Member};
use serde_json::json;

use super::args;
use super::context::Context;
use super::destination::Destination;
use super::error::CliError;
use super::output::Output;
use super::resolve::NamedSpreadsheet;
use super::spreadsheet_link::SpreadsheetLink;
use crate::text::escape;
use crate::{ClientError, Spreadsheet};

pub(super) async fn show_details(
    context: &mut Context,
    output: &Output,
    args: args::Details,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    if args.changes {
        return list_changes(&spreadsheet, output).await;
    }
    let details = spreadsheet.details().await?;
    context.remember_name(&details);
    let destination = destination(context, &details)?;
    output.print_json(&destination.add_to(&details))?;
    output.print_lines(describe::format_details(&details, &destination.link, now_s()))?;
    Ok(())
}

async fn list_changes(spreadsheet: &Spreadsheet, output: &Output) -> Result<(), CliError> {
    let changes = spreadsheet.changes().collect().await?;
    output.print_json(&json!({ "changes": changes }))?;
    output.print_lines(describe::format_changes(&changes))?;
    Ok(())
}

pub(super) async fn rename_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Rename,
) -> Result<(), CliError> {
    let request = UpdateDetailsRequest { name: Some(args.name.to_string()), status: None };
    let details = change_details(context, output, async |spreadsheet, version| {
        spreadsheet.update_details(&request, version).await
    })
    .await?;
    context.remember_name(&details);
    print_change(context, output, &details, format!("renamed to {}", escape(&details.name)))
}

pub(super) async fn share_spreadsheet(
    context: &Context,
    output: &Output,
    args: args::Share,
) -> Result<(), CliError> {
    let args::Share { person, role, issuer } = args;
    let request = ShareRequest { subject: person, issuer, role };
    let details = change_details(context, output, async |spreadsheet, version| {
        spreadsheet.share(&request, version).await
    })
    .await?;
    let subject = escape(&request.subject);
    print_change(context, output, &details, format!("{subject} has the role {role}"))?;
    output.print_note(
        "Cellar does not check whether this person exists. The name must be the one in their token (the claim `sub`). \
         List the members with: cellar details",
    );
    Ok(())
}

pub(super) async fn unshare_spreadsheet(
    context: &Context,
    output: &Output,
    args: args::Unshare,
) -> Result<(), CliError> {
    let person = PersonRequest { subject: args.person, issuer: args.issuer };
    let details = context.spreadsheet()?.details().await?;
    if let Some(members) = &details.members
        && !members.iter().any(|member| is_same_person(member, &person))
    {
        let subject = escape(&person.subject);
        output.print_json(&destination(context, &details)?.add_to(&details))?;
        return print_change(context, output, &details, format!("{subject} has no access"));
    }
    let details = change_details(context, output, async |spreadsheet, version| {
        spreadsheet.unshare(&person, version).await
    })
    .await?;
    let subject = escape(&person.subject);
    print_change(context, output, &details, format!("revoked the access of {subject}"))
}

/// Without an issuer, it is that of the caller's token, which only the server knows.
fn is_same_person(member: &Member, requested: &PersonRequest) -> bool {
    let has_issuer = requested.issuer.as_ref().is_none_or(|issuer| *issuer == member.person.issuer);
    member.person.subject == requested.subject && has_issuer
}

pub(super) async fn archive_spreadsheet(
    context: &Context,
    output: &Output,
) -> Result<(), CliError> {
    let details = set_status(context, output, SpreadsheetStatus::Archived).await?;
    print_change(context, output, &details, "archived: the spreadsheet is read-only")?;
    let option =
        if context.is_current(details.id) { String::new() } else { format!(" -s {}", details.id) };
    output.print_note(format!("Make it editable again with: cellar unarchive{option}"));
    Ok(())
}

pub(super) async fn delete_spreadsheet(context: &Context, output: &Output) -> Result<(), CliError> {
    let details = set_status(context, output, SpreadsheetStatus::Deleted).await?;
    print_change(context, output, &details, describe::describe_status(&details))?;
    output.print_note(format!("Recover it with: cellar undelete -s {}", details.id));
    Ok(())
}

pub(super) async fn unarchive_spreadsheet(
    context: &Context,
    output: &Output,
) -> Result<(), CliError> {
    let details = activate_spreadsheet(context, output, SpreadsheetStatus::Archived).await?;
    print_change(context, output, &details, "unarchived: the spreadsheet is editable")
}

pub(super) async fn undelete_spreadsheet(
    context: &Context,
    output: &Output,
) -> Result<(), CliError> {
    let details = activate_spreadsheet(context, output, SpreadsheetStatus::Deleted).await?;
    print_change(context, output, &details, "undeleted: the spreadsheet is editable")
}

/// Fails if the spreadsheet's status is neither `expected_status` nor active.
async fn activate_spreadsheet(
    context: &Context,
    output: &Output,
    expected_status: SpreadsheetStatus,
) -> Result<DetailsReply, CliError> {
    let details = context.spreadsheet()?.details().await?;
    if details.status != expected_status && details.status != SpreadsheetStatus::Active {
        return Err(CliError::WrongStatus { status: details.status });
    }
    set_status(context, output, SpreadsheetStatus::Active).await
}

pub(super) async fn list_or_edit_links(
    context: &Context,
    output: &Output,
    args: args::Links,
) -> Result<(), CliError> {
    match args.command {
        None => list_links(context, output).await,
        Some(args::Link::Create { role, label, expires_in }) => {
            create_link(context, output, role, label, expires_in).await
        }
        Some(args::Link::Revoke { id }) => revoke_link(context, output, id).await,
    }
}

async fn list_links(context: &Context, output: &Output) -> Result<(), CliError> {
    let details = context.spreadsheet()?.details().await?;
    let links = match &details.links {
        Some(links) => links.as_slice(),
        // If an owner receives no list, the spreadsheet is missing from the catalog and has no
        // share links.
        None if details.role == Some(Role::Owner) => &[],
        None => return Err(CliError::OnlyOwners),
    };
    output.print_json(&json!({ "links": links }))?;
    output.print_lines(describe::format_links(links, now_s()))?;
    if links.is_empty() {
        output.print_note("No share links. Create one with: cellar links create");
    }
    Ok(())
}

async fn create_link(
    context: &Context,
    output: &Output,
    role: LinkRole,
    label: String,
    expires_in: Option<Duration>,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let expires_s = expires_in.map(|lifetime| now_s().saturating_add(lifetime.as_secs()));
    // The client generates the secret, so that a retried request finds the share link that the
    // first request created.
    let secret = link::generate_secret().to_string();
    let request = LinkRequest { secret, role, label, expires_s };
    let details = spreadsheet.details().await?;
    let link = spreadsheet.create_link(&request, Some(details.version)).await?;
    let url = share_link_url(context, &link.token)?;
    let written_to = destination(context, &details)?;
    let mut fields = written_to.add_to(&link);
    if let serde_json::Value::Object(fields) = &mut fields {
        fields.insert("url".to_owned(), json!(url));
    }
    output.print_json(&fields)?;
    output.print_line(&url)?;
    let granted_action = match role {
        LinkRole::Viewer => "read",
        LinkRole::Editor => "edit",
    };
    output.print_note(format!(
        "Everyone with this link can {granted_action} the spreadsheet: cellar get -s LINK, with the link in quotes. \
         The link is shown only once. Revoke it with: cellar links revoke {}",
        link.id
    ));
    written_to.print(*output);
    Ok(())
}

/// If the server's token is not that of a share link, returns the token itself.
fn share_link_url(context: &Context, token: &str) -> Result<String, CliError> {
    let client = context.client()?;
    Ok(match token.parse::<LinkToken>() {
        Ok(link) => SpreadsheetLink::of_share_link(client.url(), &link).to_string(),
        Err(_) => token.to_owned(),
    })
}

async fn revoke_link(context: &Context, output: &Output, id: LinkId) -> Result<(), CliError> {
    let details = change_details(context, output, async |spreadsheet, version| {
        spreadsheet.revoke_link(id, version).await
    })
    .await?;
    print_change(context, output, &details, format!("revoked the link {id}"))
}

async fn set_status(
    context: &Context,
    output: &Output,
    status: SpreadsheetStatus,
) -> Result<DetailsReply, CliError> {
    let request = UpdateDetailsRequest { name: None, status: Some(status) };
    change_details(context, output, async |spreadsheet, version| {
        spreadsheet.update_details(&request, version).await
    })
    .await
}

/// The request contains the version of the details that was just read, so the server rejects the
/// change if the details have changed in the meantime.
async fn change_details<F>(
    context: &Context,
    output: &Output,
    send_change: impl FnOnce(Spreadsheet, Option<u64>) -> F,
) -> Result<DetailsReply, CliError>
where
    F: Future<Output = Result<DetailsReply, ClientError>>,
{
    let spreadsheet = context.spreadsheet()?;
    let version = spreadsheet.details().await?.version;
    let details = send_change(spreadsheet, Some(version)).await?;
    output.print_json(&destination(context, &details)?.add_to(&details))?;
    Ok(details)
}

fn print_change(
    context: &Context,
    output: &Output,
    details: &DetailsReply,
    change: impl AsRef<str>,
) -> Result<(), CliError> {
    output.print_line(change)?;
    destination(context, details)?.print(*output);
    Ok(())
}

fn destination(context: &Context, details: &DetailsReply) -> Result<Destination, CliError> {
    let name = Some(details.name.clone());
    context.destination(NamedSpreadsheet { id: details.id, name })
}

pub(super) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
