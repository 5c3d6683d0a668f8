//! Sources of a caller's role on a spreadsheet.

use super::link::LinkHash;
use super::listing::{Listing, Status};
use super::person::Person;
use crate::access::Role;

/// Source of a caller's role on a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// A token for this spreadsheet or for all spreadsheets. Such a token grants the role even if
    /// the spreadsheet is not shared with the caller. It grants no role on a purged spreadsheet.
    Token(Role),
    /// Membership in the spreadsheet.
    Membership,
    /// A share link, identified by the hash of its secret.
    Link(LinkHash),
}

/// A caller, and the source of the caller's role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Person who calls.
    pub person: Person,
    /// Source of the role.
    pub right: Right,
    /// Highest role that the caller's token permits.
    pub cap: Role,
}

impl By {
    /// Returns the caller's current role, or `None` if the spreadsheet is hidden from the caller,
    /// for example after a purge.
    #[must_use]
    pub fn role(&self, listing: Option<&Listing>, now_s: u64) -> Option<Role> {
        if listing.is_some_and(|listing| matches!(listing.status, Status::Purged { .. })) {
            return None;
        }
        let role = match self.right {
            Right::Token(role) => Some(role),
            Right::Membership => listing?.role_of(&self.person),
            Right::Link(hash) => listing?.link(hash, now_s).map(|link| link.role.role()),
        };
        role.map(|role| role.min(self.cap))
    }

    /// Whether the role comes from a share link. The holder of a share link is not allowed to see
    /// the members, because share links can be passed on to strangers.
    #[must_use]
    pub fn is_link(&self) -> bool {
        matches!(self.right, Right::Link(_))
    }
}
