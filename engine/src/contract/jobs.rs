//! Contract of job queues.

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_MESSAGE_BYTES, MAX_RECEIVED_MESSAGES, MAX_VISIBILITY_S};

use crate::ports::{Clock, Jobs, Received};

/// Number of consecutive empty receives after which a queue counts as empty. SQS may query only a
/// subset of its servers, so a single empty response proves nothing.
const TRIES: u32 = 20;
/// Visibility timeout in seconds that does not expire during the suite, even over a network.
const HIDDEN_S: u32 = 600;
/// Visibility timeout in seconds that is short enough for a test to wait for.
const BRIEFLY_S: u32 = 2;

/// The queue under test. It must be empty and have no other users.
pub struct JobsUnderTest<'a> {
    pub queue: &'a dyn Jobs,
    pub dead_letters: &'a dyn Jobs,
    /// Receive count at which a message moves to the dead-letter queue; at least 2.
    pub max_receive_count: u32,
    pub clock: &'a dyn Clock,
}

pub async fn jobs(test: &JobsUnderTest<'_>) {
    let queue = test.queue;
    assert_eq!(queue.receive(1, HIDDEN_S).await, Ok(vec![]), "nothing is there at first");
    a_message_is_hidden_until_it_is_deleted(queue).await;
    a_message_comes_back(test).await;
    every_message_is_given(queue).await;
    equal_messages_are_two(queue).await;
    bodies_arrive_as_they_were_sent(queue).await;
    bounds_are_kept(queue).await;
    a_message_that_is_received_too_often_becomes_a_dead_letter(test).await;
}

/// Receives the next message, or returns `None` after many empty responses.
async fn next(queue: &dyn Jobs, visibility_s: u32) -> Option<Received> {
    for _ in 0..TRIES {
        let received = queue.receive(1, visibility_s).await;
        assert!(received.is_ok(), "the queue failed: {received:?}");
        if let Some(message) = received.into_iter().flatten().next() {
            return Some(message);
        }
    }
    None
}

async fn take(queue: &dyn Jobs, visibility_s: u32) -> Received {
    match next(queue, visibility_s).await {
        Some(message) => message,
        None => missing(),
    }
}

#[allow(clippy::panic, reason = "a contract suite fails like a test")]
fn missing() -> ! {
    panic!("a sent message was not received")
}

async fn a_message_is_hidden_until_it_is_deleted(queue: &dyn Jobs) {
    assert_eq!(queue.send("one").await, Ok(()));
    let message = take(queue, HIDDEN_S).await;
    assert_eq!((message.body.as_str(), message.receive_count), ("one", 1));
    assert_eq!(queue.receive(1, HIDDEN_S).await, Ok(vec![]), "it is hidden");
    assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    assert_eq!(queue.delete(&message.receipt).await, Ok(()), "twice is a success");
    assert_eq!(
        queue.change_visibility(&message.receipt, 0).await,
        Ok(false),
        "the message was deleted"
    );
    assert_eq!(queue.receive(1, HIDDEN_S).await, Ok(vec![]), "the message stays deleted");
}

async fn a_message_comes_back(test: &JobsUnderTest<'_>) {
    let queue = test.queue;
    assert_eq!(queue.send("again").await, Ok(()));
    let first = take(queue, BRIEFLY_S).await;
    test.clock.sleep_ms(u64::from(BRIEFLY_S) * 1_000 + 500).await;
    let second = take(queue, HIDDEN_S).await;
    assert_eq!((&second.id, second.body.as_str()), (&first.id, "again"));
    assert_eq!((second.receive_count, second.sent_ms), (2, first.sent_ms));
    assert_ne!(second.receipt, first.receipt);
    assert_eq!(queue.delete(&second.receipt).await, Ok(()));

    assert_eq!(queue.send("shown").await, Ok(()));
    let hidden = take(queue, HIDDEN_S).await;
    assert_eq!(queue.change_visibility(&hidden.receipt, 0).await, Ok(true));
    let shown = take(queue, BRIEFLY_S).await;
    assert_eq!(shown.id, hidden.id, "the message became visible early");
    assert_eq!(queue.change_visibility(&shown.receipt, HIDDEN_S).await, Ok(true));
    test.clock.sleep_ms(u64::from(BRIEFLY_S) * 1_000 + 500).await;
    assert_eq!(queue.receive(1, HIDDEN_S).await, Ok(vec![]), "the timeout was extended");
    assert_eq!(queue.delete(&shown.receipt).await, Ok(()));
}

