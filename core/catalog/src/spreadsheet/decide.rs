//! Decides commands.

use super::command::{CatalogAction, Command, Rejection};
use super::event::{CatalogEvent, Grantee, Recipient};
use super::link::{Link, LinkId};
use super::listing::{Listing, Member, Status};
use super::name::Name;
use super::person::Person;
use super::right::Right;
use crate::access::Role;
use cellar_base::limits::{MAX_LINKS, MAX_MEMBERS};

/// Returns the events of a command on a listing; none if the listing already shows the change.
pub(super) fn decide(
    command: &Command,
    listing: Option<&Listing>,
) -> Result<Vec<CatalogEvent>, Rejection> {
    let by = || command.by.person.clone();
    match (&command.action, listing) {
        (CatalogAction::Purge, listing) => purge(command, listing),
        (CatalogAction::Create { .. }, Some(Listing { status: Status::Purged { .. }, .. })) => {
            Err(Rejection::Gone)
        }
        (CatalogAction::Create { .. }, Some(_)) => Ok(vec![]),
        (CatalogAction::Create { name, source }, None) => {
            let (name, source, at_s) = (name.clone(), *source, command.now_s);
            Ok(vec![CatalogEvent::Created { by: by(), name, source, at_s }])
        }
        (_, Some(listing)) => decide_listed(command, listing),
        // A log from before the catalog: an operator token lists it with the operator as owner.
        (_, None) if matches!(command.by.right, Right::Token(_)) => {
            let at_s = command.now_s;
            let listed =
                CatalogEvent::Created { by: by(), name: Name::default(), source: None, at_s };
            if command.seen.is_some_and(|seen| seen > 0) {
                return Err(Rejection::Changed);
            }
            let listing = listed.apply(None).ok_or(Rejection::Hidden)?;
            let events = decide_listed(&Command { seen: None, ..command.clone() }, &listing)?;
            Ok(std::iter::once(listed).chain(events).collect())
        }
        (_, None) => Err(Rejection::Hidden),
    }
}

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

/// Decides a purge: for operators, and only if nobody can undelete the spreadsheet any more.
fn purge(command: &Command, listing: Option<&Listing>) -> Result<Vec<CatalogEvent>, Rejection> {
    let Some(listing) = listing.filter(|_| matches!(command.by.right, Right::Token(Role::Owner)))
    else {
        return Err(Rejection::Hidden);
    };
    let by = command.by.person.clone();
    match (listing.status, listing.status.kept_until_s()) {
        (Status::Purged { .. }, _) => Ok(vec![]),
        (_, Some(until_s)) if until_s <= command.now_s => {
            Ok(vec![CatalogEvent::Purged { by, at_s: command.now_s }])
        }
        _ => Err(Rejection::NotPurgeable),
    }
}

fn check_role(command: &Command, listing: &Listing) -> Result<(), Rejection> {
    let has = command.by.role(Some(listing), command.now_s).ok_or(Rejection::Hidden)?;
    let needs = command.action.needs(&command.by);
    let is_deleted = matches!(listing.status, Status::Deleted { .. });
    match (has >= needs, is_deleted && has < Role::Owner) {
        (_, true) => Err(Rejection::Hidden),
        (true, false) => Ok(()),
        (false, false) => Err(Rejection::Role { has, needs }),
    }
}

/// Checks the status: an archived spreadsheet can be shared, unarchived and deleted; a deleted one
/// can be undeleted, and deleted again without effect.
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

/// Adds a link; expired links are removed first.
fn add_link(
    by: &Person,
    link: &Link,
    listing: &Listing,
    now_s: u64,
) -> Result<Vec<CatalogEvent>, Rejection> {
    if listing.links.iter().any(|there| there.hash == link.hash) {
        return Ok(vec![]);
    }
    if link.has_ended(now_s) {
        return Err(Rejection::LinkEnded);
    }
    let ended = || listing.links.iter().filter(|there| there.has_ended(now_s));
    if listing.links.len().saturating_sub(ended().count()) >= MAX_LINKS {
        return Err(Rejection::Links);
    }
    let is_full = listing.links.len() >= MAX_LINKS;
    let mut events: Vec<_> = ended().filter(|_| is_full).map(|link| ended_by(by, link)).collect();
    events.push(CatalogEvent::Shared { by: by.clone(), with: Grantee::Link(link.clone()) });
    Ok(events)
}

fn remove_link(by: &Person, id: LinkId, listing: &Listing) -> Vec<CatalogEvent> {
    let links = listing.links.iter().filter(|link| link.hash.id() == id);
    links.map(|link| ended_by(by, link)).collect()
}

fn ended_by(by: &Person, link: &Link) -> CatalogEvent {
    CatalogEvent::Unshared { by: by.clone(), from: Recipient::Link(link.hash) }
}
