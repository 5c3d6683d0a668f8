//! Contract of job queues.

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_MESSAGE_BYTES, MAX_RECEIVED_MESSAGES, MAX_VISIBILITY_S};

use crate::ports::{Clock, Jobs, Received};

/// Number of consecutive empty responses after which the queue is considered empty. One empty
/// response is not sufficient, since SQS may query only some of its servers.
const RECEIVE_ATTEMPTS: u32 = 20;
/// Visibility timeout in seconds that does not expire during the tests, even over a network.
const LONG_TIMEOUT_S: u32 = 600;
/// Visibility timeout in seconds that is short enough for a test to wait until it expires.
const SHORT_TIMEOUT_S: u32 = 2;

/// Additional time in milliseconds to wait after a visibility timeout, so that it has certainly
/// expired.
const TIMEOUT_MARGIN_MS: u64 = 500;

/// The queue under test, which must be empty. No other process may use it.
pub struct JobsUnderTest<'a> {
    pub queue: &'a dyn Jobs,
    pub dead_letters: &'a dyn Jobs,
    /// Maximum number of times that a message is received before it moves to the dead-letter queue.
    /// At least 2.
    pub max_receive_count: u32,
    pub clock: &'a dyn Clock,
}

pub async fn jobs(test: &JobsUnderTest<'_>) {
    let queue = test.queue;
    assert_eq!(queue.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]), "the queue is empty at first");
    a_message_is_hidden_until_it_is_deleted(queue).await;
    a_message_is_redelivered_after_its_timeout(test).await;
    the_timeout_of_a_message_can_be_changed(test).await;
    every_message_is_delivered_once(queue).await;
    equal_messages_are_delivered_separately(queue).await;
    bodies_arrive_as_they_were_sent(queue).await;
    bounds_are_enforced(queue).await;
    a_message_that_is_received_too_often_becomes_a_dead_letter(test).await;
}

async fn receive_next(queue: &dyn Jobs, visibility_s: u32) -> Option<Received> {
    for _ in 0..RECEIVE_ATTEMPTS {
        let received = queue.receive(1, visibility_s).await;
        assert!(received.is_ok(), "the queue failed: {received:?}");
        if let Some(message) = received.into_iter().flatten().next() {
            return Some(message);
        }
    }
    None
}

async fn receive_sent(queue: &dyn Jobs, visibility_s: u32) -> Received {
    let message = receive_next(queue, visibility_s).await;
    message.unwrap_or_else(|| panic!("a sent message was not received"))
}

async fn a_message_is_hidden_until_it_is_deleted(queue: &dyn Jobs) {
    assert_eq!(queue.send("one").await, Ok(()));
    let message = receive_sent(queue, LONG_TIMEOUT_S).await;
    assert_eq!((message.body.as_str(), message.receive_count), ("one", 1));
    assert_eq!(queue.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]), "it is hidden");
    assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    assert_eq!(queue.delete(&message.receipt).await, Ok(()), "twice is a success");
    assert_eq!(
        queue.change_visibility(&message.receipt, 0).await,
        Ok(false),
        "the message was deleted"
    );
    assert_eq!(queue.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]), "the message stays deleted");
}

async fn a_message_is_redelivered_after_its_timeout(test: &JobsUnderTest<'_>) {
    let queue = test.queue;
    assert_eq!(queue.send("again").await, Ok(()));
    let first_receive = receive_sent(queue, SHORT_TIMEOUT_S).await;
    wait_for_short_timeout(test.clock).await;
    let second_receive = receive_sent(queue, LONG_TIMEOUT_S).await;
    assert_eq!(second_receive.id, first_receive.id);
    assert_eq!(second_receive.body, "again");
    assert_eq!(second_receive.receive_count, 2);
    assert_eq!(second_receive.sent_ms, first_receive.sent_ms);
    assert_ne!(second_receive.receipt, first_receive.receipt);
    assert_eq!(queue.delete(&second_receive.receipt).await, Ok(()));
}

async fn the_timeout_of_a_message_can_be_changed(test: &JobsUnderTest<'_>) {
    let queue = test.queue;
    assert_eq!(queue.send("shown").await, Ok(()));
    let hidden = receive_sent(queue, LONG_TIMEOUT_S).await;
    assert_eq!(queue.change_visibility(&hidden.receipt, 0).await, Ok(true));
    let shown = receive_sent(queue, SHORT_TIMEOUT_S).await;
    assert_eq!(shown.id, hidden.id, "the message became visible early");
    assert_eq!(queue.change_visibility(&shown.receipt, LONG_TIMEOUT_S).await, Ok(true));
    wait_for_short_timeout(test.clock).await;
    assert_eq!(queue.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]), "the timeout was extended");
    assert_eq!(queue.delete(&shown.receipt).await, Ok(()));
}

