//! Commands of the catalog, and reasons to reject them.

use super::link::{Link, LinkId};
use super::name::Name;
use super::person::Person;
use super::right::By;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LINKS, MAX_MEMBERS};

/// A command that changes the catalog's record of one spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The caller, and the source of their role.
    pub by: By,
    /// Requested change.
    pub action: CatalogAction,
    /// Time, Unix seconds.
    pub now_s: u64,
    /// Version of the details that the caller has seen; the command is rejected if there is a later
    /// one. So a late request does not undo changes made since.
    pub seen: Option<u64>,
}

/// Requested change. If the listing already shows it, nothing happens, so every command may be
/// repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogAction {
    /// List a new log, by its creator.
    Create {
        /// Name; may be empty.
        name: Name,
        /// Source of a fork.
        source: Option<LogId>,
    },
    /// Rename it.
    Rename(Name),
    /// Share it with a person, or change their role.
    Share {
        /// Person.
        with: Person,
        /// New role.
        role: Role,
    },
    /// Revoke a person's access; everyone may revoke their own.
    Unshare(Person),
    /// Add a share link.
    AddLink(Link),
    /// Revoke the share links with this id.
    RemoveLink(LinkId),
    /// Make it read-only.
    Archive,
    /// Delete it; after a period, permanently.
    Delete,
    /// Unarchive or undelete it.
    Activate,
    /// Mark a spreadsheet that can no longer be undeleted as purged; operators only.
    Purge,
}

impl CatalogAction {
    /// Returns the role that `by` needs for this change.
    #[must_use]
    pub fn needs(&self, by: &By) -> Role {
        match self {
            Self::Create { .. } => Role::Viewer,
            // Everyone may leave, but not with a read-only token.
            Self::Unshare(person) if *person == by.person && by.cap > Role::Viewer => Role::Viewer,
            Self::Unshare(person) if *person == by.person => Role::Editor,
            Self::Rename(_) => Role::Editor,
            _ => Role::Owner,
        }
    }
}

/// Reason why a command is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The spreadsheet does not exist, or the caller may not know of it.
    #[error("the spreadsheet does not exist, or you have no access to it")]
    Hidden,
    /// The caller's role is too low.
    #[error("your role is {has}; role {needs} is required")]
    Role {
        /// Role of the caller.
        has: Role,
        /// Required role.
        needs: Role,
    },
    /// The details were changed since the caller read them.
    #[error("the details have changed since they were read; read them again and retry")]
    Changed,
    /// The spreadsheet is archived.
    #[error("the spreadsheet is archived and read-only; unarchive it first (owners only)")]
    Archived,
    /// The spreadsheet is deleted and can be undeleted.
    #[error("the spreadsheet is deleted; undelete it first (owners only)")]
    Deleted,
    /// The spreadsheet is deleted and can no longer be undeleted.
    #[error("the spreadsheet was deleted more than 30 days ago; it cannot be undeleted")]
    Gone,
    /// The spreadsheet is not deleted, or can still be undeleted, so it cannot be purged.
    #[error("only spreadsheets deleted more than 30 days ago can be purged")]
    NotPurgeable,
    /// The caller would change their own role.
    #[error("you cannot change your own role; ask another owner")]
    WithOneself,
    /// The last owner cannot be removed.
    #[error("the last owner cannot be removed; make another person owner first")]
    LastOwner,
    /// The spreadsheet has the maximum number of members.
    #[error("the spreadsheet has {MAX_MEMBERS} members, the maximum; remove one first")]
    Members,
    /// The spreadsheet has the maximum number of share links.
    #[error("the spreadsheet has {MAX_LINKS} share links, the maximum; revoke one first")]
    Links,
    /// The link would expire before it is created.
    #[error("the expiry of the link is in the past")]
    LinkEnded,
}
