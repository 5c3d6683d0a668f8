//! The due times of a client's requests.

use std::time::Duration;

use crate::plan::{Plan, Rhythm};

/// The schedule of one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    rhythm: Rhythm,
    client: u32,
    clients: u32,
}

impl Pace {
    pub(crate) fn new(plan: &Plan, client: u32) -> Self {
        Self { rhythm: plan.rhythm, client, clients: plan.clients }
    }

    /// Returns when the client's request with this number is due, from the start of the run; `None`
    /// if it is due as soon as the previous one is answered.
    pub(crate) fn due(&self, request: u64) -> Option<Duration> {
        match self.rhythm {
            Rhythm::Rate(rate) => {
                let before = request.saturating_mul(self.clients.into());
                let number = before.saturating_add(self.client.into());
                let due_us = u128::from(number) * 1_000_000 / u128::from(rate.max(1));
                Some(Duration::from_micros(u64::try_from(due_us).unwrap_or(u64::MAX)))
            }
            Rhythm::Burst { requests, every } => {
                let burst = request / requests.max(1);
                Some(every.saturating_mul(u32::try_from(burst).unwrap_or(u32::MAX)))
            }
            Rhythm::Closed => None,
        }
    }

    /// Returns the number of the client's requests, from this one on, that are due before `end`.
    pub(crate) fn due_before(&self, request: u64, end: Duration) -> u64 {
        let due = |request: &u64| self.due(*request).is_some_and(|due| due < end);
        let waiting = (request..).take_while(due).count();
        u64::try_from(waiting).unwrap_or(u64::MAX)
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
        assert_eq!(first.due(0), Some(Duration::ZERO));
        assert_eq!(first.due(3), Some(Duration::from_secs(6)));
        assert_eq!(last.due(0), Some(Duration::from_millis(1_980)));
        assert_eq!(first.due_before(2, Duration::from_secs(6)), 1);
        assert_eq!(first.due_before(2, Duration::from_micros(6_000_001)), 2);
    }

    #[test]
    fn a_burst_is_due_for_all_clients_at_the_same_time() {
        for client in [0, 99] {
            let due: Vec<_> = (0..7).filter_map(|n| pace(Scenario::Burst, client).due(n)).collect();
            let seconds: Vec<_> = due.iter().map(Duration::as_secs).collect();
            assert_eq!(seconds, [0, 0, 0, 30, 30, 30, 60]);
        }
        assert_eq!(pace(Scenario::Kill, 1).due(5), None);
        assert_eq!(pace(Scenario::Kill, 1).due_before(5, Duration::MAX), 0);
    }
}
