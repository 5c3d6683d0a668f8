//! Handles catalog commands.

use super::command::{CatalogAction, Command, Rejection};
use super::event::{CatalogEvent, Grantee, Recipient};
use super::link::{Link, LinkId};
use super::listing::{Listing, Member, Status};
use super::name::Name;
use super::person::Person;
use super::right::Right;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LINKS, MAX_MEMBERS};

/// Returns the events that result from a command. Empty if the listing already shows the change.
pub(super) fn decide(
    command: &Command,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    match (&command.action, listing) {
        (CatalogAction::Purge, listing) => purge(command, listing),
        (CatalogAction::Create { name, source }, listing) => {
            create(command, name, *source, listing)
        }
        (_, Some(listing)) => decide_listed(command, listing),
        (_, None) => decide_unlisted(command),
    }
}

fn create(
    command: &Command,
    name: &Name,
    source: Option<LogId>,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    match listing.map(|listing| listing.status) {
        Some(Status::Purged { .. }) => Err(Rejection::Gone),
        Some(_) => Ok(vec![]),
        None => {
            let (by, name, at_s) = (command.by.person.clone(), name.clone(), command.now_s);
            Ok(vec![CatalogEvent::Created { by, name, source, at_s }])
        }
    }
}

/// Handles a command on a log that is older than the catalog. For an operator, first adds the log
/// to the catalog with the operator as its owner.
fn decide_unlisted(command: &Command) -> Result<Vec<CatalogEvent>, Rejection> {
    if !matches!(command.by.right, Right::Token(_)) {
        return Err(Rejection::Hidden);
    }
    if command.seen.is_some_and(|seen| seen > 0) {
        return Err(Rejection::Changed);
    }
    let (by, name, at_s) = (command.by.person.clone(), Name::default(), command.now_s);
    let created = CatalogEvent::Created { by, name, source: None, at_s };
    let listing = created.apply(None).ok_or(Rejection::Hidden)?;
    let events = decide_listed(&Command { seen: None, ..command.clone() }, &listing)?;
    Ok(std::iter::once(created).chain(events).collect())
}

/// Handles a command on a spreadsheet that is in the catalog.
fn decide_listed(command: &Command, listing: &Listing) -> Result<Vec<CatalogEvent>, Rejection> {
    check_role(command, listing)?;
    check_status(command, listing)?;
    let by = command.by.person.clone();
    let at_s = command.now_s;
    let events = match &command.action {
        CatalogAction::Create { .. } | CatalogAction::Purge => vec![],
        CatalogAction::Rename(name) if *name == listing.name => vec![],
        CatalogAction::Rename(name) => vec![CatalogEvent::Renamed { by, name: name.clone() }],
        CatalogAction::Share { with, role } => share(by, with, *role, listing)?,
        CatalogAction::Unshare(person) => unshare(by, person, listing)?,
        CatalogAction::AddLink(link) => add_link(&by, link, listing, command.now_s)?,
        CatalogAction::RemoveLink(id) => remove_link(&by, *id, listing),
        CatalogAction::Archive if matches!(listing.status, Status::Archived { .. }) => vec![],
        CatalogAction::Archive => vec![CatalogEvent::Archived { by, at_s }],
        CatalogAction::Delete if matches!(listing.status, Status::Deleted { .. }) => vec![],
        CatalogAction::Delete => vec![CatalogEvent::Deleted { by, at_s }],
        CatalogAction::Activate => match listing.status {
            Status::Active => vec![],
            Status::Archived { .. } => vec![CatalogEvent::Unarchived { by }],
            Status::Deleted { .. } | Status::Purged { .. } => {
                vec![CatalogEvent::Undeleted { by }]
            }
        },
    };
    match command.seen {
        Some(seen) if !events.is_empty() && seen != listing.changes => Err(Rejection::Changed),
        _ => Ok(events),
    }
}

/// Handles a purge. Requires an operator token and an expired undelete deadline.
fn purge(command: &Command, listing: Option<&Listing>) -> Result<Vec<CatalogEvent>, Rejection> {
    let Some(listing) = listing else { return Err(Rejection::Hidden) };
    if !matches!(command.by.right, Right::Token(Role::Owner)) {
        return Err(Rejection::Hidden);
    }
    if matches!(listing.status, Status::Purged { .. }) {
        return Ok(vec![]);
    }
    match listing.status.kept_until_s() {
        Some(until_s) if until_s <= command.now_s => {
            let by = command.by.person.clone();
            Ok(vec![CatalogEvent::Purged { by, at_s: command.now_s }])
        }
        _ => Err(Rejection::NotPurgeable),
    }
}

