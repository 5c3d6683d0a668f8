//! Decodes events from the change stream of the EventStream table.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::schema::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Returns whether a changed item is the tip that an append wrote. Such a tip contains the number
/// of appended events; an event batch does not.
#[must_use]
pub fn is_append(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// Returns the events appended by the write that produced this tip.
///
/// # Errors
/// Returns a [`RecordError`] that names the invalid attribute.
pub fn appended_span(image: &Item) -> Result<Span, RecordError> {
    let (stream, first, kinds) = decode_appended(image)?;
    Ok(Span { stream, first, kinds })
}
