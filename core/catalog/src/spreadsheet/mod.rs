//! The catalog: names, status and sharing of spreadsheets.
//!
//! Each spreadsheet has an event stream `Spreadsheet-{id}` of [events](CatalogEvent). The state
//! after all events is the spreadsheet's [`Listing`]. The listing is cached as an unfold in the tip
//! (the item with the stream's latest events), so a single read returns it.
//!
//! [`Principal::access`] checks access before each request, using a listing that may be a few
//! seconds old. For a change to the catalog, [`Catalog`] checks access again, using exactly the
//! listing to which the change applies.
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

/// Thresholds above which events are moved from a tip (with the latest events) to an event batch
/// (with older events). They are low enough that reading the listing of a spreadsheet with few
/// members costs only half a read unit (4 KB).
pub const CATALOG_SPLIT_POLICY: SplitPolicy =
    SplitPolicy { bytes: TIP_BYTES, events: CATALOG_TIP_EVENTS };

/// Returns the name of a spreadsheet's event stream.
///
/// # Errors
/// Never fails, because these names are always valid.
pub fn stream_of(log: LogId) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(CATEGORY, &log.to_string())
}
