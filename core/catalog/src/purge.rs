//! Purge of deleted spreadsheets, 30 days after their deletion.
//!
//! A fork does not copy the entries that it shares with its source, so a log is kept as long as it
//! has forks. Equal snapshot objects of a family are stored once, and are kept as long as one of
//! its logs needs them.

use std::collections::{BTreeMap, BTreeSet};

use crate::spreadsheet::Status;
use cellar_base::identity::LogId;

/// A log in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Log id.
    pub log: LogId,
    /// Source of a fork.
    pub source: Option<LogId>,
    /// Number of forks between the log and the origin of its family; 0 for the origin.
    pub depth: u32,
    /// Status in the catalog; `None` for a log that was never listed.
    pub status: Option<Status>,
}

/// Decision about a deleted log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletedPlan {
    /// It can still be undeleted.
    Restorable {
        /// End of the period, Unix seconds.
        until_s: u64,
    },
    /// It has forks in use, which need its entries.
    Forked {
        /// Number of direct forks.
        forks: usize,
    },
    /// Purge it.
    Purge,
}

/// Decides about every deleted log, forks before their sources. Logs in use are left out.
#[must_use]
pub fn plan_deleted(residents: &[Resident], now_s: u64) -> Vec<(LogId, DeletedPlan)> {
    let mut residents: Vec<&Resident> = residents.iter().collect();
    residents.sort_by_key(|resident| (std::cmp::Reverse(resident.depth), resident.log));
    let mut forks: BTreeMap<LogId, BTreeSet<LogId>> = BTreeMap::new();
    let mut plans = Vec::new();
    for Resident { log, source, status, .. } in residents {
        let left = forks.get(log).map_or(0, BTreeSet::len);
        let plan = match status {
            Some(status @ Status::Deleted { .. }) => match status.kept_until_s() {
                Some(until_s) if now_s < until_s => Some(DeletedPlan::Restorable { until_s }),
                _ if left > 0 => Some(DeletedPlan::Forked { forks: left }),
                _ => Some(DeletedPlan::Purge),
            },
            // A purge was interrupted, or the log was created again at the same time.
            Some(Status::Purged { .. }) if left > 0 => Some(DeletedPlan::Forked { forks: left }),
            Some(Status::Purged { .. }) => Some(DeletedPlan::Purge),
            Some(Status::Active | Status::Archived { .. }) | None => None,
        };
        if plan != Some(DeletedPlan::Purge)
            && let Some(source) = source
        {
            forks.entry(*source).or_default().insert(*log);
        }
        plans.extend(plan.map(|plan| (*log, plan)));
    }
    plans
}

/// A log whose snapshots are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Log id.
    pub log: LogId,
    /// Set if nobody can undelete it any more, so that nobody waits for its unfinished snapshots.
    pub is_due: bool,
}

