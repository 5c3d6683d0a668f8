//! What the requests of a client cost, as the replies tell it.

use std::sync::{Arc, Mutex, PoisonError};

use cellar_api::cost::Cost;
use reqwest::header::HeaderValue;

/// What a client's requests have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// The sum of what the replies told.
    pub cost: Cost,
    /// Requests that may have cost something which nobody told: their reply was lost, or did not
    /// say, as "not found" does not.
    pub unknown_requests: u64,
}

/// The sum so far, shared by a client and its clones.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    spent: Arc<Mutex<Spent>>,
}

impl Tally {
    /// An attempt that is about to be sent.
    pub(super) fn attempt(&self) -> Attempt {
        let unknown = Spent { cost: Cost::default(), unknown_requests: 1 };
        Attempt { tally: self.clone(), spent: unknown }
    }

    pub(super) fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt under way. It counts when it ends, however it does: its cost is unknown unless
/// something else is learnt, also if nobody waits for its reply any more.
pub(super) struct Attempt {
    tally: Tally,
    spent: Spent,
}

impl Attempt {
    /// There is a reply, with this header. One that cannot be read tells nothing: the reply itself
    /// may be fine, so this is no error.
    pub(super) fn told(mut self, header: Option<&HeaderValue>) {
        if let Some(cost) = header.and_then(|value| Cost::from_header(value.to_str().ok()?).ok()) {
            self.spent = Spent { cost, unknown_requests: 0 };
        }
    }

    /// It was answered by a service that does not tell what a request costs, which is this.
    pub(super) fn cost(mut self, cost: Cost) {
        self.spent = Spent { cost, unknown_requests: 0 };
    }

    /// It never left: there was no connection.
    pub(super) fn not_sent(mut self) {
        self.spent = Spent::default();
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut sum = self.tally.spent.lock().unwrap_or_else(PoisonError::into_inner);
        sum.cost += self.spent.cost;
        sum.unknown_requests = sum.unknown_requests.saturating_add(self.spent.unknown_requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_not_taken_for_free() {
        let tally = Tally::default();
        let clone = tally.clone();
        let told = |header: &'static [u8]| Some(HeaderValue::from_bytes(header).unwrap());
        tally.attempt().told(told(b"rr=0.5, wr=1").as_ref());
        clone.attempt().told(told(b"rr=1, wr=2, puts=1").as_ref());
        tally.attempt().not_sent();
        let cost = Cost { read_half_units: 3, write_units: 3, object_puts: 1, ..Cost::default() };
        assert_eq!(tally.spent(), Spent { cost, unknown_requests: 0 });
        clone.attempt().told(told(b"rr=?").as_ref());
        tally.attempt().told(told(b"rr=\xff").as_ref());
        tally.attempt().told(None);
        drop(tally.attempt());
        assert_eq!(tally.spent(), Spent { cost, unknown_requests: 4 });
    }
}
