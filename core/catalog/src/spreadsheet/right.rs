//! Sources of a role on a spreadsheet.

use super::link::LinkHash;
use super::listing::{Listing, Status};
use super::person::Person;
use crate::access::Role;

/// Source of a role on one spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// A token that names this spreadsheet, or all. It grants this role regardless of sharing,
    /// except for purged spreadsheets.
    Token(Role),
    /// Membership.
    Membership,
    /// A share link.
    Link(LinkHash),
}

/// A caller and the source of their role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Person.
    pub person: Person,
    /// Source of the role.
    pub right: Right,
    /// Maximum role of their token.
    pub cap: Role,
}

impl By {
    /// Returns the caller's role now; `None` if they may not even know of the spreadsheet, as after
    /// a purge.
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

    /// Returns whether the role comes from a link. Links are passed on, so they do not reveal
    /// members.
    #[must_use]
    pub fn is_link(&self) -> bool {
        matches!(self.right, Right::Link(_))
    }
}
