//! In-memory job queue.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::ports::{
    Clock, Jobs, PortError, QueueRules, Receipt, Received, check_message_body, check_receive_count,
    check_visibility,
};

/// An in-memory job queue with an optional dead-letter queue.
pub struct MemoryQueue {
    clock: Arc<dyn Clock>,
    rules: QueueRules,
    dead_letters: Option<Arc<MemoryQueue>>,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    last_id: u64,
    messages: BTreeMap<u64, Message>,
}

#[derive(Clone)]
struct Message {
    body: String,
    sent_ms: u64,
    visible_from_ms: u64,
    receive_count: u32,
}

impl MemoryQueue {
    /// Creates an empty queue without a dead-letter queue.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, rules: QueueRules) -> Self {
        Self { clock, rules, dead_letters: None, state: Mutex::default() }
    }

    /// Sets the dead-letter queue.
    #[must_use]
    pub fn with_dead_letters(mut self, dead_letters: Arc<Self>) -> Self {
        self.dead_letters = Some(dead_letters);
        self
    }

    /// The copy has no dead-letter queue.
    #[cfg(test)]
    pub(crate) fn copied(&self, clock: Arc<dyn Clock>) -> Self {
        let (rules, state) = (self.rules, Mutex::new(self.lock().clone()));
        Self { clock, rules, dead_letters: None, state }
    }

    /// Returns the bodies of all messages, including hidden ones.
    #[cfg(test)]
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.lock().messages.values().map(|message| message.body.clone()).collect()
    }

    /// Returns the number of messages, including hidden ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, body: String, sent_ms: u64) {
        let mut state = self.lock();
        state.last_id += 1;
        let id = state.last_id;
        let message = Message { body, sent_ms, visible_from_ms: 0, receive_count: 0 };
        state.messages.insert(id, message);
    }

    fn drop_expired(&self, state: &mut State, now_ms: u64) {
        let retention_ms = self.rules.retention_ms;
        state.messages.retain(|_, message| now_ms < message.sent_ms.saturating_add(retention_ms));
    }

    fn move_dead_letters(&self, state: &mut State, now_ms: u64) {
        for message in self.take_exhausted(state, now_ms) {
            if let Some(dead_letters) = &self.dead_letters {
                dead_letters.add(message.body, message.sent_ms);
            }
        }
    }

    fn take_exhausted(&self, state: &mut State, now_ms: u64) -> Vec<Message> {
        let (Some(max_receive_count), Some(_)) = (self.rules.max_receive_count, &self.dead_letters)
        else {
            return Vec::new();
        };
        let is_exhausted = |_: &u64, message: &mut Message| {
            message.visible_from_ms <= now_ms && message.receive_count >= max_receive_count
        };
        state.messages.extract_if(.., is_exhausted).map(|(_, message)| message).collect()
    }
}

/// Formats a receipt handle as `id.count`. `count` is the number of receives, so that each receive
/// has a unique handle.
fn format_receipt(id: u64, receive_count: u32) -> Receipt {
    Receipt(format!("{id}.{receive_count}"))
}

fn parse_receipt(receipt: &Receipt) -> Result<(u64, u32), PortError> {
    let ids = receipt
        .0
        .split_once('.')
        .and_then(|(id, receive_count)| Some((id.parse().ok()?, receive_count.parse().ok()?)));
    ids.ok_or_else(|| PortError::permanent("the receipt does not belong to this queue"))
}

#[async_trait]
impl Jobs for MemoryQueue {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        check_message_body(body)?;
        self.add(body.to_owned(), self.clock.now_ms());
        Ok(())
    }

    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        check_receive_count(max)?;
        check_visibility(visibility_s)?;
        let now_ms = self.clock.now_ms();
        let hidden_until_ms = now_ms.saturating_add(u64::from(visibility_s) * 1_000);
        let mut state = self.lock();
        self.drop_expired(&mut state, now_ms);
        self.move_dead_letters(&mut state, now_ms);
        let visible_messages =
            state.messages.iter_mut().filter(|(_, message)| message.visible_from_ms <= now_ms);
        let mut received = Vec::new();
        for (id, message) in visible_messages.take(usize::from(max)) {
            message.visible_from_ms = hidden_until_ms;
            message.receive_count += 1;
            received.push(Received {
                id: id.to_string(),
                body: message.body.clone(),
                receipt: format_receipt(*id, message.receive_count),
                receive_count: message.receive_count,
                sent_ms: message.sent_ms,
            });
        }
        Ok(received)
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        check_visibility(visibility_s)?;
        let (id, receive_count) = parse_receipt(receipt)?;
        let now_ms = self.clock.now_ms();
        let mut state = self.lock();
        let Some(message) = state.messages.get_mut(&id) else { return Ok(false) };
        let is_hidden = message.visible_from_ms > now_ms;
        if message.receive_count != receive_count || !is_hidden {
            return Ok(false);
        }
        message.visible_from_ms = now_ms.saturating_add(u64::from(visibility_s) * 1_000);
        Ok(true)
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        let (id, receive_count) = parse_receipt(receipt)?;
        let mut state = self.lock();
        if state.messages.get(&id).is_some_and(|message| message.receive_count == receive_count) {
            state.messages.remove(&id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{self, JobsUnderTest};
    use crate::memory::ManualClock;

    #[tokio::test]
    async fn memory_passes_the_contract() {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let dead_letters = Arc::new(MemoryQueue::new(clock.clone(), QueueRules::LONGEST));
        let max_receive_count = 3;
        let rules =
            QueueRules { max_receive_count: Some(max_receive_count), ..QueueRules::LONGEST };
        let queue =
            MemoryQueue::new(clock.clone(), rules).with_dead_letters(Arc::clone(&dead_letters));
        contract::jobs(&JobsUnderTest {
            queue: &queue,
            dead_letters: dead_letters.as_ref(),
            max_receive_count,
            clock: clock.as_ref(),
        })
        .await;
    }

    #[tokio::test]
    async fn a_message_is_dropped_after_its_retention() {
        let clock = Arc::new(ManualClock::at(1));
        let rules = QueueRules { retention_ms: 1_000, max_receive_count: None };
        let queue = MemoryQueue::new(clock.clone(), rules);
        queue.send("job").await.unwrap();
        clock.advance_ms(999);
        assert_eq!(queue.receive(1, 0).await.unwrap().len(), 1);
        clock.advance_ms(1);
        assert!(queue.receive(1, 0).await.unwrap().is_empty() && queue.is_empty());
    }

    #[tokio::test]
    async fn a_receipt_expires_when_its_message_becomes_visible() {
        let clock = Arc::new(ManualClock::at(1));
        let queue = MemoryQueue::new(clock.clone(), QueueRules::LONGEST);
        queue.send("job").await.unwrap();
        let first = queue.receive(1, 10).await.unwrap().remove(0).receipt;
        clock.advance_ms(10_000);
        assert_eq!(
            queue.change_visibility(&first, 10).await,
            Ok(false),
            "the message became visible"
        );
        let second = queue.receive(1, 10).await.unwrap().remove(0).receipt;
        assert_eq!(
            queue.change_visibility(&first, 0).await,
            Ok(false),
            "another receiver has the message"
        );
        queue.delete(&first).await.unwrap();
        assert_eq!((queue.len(), queue.change_visibility(&second, 10).await), (1, Ok(true)));
        assert!(queue.delete(&Receipt("none".to_owned())).await.is_err());
    }
}
