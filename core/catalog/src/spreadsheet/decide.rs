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

/// `listing` is the current catalog record. There are no events if the change was already made.
pub(super) fn decide(
    command: &Command,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    match (&command.action, listing) {
        (CatalogAction::Purge, listing) => decide_purge(command, listing),
        (CatalogAction::Create { name, source }, listing) => {
            decide_creation(command, name, *source, listing)
        }
        (_, Some(listing)) => decide_listed(command, listing),
        (_, None) => decide_unlisted(command),
    }
}

fn decide_creation(
    command: &Command,
    name: &Name,
    source: Option<LogId>,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    match listing.map(|listing| listing.status) {
        None => Ok(vec![CatalogEvent::Created {
            by: command.by.person.clone(),
            name: name.clone(),
            source,
            at_s: command.now_s,
        }]),
        Some(Status::Purged { .. }) => Err(Rejection::Gone),
        Some(Status::Active | Status::Archived { .. } | Status::Deleted { .. }) => Ok(vec![]),
    }
}

/// Handles a command on a spreadsheet that is not in the catalog because it is older than the
/// catalog. If the caller's token lists the spreadsheet or applies to all spreadsheets, the
/// spreadsheet is first added to the catalog with the caller as its owner. Otherwise, the command
/// is rejected.
fn decide_unlisted(command: &Command) -> Result<Vec<CatalogEvent>, Rejection> {
    if !matches!(command.by.right, Right::Token(_)) {
        return Err(Rejection::Hidden);
    }
    if command.seen.is_some_and(|seen| seen > 0) {
        return Err(Rejection::Changed);
    }
    let created_event = CatalogEvent::Created {
        by: command.by.person.clone(),
        name: Name::default(),
        source: None,
        at_s: command.now_s,
    };
    let listing = created_event.apply(None).ok_or(Rejection::Hidden)?;
    let later_events = decide_listed(&Command { seen: None, ..command.clone() }, &listing)?;
    Ok(std::iter::once(created_event).chain(later_events).collect())
}

fn decide_listed(command: &Command, listing: &Listing) -> Result<Vec<CatalogEvent>, Rejection> {
    check_role(command, listing)?;
    check_status(command, listing)?;
    let events = decide_permitted(command, listing)?;
    let was_changed_since_seen = command.seen.is_some_and(|seen| seen != listing.changes);
    if was_changed_since_seen && !events.is_empty() {
        return Err(Rejection::Changed);
    }
    Ok(events)
}

fn decide_permitted(command: &Command, listing: &Listing) -> Result<Vec<CatalogEvent>, Rejection> {
    let by = command.by.person.clone();
    let at_s = command.now_s;
    match &command.action {
        CatalogAction::Create { .. } | CatalogAction::Purge => Ok(vec![]),
        CatalogAction::Rename(name) if *name == listing.name => Ok(vec![]),
        CatalogAction::Rename(name) => Ok(vec![CatalogEvent::Renamed { by, name: name.clone() }]),
        CatalogAction::Share { with, role } => decide_sharing(by, with, *role, listing),
        CatalogAction::Unshare(person) => decide_unsharing(by, person, listing),
        CatalogAction::AddLink(link) => decide_link_addition(&by, link, listing, command.now_s),
        CatalogAction::RemoveLink(id) => Ok(decide_link_removal(&by, *id, listing)),
        CatalogAction::Archive => match listing.status {
            Status::Archived { .. } => Ok(vec![]),
            _ => Ok(vec![CatalogEvent::Archived { by, at_s }]),
        },
        CatalogAction::Delete => match listing.status {
            Status::Deleted { .. } => Ok(vec![]),
            _ => Ok(vec![CatalogEvent::Deleted { by, at_s }]),
        },
        CatalogAction::Activate => match listing.status {
            Status::Active => Ok(vec![]),
            Status::Archived { .. } => Ok(vec![CatalogEvent::Unarchived { by }]),
            Status::Deleted { .. } | Status::Purged { .. } => {
                Ok(vec![CatalogEvent::Undeleted { by }])
            }
        },
    }
}

/// Handles a purge. The spreadsheet must no longer be recoverable, and the caller needs an owner
/// token that lists the spreadsheet or applies to all spreadsheets.
fn decide_purge(
    command: &Command,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    let Some(listing) = listing else { return Err(Rejection::Hidden) };
    if !matches!(command.by.right, Right::Token(Role::Owner)) {
        return Err(Rejection::Hidden);
    }
    if matches!(listing.status, Status::Purged { .. }) {
        return Ok(vec![]);
    }
    if !listing.status.undelete_deadline_has_passed(command.now_s) {
        return Err(Rejection::NotPurgeable);
    }
    let by = command.by.person.clone();
    Ok(vec![CatalogEvent::Purged { by, at_s: command.now_s }])
}

