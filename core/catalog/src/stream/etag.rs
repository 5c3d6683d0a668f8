//! Etags of tips.

use super::event::StreamEvent;
use super::name::StreamName;
use super::payload::Payload;
use super::unfold::Unfold;

/// 16 bytes of a hash of the preceding etag and the written content. A repeated write has the same
/// etag, and no other write of any stream has it, so no tip ever has an etag twice. A write that
/// arrives after another writer's is therefore harmless: its condition can never hold again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Etag(pub [u8; 16]);

impl Etag {
    /// Computes the etag of a write on a tip with the etag `before`; `None` for the first write of
    /// a stream.
    #[must_use]
    pub fn of(
        name: &StreamName,
        before: Option<Self>,
        events: &[StreamEvent],
        unfolds: &[Unfold],
    ) -> Self {
        let mut hash = Hash(blake3::Hasher::new());
        hash.bytes(name.as_str().as_bytes());
        hash.bytes(before.as_ref().map_or(&[], |Self(before)| before.as_slice()));
        hash.number(events.len());
        for event in events {
            hash.event(event);
        }
        hash.number(unfolds.len());
        for unfold in unfolds {
            hash.unfold(unfold);
        }
        let mut own = [0; 16];
        hash.0.finalize_xof().fill(&mut own);
        Self(own)
    }
}

/// Hashes each part with its length, so that no two writes have equal input.
struct Hash(blake3::Hasher);

impl Hash {
    fn number(&mut self, number: usize) {
        self.wide(u64::try_from(number).unwrap_or(u64::MAX));
    }

    fn wide(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.update(bytes);
    }

    fn payload(&mut self, payload: &Payload) {
        self.wide(payload.encoding);
        self.bytes(&payload.stored);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.number(usize::from(text.is_some()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    fn event(&mut self, event: &StreamEvent) {
        // Destructured, so that no new field can be forgotten.
        let StreamEvent { time_ms, kind, data, meta, correlation, causation, writer } = event;
        self.wide(*time_ms);
        self.bytes(kind.as_str().as_bytes());
        self.payload(data);
        self.payload(meta);
        self.optional(correlation.as_deref());
        self.optional(causation.as_deref());
        self.bytes(&writer.0);
    }

    fn unfold(&mut self, unfold: &Unfold) {
        let Unfold { index, time_ms, kind, data, meta } = unfold;
        self.wide(*index);
        self.wide(*time_ms);
        self.bytes(kind.as_str().as_bytes());
        self.payload(data);
        self.payload(meta);
    }
}
