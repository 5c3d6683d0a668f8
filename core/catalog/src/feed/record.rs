//! Decodes events from the change records of the EventStream table.

pub use crate::records::stream::appended_span;
use cellar_base::record::Item;
use cellar_base::table_attributes::APPENDED;

/// Returns whether a changed item is the newest item of an event stream. Only that item stores the
/// number of events that the last write appended.
#[must_use]
pub fn is_append(image: &Item) -> bool {
    image.contains_key(APPENDED)
}