fn check_role(command: &Command, listing: &Listing) -> Result<(), Rejection> {
    let caller_role = command.by.role(Some(listing), command.now_s).ok_or(Rejection::Hidden)?;
    let required_role = command.action.required_role(&command.by);
    let is_deleted = matches!(listing.status, Status::Deleted { .. });
    if is_deleted && caller_role < Role::Owner {
        return Err(Rejection::Hidden);
    }
    if caller_role < required_role {
        return Err(Rejection::Role { has: caller_role, needs: required_role });
    }
    Ok(())
}

/// Checks that the status of the spreadsheet allows the change. An archived spreadsheet cannot be
/// renamed. A deleted spreadsheet can only be recovered. Deleting or creating it again has no
/// effect.
fn check_status(command: &Command, listing: &Listing) -> Result<(), Rejection> {
    match listing.status {
        Status::Active | Status::Purged { .. } => Ok(()),
        Status::Archived { .. } => match command.action {
            CatalogAction::Rename(_) => Err(Rejection::Archived),
            _ => Ok(()),
        },
        Status::Deleted { .. } => match command.action {
            CatalogAction::Activate
                if listing.status.undelete_deadline_has_passed(command.now_s) =>
            {
                Err(Rejection::Gone)
            }
            CatalogAction::Activate | CatalogAction::Delete | CatalogAction::Create { .. } => {
                Ok(())
            }
            _ => Err(Rejection::Deleted),
        },
    }
}

fn decide_sharing(
    by: Person,
    with: &Person,
    role: Role,
    listing: &Listing,
) -> Result<Vec<CatalogEvent>, Rejection> {
    let current_role = listing.role_of(with);
    if current_role == Some(role) {
        return Ok(vec![]);
    }
    if current_role.is_some() && *with == by {
        return Err(Rejection::WithOneself);
    }
    if current_role == Some(Role::Owner) && listing.owner_count() == 1 {
        return Err(Rejection::LastOwner);
    }
    if current_role.is_none() && listing.members.len() >= MAX_MEMBERS {
        return Err(Rejection::Members);
    }
    let member = Member { person: with.clone(), role };
    Ok(vec![CatalogEvent::Shared { by, with: Grantee::Member(member) }])
}

fn decide_unsharing(
    by: Person,
    person: &Person,
    listing: &Listing,
) -> Result<Vec<CatalogEvent>, Rejection> {
    match listing.role_of(person) {
        None => Ok(vec![]),
        Some(Role::Owner) if listing.owner_count() == 1 => Err(Rejection::LastOwner),
        Some(_) => Ok(vec![CatalogEvent::Unshared { by, from: Recipient::Member(person.clone()) }]),
    }
}

/// If the spreadsheet has the maximum number of share links, its expired links are revoked first.
fn decide_link_addition(
    by: &Person,
    link: &Link,
    listing: &Listing,
    now_s: u64,
) -> Result<Vec<CatalogEvent>, Rejection> {
    let already_exists = listing.links.iter().any(|existing| existing.hash == link.hash);
    if already_exists {
        return Ok(vec![]);
    }
    if link.has_expired(now_s) {
        return Err(Rejection::LinkEnded);
    }
    let (expired_links, valid_links): (Vec<&Link>, Vec<&Link>) =
        listing.links.iter().partition(|existing| existing.has_expired(now_s));
    if valid_links.len() >= MAX_LINKS {
        return Err(Rejection::Links);
    }
    let mut events = Vec::new();
    if listing.links.len() >= MAX_LINKS {
        events.extend(expired_links.into_iter().map(|expired| link_revocation(by, expired)));
    }
    events.push(CatalogEvent::Shared { by: by.clone(), with: Grantee::Link(link.clone()) });
    Ok(events)
}

fn decide_link_removal(by: &Person, id: LinkId, listing: &Listing) -> Vec<CatalogEvent> {
    let links = listing.links.iter().filter(|link| link.hash.id() == id);
    links.map(|link| link_revocation(by, link)).collect()
}

fn link_revocation(by: &Person, link: &Link) -> CatalogEvent {
    CatalogEvent::Unshared { by: by.clone(), from: Recipient::Link(link.hash) }
}
