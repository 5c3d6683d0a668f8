//! Events in the change stream of the EventStream table.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::schema::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Returns whether a changed item is the tip of an append, which contains the number of appended
/// events. An event batch does not.
#[must_use]
pub fn is_append(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// Returns the events appended by the write that produced this tip.
///
/// # Errors
/// [`RecordError`] with the invalid attribute.
pub fn appended_span(image: &Item) -> Result<Span, RecordError> {
    let (stream, first, kinds) = decode_appended(image)?;
    Ok(Span { stream, first, kinds })
}
