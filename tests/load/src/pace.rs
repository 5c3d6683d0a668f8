//! The due times of each client's requests.

use std::time::Duration;

use crate::plan::{Plan, Rhythm};

const MICROSECONDS_PER_S: u128 = 1_000_000;

/// The schedule of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    rhythm: Rhythm,
    client_number: u32,
    client_count: u32,
}

impl Pace {
    pub(crate) fn new(plan: &Plan, client_number: u32) -> Self {
        Self { rhythm: plan.rhythm, client_number, client_count: plan.clients }
    }

    /// Returns when the client's request with the given number is due, relative to the start of the
    /// run. Returns `None` if the request is due as soon as the previous response arrives.
    pub(crate) fn due_after(&self, request_index: u64) -> Option<Duration> {
        match self.rhythm {
            Rhythm::Rate(requests_per_s) => {
                let earlier_round_count = request_index.saturating_mul(self.client_count.into());
                let earlier_count = earlier_round_count.saturating_add(self.client_number.into());
                let due_us = u128::from(earlier_count) * MICROSECONDS_PER_S
                    / u128::from(requests_per_s.max(1));
                Some(Duration::from_micros(u64::try_from(due_us).unwrap_or(u64::MAX)))
            }
            Rhythm::Burst { requests, every } => {
                let burst_index = request_index / requests.max(1);
                Some(every.saturating_mul(u32::try_from(burst_index).unwrap_or(u32::MAX)))
            }
            Rhythm::Closed => None,
        }
    }

    /// Returns how many of the client's requests, starting with the given number, are due before
    /// `end`.
    pub(crate) fn count_due_before(&self, first_request_index: u64, end: Duration) -> u64 {
        let mut request_index = first_request_index;
        while self.due_after(request_index).is_some_and(|due_after| due_after < end) {
            request_index += 1;
        }
        request_index - first_request_index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Scenario;

    fn pace(scenario: Scenario, client: u32) -> Pace {
        Pace::new(&scenario.plan(100, Duration::from_secs(60), Some(50)), client)
    }

    #[test]
    fn due_times_of_an_open_loop_do_not_depend_on_answers() {
        let (first, last) = (pace(Scenario::Sustained, 0), pace(Scenario::Sustained, 99));
        assert_eq!(first.due_after(0), Some(Duration::ZERO));
        assert_eq!(first.due_after(3), Some(Duration::from_secs(6)));
        assert_eq!(last.due_after(0), Some(Duration::from_millis(1_980)));
        assert_eq!(first.count_due_before(2, Duration::from_secs(6)), 1);
        assert_eq!(first.count_due_before(2, Duration::from_micros(6_000_001)), 2);
    }

    #[test]
    fn a_burst_is_due_for_all_clients_at_the_same_time() {
        for client in [0, 99] {
            let due: Vec<_> =
                (0..7).filter_map(|n| pace(Scenario::Burst, client).due_after(n)).collect();
            let seconds: Vec<_> = due.iter().map(Duration::as_secs).collect();
            assert_eq!(seconds, [0, 0, 0, 30, 30, 30, 60]);
        }
        assert_eq!(pace(Scenario::Kill, 1).due_after(5), None);
        assert_eq!(pace(Scenario::Kill, 1).count_due_before(5, Duration::MAX), 0);
    }
}
