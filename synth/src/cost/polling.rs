//! Requests of open clients, which poll for changes.

use cellar_api::polling::{PollEvent, Polling};
use cellar_base::limits::{LISTING_AGE_MS, POLL_MAX_MS};

use super::estimate::Usage;

const HOUR_MS: u128 = 3_600_000;

/// Requests that open clients send in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PollCounts {
    pub(super) polls: u128,
    /// Polls that find a change. The client then also requests the new entries.
    pub(super) found_changes: u128,
    /// Polls for which the server reads the role of the person, because it has not read the role in
    /// the last [`LISTING_AGE_MS`].
    pub(super) access_checks: u128,
}

/// The polls from one found change to the next.
struct Cycle {
    polls: u128,
    duration_ms: u128,
}

impl PollCounts {
    /// Assumes that the edits are spread evenly over the time in which spreadsheets are open.
    pub(super) fn estimate(usage: &Usage) -> Self {
        let open_ms = u128::from(usage.open_hours) * HOUR_MS;
        let seen_edits = u128::from(usage.edits) * u128::from(usage.viewers_per_edit);
        let cycle = match open_ms.checked_div(seen_edits) {
            Some(interval_ms) => Cycle::until_change(interval_ms),
            None => Cycle { polls: 1, duration_ms: u128::from(POLL_MAX_MS) },
        };
        let polls = open_ms * cycle.polls / cycle.duration_ms.max(1);
        let found_changes = if seen_edits > 0 { open_ms / cycle.duration_ms.max(1) } else { 0 };
        let access_checks = polls.min(open_ms / u128::from(LISTING_AGE_MS));
        Self { polls, found_changes, access_checks }
    }

    pub(super) fn requests(self) -> u128 {
        self.polls + self.found_changes
    }
}

impl Cycle {
    /// Returns the polls after a found change, up to the first poll at or after the next change.
    fn until_change(interval_ms: u128) -> Self {
        let (mut polling, mut delay_ms) = Polling::default().step(PollEvent::Active, 0);
        let mut cycle = Self { polls: 1, duration_ms: u128::from(delay_ms) };
        while cycle.duration_ms < interval_ms && delay_ms < POLL_MAX_MS {
            (polling, delay_ms) = polling.step(PollEvent::Quiet, 0);
            cycle.polls += 1;
            cycle.duration_ms += u128::from(delay_ms);
        }
        // From now on, the delay is constant.
        let longest_ms = u128::from(POLL_MAX_MS);
        let further_polls = interval_ms.saturating_sub(cycle.duration_ms).div_ceil(longest_ms);
        cycle.polls += further_polls;
        cycle.duration_ms += further_polls * longest_ms;
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(open_hours: u64, edits: u64, viewers_per_edit: u64) -> PollCounts {
        PollCounts::estimate(&Usage { open_hours, edits, viewers_per_edit, ..Usage::default() })
    }

    #[test]
    fn an_open_spreadsheet_without_changes_is_polled_once_a_minute() {
        let idle = PollCounts { polls: 60, found_changes: 0, access_checks: 60 };
        assert_eq!(counts(1, 0, 1), idle);
        assert_eq!(counts(1_000, 0, 1).polls, 60_000);
        assert_eq!(counts(0, 1_000, 0), PollCounts::default());
    }

    #[test]
    fn polls_follow_a_change_at_growing_intervals() {
        // A change in ten minutes is found after 1, 2, 4, 8, 16, 32 seconds and nine minutes.
        let cycle = Cycle::until_change(600_000);
        assert_eq!((cycle.polls, cycle.duration_ms), (6 + 9, 63_000 + 9 * 60_000));
        for (interval_ms, polls, duration_ms) in [
            (0, 1, 1_000),
            (1_000, 1, 1_000),
            (1_001, 2, 3_000),
            (63_000, 6, 63_000),
            (63_001, 7, 123_000),
            (123_001, 8, 183_000),
        ] {
            let cycle = Cycle::until_change(interval_ms);
            assert_eq!((cycle.polls, cycle.duration_ms), (polls, duration_ms), "{interval_ms}");
        }
    }

    #[test]
    fn each_viewer_polls_faster_after_an_edit() {
        // An edit every three minutes: eight polls in 183 seconds.
        let alone = PollCounts { polls: 157_377, found_changes: 19_672, access_checks: 120_000 };
        assert_eq!(counts(1_000, 20_000, 1), alone);
        // Three people share a spreadsheet, so each sees an edit per minute: six in 63 seconds.
        let together = PollCounts { polls: 342_857, found_changes: 57_142, access_checks: 120_000 };
        assert_eq!(counts(1_000, 20_000, 3), together);
        // More edits than polls are possible.
        let busy = PollCounts { polls: 3_600, found_changes: 3_600, access_checks: 120 };
        assert_eq!(counts(1, 1_000_000, 1), busy);
    }

    #[test]
    fn the_largest_usage_does_not_overflow() {
        let most = 1_000_000_000_000;
        assert_eq!(counts(730 * most, most, most).found_changes, 730 * 3_600 * u128::from(most));
        assert!(counts(730 * most, 1, 1).polls > 0);
    }
}
