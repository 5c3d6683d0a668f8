//! An event of a stream.

use super::payload::Payload;
use cellar_base::limits::{MAX_EVENT_ID_BYTES, MAX_EVENT_KIND_BYTES};

/// Who appended: 16 bytes of randomness, the same on all events of one append. It is how a writer that
/// lost a reply finds what it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterId(pub [u8; 16]);

/// What kind of event or unfold: `Created`, `Renamed`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(String);

/// An event, or a part of one, that cannot be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEvent {
    /// A kind without characters, or with too many.
    #[error("the kind of an event has 1 to {MAX_EVENT_KIND_BYTES} bytes")]
    Kind,
    /// An id of what it belongs to that is too long.
    #[error("a correlation or causation has at most {MAX_EVENT_ID_BYTES} bytes")]
    Id,
}

impl Kind {
    /// A kind of 1 to `MAX_EVENT_KIND_BYTES` bytes.
    ///
    /// # Errors
    /// [`InvalidEvent::Kind`].
    pub fn new(text: &str) -> Result<Self, InvalidEvent> {
        match text.len() {
            1..=MAX_EVENT_KIND_BYTES => Ok(Self(text.to_owned())),
            _ => Err(InvalidEvent::Kind),
        }
    }

    /// A kind of this program's own: a test sees that it is none too long.
    pub(crate) fn own(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// When it was decided, Unix milliseconds.
    pub time_ms: u64,
    /// What kind it is.
    pub kind: Kind,
    /// What happened.
    pub data: Payload,
    /// What else there is to say of it; empty if nothing.
    pub meta: Payload,
    /// Id of the conversation that it belongs to.
    pub correlation: Option<String>,
    /// Id of what it came of.
    pub causation: Option<String>,
    /// Which append wrote it.
    pub writer: WriterId,
}

impl StreamEvent {
    /// Checks what it belongs to against the bounds; kinds and payloads are bounded when they are made.
    ///
    /// # Errors
    /// [`InvalidEvent::Id`].
    pub fn check(&self) -> Result<(), InvalidEvent> {
        let too_long = |id: &String| id.len() > MAX_EVENT_ID_BYTES;
        match self.correlation.iter().chain(&self.causation).any(too_long) {
            true => Err(InvalidEvent::Id),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_end_at_their_limit() {
        assert_eq!(Kind::new(""), Err(InvalidEvent::Kind));
        let most = "k".repeat(MAX_EVENT_KIND_BYTES);
        assert_eq!(Kind::new(&most).unwrap().as_str(), most);
        assert_eq!(Kind::new(&"k".repeat(MAX_EVENT_KIND_BYTES + 1)), Err(InvalidEvent::Kind));
    }

    #[test]
    fn ids_end_at_their_limit() {
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
