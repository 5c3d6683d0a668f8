//! What must hold in every state.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stateright::{Model, Property};

use super::{Action, Budget, SnapshotsModel, State};

/// I8.
pub const RANK: &str = "I8 progress never falls back";
/// I9.
pub const LAST: &str = "I9 the last snapshot of a segment never falls";
/// Who finds `L` finds a root.
pub const ROOT_BEFORE_LAST: &str = "a snapshot that is said to be there has a root";
/// Snapshots are made in the order of their entries.
pub const IN_ORDER: &str = "no snapshot is made before an earlier one";
/// I12.
pub const ONE_EFFECT: &str = "I12 a root once set never changes";
/// A rebuild makes each snapshot on the one that it has made before.
pub const ON_REBUILT: &str = "what is made anew stands on what is whole";
/// I12, its cost.
pub const NOT_AGAIN: &str = "what is finished is not made again";
/// I10.
pub const COMPLETES: &str = "I10 all snapshots are made when faults stop";

/// Something wrong in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Stored progress was overwritten by older progress.
    Rank {
        /// The snapshot.
        num: u32,
    },
    /// `L` fell.
    Last,
    /// A root was replaced.
    Root {
        /// The snapshot.
        num: u32,
    },
    /// A rebuild met lost objects.
    OnNothing {
        /// The snapshot.
        num: u32,
    },
    /// Work was begun on a finished snapshot.
    MadeAgain {
        /// The snapshot.
        num: u32,
    },
}

impl SnapshotsModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(RANK, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Rank { .. }))
            }),
            Property::always(LAST, |_, state: &State| state.fault != Some(Fault::Last)),
            Property::always(ROOT_BEFORE_LAST, |_, state: &State| {
                let root = |last| state.store.roots.get(&last).copied().flatten();
                state.store.last.is_none_or(|last| root(last).is_some())
            }),
            Property::always(IN_ORDER, |_, state: &State| {
                let roots = &state.store.roots;
                let first_without = state.store.first_unfinished().unwrap_or(u32::MAX);
                roots.iter().all(|(num, root)| root.is_none() || *num < first_without)
                    // What is made anew waits for nothing that was never made.
                    || state.store.lost
            }),
            Property::always(ONE_EFFECT, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Root { .. }))
            }),
            Property::always(ON_REBUILT, |_, state: &State| {
                !matches!(state.fault, Some(Fault::OnNothing { .. }))
            }),
            Property::always(NOT_AGAIN, |_, state: &State| {
                !matches!(state.fault, Some(Fault::MadeAgain { .. }))
            }),
            Property::sometimes("all is made", |model: &Self, state: &State| model.is_made(state)),
            Property::sometimes("nothing is left behind", |model: &Self, state: &State| {
                let store = &state.store;
                model.is_made(state) && store.pending.is_empty() && store.messages.is_empty()
            }),
        ];
        if self.finishing {
            properties.push(Property::always(COMPLETES, |model: &Self, state: &State| {
                state.fault.is_some() || model.completes(state)
            }));
        }
        if self.budget.leases > 0 {
            properties.push(Property::sometimes("a worker is replaced", |_, state: &State| {
                let mut processes = state.processes.iter();
                let taken = |record: u64| record > 2;
                processes.len() > 1
                    && state.store.pending.values().any(|record| taken(record.increment))
                    && processes.all(|process| process.late.is_some())
            }));
        }
        properties
    }

    fn is_made(&self, state: &State) -> bool {
        let (last, store) = (self.snapshots.checked_sub(1), &state.store);
        state.operator.is_none()
            && store.last == last
            && (0..self.snapshots).all(|num| store.is_whole(num))
    }

    /// If no more faults happen, workers run one after the other and time goes by, all is made.
    fn completes(&self, state: &State) -> bool {
        const MAX_STEPS: usize = 400;
        let mut state = State { budget: Budget::default(), late: Vec::new(), ..state.clone() };
        let mut passed = Vec::new();
        for _ in 0..MAX_STEPS {
            let fingerprint = fingerprint(&state);
            if self.is_made(&state) || self.known.holds(fingerprint) {
                self.known.extend(passed);
                return true;
            }
            passed.push(fingerprint);
            let mut actions = Vec::new();
            self.possible(&state, &mut actions);
            let action = actions.first().copied().unwrap_or(Action::Lease);
            state.budget.leases = u8::from(action == Action::Lease);
            let Some(next) = self.next_state(&state, action) else { return false };
            state = next;
        }
        false
    }
}

/// Fingerprints of states from which all is made: the ways from most states meet soon.
#[derive(Debug, Clone, Default)]
pub struct KnownToComplete(Arc<Mutex<HashSet<u64>>>);

impl KnownToComplete {
    fn holds(&self, fingerprint: u64) -> bool {
        self.lock().contains(&fingerprint)
    }

    fn extend(&self, fingerprints: Vec<u64>) {
        self.lock().extend(fingerprints);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
