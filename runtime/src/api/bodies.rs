//! Limits how much memory a process uses for request bodies.

use std::sync::Arc;

use cellar_api::wire::ProblemKind;
use cellar_base::limits::{MAX_KEPT_BODY_BYTES, MAX_KEPT_LINK_BODY_BYTES};
use cellar_catalog::access::Scope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::reply::Failure;

/// Memory budgets for request bodies. There is one budget for all callers with tokens and another
/// for all callers with share links.
#[derive(Debug)]
pub struct BodyBudget {
    tokens: Arc<Semaphore>,
    share_links: Arc<Semaphore>,
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self {
            tokens: Arc::new(Semaphore::new(MAX_KEPT_BODY_BYTES)),
            share_links: Arc::new(Semaphore::new(MAX_KEPT_LINK_BODY_BYTES)),
        }
    }
}

impl BodyBudget {
    /// Returns the number of bytes that request bodies currently occupy.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        let free_bytes = self.tokens.available_permits() + self.share_links.available_permits();
        MAX_KEPT_BODY_BYTES + MAX_KEPT_LINK_BODY_BYTES - free_bytes
    }

    /// Returns the memory budget for callers with the given scope. Each permit of the semaphore
    /// represents one byte.
    pub(super) fn budget_for(&self, scope: &Scope) -> &Arc<Semaphore> {
        match scope {
            Scope::Link { .. } => &self.share_links,
            Scope::All | Scope::Only(_) | Scope::Shared => &self.tokens,
        }
    }
}

/// A request body that may be incomplete, and the permits that reserve memory for it.
#[derive(Debug, Default)]
pub(super) struct BodyBuffer {
    bytes: Vec<u8>,
    permits: Option<OwnedSemaphorePermit>,
}

impl BodyBuffer {
    /// Appends a part of the body. Doubles the capacity if necessary, up to `max_bytes`. Returns an
    /// error if the memory budget is exhausted.
    pub(super) fn append(
        &mut self,
        part: &[u8],
        max_bytes: usize,
        budget: &Arc<Semaphore>,
    ) -> Result<(), Failure> {
        let new_length = self.bytes.len() + part.len();
        if new_length > self.bytes.capacity() {
            let doubled_capacity = self.bytes.capacity().saturating_mul(2).min(max_bytes);
            self.grow(doubled_capacity.max(new_length), budget)?;
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    /// Increases the capacity of the buffer to `capacity`. Acquires permits for the additional
    /// memory before allocating it.
    fn grow(&mut self, capacity: usize, budget: &Arc<Semaphore>) -> Result<(), Failure> {
        let held_permits = self.permits.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing_permits = u32::try_from(capacity.saturating_sub(held_permits))
            .map_err(|_| memory_budget_exceeded())?;
        let acquired_permits = Arc::clone(budget)
            .try_acquire_many_owned(missing_permits)
            .map_err(|_| memory_budget_exceeded())?;
        match &mut self.permits {
            Some(permits) => permits.merge(acquired_permits),
            None => self.permits = Some(acquired_permits),
        }
        self.bytes.reserve_exact(capacity.saturating_sub(self.bytes.len()));
        Ok(())
    }

    /// Returns the body and its permits. Dropping the permits returns the memory to the budget.
    pub(super) fn into_parts(self) -> (Vec<u8>, Option<OwnedSemaphorePermit>) {
        (self.bytes, self.permits)
    }
}

fn memory_budget_exceeded() -> Failure {
    let detail = "the server is processing too many large requests; retry the unchanged request";
    Failure::new(ProblemKind::Unavailable, detail)
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_catalog::spreadsheet::LinkSecret;

    use super::*;

    #[test]
    fn limits_the_memory_of_bodies() {
        let budget = BodyBudget::default();
        let hash = LinkSecret([7; 16]).hash();
        let link = Scope::Link { log: LogId::from_uuid(uuid::Uuid::nil()), hash };
        let links = vec![0; MAX_KEPT_LINK_BODY_BYTES];
        let buffer = |scope: &Scope, bytes: &[u8]| {
            let mut buffer = BodyBuffer::default();
            buffer.append(bytes, bytes.len(), budget.budget_for(scope)).map(|()| buffer)
        };
        assert!(buffer(&link, &vec![0; MAX_KEPT_LINK_BODY_BYTES + 1]).is_err());
        let of_links = buffer(&link, &links).unwrap();
        assert!(buffer(&link, &[0]).is_err());
        let tokens = vec![0; MAX_KEPT_BODY_BYTES - 1];
        let most = buffer(&Scope::All, &tokens).unwrap();
        assert_eq!(budget.used_bytes(), tokens.len() + links.len());
        let last = buffer(&Scope::Shared, &[0]).unwrap();
        assert!(buffer(&Scope::Shared, &[0]).is_err());
        drop((most, last, of_links));
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn counts_the_capacity_of_buffers() {
        let budget = BodyBudget::default();
        let permits = budget.budget_for(&Scope::All);
        let mut buffer = BodyBuffer::default();
        for _ in 0..100 {
            buffer.append(&[1; 1_000], 100_000, permits).unwrap();
            assert_eq!(budget.used_bytes(), buffer.bytes.capacity());
        }
        assert_eq!(budget.used_bytes(), 100_000);
        let (bytes, permit) = buffer.into_parts();
        assert_eq!((bytes, budget.used_bytes()), (vec![1; 100_000], 100_000));
        drop(permit);
        assert_eq!(budget.used_bytes(), 0);
    }
}
