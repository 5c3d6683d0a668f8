//! Lets the appends of one process to one log go one after the other, in order of arrival.
//!
//! Otherwise they would race for the next position: all but one would lose, read the winner's entry
//! and try again, and an append that loses often would give up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_QUEUED_APPENDS;
use tokio::sync::OwnedMutexGuard;

#[derive(Debug, Default)]
pub(super) struct AppendQueue {
    logs: Mutex<HashMap<LogId, LogQueue>>,
}

#[derive(Debug, Default)]
struct LogQueue {
    /// Number of appends that wait or run.
    members: usize,
    /// Tokio's lock is given to the callers in the order in which they ask for it.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Too many appends to one log wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueIsFull;

/// While this value exists, no other append of the process to the log runs.
#[derive(Debug)]
pub(super) struct AppendTurn<'a> {
    _guard: OwnedMutexGuard<()>,
    _member: Member<'a>,
}

/// An append that waits or runs.
#[derive(Debug)]
struct Member<'a> {
    queue: &'a AppendQueue,
    log_id: LogId,
}

impl AppendQueue {
    /// Waits for the appends to the log that arrived earlier. A caller that goes away leaves the
    /// queue.
    pub(super) async fn wait_for_turn(&self, log_id: LogId) -> Result<AppendTurn<'_>, QueueIsFull> {
        let (member, turn) = self.join(log_id)?;
        Ok(AppendTurn { _guard: turn.lock_owned().await, _member: member })
    }

    fn join(
        &self,
        log_id: LogId,
    ) -> Result<(Member<'_>, Arc<tokio::sync::Mutex<()>>), QueueIsFull> {
        let mut logs = self.lock();
        let log_queue = logs.entry(log_id).or_default();
        if log_queue.members >= MAX_QUEUED_APPENDS {
            return Err(QueueIsFull);
        }
        log_queue.members += 1;
        Ok((Member { queue: self, log_id }, Arc::clone(&log_queue.turn)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LogId, LogQueue>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        let mut logs = self.queue.lock();
        if let Some(log_queue) = logs.get_mut(&self.log_id) {
            log_queue.members -= 1;
            if log_queue.members == 0 {
                logs.remove(&self.log_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    fn log(number: u128) -> LogId {
        LogId::from_uuid(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn appends_to_one_log_take_turns_in_order_of_arrival() {
        let queue = AppendQueue::default();
        let first = queue.wait_for_turn(log(1)).await.unwrap();
        let other_log = queue.wait_for_turn(log(2)).await.unwrap();
        let order = Mutex::new(Vec::new());
        let wait = async |number: u32| {
            let turn = queue.wait_for_turn(log(1)).await.unwrap();
            order.lock().unwrap().push(number);
            drop(turn);
        };
        let end_first = async {
            tokio::task::yield_now().await;
            assert!(order.lock().unwrap().is_empty());
            drop(first);
        };
        tokio::join!(wait(1), wait(2), wait(3), end_first);
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
        drop(other_log);
        assert!(queue.lock().is_empty());
    }

    #[tokio::test]
    async fn the_queue_of_a_log_ends_at_its_limit() {
        let queue = AppendQueue::default();
        let members: Vec<_> =
            (0..MAX_QUEUED_APPENDS).map(|_| queue.join(log(1)).unwrap()).collect();
        assert_eq!(queue.wait_for_turn(log(1)).await.unwrap_err(), QueueIsFull);
        queue.wait_for_turn(log(2)).await.unwrap();
        drop(members);
        queue.wait_for_turn(log(1)).await.unwrap();
        assert!(queue.lock().is_empty());
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_the_queue() {
        let queue = AppendQueue::default();
        let first = queue.wait_for_turn(log(1)).await.unwrap();
        let wait = queue.wait_for_turn(log(1));
        assert!(tokio::time::timeout(Duration::from_millis(1), wait).await.is_err());
        assert_eq!(queue.lock()[&log(1)].members, 1);
        drop(first);
        queue.wait_for_turn(log(1)).await.unwrap();
    }
}
