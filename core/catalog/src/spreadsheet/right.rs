//! Reasons why a caller has a role on a spreadsheet.

use super::link::LinkHash;
use super::listing::{Listing, Status};
use super::person::Person;
use crate::access::Role;

/// The reason why a caller has a role on a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// A token that lists the spreadsheet or applies to all spreadsheets. It grants a role even if
    /// the spreadsheet is not shared with the caller, unless the spreadsheet was purged.
    Token(Role),
    Membership,
    Link(LinkHash),
}

/// A caller, and why the caller has a role on a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Person who calls.
    pub person: Person,
    /// Source of the role.
    pub right: Right,
    /// Highest role that the caller's token allows.
    pub cap: Role,
}

impl By {
    /// Returns the caller's current role, or `None` if the caller may not know that the spreadsheet
    /// exists.
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

    /// Returns whether the caller uses a share link. Such a caller may not see the members, because
    /// anyone can pass a share link on.
    #[must_use]
    pub fn is_link(&self) -> bool {
        matches!(self.right, Right::Link(_))
    }
}
