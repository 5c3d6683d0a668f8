//! Etags of tips.

use super::event::StreamEvent;
use super::name::StreamName;
use super::payload::Payload;
use super::unfold::Unfold;

/// Etag of the newest item of an event stream: a hash of the previous etag and of the written
/// content.
///
/// An etag never recurs in a stream, except for a retry of the same write. A delayed write is
/// therefore harmless: once another write has taken effect, the etag that it expects never exists
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Etag(pub [u8; 16]);

impl Etag {
    /// Computes the etag after a write. `previous_etag` is `None` for the first write to a stream.
    #[must_use]
    pub fn of(
        name: &StreamName,
        previous_etag: Option<Self>,
        events: &[StreamEvent],
        unfolds: &[Unfold],
    ) -> Self {
        let mut hasher = WriteHasher(blake3::Hasher::new());
        hasher.add_bytes(name.as_str().as_bytes());
        hasher.add_bytes(previous_etag.as_ref().map_or(&[], |Self(etag)| etag.as_slice()));
        hasher.add_len(events.len());
        for event in events {
            hasher.add_event(event);
        }
        hasher.add_len(unfolds.len());
        for unfold in unfolds {
            hasher.add_unfold(unfold);
        }
        Self(hasher.finish())
    }
}

/// Each part is hashed with its length. Different writes therefore never have the same hash input.
struct WriteHasher(blake3::Hasher);

impl WriteHasher {
    fn finish(&self) -> [u8; 16] {
        let mut hash = [0; 16];
        self.0.finalize_xof().fill(&mut hash);
        hash
    }

    fn add_len(&mut self, number: usize) {
        self.add_u64(u64::try_from(number).unwrap_or(u64::MAX));
    }

    fn add_u64(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.add_len(bytes.len());
        self.0.update(bytes);
    }

    fn add_payload(&mut self, payload: &Payload) {
        self.add_u64(payload.encoding);
        self.add_bytes(&payload.stored);
    }

    fn add_optional(&mut self, text: Option<&str>) {
        self.add_len(usize::from(text.is_some()));
        self.add_bytes(text.unwrap_or_default().as_bytes());
    }

    fn add_event(&mut self, event: &StreamEvent) {
        // The pattern names all fields, so the compiler reports a field that is not hashed.
        let StreamEvent { time_ms, kind, data, meta, correlation, causation, writer } = event;
        self.add_u64(*time_ms);
        self.add_bytes(kind.as_str().as_bytes());
        self.add_payload(data);
        self.add_payload(meta);
        self.add_optional(correlation.as_deref());
        self.add_optional(causation.as_deref());
        self.add_bytes(&writer.0);
    }

    fn add_unfold(&mut self, unfold: &Unfold) {
        let Unfold { index, time_ms, kind, data, meta } = unfold;
        self.add_u64(*index);
        self.add_u64(*time_ms);
        self.add_bytes(kind.as_str().as_bytes());
        self.add_payload(data);
        self.add_payload(meta);
    }
}
