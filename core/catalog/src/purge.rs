//! Selects the deleted spreadsheets that must be purged because they can no longer be recovered.
//!
//! A fork shares the entries before its fork position with its source, so a log is kept as long as
//! it has forks. Forks also share snapshot objects, which are kept as long as any of the logs needs
//! them.

use std::collections::{BTreeMap, BTreeSet};

use crate::spreadsheet::Status;
use cellar_base::identity::LogId;

/// A log that exists in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExistingLog {
    /// Id of the log.
    pub log: LogId,
    /// Source log, if the log is a fork.
    pub source: Option<LogId>,
    /// Number of forks between the original log and this log. The original log has depth 0.
    pub depth: u32,
    /// Status in the catalog, or `None` if the catalog does not contain the log.
    pub status: Option<Status>,
}

/// Plan for a deleted log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletedPlan {
    /// Keep the log, because it can still be recovered.
    Restorable {
        /// Time until which the log can be recovered, in seconds since the Unix epoch.
        until_s: u64,
    },
    /// Keep the log, because its forks share its entries.
    Forked {
        forks: usize,
    },
    Purge,
}

/// Decides for each deleted log whether it is kept or purged. Forks precede their sources in the
/// result. Logs that are not deleted are omitted.
#[must_use]
pub fn plan_deleted(logs: &[ExistingLog], now_s: u64) -> Vec<(LogId, DeletedPlan)> {
    let mut forks_first: Vec<&ExistingLog> = logs.iter().collect();
    forks_first
        .sort_by_key(|existing_log| (std::cmp::Reverse(existing_log.depth), existing_log.log));
    let mut retained_forks: BTreeMap<LogId, BTreeSet<LogId>> = BTreeMap::new();
    let mut plans = Vec::new();
    for existing_log in forks_first {
        let fork_count = retained_forks.get(&existing_log.log).map_or(0, BTreeSet::len);
        let plan = plan_deleted_log(existing_log.status, fork_count, now_s);
        let is_retained = plan != Some(DeletedPlan::Purge);
        if let Some(source) = existing_log.source
            && is_retained
        {
            retained_forks.entry(source).or_default().insert(existing_log.log);
        }
        if let Some(plan) = plan {
            plans.push((existing_log.log, plan));
        }
    }
    plans
}

/// `fork_count` is the number of forks of the log that are kept. Returns `None` if the log is not
/// deleted.
fn plan_deleted_log(status: Option<Status>, fork_count: usize, now_s: u64) -> Option<DeletedPlan> {
    match status? {
        Status::Active | Status::Archived { .. } => return None,
        status @ Status::Deleted { .. } => {
            if let Some(until_s) = status.undelete_deadline_s()
                && now_s < until_s
            {
                return Some(DeletedPlan::Restorable { until_s });
            }
        }
        // The catalog states that the log was purged, but the log exists. A purge was interrupted,
        // or the log was created again concurrently.
        Status::Purged { .. } => {}
    }
    if fork_count > 0 {
        return Some(DeletedPlan::Forked { forks: fork_count });
    }
    Some(DeletedPlan::Purge)
}

/// A log whose snapshots must be retained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Id of the log.
    pub log: LogId,
    /// Whether the log will be purged. Its unfinished snapshots are then not needed.
    pub is_due: bool,
}

/// Returns the logs of a family whose snapshots must be kept: all logs except those that have no
/// forks and that the catalog records as purged.
///
/// A log that is due to be purged is still kept until the catalog records the purge. Until then, a
/// process whose clock is slow may still recover the log.
#[must_use]
pub fn needed(family: &[ExistingLog], now_s: u64) -> Vec<Needed> {
    let plans = plan_deleted(family, now_s).into_iter();
    let logs_due: BTreeSet<LogId> =
        plans.filter(|(_, plan)| *plan == DeletedPlan::Purge).map(|(log, _)| log).collect();
    let mut needed_logs = Vec::new();
    for ExistingLog { log, status, .. } in family {
        let is_due = logs_due.contains(log);
        let is_purged = matches!(status, Some(Status::Purged { .. }));
        if !is_due || !is_purged {
            needed_logs.push(Needed { log: *log, is_due });
        }
    }
    needed_logs
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

    fn resident(number: u128, source: Option<(u128, u32)>, status: Option<Status>) -> ExistingLog {
        let depth = source.map_or(0, |(_, depth)| depth);
        ExistingLog { log: log(number), source: source.map(|(of, _)| log(of)), depth, status }
    }

    fn planned(logs: &[ExistingLog]) -> Vec<(LogId, DeletedPlan)> {
        let plans = plan_deleted(logs, NOW_S);
        let mut reversed = logs.to_vec();
        reversed.reverse();
        assert_eq!(plan_deleted(&reversed, NOW_S), plans, "the order of the logs does not matter");
        plans
    }

    #[test]
    fn purges_only_logs_that_cannot_be_undeleted() {
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
    fn keeps_logs_until_their_forks_are_purged() {
        let origin = resident(1, None, DUE);
        let middle = resident(2, Some((1, 1)), DUE);
        let last = resident(3, Some((2, 2)), Some(Status::Active));
        let kept = |number| (log(number), DeletedPlan::Forked { forks: 1 });
        assert_eq!(planned(&[origin, middle, last]), [kept(2), kept(1)]);
        let never_listed = ExistingLog { status: None, ..last };
        assert_eq!(planned(&[origin, middle, never_listed]), [kept(2), kept(1)]);
        // All three logs are purged, forks first.
        let gone = |number| (log(number), DeletedPlan::Purge);
        let last = ExistingLog { status: DUE, ..last };
        assert_eq!(planned(&[origin, middle, last]), [gone(3), gone(2), gone(1)]);
        // One of two forks is purged.
        let other = resident(4, Some((1, 1)), Some(Status::Archived { at_s: 1 }));
        assert_eq!(planned(&[origin, middle, other]), [gone(2), kept(1)]);
        // An interrupted purge is not continued while a fork needs the log.
        let begun = ExistingLog { status: Some(Status::Purged { at_s: NOW_S }), ..origin };
        assert_eq!(planned(&[begun, other]), [kept(1)]);
    }

    #[test]
    fn keeps_snapshots_of_purged_logs_only_for_forks() {
        let purged = Some(Status::Purged { at_s: 1 });
        let needed = |logs: &[ExistingLog]| {
            let needed = needed(logs, NOW_S).into_iter();
            needed.map(|Needed { log, is_due }| (log, is_due)).collect::<Vec<_>>()
        };
        let (origin, due) =
            (resident(1, None, Some(Status::Active)), resident(3, Some((1, 1)), DUE));
        let gone = resident(2, Some((1, 1)), purged);
        let until_the_purge_is_recorded = [(log(1), false), (log(3), true)];
        assert_eq!(needed(&[origin, gone, due]), until_the_purge_is_recorded);
        let of_gone = resident(4, Some((2, 2)), Some(Status::Active));
        let all = [(log(1), false), (log(2), false), (log(4), false)];
        assert_eq!(needed(&[origin, gone, of_gone]), all);
        let of_gone = ExistingLog { status: purged, ..of_gone };
        assert_eq!(needed(&[origin, gone, of_gone]), [(log(1), false)]);
        assert_eq!(needed(&[ExistingLog { status: purged, ..origin }, gone]), []);
        let never_listed = ExistingLog { status: None, ..gone };
        assert_eq!(needed(&[never_listed]), [(log(2), false)]);
    }
}
