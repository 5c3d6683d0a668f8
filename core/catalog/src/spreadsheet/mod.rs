//! The catalog: names, status and sharing of spreadsheets.
//!
//! The event stream `Spreadsheet-{id}` of each spreadsheet contains its [events](CatalogEvent). The
//! state after all events is the spreadsheet's [`Listing`], which is cached in the newest item of
//! the event stream, so that a single read returns it.
//!
//! [`Principal::access`] checks access before each request, based on a listing that may be a few
//! seconds old. When a command changes the catalog, [`Catalog`] checks access again, based on the
//! current listing.
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

use crate::stream::{InvalidStreamName, SplitPolicy, StreamName};
use cellar_base::identity::LogId;
use cellar_base::limits::{CATALOG_TIP_EVENTS, TIP_BYTES};

/// Category of the event streams of spreadsheets.
pub const CATEGORY: &str = "Spreadsheet";

/// Limits on the newest item of a spreadsheet's event stream. They are so low that reading the item
/// usually costs half a read unit (4 KB).
pub const CATALOG_SPLIT_POLICY: SplitPolicy =
    SplitPolicy { bytes: TIP_BYTES, events: CATALOG_TIP_EVENTS };

/// Returns the name of a spreadsheet's event stream.
///
/// # Errors
/// Never fails, because these names are always valid.
pub fn stream_of(log: LogId) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(CATEGORY, &log.to_string())
}
