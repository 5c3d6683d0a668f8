//! When each request of a client is due.

use std::time::Duration;

use crate::plan::{Plan, Rhythm};

/// The rhythm of one client.
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

    /// When the client's request with this number is due, from the beginning of the run; none if that is
    /// as soon as the one before is answered.
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

    /// How many of the client's requests, from this number on, are due before the end.
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
    fn an_open_loop_is_due_whatever_was_answered() {
        let (first, last) = (pace(Scenario::Sustained, 0), pace(Scenario::Sustained, 99));
        assert_eq!(first.due(0), Some(Duration::ZERO));
        assert_eq!(first.due(3), Some(Duration::from_secs(6)));
        assert_eq!(last.due(0), Some(Duration::from_millis(1_980)));
        assert_eq!(first.due_before(2, Duration::from_secs(6)), 1);
        assert_eq!(first.due_before(2, Duration::from_micros(6_000_001)), 2);
    }

    #[test]
    fn a_burst_is_due_for_all_at_once() {
        for client in [0, 99] {
            let due: Vec<_> = (0..7).filter_map(|n| pace(Scenario::Burst, client).due(n)).collect();
            let seconds: Vec<_> = due.iter().map(Duration::as_secs).collect();
            assert_eq!(seconds, [0, 0, 0, 30, 30, 30, 60]);
        }
        assert_eq!(pace(Scenario::Kill, 1).due(5), None);
        assert_eq!(pace(Scenario::Kill, 1).due_before(5, Duration::MAX), 0);
    }
}
