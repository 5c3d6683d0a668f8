//! The properties that the model checker checks in every state of the snapshot model.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stateright::{Model, Property};

use super::{Budget, SnapshotsAction, SnapshotsModel, State};

/// Invariant I8: stored progress is never overwritten with older progress while it is needed. The
/// progress of a finished snapshot is needed only in a rebuild.
pub const RANK: &str = "I8 progress never falls back";
/// Invariant I9: the number of the last snapshot in the segment record never decreases.
pub const LAST: &str = "I9 the last snapshot of a segment never falls";
/// Property: the last snapshot in the segment record has a root, so a reader of the record finds
/// the snapshot.
pub const ROOT_BEFORE_LAST: &str = "the last snapshot of a segment has a root";
/// Property: snapshots are built in the order of their entries.
pub const IN_ORDER: &str = "no snapshot is built before an earlier one";
/// Invariant I12: a root changes only during a rebuild.
pub const ONE_EFFECT: &str = "I12 a root once set never changes";
/// Property: a rebuilt snapshot is always based on the previous rebuilt snapshot.
pub const ON_REBUILT: &str = "a rebuilt snapshot has a complete base";
/// Property: no worker wastes work by building a finished snapshot again. This is a part of
/// invariant I12.
pub const NOT_AGAIN: &str = "a finished snapshot is not built again";
/// Invariant I10: every snapshot is eventually finished.
pub const COMPLETES: &str = "I10 all snapshots complete when faults stop";

/// The highest version number that the first worker of a record can write, because it creates the
/// record and stores progress once. Outside a rebuild, a higher number means that another worker
/// has taken over the record.
const MAX_INCREMENT_OF_FIRST_WORKER: u64 = 2;

/// A violation caused by a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Stored progress was overwritten with older progress.
    ProgressDecreased {
        /// Number of the Snapshot entry.
        entry_number: u32,
    },
    /// The number of the last snapshot in the segment record decreased.
    LastDecreased,
    /// A root was replaced.
    RootReplaced {
        /// Number of the Snapshot entry.
        entry_number: u32,
    },
    /// A rebuilt snapshot is based on a snapshot whose objects are lost.
    LostBase {
        /// Number of the Snapshot entry.
        entry_number: u32,
    },
    /// A worker started to build a snapshot that was already finished.
    BuiltAgain {
        /// Number of the Snapshot entry.
        entry_number: u32,
    },
}

impl SnapshotsModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(RANK, |_, state: &State| {
                !matches!(state.fault, Some(Fault::ProgressDecreased { .. }))
            }),
            Property::always(LAST, |_, state: &State| state.fault != Some(Fault::LastDecreased)),
            Property::always(ROOT_BEFORE_LAST, |_, state: &State| state.has_root_of_last()),
            Property::always(IN_ORDER, |_, state: &State| state.are_roots_in_order()),
            Property::always(ONE_EFFECT, |_, state: &State| {
                !matches!(state.fault, Some(Fault::RootReplaced { .. }))
            }),
            Property::always(ON_REBUILT, |_, state: &State| {
                !matches!(state.fault, Some(Fault::LostBase { .. }))
            }),
            Property::always(NOT_AGAIN, |_, state: &State| {
                !matches!(state.fault, Some(Fault::BuiltAgain { .. }))
            }),
            Property::sometimes("all snapshots are complete", |model: &Self, state: &State| {
                model.is_all_complete(state)
            }),
            Property::sometimes(
                "no record and no message is left",
                |model: &Self, state: &State| {
                    let store = &state.store;
                    model.is_all_complete(state)
                        && store.pending.is_empty()
                        && store.messages.is_empty()
                },
            ),
        ];
        if self.finishing {
            properties.push(Property::always(COMPLETES, |model: &Self, state: &State| {
                state.fault.is_some() || model.can_complete(state)
            }));
        }
        if self.budget.leases > 0 {
            properties.push(Property::sometimes("a worker is replaced", |_, state: &State| {
                state.is_worker_replaced()
            }));
        }
        properties
    }

    fn is_all_complete(&self, state: &State) -> bool {
        state.operator.is_none()
            && state.store.last == self.snapshots.checked_sub(1)
            && (0..self.snapshots).all(|entry_number| state.store.is_complete(entry_number))
    }

    /// Returns whether all snapshots are eventually finished if workers run one at a time, time
    /// advances and no more faults are injected.
    fn can_complete(&self, state: &State) -> bool {
        const MAX_STEPS: usize = 400;
        let mut state =
            State { budget: Budget::default(), late_writes: Vec::new(), ..state.clone() };
        let mut visited_fingerprints = Vec::new();
        for _ in 0..MAX_STEPS {
            let fingerprint = fingerprint_of(&state);
            if self.is_all_complete(&state) || self.known_to_complete.contains(fingerprint) {
                self.known_to_complete.extend(visited_fingerprints);
                return true;
            }
            visited_fingerprints.push(fingerprint);
            let mut actions = Vec::new();
            self.add_possible_actions(&state, &mut actions);
            let first_action =
                actions.first().copied().unwrap_or(SnapshotsAction::AdvanceClockByLease);
            if first_action == SnapshotsAction::AdvanceClockByLease {
                state.budget.leases = 1;
            }
            let Some(new_state) = self.next_state(&state, first_action) else { return false };
            state = new_state;
        }
        false
    }
}

impl State {
    fn has_root_of_last(&self) -> bool {
        let Some(last) = self.store.last else { return true };
        self.store.roots.get(&last).copied().flatten().is_some()
    }

    /// Always returns `true` after all objects were lost, because a rebuild does not wait for an
    /// earlier snapshot that was never built.
    fn are_roots_in_order(&self) -> bool {
        let Some(first_unfinished) = self.store.first_unfinished() else { return true };
        let has_later_root =
            self.store.roots.range(first_unfinished..).any(|(_, root)| root.is_some());
        !has_later_root || self.store.are_objects_lost
    }

    fn is_worker_replaced(&self) -> bool {
        let is_taken_over = self
            .store
            .pending
            .values()
            .any(|record| record.increment > MAX_INCREMENT_OF_FIRST_WORKER);
        let have_all_claimed =
            self.processes.iter().all(|process| process.snapshot_at_claim.is_some());
        self.processes.len() > 1 && is_taken_over && have_all_claimed
    }
}

/// The fingerprints of states from which all snapshots are known to finish. The paths from
/// different states soon reach the same states, so the cache saves most of the work.
#[derive(Debug, Clone, Default)]
pub struct KnownToComplete(Arc<Mutex<HashSet<u64>>>);

impl KnownToComplete {
    fn contains(&self, fingerprint: u64) -> bool {
        self.lock().contains(&fingerprint)
    }

    fn extend(&self, fingerprints: Vec<u64>) {
        self.lock().extend(fingerprints);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint_of(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
