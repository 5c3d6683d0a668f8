//! Events of event streams.

use super::payload::Payload;
use cellar_base::limits::{MAX_EVENT_ID_BYTES, MAX_EVENT_KIND_BYTES};

/// Random id of an append, stored with each of its events. If the response to a write is lost, the
/// writer searches for the id to determine whether the events were appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterId(pub [u8; 16]);

/// Kind of an event, such as `Created` or `Renamed`, or name of a state's encoding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(String);

/// Reason why an event is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEvent {
    #[error("the kind of an event must have 1 to {MAX_EVENT_KIND_BYTES} bytes")]
    Kind,
    /// A correlation or causation id is too long.
    #[error("a correlation or causation id must have at most {MAX_EVENT_ID_BYTES} bytes")]
    Id,
}

impl Kind {
    /// Creates an event kind of 1 to `MAX_EVENT_KIND_BYTES` bytes.
    ///
    /// # Errors
    /// Returns [`InvalidEvent::Kind`] if the length is out of range.
    pub fn new(text: &str) -> Result<Self, InvalidEvent> {
        match text.len() {
            1..=MAX_EVENT_KIND_BYTES => Ok(Self(text.to_owned())),
            _ => Err(InvalidEvent::Kind),
        }
    }

    /// A test checks the length of `name`.
    pub(crate) fn own(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// Time at which it was decided to append the event, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Kind of the event, which determines how its data is decoded.
    pub kind: Kind,
    /// Encoded content.
    pub data: Payload,
    /// Metadata; may be empty.
    pub meta: Payload,
    /// Correlation id.
    pub correlation: Option<String>,
    /// Causation id.
    pub causation: Option<String>,
    /// Id of the append that wrote the event.
    pub writer: WriterId,
}

impl StreamEvent {
    /// Checks the lengths of the correlation id and the causation id.
    ///
    /// # Errors
    /// Returns [`InvalidEvent::Id`] if an id is too long.
    pub fn check(&self) -> Result<(), InvalidEvent> {
        let mut ids = self.correlation.iter().chain(&self.causation);
        let has_long_id = ids.any(|id| id.len() > MAX_EVENT_ID_BYTES);
        if has_long_id { Err(InvalidEvent::Id) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_the_length_of_kinds() {
        assert_eq!(Kind::new(""), Err(InvalidEvent::Kind));
        let most = "k".repeat(MAX_EVENT_KIND_BYTES);
        assert_eq!(Kind::new(&most).unwrap().as_str(), most);
        assert_eq!(Kind::new(&"k".repeat(MAX_EVENT_KIND_BYTES + 1)), Err(InvalidEvent::Kind));
    }

    #[test]
    fn limits_the_length_of_ids() {
        let event = |correlation: usize, causation: usize| StreamEvent {
            time_ms: 1,
            kind: Kind::new("Created").unwrap(),
            data: Payload::default(),
            meta: Payload::default(),
            correlation: Some("x".repeat(correlation)),
            causation: Some("y".repeat(causation)),
            writer: WriterId([1; 16]),
        };
        assert_eq!(event(MAX_EVENT_ID_BYTES, MAX_EVENT_ID_BYTES).check(), Ok(()));
        assert_eq!(event(MAX_EVENT_ID_BYTES + 1, 0).check(), Err(InvalidEvent::Id));
        assert_eq!(event(0, MAX_EVENT_ID_BYTES + 1).check(), Err(InvalidEvent::Id));
    }
}
