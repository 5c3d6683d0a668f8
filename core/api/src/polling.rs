//! The polling interval of a client that waits for changes to a spreadsheet.
//!
//! The interval is short after activity and grows while nothing changes. While the server is
//! unavailable, it grows exponentially with jitter. A poll costs half a read unit. At the maximum
//! interval, a client sends 60 polls per hour, which cost 30 read units.

use cellar_base::backoff::Backoff;
use cellar_base::limits::{POLL_MAX_MS, POLL_MIN_MS};

/// The result of a poll, or a local edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollEvent {
    /// The poll found changes, or the user made an edit.
    Active,
    /// The poll found no changes.
    Quiet,
    /// The server did not respond.
    Failed,
}

/// Computes the delay before each poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Polling {
    /// The last delay that did not follow a failure, in milliseconds. Initially 0.
    steady_delay_ms: u64,
    /// Number of consecutive failures.
    failures: u32,
}

/// Bounds of the delay while the server is unavailable.
const FAILURE_BACKOFF: Backoff = Backoff { base_ms: 2 * POLL_MIN_MS, max_ms: POLL_MAX_MS };

impl Polling {
    /// Handles an event. Returns the new state, and the delay before the next poll in milliseconds.
    /// `random` provides the jitter after a failure.
    #[must_use]
    pub fn step(self, event: PollEvent, random: u64) -> (Self, u64) {
        match event {
            PollEvent::Active => (Self { steady_delay_ms: POLL_MIN_MS, failures: 0 }, POLL_MIN_MS),
            PollEvent::Quiet => {
                let steady_delay_ms =
                    self.steady_delay_ms.saturating_mul(2).clamp(POLL_MIN_MS, POLL_MAX_MS);
                (Self { steady_delay_ms, failures: 0 }, steady_delay_ms)
            }
            PollEvent::Failed => {
                let failures = self.failures.saturating_add(1);
                let delay_ms = FAILURE_BACKOFF.full_jitter_ms(failures, random).max(POLL_MIN_MS);
                (Self { failures, ..self }, delay_ms)
            }
        }
    }

    /// Returns whether the last poll failed.
    #[must_use]
    pub fn is_failing(self) -> bool {
        self.failures > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the delay after each of the events.
    fn delays(events: impl IntoIterator<Item = PollEvent>, random: u64) -> Vec<u64> {
        let mut polling = Polling::default();
        let step = |event| {
            let (next, delay_ms) = polling.step(event, random);
            polling = next;
            delay_ms
        };
        events.into_iter().map(step).collect()
    }

    #[test]
    fn an_idle_hour_costs_sixty_polls() {
        let mut polling = Polling::default().step(PollEvent::Active, 0).0;
        let mut delay_ms = 0;
        while delay_ms < POLL_MAX_MS {
            (polling, delay_ms) = polling.step(PollEvent::Quiet, 0);
        }
        let (mut elapsed_ms, mut polls) = (0, 0);
        while elapsed_ms < 3_600_000 {
            (polling, delay_ms) = polling.step(PollEvent::Quiet, polls);
            elapsed_ms += delay_ms;
            polls += 1;
        }
        assert_eq!((polls, elapsed_ms), (60, 3_600_000));
    }

    #[test]
    fn the_interval_doubles_until_activity_resets_it() {
        use PollEvent::{Active, Quiet};
        let quiet = [Active, Quiet, Quiet, Quiet, Quiet, Quiet, Quiet, Quiet, Active, Quiet];
        let expected = [1, 2, 4, 8, 16, 32, 60, 60, 1, 2].map(|seconds| seconds * 1_000);
        assert_eq!(delays(quiet, 9), expected);
    }

    #[test]
    fn a_failing_client_backs_off_with_jitter_and_resumes_its_interval() {
        use PollEvent::{Failed, Quiet};
        let longest = delays([Failed; 9], u64::MAX);
        assert!(longest.iter().all(|delay| (POLL_MIN_MS..=POLL_MAX_MS).contains(delay)));
        assert!(delays([Failed; 9], 0).iter().all(|delay| *delay == POLL_MIN_MS));
        assert_ne!(delays([Failed; 5], 7_777)[4], delays([Failed; 5], 23_456)[4]);
        let back = delays([Quiet, Quiet, Quiet, Failed, Failed, Quiet], 0);
        assert_eq!((back[2], back[5]), (4_000, 8_000));
        let failing = Polling::default().step(Failed, 0).0;
        assert!(failing.is_failing() && !failing.step(Quiet, 0).0.is_failing());
    }
}
