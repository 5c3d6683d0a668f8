//! Events in the records of the EventStream table's change stream.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::schema::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Returns whether the change was an append: a tip contains the number of events that its write
/// appended, an event batch does not.
#[must_use]
pub fn is_appended(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// Returns the events appended by the write that produced this tip.
///
/// # Errors
/// [`RecordError`] with the invalid attribute.
pub fn appended(image: &Item) -> Result<Span, RecordError> {
    let (stream, first, kinds) = decode_appended(image)?;
    Ok(Span { stream, first, kinds })
}