/// Returns the logs of a family whose snapshots are needed: all but those that are purged in the
/// catalog and have no forks. A log that can no longer be undeleted is needed until it is purged in
/// the catalog, because clocks differ.
#[must_use]
pub fn needed(family: &[Resident], now_s: u64) -> Vec<Needed> {
    let goes = |(log, plan): (LogId, DeletedPlan)| (plan == DeletedPlan::Purge).then_some(log);
    let going: BTreeSet<LogId> = plan_deleted(family, now_s).into_iter().filter_map(goes).collect();
    let needed = |resident: &Resident| {
        let is_due = going.contains(&resident.log);
        let is_purged = matches!(resident.status, Some(Status::Purged { .. }));
        (!(is_purged && is_due)).then_some(Needed { log: resident.log, is_due })
    };
    family.iter().filter_map(needed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::DELETED_KEPT_S;

    const NOW_S: u64 = 10 * DELETED_KEPT_S;
    const DUE: Option<Status> = Some(Status::Deleted { at_s: NOW_S - DELETED_KEPT_S });

    fn log(number: u128) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn resident(number: u128, source: Option<(u128, u32)>, status: Option<Status>) -> Resident {
        let depth = source.map_or(0, |(_, depth)| depth);
        Resident { log: log(number), source: source.map(|(of, _)| log(of)), depth, status }
    }

    fn planned(residents: &[Resident]) -> Vec<(LogId, DeletedPlan)> {
        let plans = plan_deleted(residents, NOW_S);
        let mut reversed = residents.to_vec();
        reversed.reverse();
        assert_eq!(plan_deleted(&reversed, NOW_S), plans, "in whatever order they are found");
        plans
    }

    #[test]
    fn what_was_deleted_thirty_days_ago_goes_and_nothing_else() {
        let status = |at_s| Some(Status::Deleted { at_s });
        let until_s = NOW_S + 1;
        let plans = planned(&[
            resident(1, None, None),
            resident(2, None, Some(Status::Active)),
            resident(3, None, Some(Status::Archived { at_s: 1 })),
            resident(4, None, status(until_s - DELETED_KEPT_S)),
            resident(5, None, DUE),
            resident(6, None, Some(Status::Purged { at_s: NOW_S })),
        ]);
        let expected = [
            (log(4), DeletedPlan::Restorable { until_s }),
            (log(5), DeletedPlan::Purge),
            (log(6), DeletedPlan::Purge),
        ];
        assert_eq!(plans, expected);
    }

    #[test]
    fn what_forks_need_stays_until_they_are_gone() {
        let origin = resident(1, None, DUE);
        let middle = resident(2, Some((1, 1)), DUE);
        let last = resident(3, Some((2, 2)), Some(Status::Active));
        let kept = |number| (log(number), DeletedPlan::Forked { forks: 1 });
        assert_eq!(planned(&[origin, middle, last]), [kept(2), kept(1)]);
        let never_listed = Resident { status: None, ..last };
        assert_eq!(planned(&[origin, middle, never_listed]), [kept(2), kept(1)]);
        // All of them at once, forks first.
        let gone = |number| (log(number), DeletedPlan::Purge);
        let last = Resident { status: DUE, ..last };
        assert_eq!(planned(&[origin, middle, last]), [gone(3), gone(2), gone(1)]);
        // Two forks, one of which goes.
        let other = resident(4, Some((1, 1)), Some(Status::Archived { at_s: 1 }));
        assert_eq!(planned(&[origin, middle, other]), [gone(2), kept(1)]);
        // What was begun and is needed after all stays, too.
        let begun = Resident { status: Some(Status::Purged { at_s: NOW_S }), ..origin };
        assert_eq!(planned(&[begun, other]), [kept(1)]);
    }

    #[test]
    fn what_is_purged_needs_nothing_unless_a_fork_needs_it() {
        let purged = Some(Status::Purged { at_s: 1 });
        let needed = |residents: &[Resident]| {
            let needed = needed(residents, NOW_S).into_iter();
            needed.map(|Needed { log, is_due }| (log, is_due)).collect::<Vec<_>>()
        };
        let (origin, due) =
            (resident(1, None, Some(Status::Active)), resident(3, Some((1, 1)), DUE));
        let gone = resident(2, Some((1, 1)), purged);
        let until_it_is_said = [(log(1), false), (log(3), true)];
        assert_eq!(needed(&[origin, gone, due]), until_it_is_said);
        let of_gone = resident(4, Some((2, 2)), Some(Status::Active));
        let all = [(log(1), false), (log(2), false), (log(4), false)];
        assert_eq!(needed(&[origin, gone, of_gone]), all);
        let of_gone = Resident { status: purged, ..of_gone };
        assert_eq!(needed(&[origin, gone, of_gone]), [(log(1), false)]);
        assert_eq!(needed(&[Resident { status: purged, ..origin }, gone]), []);
        let never_listed = Resident { status: None, ..gone };
        assert_eq!(needed(&[never_listed]), [(log(2), false)]);
    }
}
