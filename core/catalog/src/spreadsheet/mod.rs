//! The catalog: what spreadsheets are called, and who may do what with them (design
//! `6-catalog-feed.md` §2).
//!
//! Each spreadsheet has a stream `Spreadsheet-{id}` of [events](CatalogEvent); what they come to is its
//! [`Listing`], which the stream keeps as its unfold, so that a look at it is one read. Whether somebody
//! may do something is decided twice: before a request by [`Principal::access`], on a listing that may
//! be some seconds old, and for a change of the catalog itself by [`Catalog`], on the very listing that
//! it changes.
//!
//! [`Principal::access`]: crate::access::Principal::access

mod command;
mod decide;
mod decider;
mod event;
mod link;
mod list;
mod listing;
mod name;
mod person;
mod right;
#[cfg(test)]
mod tests;

pub use command::{CatalogAction, Command, Rejection};
pub use decider::Catalog;
pub use event::{CatalogEvent, Grantee, Recipient};
pub use link::{BadLink, Link, LinkHash, LinkId, LinkRole, LinkSecret, LinkToken};
pub use list::{ListEntry, ListLine};
pub use listing::{Listing, Member, Status};
pub use name::{BadName, Name};
pub use person::{BadPerson, Person};
pub use right::{By, Right};

use crate::stream::{CalvePolicy, InvalidStreamName, StreamName};
use cellar_base::identity::LogId;
use cellar_base::limits::{CATALOG_TIP_EVENTS, TIP_BYTES};

/// Category of the streams of spreadsheets.
pub const CATEGORY: &str = "Spreadsheet";

/// When their tips calve: so early that a look at the listing of a spreadsheet with a few members stays
/// one half of a read unit, which is up to 4 KB.
pub const CALVING: CalvePolicy = CalvePolicy { bytes: TIP_BYTES, events: CATALOG_TIP_EVENTS };

/// The stream of a spreadsheet.
///
/// # Errors
/// Never: an id is a UUID.
pub fn stream_of(log: LogId) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(CATEGORY, &log.to_string())
}
