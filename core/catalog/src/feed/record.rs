//! What a change of the EventStream table says.

use super::span::Span;
use crate::records::stream::decode_appended;
use cellar_base::schema::APPENDED;
use cellar_base::{record::Item, record::RecordError};

/// Whether the change was an append: a tip says how many events the write appended, a calf does not.
#[must_use]
pub fn is_appended(image: &Item) -> bool {
    image.contains_key(APPENDED)
}

/// The events that the write appended which made a tip what it is.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn appended(image: &Item) -> Result<Span, RecordError> {
    let (stream, first, kinds) = decode_appended(image)?;
    Ok(Span { stream, first, kinds })
}
