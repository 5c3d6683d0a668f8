//! Decodes events from the EventStream table's change stream.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::table_attributes::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Whether a changed item is a tip (the item with a stream's latest events) that was written by an
/// append. Such a tip stores the number of appended events. An event batch, which contains older
/// events, does not.
#[must_use]
pub fn is_append(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// Returns the events appended by the write of this tip.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn appended_span(image: &Item) -> Result<Span, RecordError> {
    let (stream, first, kinds) = decode_appended(image)?;
    Ok(Span { stream, first, kinds })
}
