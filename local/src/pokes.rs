//! Delivers pokes (change hints) within the local stack's process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{MAX_FOLLOWERS, MAX_FOLLOWERS_PER_SUBJECT};
use cellar_base::position::Position;
use cellar_engine::ports::{FollowError, Pokes, Subscription};
use tokio::sync::watch;

/// Subscribers of each log.
#[derive(Debug, Default)]
pub(crate) struct LocalPokes {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Logs that have had subscribers.
    logs: HashMap<LogId, watch::Sender<Position>>,
    /// Connections of each subject (caller), counted by the strong references to the subject's
    /// slot.
    subjects: HashMap<SubjectKey, Weak<()>>,
    ended: bool,
}

impl LocalPokes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all subscriptions, which would otherwise keep their connections open.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        state.logs.clear();
    }
}

impl Pokes for LocalPokes {
    fn poke(&self, log: LogId, head: Position) {
        let mut state = self.lock();
        let Some(followed) = state.logs.get(&log) else { return };
        if followed.receiver_count() == 0 {
            state.logs.remove(&log);
            return;
        }
        // Concurrent appends may report their heads in any order.
        followed.send_if_modified(|newest| {
            let is_newer = head > *newest;
            *newest = head.max(*newest);
            is_newer
        });
    }

    fn follow(&self, log: LogId, subject: SubjectKey) -> Result<Subscription, FollowError> {
        let mut state = self.lock();
        if state.ended {
            return Err(FollowError::NoPokes);
        }
        state.logs.retain(|_, followed| followed.receiver_count() > 0);
        let followers: usize = state.logs.values().map(watch::Sender::receiver_count).sum();
        if followers >= MAX_FOLLOWERS {
            return Err(FollowError::TooMany { max: MAX_FOLLOWERS });
        }
        state.subjects.retain(|_, slot| slot.strong_count() > 0);
        let slot = state.subjects.get(&subject).and_then(Weak::upgrade).unwrap_or_default();
        // The count includes the slot returned by this function.
        if Arc::strong_count(&slot) > MAX_FOLLOWERS_PER_SUBJECT {
            return Err(FollowError::TooManyOfOne { max: MAX_FOLLOWERS_PER_SUBJECT });
        }
        state.subjects.insert(subject, Arc::downgrade(&slot));
        let new = || watch::Sender::new(Position::FIRST);
        Ok(Subscription { newest: state.logs.entry(log).or_insert_with(new).subscribe(), slot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(number: u128) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn subject(number: usize) -> SubjectKey {
        SubjectKey::new("cellar", &number.to_string())
    }

    #[test]
    fn notifies_subscribers_of_newer_positions_only() {
        let pokes = LocalPokes::default();
        pokes.poke(log(1), at(1));
        let (mut one, mut other) =
            (pokes.follow(log(1), subject(1)).unwrap(), pokes.follow(log(2), subject(1)).unwrap());
        assert!(!one.newest.has_changed().unwrap(), "nothing of before");
        pokes.poke(log(1), at(3));
        pokes.poke(log(1), at(2));
        assert!(one.newest.has_changed().unwrap());
        assert_eq!(*one.newest.borrow_and_update(), at(3));
        assert!(!other.newest.has_changed().unwrap());
        pokes.poke(log(2), at(5));
        assert_eq!(*other.newest.borrow_and_update(), at(5));
        pokes.end();
        assert!(one.newest.has_changed().is_err(), "it ends");
        assert_eq!(pokes.follow(log(1), subject(1)).err(), Some(FollowError::NoPokes));
    }

    #[test]
    fn limits_the_number_of_subscribers() {
        let pokes = LocalPokes::default();
        let mut followed: Vec<_> = (0..MAX_FOLLOWERS)
            .map(|number| pokes.follow(log(number as u128 % 7), subject(number)).unwrap())
            .collect();
        let too_many = Some(FollowError::TooMany { max: MAX_FOLLOWERS });
        assert_eq!(pokes.follow(log(0), subject(0)).err(), too_many);
        followed.pop();
        assert!(pokes.follow(log(9), subject(9)).is_ok());
        followed.clear();
        pokes.poke(log(0), at(1));
        assert!(pokes.follow(log(0), subject(0)).is_ok());
        assert_eq!(pokes.lock().logs.len(), 1, "logs without subscribers are dropped");
    }

    #[test]
    fn limits_the_subscriptions_of_one_subject() {
        let pokes = LocalPokes::default();
        let follow = |number: usize| pokes.follow(log(number as u128), subject(0));
        let mut followed: Vec<_> =
            (0..MAX_FOLLOWERS_PER_SUBJECT).map(|number| follow(number).unwrap()).collect();
        let too_many = FollowError::TooManyOfOne { max: MAX_FOLLOWERS_PER_SUBJECT };
        assert_eq!(follow(0).err(), Some(too_many));
        let other = pokes.follow(log(0), subject(1)).unwrap();
        followed.pop();
        assert!(follow(0).is_ok());
        drop((followed, other));
        assert!(follow(0).is_ok());
        assert_eq!(pokes.lock().subjects.len(), 1, "who left is forgotten");
    }
}
