//! Sums the costs of requests as reported in the server's responses.

use std::sync::{Arc, Mutex, PoisonError};

use cellar_api::cost::Cost;
use reqwest::header::HeaderValue;

/// Total request cost of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCosts {
    /// Sum of all reported costs.
    pub cost: Cost,
    /// Number of requests whose cost is unknown. The response was lost, or it did not report a
    /// cost, as is the case for "not found" responses.
    pub unknown_requests: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    total: Arc<Mutex<RequestCosts>>,
}

impl Tally {
    /// Must be called before the request is sent, because a request may cause costs even if it is
    /// cancelled.
    pub(super) fn start_attempt(&self) -> AttemptCost {
        let unknown = RequestCosts { cost: Cost::default(), unknown_requests: 1 };
        AttemptCost { tally: self.clone(), costs: unknown }
    }

    pub(super) fn total(&self) -> RequestCosts {
        *self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cost is added to the total when this value is dropped, even if the request was cancelled. If
/// no cost was recorded, the attempt counts as a request of unknown cost.
pub(super) struct AttemptCost {
    tally: Tally,
    costs: RequestCosts,
}

impl AttemptCost {
    /// If the header is missing or invalid, the cost remains unknown. This is not an error, because
    /// the rest of the response is still useful.
    pub(super) fn record_header(mut self, header: Option<&HeaderValue>) {
        if let Some(cost) = header.and_then(|value| Cost::from_header(value.to_str().ok()?).ok()) {
            self.costs = RequestCosts { cost, unknown_requests: 0 };
        }
    }

    /// For services that do not report costs.
    pub(super) fn record(mut self, cost: Cost) {
        self.costs = RequestCosts { cost, unknown_requests: 0 };
    }

    pub(super) fn record_not_sent(mut self) {
        self.costs = RequestCosts::default();
    }
}

impl Drop for AttemptCost {
    fn drop(&mut self) {
        let mut total = self.tally.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.cost += self.costs.cost;
        total.unknown_requests = total.unknown_requests.saturating_add(self.costs.unknown_requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreported_costs_are_counted_as_unknown() {
        let tally = Tally::default();
        let clone = tally.clone();
        let header = |header: &'static [u8]| Some(HeaderValue::from_bytes(header).unwrap());
        tally.start_attempt().record_header(header(b"rr=0.5, wr=1").as_ref());
        clone.start_attempt().record_header(header(b"rr=1, wr=2, puts=1").as_ref());
        tally.start_attempt().record_not_sent();
        let cost = Cost { read_half_units: 3, write_units: 3, object_puts: 1, ..Cost::default() };
        assert_eq!(tally.total(), RequestCosts { cost, unknown_requests: 0 });
        clone.start_attempt().record_header(header(b"rr=?").as_ref());
        tally.start_attempt().record_header(header(b"rr=\xff").as_ref());
        tally.start_attempt().record_header(None);
        drop(tally.start_attempt());
        assert_eq!(tally.total(), RequestCosts { cost, unknown_requests: 4 });
    }
}
