//! Decodes events from the change records of the EventStream table.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::table_attributes::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Returns whether a changed item is the newest item of an event stream. Only that item stores the
/// number of events that the last write appended.
#[must_use]
pub fn is_append(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// Returns the events that the last write appended to the newest item of an event stream.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn appended_span(image: &Item) -> Result<Span, RecordError> {
    decode_appended(image)
}
