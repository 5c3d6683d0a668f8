//! What gives somebody a role on a spreadsheet.

use super::link::LinkHash;
use super::listing::{Listing, Status};
use super::person::Person;
use crate::access::Role;

/// What gives a role on one spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// A token that names the spreadsheet, or all: an operator gave it out. It has this role, whatever
    /// the catalog says, but on what is purged.
    Token(Role),
    /// Being one of its members.
    Membership,
    /// Holding one of its links.
    Link(LinkHash),
}

/// Who does something, and by what right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// Who.
    pub person: Person,
    /// By what right.
    pub right: Right,
    /// The most that their token lets them do.
    pub cap: Role,
}

impl By {
    /// What they may do with a spreadsheet now; `None` if nothing, not even know of it, as with what is purged.
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

    /// Whether a link gives them their role: links are passed on, so they do not show members.
    #[must_use]
    pub fn is_link(&self) -> bool {
        matches!(self.right, Right::Link(_))
    }
}
