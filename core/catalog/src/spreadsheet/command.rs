//! What is wanted of the catalog, and why it may be refused.

use super::link::{Link, LinkId};
use super::name::Name;
use super::person::Person;
use super::right::By;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LINKS, MAX_MEMBERS};

/// A change of what the catalog says of one spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Who wants it.
    pub by: By,
    /// What.
    pub action: CatalogAction,
    /// When, Unix seconds.
    pub now_s: u64,
    /// How many changes they have seen, if that is to be all there are: so a request that comes late
    /// does not take back what was done since.
    pub seen: Option<u64>,
}

/// What is wanted. Each is done already if the listing says so: then nothing happens, whoever repeats
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogAction {
    /// List a log that was just created, by its creator.
    Create {
        /// What it is called; may be empty.
        name: Name,
        /// What it is a fork of.
        source: Option<LogId>,
    },
    /// Call it otherwise.
    Rename(Name),
    /// Share it with somebody, or let them do something else than before.
    Share {
        /// With whom.
        with: Person,
        /// What they may do.
        role: Role,
    },
    /// Share it no longer with somebody; everybody may leave.
    Unshare(Person),
    /// Make a link.
    AddLink(Link),
    /// End the links that are called so.
    RemoveLink(LinkId),
    /// Let it be read and not changed.
    Archive,
    /// Delete it, for good after a while.
    Delete,
    /// Unarchive or undelete it.
    Activate,
    /// Give up what was deleted so long ago that nobody can restore it: an operator's alone.
    Purge,
}

impl CatalogAction {
    /// The role that it takes, if `by` wants it.
    #[must_use]
    pub fn needs(&self, by: &By) -> Role {
        match self {
            Self::Create { .. } => Role::Viewer,
            // Everybody may leave, but not by a token that only reads.
            Self::Unshare(person) if *person == by.person && by.cap > Role::Viewer => Role::Viewer,
            Self::Unshare(person) if *person == by.person => Role::Editor,
            Self::Rename(_) => Role::Editor,
            _ => Role::Owner,
        }
    }
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// There is none, or none that they may know of.
    #[error("the spreadsheet does not exist, or you have no access to it")]
    Hidden,
    /// They may see it, and not do this.
    #[error("your role is {has}; role {needs} is required")]
    Role {
        /// What they may do.
        has: Role,
        /// What it takes.
        needs: Role,
    },
    /// Others have changed it since they looked.
    #[error("the details have changed since they were read; read them again and retry")]
    Changed,
    /// It is archived.
    #[error("the spreadsheet is archived and read-only; unarchive it first (owners only)")]
    Archived,
    /// It is deleted, and can be restored.
    #[error("the spreadsheet is deleted; undelete it first (owners only)")]
    Deleted,
    /// It is deleted, and cannot be restored.
    #[error("the spreadsheet was deleted more than 30 days ago; it cannot be undeleted")]
    Gone,
    /// It is in use, or can be restored: nobody gives it up.
    #[error("only spreadsheets deleted more than 30 days ago can be purged")]
    NotPurgeable,
    /// They would share it with themselves.
    #[error("you cannot change your own role; ask another owner")]
    WithOneself,
    /// Nobody could share or delete it any more.
    #[error("the last owner cannot be removed; make another person owner first")]
    LastOwner,
    /// It is shared with too many.
    #[error("the spreadsheet has {MAX_MEMBERS} members, the maximum; remove one first")]
    Members,
    /// It has too many links.
    #[error("the spreadsheet has {MAX_LINKS} share links, the maximum; revoke one first")]
    Links,
    /// A link would end before it begins.
    #[error("the expiry of the link is in the past")]
    LinkEnded,
}