fn check_role(command: &Command, listing: &Listing) -> Result<(), Rejection> {
    let has = command.by.role(Some(listing), command.now_s).ok_or(Rejection::Hidden)?;
    let needs = command.action.needs(&command.by);
    let is_deleted = matches!(listing.status, Status::Deleted { .. });
    if is_deleted && has < Role::Owner {
        return Err(Rejection::Hidden);
    }
    if has < needs {
        return Err(Rejection::Role { has, needs });
    }
    Ok(())
}

/// Checks that the spreadsheet's status allows the change. An archived spreadsheet cannot be
/// renamed. A deleted spreadsheet can only be undeleted; deleting or recreating it is a no-op.
fn check_status(command: &Command, listing: &Listing) -> Result<(), Rejection> {
    match (listing.status, &command.action) {
        (Status::Deleted { .. }, CatalogAction::Activate)
            if listing.status.kept_until_s().is_some_and(|until_s| until_s <= command.now_s) =>
        {
            Err(Rejection::Gone)
        }
        (
            Status::Deleted { .. },
            CatalogAction::Activate | CatalogAction::Delete | CatalogAction::Create { .. },
        ) => Ok(()),
        (Status::Deleted { .. }, _) => Err(Rejection::Deleted),
        (Status::Archived { .. }, CatalogAction::Rename(_)) => Err(Rejection::Archived),
        _ => Ok(()),
    }
}

fn share(
    by: Person,
    with: &Person,
    role: Role,
    listing: &Listing,
) -> Result<Vec<CatalogEvent>, Rejection> {
    let before = listing.role_of(with);
    if before == Some(role) {
        return Ok(vec![]);
    }
    if before.is_some() && *with == by {
        return Err(Rejection::WithOneself);
    }
    if before == Some(Role::Owner) && listing.owners() == 1 {
        return Err(Rejection::LastOwner);
    }
    if before.is_none() && listing.members.len() >= MAX_MEMBERS {
        return Err(Rejection::Members);
    }
    let member = Member { person: with.clone(), role };
    Ok(vec![CatalogEvent::Shared { by, with: Grantee::Member(member) }])
}

fn unshare(by: Person, person: &Person, listing: &Listing) -> Result<Vec<CatalogEvent>, Rejection> {
    match listing.role_of(person) {
        None => Ok(vec![]),
        Some(Role::Owner) if listing.owners() == 1 => Err(Rejection::LastOwner),
        Some(_) => Ok(vec![CatalogEvent::Unshared { by, from: Recipient::Member(person.clone()) }]),
    }
}

/// Handles the addition of a share link. Removes expired links if the spreadsheet has too many.
fn add_link(
    by: &Person,
    link: &Link,
    listing: &Listing,
    now_s: u64,
) -> Result<Vec<CatalogEvent>, Rejection> {
    if listing.links.iter().any(|existing| existing.hash == link.hash) {
        return Ok(vec![]);
    }
    if link.has_expired(now_s) {
        return Err(Rejection::LinkEnded);
    }
    let expired: Vec<&Link> =
        listing.links.iter().filter(|existing| existing.has_expired(now_s)).collect();
    if listing.links.len() - expired.len() >= MAX_LINKS {
        return Err(Rejection::Links);
    }
    let mut events = Vec::new();
    if listing.links.len() >= MAX_LINKS {
        events.extend(expired.into_iter().map(|link| revoke_link(by, link)));
    }
    events.push(CatalogEvent::Shared { by: by.clone(), with: Grantee::Link(link.clone()) });
    Ok(events)
}

fn remove_link(by: &Person, id: LinkId, listing: &Listing) -> Vec<CatalogEvent> {
    let links = listing.links.iter().filter(|link| link.hash.id() == id);
    links.map(|link| revoke_link(by, link)).collect()
}

fn revoke_link(by: &Person, link: &Link) -> CatalogEvent {
    CatalogEvent::Unshared { by: by.clone(), from: Recipient::Link(link.hash) }
}