async fn every_message_is_given(queue: &dyn Jobs) {
    let sent: Vec<String> = (0..25).map(|number| format!("job {number}")).collect();
    for body in &sent {
        assert_eq!(queue.send(body).await, Ok(()));
    }
    let mut given = BTreeMap::new();
    for _ in 0..TRIES * 2 {
        let messages = queue.receive(MAX_RECEIVED_MESSAGES, HIDDEN_S).await.unwrap_or_default();
        assert!(messages.len() <= usize::from(MAX_RECEIVED_MESSAGES));
        for message in messages {
            assert_eq!(queue.delete(&message.receipt).await, Ok(()));
            *given.entry(message.body).or_insert(0) += 1;
        }
        if given.len() == sent.len() {
            break;
        }
    }
    let all: BTreeMap<String, i32> = sent.into_iter().map(|body| (body, 1)).collect();
    assert_eq!(given, all);
}

async fn equal_messages_are_two(queue: &dyn Jobs) {
    for _ in 0..2 {
        assert_eq!(queue.send("same").await, Ok(()));
    }
    let (one, two) = (take(queue, HIDDEN_S).await, take(queue, HIDDEN_S).await);
    assert_ne!(one.id, two.id);
    for message in [one, two] {
        assert_eq!(message.body, "same");
        assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    }
}

async fn bodies_arrive_as_they_were_sent(queue: &dyn Jobs) {
    let longest = "x".repeat(MAX_MESSAGE_BYTES);
    for body in [r#"{"a":"<&>\"é😀\n"}"#, longest.as_str()] {
        assert_eq!(queue.send(body).await, Ok(()));
        let message = take(queue, HIDDEN_S).await;
        assert!(message.body == body, "{} bytes", body.len());
        assert_eq!(queue.delete(&message.receipt).await, Ok(()));
    }
}

async fn bounds_are_kept(queue: &dyn Jobs) {
    for body in [String::new(), "x".repeat(MAX_MESSAGE_BYTES + 1)] {
        assert!(queue.send(&body).await.is_err_and(|error| !error.temporary), "{}", body.len());
    }
    for max in [0, MAX_RECEIVED_MESSAGES + 1] {
        assert!(queue.receive(max, 1).await.is_err_and(|error| !error.temporary), "{max}");
    }
    assert!(queue.receive(1, MAX_VISIBILITY_S + 1).await.is_err_and(|error| !error.temporary));
    assert_eq!(queue.send("bounds").await, Ok(()));
    let message = take(queue, HIDDEN_S).await;
    let longest = queue.change_visibility(&message.receipt, MAX_VISIBILITY_S).await;
    // SQS limits how long a message can stay hidden after it was received.
    assert!(longest.is_ok() || longest.is_err_and(|error| !error.temporary));
    let longer = queue.change_visibility(&message.receipt, MAX_VISIBILITY_S + 1).await;
    assert!(longer.is_err_and(|error| !error.temporary));
    assert_eq!(queue.delete(&message.receipt).await, Ok(()));
}

async fn a_message_that_is_received_too_often_becomes_a_dead_letter(test: &JobsUnderTest<'_>) {
    let JobsUnderTest { queue, dead_letters, max_receive_count, .. } = *test;
    assert!(max_receive_count >= 2, "the suite itself receives a message twice");
    assert_eq!(queue.send("poison").await, Ok(()));
    let mut given = 0;
    for expected in 1..=max_receive_count {
        let message = take(queue, HIDDEN_S).await;
        assert_eq!((message.body.as_str(), message.receive_count), ("poison", expected));
        assert_eq!(queue.change_visibility(&message.receipt, 0).await, Ok(true));
        given += 1;
    }
    assert_eq!(given, max_receive_count);
    assert_eq!(
        queue.receive(1, HIDDEN_S).await,
        Ok(vec![]),
        "the message moved to the dead-letter queue"
    );
    let letter = take(dead_letters, HIDDEN_S).await;
    assert_eq!(letter.body, "poison");
    assert_eq!(dead_letters.delete(&letter.receipt).await, Ok(()));
    assert_eq!(queue.receive(1, HIDDEN_S).await, Ok(vec![]));
    assert_eq!(dead_letters.receive(1, HIDDEN_S).await, Ok(vec![]));
}
