//! How often a client asks whether there is news: soon after something happened, seldom when nothing
//! does, and with a backoff while nobody answers.
//!
//! A poll costs half a read unit: an hour in which nothing happens, once the interval has settled,
//! costs 60 polls and so 30 read units.

use cellar_base::backoff::Backoff;
use cellar_base::limits::{POLL_MAX_MS, POLL_MIN_MS};

/// What came of the last poll, or happened since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollEvent {
    /// There was news, or the client itself did something.
    Active,
    /// There was nothing new.
    Quiet,
    /// Nobody answered.
    Failed,
}

/// The interval between polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Polling {
    /// The last interval of a quiet client; 0 after activity.
    quiet_ms: u64,
    /// Failures in a row.
    failed: u32,
}

/// How a client waits that gets no answer: others that lost the same server wait, too.
const FAILING: Backoff = Backoff { base_ms: 2 * POLL_MIN_MS, max_ms: POLL_MAX_MS };

impl Polling {
    /// Takes an event, and says for how long to wait before the next poll, milliseconds. `random` is a
    /// fresh random number, for the jitter of a failing client.
    #[must_use]
    pub fn step(self, event: PollEvent, random: u64) -> (Self, u64) {
        match event {
            PollEvent::Active => (Self { quiet_ms: POLL_MIN_MS, failed: 0 }, POLL_MIN_MS),
            PollEvent::Quiet => {
                let quiet_ms = self.quiet_ms.saturating_mul(2).clamp(POLL_MIN_MS, POLL_MAX_MS);
                (Self { quiet_ms, failed: 0 }, quiet_ms)
            }
            PollEvent::Failed => {
                let failed = self.failed.saturating_add(1);
                let delay_ms = FAILING.full_jitter_ms(failed, random).max(POLL_MIN_MS);
                (Self { failed, ..self }, delay_ms)
            }
        }
    }

    /// Whether nobody answered the last poll.
    #[must_use]
    pub fn is_failing(self) -> bool {
        self.failed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delays after these events.
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
    fn the_interval_grows_while_nothing_happens_and_is_short_again_after_that() {
        use PollEvent::{Active, Quiet};
        let quiet = [Active, Quiet, Quiet, Quiet, Quiet, Quiet, Quiet, Quiet, Active, Quiet];
        let expected = [1, 2, 4, 8, 16, 32, 60, 60, 1, 2].map(|seconds| seconds * 1_000);
        assert_eq!(delays(quiet, 9), expected);
    }

    #[test]
    fn a_failing_client_backs_off_with_jitter_and_goes_on_where_it_was() {
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
