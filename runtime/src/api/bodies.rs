//! How much of all requests' bodies a process keeps at once.

use std::sync::Arc;

use cellar_base::limits::{MAX_KEPT_BODY_BYTES, MAX_KEPT_LINK_BODY_BYTES};
use cellar_catalog::access::Scope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counts the bytes of the bodies that this process keeps.
#[derive(Debug)]
pub struct Bodies {
    tokens: Arc<Semaphore>,
    links: Arc<Semaphore>,
}

impl Default for Bodies {
    fn default() -> Self {
        let of = |bytes| Arc::new(Semaphore::new(bytes));
        Self { tokens: of(MAX_KEPT_BODY_BYTES), links: of(MAX_KEPT_LINK_BODY_BYTES) }
    }
}

impl Bodies {
    /// Bytes that are kept now.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        let free = self.tokens.available_permits().saturating_add(self.links.available_permits());
        (MAX_KEPT_BODY_BYTES + MAX_KEPT_LINK_BODY_BYTES).saturating_sub(free)
    }

    /// The room for the bodies of those whom a token covers that much.
    pub(super) fn room(&self, scope: &Scope) -> &Arc<Semaphore> {
        match scope {
            Scope::Link { .. } => &self.links,
            Scope::All | Scope::Only(_) | Scope::Shared => &self.tokens,
        }
    }
}

/// The beginning of a body, and the room that it takes.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    room: Option<OwnedSemaphorePermit>,
}

impl Kept {
    /// The same with more bytes, at most `max_bytes` in all; `None` if there is no room for them.
    pub(super) fn with(
        mut self,
        more: &[u8],
        max_bytes: usize,
        room: &Arc<Semaphore>,
    ) -> Option<Self> {
        let length = self.bytes.len().saturating_add(more.len());
        if length > self.bytes.capacity() {
            let capacity = self.bytes.capacity().saturating_mul(2).min(max_bytes).max(length);
            self.grow(capacity, room)?;
        }
        self.bytes.extend_from_slice(more);
        Some(self)
    }

    /// Takes room before memory.
    fn grow(&mut self, capacity: usize, room: &Arc<Semaphore>) -> Option<()> {
        let taken = self.room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(capacity.saturating_sub(taken)).ok()?;
        let more = Arc::clone(room).try_acquire_many_owned(more).ok()?;
        match &mut self.room {
            Some(room) => room.merge(more),
            none => *none = Some(more),
        }
        self.bytes.reserve_exact(capacity.saturating_sub(self.bytes.len()));
        Some(())
    }

    /// The bytes, and what gives their room back when it is dropped.
    pub(super) fn into_parts(self) -> (Vec<u8>, Option<OwnedSemaphorePermit>) {
        (self.bytes, self.room)
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_catalog::spreadsheet::LinkSecret;

    use super::*;

    #[test]
    fn so_many_bytes_are_kept_and_no_more() {
        let bodies = Bodies::default();
        let hash = LinkSecret([7; 16]).hash();
        let link = Scope::Link { log: LogId::from_uuid(uuid::Uuid::nil()), hash };
        let links = vec![0; MAX_KEPT_LINK_BODY_BYTES];
        let keep = |scope: &Scope, bytes: &[u8]| {
            Kept::default().with(bytes, bytes.len(), bodies.room(scope))
        };
        assert!(keep(&link, &vec![0; MAX_KEPT_LINK_BODY_BYTES + 1]).is_none());
        let kept_links = keep(&link, &links).unwrap();
        assert!(keep(&link, &[0]).is_none());
        let tokens = vec![0; MAX_KEPT_BODY_BYTES - 1];
        let kept = keep(&Scope::All, &tokens).unwrap();
        assert_eq!(bodies.kept_bytes(), tokens.len() + links.len());
        let last = keep(&Scope::Shared, &[0]).unwrap();
        assert!(keep(&Scope::Shared, &[0]).is_none());
        drop((kept, last, kept_links));
        assert_eq!(bodies.kept_bytes(), 0);
    }

    #[test]
    fn what_is_kept_counts_with_the_memory_that_it_takes() {
        let bodies = Bodies::default();
        let room = bodies.room(&Scope::All);
        let mut kept = Kept::default();
        for _ in 0..100 {
            kept = kept.with(&[1; 1_000], 100_000, room).unwrap();
            assert_eq!(bodies.kept_bytes(), kept.bytes.capacity());
        }
        assert_eq!(bodies.kept_bytes(), 100_000);
        let (bytes, permit) = kept.into_parts();
        assert_eq!((bytes, bodies.kept_bytes()), (vec![1; 100_000], 100_000));
        drop(permit);
        assert_eq!(bodies.kept_bytes(), 0);
    }
}
