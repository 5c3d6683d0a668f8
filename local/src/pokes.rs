//! Delivers pokes (change hints) within the local stack's process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{MAX_FOLLOWERS, MAX_FOLLOWERS_PER_SUBJECT};
use cellar_base::position::Position;
use cellar_engine::ports::{FollowError, Pokes, Subscription};
use tokio::sync::watch;

#[derive(Debug, Default)]
pub(crate) struct LocalPokes {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// For each log with subscribers, the channel that sends the log's newest position (head).
    head_senders: HashMap<LogId, watch::Sender<Position>>,
    /// For each subject (caller), a shared `Arc` slot. Every open subscription of the subject holds
    /// a reference to the slot, so the reference count is the number of subscriptions.
    subject_slots: HashMap<SubjectKey, Weak<()>>,
    has_ended: bool,
}

impl State {
    fn remove_ended_subscriptions(&mut self) {
        self.head_senders.retain(|_, head_sender| head_sender.receiver_count() > 0);
        self.subject_slots.retain(|_, slot| slot.strong_count() > 0);
    }

    fn follower_count(&self) -> usize {
        self.head_senders.values().map(watch::Sender::receiver_count).sum()
    }

    /// Returns an error if the subject already has the maximum number of subscriptions.
    fn acquire_subject_slot(&mut self, subject: SubjectKey) -> Result<Arc<()>, FollowError> {
        let slot = self.subject_slots.get(&subject).and_then(Weak::upgrade).unwrap_or_default();
        // The reference count includes the new subscription, which holds `slot`.
        if Arc::strong_count(&slot) > MAX_FOLLOWERS_PER_SUBJECT {
            return Err(FollowError::TooManyOfOne { max: MAX_FOLLOWERS_PER_SUBJECT });
        }
        self.subject_slots.insert(subject, Arc::downgrade(&slot));
        Ok(slot)
    }
}

impl LocalPokes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all subscriptions, so that the connections of the subscribers can be closed.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        state.head_senders.clear();
    }
}

impl Pokes for LocalPokes {
    fn poke(&self, log: LogId, head: Position) {
        let mut state = self.lock();
        let Some(head_sender) = state.head_senders.get(&log) else { return };
        if head_sender.receiver_count() == 0 {
            state.head_senders.remove(&log);
            return;
        }
        // Ignore an older head, because concurrent appends may report their positions out of order.
        head_sender.send_if_modified(|newest_head| {
            let is_newer = head > *newest_head;
            if is_newer {
                *newest_head = head;
            }
            is_newer
        });
    }

    fn follow(&self, log: LogId, subject: SubjectKey) -> Result<Subscription, FollowError> {
        let mut state = self.lock();
        if state.has_ended {
            return Err(FollowError::NoPokes);
        }
        state.remove_ended_subscriptions();
        if state.follower_count() >= MAX_FOLLOWERS {
            return Err(FollowError::TooMany { max: MAX_FOLLOWERS });
        }
        let slot = state.acquire_subject_slot(subject)?;
        let head_sender =
            state.head_senders.entry(log).or_insert_with(|| watch::Sender::new(Position::FIRST));
        Ok(Subscription { newest: head_sender.subscribe(), slot })
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
        assert_eq!(pokes.lock().head_senders.len(), 1, "logs without subscribers are dropped");
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
        assert_eq!(pokes.lock().subject_slots.len(), 1, "who left is forgotten");
    }
}