async fn wait_for_short_timeout(clock: &dyn Clock) {
    clock.sleep_ms(u64::from(SHORT_TIMEOUT_S) * 1_000 + TIMEOUT_MARGIN_MS).await;
}

async fn every_message_is_delivered_once(queue: &dyn Jobs) {
    let sent_bodies: Vec<String> = (0..25).map(|number| format!("job {number}")).collect();
    for body in &sent_bodies {
        assert_eq!(queue.send(body).await, Ok(()));
    }
    let mut receive_counts: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..RECEIVE_ATTEMPTS * 2 {
        let received = queue.receive(MAX_RECEIVED_MESSAGES, LONG_TIMEOUT_S).await;
        let messages = received.unwrap_or_default();
        assert!(messages.len() <= usize::from(MAX_RECEIVED_MESSAGES));
        for message in messages {
            assert_eq!(queue.delete(&message.receipt).await, Ok(()));
            *receive_counts.entry(message.body).or_default() += 1;
        }
        if receive_counts.len() == sent_bodies.len() {
            break;
        }
    }
    let once_each: BTreeMap<String, u32> = sent_bodies.into_iter().map(|body| (body, 1)).collect();
    assert_eq!(receive_counts, once_each);
}

async fn equal_messages_are_delivered_separately(queue: &dyn Jobs) {
    for _ in 0..2 {
        assert_eq!(queue.send("same").await, Ok(()));
    }
    let (first_message, second_message) =
        (receive_sent(queue, LONG_TIMEOUT_S).await, receive_sent(queue, LONG_TIMEOUT_S).await);
    assert_ne!(first_message.id, second_message.id);
    for message in [first_message, second_message] {
        assert_eq!(message.body, "same");
        assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    }
}

async fn bodies_arrive_as_they_were_sent(queue: &dyn Jobs) {
    let longest = "x".repeat(MAX_MESSAGE_BYTES);
    for body in [r#"{"a":"<&>\"é😀\n"}"#, longest.as_str()] {
        assert_eq!(queue.send(body).await, Ok(()));
        let message = receive_sent(queue, LONG_TIMEOUT_S).await;
        assert!(message.body == body, "{} bytes", body.len());
        assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    }
}

async fn bounds_are_enforced(queue: &dyn Jobs) {
    for body in [String::new(), "x".repeat(MAX_MESSAGE_BYTES + 1)] {
        assert!(queue.send(&body).await.is_err_and(|error| !error.temporary), "{}", body.len());
    }
    for max in [0, MAX_RECEIVED_MESSAGES + 1] {
        assert!(queue.receive(max, 1).await.is_err_and(|error| !error.temporary), "{max}");
    }
    assert!(queue.receive(1, MAX_VISIBILITY_S + 1).await.is_err_and(|error| !error.temporary));
    assert_eq!(queue.send("bounds").await, Ok(()));
    let message = receive_sent(queue, LONG_TIMEOUT_S).await;
    let longest_timeout = queue.change_visibility(&message.receipt, MAX_VISIBILITY_S).await;
    // SQS limits the total time for which a received message can stay hidden, so it may reject the
    // maximum timeout.
    assert!(longest_timeout.is_ok() || longest_timeout.is_err_and(|error| !error.temporary));
    let too_long_timeout = queue.change_visibility(&message.receipt, MAX_VISIBILITY_S + 1).await;
    assert!(too_long_timeout.is_err_and(|error| !error.temporary));
    assert_eq!(queue.delete(&message.receipt).await, Ok(()));
}

async fn a_message_that_is_received_too_often_becomes_a_dead_letter(test: &JobsUnderTest<'_>) {
    let JobsUnderTest { queue, dead_letters, max_receive_count, .. } = *test;
    assert!(max_receive_count >= 2, "the suite itself receives a message twice");
    assert_eq!(queue.send("poison").await, Ok(()));
    for expected_count in 1..=max_receive_count {
        let message = receive_sent(queue, LONG_TIMEOUT_S).await;
        assert_eq!(message.body, "poison");
        assert_eq!(message.receive_count, expected_count);
        assert_eq!(queue.change_visibility(&message.receipt, 0).await, Ok(true));
    }
    assert_eq!(
        queue.receive(1, LONG_TIMEOUT_S).await,
        Ok(vec![]),
        "the message moved to the dead-letter queue"
    );
    let dead_letter = receive_sent(dead_letters, LONG_TIMEOUT_S).await;
    assert_eq!(dead_letter.body, "poison");
    assert_eq!(dead_letters.delete(&dead_letter.receipt).await, Ok(()));
    assert_eq!(queue.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]));
    assert_eq!(dead_letters.receive(1, LONG_TIMEOUT_S).await, Ok(vec![]));
}
