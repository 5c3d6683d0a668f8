//! Commands that change the catalog, and reasons why they are rejected.

use super::link::{Link, LinkId};
use super::name::Name;
use super::person::Person;
use super::right::By;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_LINKS, MAX_MEMBERS};

/// A command that changes the name, status or sharing of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The caller, and why the caller has a role on the spreadsheet.
    pub by: By,
    /// Requested change.
    pub action: CatalogAction,
    /// Current time in seconds since the Unix epoch.
    pub now_s: u64,
    /// The version of the catalog record that the caller has read, if known. If the record has
    /// changed since, the command is rejected, because it could overwrite changes that the caller
    /// has not seen. A command that would change nothing is never rejected for this reason.
    pub seen: Option<u64>,
}

/// The requested change. It has no effect if it was already made, so every command is idempotent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogAction {
    /// Add a new spreadsheet to the catalog. The caller becomes its owner.
    Create {
        /// Name of the spreadsheet. May be empty.
        name: Name,
        /// The spreadsheet from which the new spreadsheet is forked, if any.
        source: Option<LogId>,
    },
    Rename(Name),
    /// Share the spreadsheet with a user, or change the user's role.
    Share {
        /// Person to share with.
        with: Person,
        /// New role of the person.
        role: Role,
    },
    /// Revoke a user's access. Users may always revoke their own access.
    Unshare(Person),
    AddLink(Link),
    /// Revoke the share link with this id. If several share links have the id, all of them are
    /// revoked.
    RemoveLink(LinkId),
    /// Make the spreadsheet read-only.
    Archive,
    /// Delete the spreadsheet. It can be recovered for a limited time.
    Delete,
    /// Unarchive or undelete the spreadsheet.
    Activate,
    /// Mark a deleted spreadsheet as purged. Its data is deleted afterwards. Only operators may do
    /// so.
    Purge,
}

impl CatalogAction {
    /// Returns the minimum role that the caller `by` needs for this change.
    #[must_use]
    pub fn required_role(&self, by: &By) -> Role {
        match self {
            Self::Create { .. } => Role::Viewer,
            // Members may revoke their own access unless their token is read-only.
            Self::Unshare(person) if *person == by.person => {
                if by.cap > Role::Viewer {
                    Role::Viewer
                } else {
                    Role::Editor
                }
            }
            Self::Rename(_) => Role::Editor,
            _ => Role::Owner,
        }
    }
}

/// Reason why a command is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The spreadsheet does not exist, or the caller may not know that it exists.
    #[error("the spreadsheet does not exist, or you have no access to it")]
    Hidden,
    #[error("your role is {has}; role {needs} is required")]
    Role {
        /// The caller's current role.
        has: Role,
        /// Required role.
        needs: Role,
    },
    /// The catalog record has changed since the caller read it.
    #[error("the details have changed since they were read; read them again and retry")]
    Changed,
    #[error("the spreadsheet is archived and read-only; unarchive it first (owners only)")]
    Archived,
    /// The spreadsheet is deleted, but can still be recovered.
    #[error("the spreadsheet is deleted; undelete it first (owners only)")]
    Deleted,
    /// The spreadsheet is deleted and can no longer be recovered.
    #[error("the spreadsheet was deleted more than 30 days ago; it cannot be undeleted")]
    Gone,
    /// The spreadsheet cannot be purged because it is not deleted or can still be recovered.
    #[error("only spreadsheets deleted more than 30 days ago can be purged")]
    NotPurgeable,
    /// Callers cannot change their own role.
    #[error("you cannot change your own role; ask another owner")]
    WithOneself,
    /// The command would remove the last owner.
    #[error("the last owner cannot be removed; make another person owner first")]
    LastOwner,
    /// The spreadsheet has the maximum number of members.
    #[error("the spreadsheet has {MAX_MEMBERS} members, the maximum; remove a member first")]
    Members,
    /// The spreadsheet has the maximum number of share links.
    #[error("the spreadsheet has {MAX_LINKS} share links, the maximum; revoke a share link first")]
    Links,
    /// The expiry time of the new link is in the past.
    #[error("the expiry of the link is in the past")]
    LinkEnded,
}
