//! A durable queue that behaves like an SQS queue.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_engine::ports::QueueRules;
use cellar_engine::ports::{
    Clock, Jobs, PortError, Receipt, Received, check_message_body, check_receive_count,
    check_visibility,
};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::recursion::chain_invocations;
use crate::store::EventStore;

/// A queue stored in the local SQLite file. Sent messages survive a crash.
pub struct LocalQueue {
    store: Arc<EventStore>,
    clock: Arc<dyn Clock>,
    name: String,
    rules: QueueRules,
    dead_letter_queue: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainedMessage {
    pub(crate) message: Received,
    /// Number of invocations in the chain, including the one that sent the message. The value is 0
    /// if the message was not sent by a function that a queue invoked.
    pub(crate) chain_invocations: u32,
}

impl std::fmt::Debug for LocalQueue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalQueue").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LocalQueue {
    /// The dead letter queue must be stored in the same file.
    pub(crate) fn new(
        store: Arc<EventStore>,
        clock: Arc<dyn Clock>,
        name: String,
        rules: QueueRules,
        dead_letter_queue: Option<String>,
    ) -> Self {
        Self { store, clock, name, rules, dead_letter_queue }
    }

    /// Returns the number of messages in the queue, including hidden messages.
    ///
    /// # Errors
    /// Returns a [`PortError`] if the database file cannot be read.
    pub async fn len(&self) -> Result<u64, PortError> {
        let name = self.name.clone();
        let sql = "SELECT COUNT(*) FROM messages WHERE queue = ?1";
        let count: i64 = self
            .store
            .run_sql(move |connection| connection.query_row(sql, [name], |row| row.get(0)))
            .await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Returns whether the queue has no messages.
    ///
    /// # Errors
    /// Returns a [`PortError`] if the database file cannot be read.
    pub async fn is_empty(&self) -> Result<bool, PortError> {
        Ok(self.len().await? == 0)
    }

    /// Stores a message durably and returns its id.
    ///
    /// # Errors
    ///
    /// Returns a [`PortError`] if the message is empty or too long, or if it cannot be stored.
    pub(crate) async fn send_with_id(&self, body: &str) -> Result<String, PortError> {
        check_message_body(body)?;
        let queue_name = self.name.clone();
        let body = body.to_owned();
        let now_ms = self.now_ms();
        let chain_invocations = chain_invocations();
        let sql = "INSERT INTO messages
                   (queue, body, sent_ms, visible_from_ms, receive_count, chain_invocations)
                   VALUES (?1, ?2, ?3, 0, 0, ?4)";
        let insert_message = move |connection: &mut Connection| {
            connection.execute(sql, params![queue_name, body, now_ms, chain_invocations])?;
            Ok(connection.last_insert_rowid())
        };
        let message_id = self.store.run_sql(insert_message).await?;
        Ok(message_id.to_string())
    }

    /// Like [`Jobs::receive`], but also returns how many invocations preceded each message in its
    /// chain.
    ///
    /// # Errors
    ///
    /// Returns a [`PortError`] if an argument is out of range or the queue cannot be read.
    pub(crate) async fn receive_chained(
        &self,
        max: u8,
        visibility_s: u32,
    ) -> Result<Vec<ChainedMessage>, PortError> {
        check_receive_count(max)?;
        check_visibility(visibility_s)?;
        let now_ms = self.now_ms();
        let hidden_until_ms = visible_from_ms(now_ms, visibility_s);
        let queue_name = self.name.clone();
        let dead_letter_queue = self.dead_letter_queue.clone();
        let rules = self.rules;
        let receive_messages = move |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let dead_letter_queue = dead_letter_queue.as_deref();
            remove_dead_messages(&transaction, &queue_name, now_ms, rules, dead_letter_queue)?;
            let messages =
                receive_visible_messages(&transaction, &queue_name, now_ms, max, hidden_until_ms)?;
            transaction.commit()?;
            Ok(messages)
        };
        self.store.run_sql(receive_messages).await
    }

    fn now_ms(&self) -> i64 {
        to_sql_integer(self.clock.now_ms())
    }
}

/// Times and durations are far below the maximum.
fn to_sql_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn visible_from_ms(now_ms: i64, visibility_s: u32) -> i64 {
    now_ms.saturating_add(i64::from(visibility_s) * 1_000)
}

/// The two parts of a receipt handle `ID.COUNT`. The count says how often the message was received,
/// so every receive returns a different handle.
struct ReceiptParts {
    message_id: i64,
    receive_count: u32,
}

fn parse_receipt(receipt: &Receipt) -> Result<ReceiptParts, PortError> {
    if let Some((id, count)) = receipt.0.split_once('.')
        && let Ok(message_id) = id.parse()
        && let Ok(receive_count) = count.parse()
    {
        return Ok(ReceiptParts { message_id, receive_count });
    }
    Err(PortError::permanent(format!("`{}` is not a receipt of this queue", receipt.0)))
}

fn read_message(row: &Row<'_>) -> rusqlite::Result<(i64, ChainedMessage)> {
    let id: i64 = row.get(0)?;
    let earlier_receive_count: u32 = row.get(3)?;
    let receive_count = earlier_receive_count.saturating_add(1);
    let message = Received {
        id: id.to_string(),
        body: row.get(1)?,
        receipt: Receipt(format!("{id}.{receive_count}")),
        receive_count,
        sent_ms: u64::try_from(row.get::<_, i64>(2)?).unwrap_or_default(),
    };
    Ok((id, ChainedMessage { message, chain_invocations: row.get(4)? }))
}

/// Deletes expired messages. Moves messages that were received too often to the dead letter queue.
fn remove_dead_messages(
    transaction: &Transaction<'_>,
    queue_name: &str,
    now_ms: i64,
    rules: QueueRules,
    dead_letter_queue: Option<&str>,
) -> rusqlite::Result<()> {
    let newest_expired_ms = now_ms.saturating_sub(to_sql_integer(rules.retention_ms));
    transaction.execute(
        "DELETE FROM messages WHERE queue = ?1 AND sent_ms <= ?2",
        params![queue_name, newest_expired_ms],
    )?;
    if let Some(max_receive_count) = rules.max_receive_count
        && let Some(dead_letter_queue) = dead_letter_queue
    {
        transaction.execute(
            "UPDATE messages SET queue = ?4, visible_from_ms = 0, receive_count = 0
             WHERE queue = ?1 AND visible_from_ms <= ?2 AND receive_count >= ?3",
            params![queue_name, now_ms, max_receive_count, dead_letter_queue],
        )?;
    }
    Ok(())
}

/// Messages are received in the order in which they became visible. A message that keeps failing
/// becomes visible later than new messages and therefore does not block them.
fn receive_visible_messages(
    transaction: &Transaction<'_>,
    queue_name: &str,
    now_ms: i64,
    max_messages: u8,
    hidden_until_ms: i64,
) -> rusqlite::Result<Vec<ChainedMessage>> {
    let mut query = transaction.prepare_cached(
        "SELECT id, body, sent_ms, receive_count, chain_invocations FROM messages
         WHERE queue = ?1 AND visible_from_ms <= ?2 ORDER BY visible_from_ms, id LIMIT ?3",
    )?;
    let rows = query.query_map(params![queue_name, now_ms, max_messages], read_message)?;
    let mut messages = Vec::new();
    for row in rows {
        let (id, received) = row?;
        transaction.execute(
            "UPDATE messages SET visible_from_ms = ?2, receive_count = ?3 WHERE id = ?1",
            params![id, hidden_until_ms, received.message.receive_count],
        )?;
        messages.push(received);
    }
    Ok(messages)
}

#[async_trait]
impl Jobs for LocalQueue {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        self.send_with_id(body).await?;
        Ok(())
    }

    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        let messages = self.receive_chained(max, visibility_s).await?;
        Ok(messages.into_iter().map(|received| received.message).collect())
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        check_visibility(visibility_s)?;
        let ReceiptParts { message_id, receive_count } = parse_receipt(receipt)?;
        let queue_name = self.name.clone();
        let now_ms = self.now_ms();
        let hidden_until_ms = visible_from_ms(now_ms, visibility_s);
        let sql = "UPDATE messages SET visible_from_ms = ?5
                   WHERE id = ?1 AND queue = ?2 AND receive_count = ?3 AND visible_from_ms > ?4";
        let hide_message = move |connection: &mut Connection| {
            let values = params![message_id, queue_name, receive_count, now_ms, hidden_until_ms];
            connection.execute(sql, values)
        };
        let changed_count = self.store.run_sql(hide_message).await?;
        let is_still_received = changed_count > 0;
        Ok(is_still_received)
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        let ReceiptParts { message_id, receive_count } = parse_receipt(receipt)?;
        let queue_name = self.name.clone();
        let sql = "DELETE FROM messages WHERE id = ?1 AND queue = ?2 AND receive_count = ?3";
        let delete_message = move |connection: &mut Connection| {
            connection.execute(sql, params![message_id, queue_name, receive_count])
        };
        self.store.run_sql(delete_message).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cellar_engine::contract::{self, JobsUnderTest};
    use cellar_engine::memory::ManualClock;

    use super::*;

    const MAX_RECEIVE_COUNT: u32 = 3;

    struct Opened {
        clock: Arc<ManualClock>,
        queue: LocalQueue,
        dead_letters: LocalQueue,
    }

    fn open(path: &std::path::Path, retention_ms: u64) -> Opened {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let store = EventStore::open(path).unwrap();
        let queue = |name: &str, max_receive_count, dead_letters| {
            let rules = QueueRules { retention_ms, max_receive_count };
            let (store, clock) = (Arc::clone(&store), clock.clone());
            LocalQueue::new(store, clock, name.to_owned(), rules, dead_letters)
        };
        let dead_letters = queue("letters", None, None);
        let queue = queue("jobs", Some(MAX_RECEIVE_COUNT), Some("letters".to_owned()));
        Opened { clock, queue, dead_letters }
    }

    #[tokio::test]
    async fn a_local_queue_passes_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let Opened { clock, queue, dead_letters } = open(&path, QueueRules::LONGEST.retention_ms);
        contract::jobs(&JobsUnderTest {
            queue: &queue,
            dead_letters: &dead_letters,
            max_receive_count: MAX_RECEIVE_COUNT,
            clock: clock.as_ref(),
        })
        .await;
    }

    #[tokio::test]
    async fn returning_messages_do_not_starve_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let Opened { clock, queue, .. } = open(&path, QueueRules::LONGEST.retention_ms);
        queue.send("waits").await.unwrap();
        let mut received = Vec::new();
        for _ in 0..2 {
            received.extend(queue.receive(1, 30).await.unwrap());
            queue.send("new").await.unwrap();
            clock.advance_ms(30_000);
        }
        received.extend(queue.receive(1, 30).await.unwrap());
        let bodies: Vec<_> = received.iter().map(|message| message.body.as_str()).collect();
        assert_eq!(bodies, ["waits", "new", "new"]);
    }

    #[tokio::test]
    async fn messages_and_their_state_survive_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.sqlite");
        let opened = open(&path, 60_000);
        for body in ["deleted", "hidden", "waiting"] {
            opened.queue.send(body).await.unwrap();
        }
        let deleted = opened.queue.receive(1, 30).await.unwrap().remove(0);
        opened.queue.delete(&deleted.receipt).await.unwrap();
        let hidden = opened.queue.receive(1, 30).await.unwrap().remove(0);
        drop(opened);
        let opened = open(&path, 60_000);
        let waiting = opened.queue.receive(10, 30).await.unwrap();
        assert_eq!(
            waiting.iter().map(|message| message.body.as_str()).collect::<Vec<_>>(),
            ["waiting"]
        );
        assert_eq!(opened.queue.change_visibility(&hidden.receipt, 0).await, Ok(true));
        assert_eq!(opened.queue.receive(10, 30).await.unwrap()[0].receive_count, 2);
        assert_eq!(opened.queue.len().await, Ok(2));
        opened.clock.advance_ms(60_000);
        assert!(
            opened.queue.receive(10, 30).await.unwrap().is_empty(),
            "the retention period is over"
        );
        assert_eq!(opened.queue.is_empty().await, Ok(true));
    }

    #[tokio::test]
    async fn a_receipt_is_valid_until_its_message_is_visible_again() {
        let folder = tempfile::tempdir().unwrap();
        let opened = open(&folder.path().join("events.sqlite"), QueueRules::LONGEST.retention_ms);
        let Opened { clock, queue, .. } = &opened;
        queue.send("job").await.unwrap();
        let first = queue.receive(1, 10).await.unwrap().remove(0).receipt;
        clock.advance_ms(10_000);
        assert_eq!(
            queue.change_visibility(&first, 10).await,
            Ok(false),
            "the message is visible again"
        );
        let second = queue.receive(1, 10).await.unwrap().remove(0).receipt;
        assert_eq!(
            queue.change_visibility(&first, 0).await,
            Ok(false),
            "a newer receipt replaces it"
        );
        queue.delete(&first).await.unwrap();
        assert_eq!(
            (queue.len().await, queue.change_visibility(&second, 10).await),
            (Ok(1), Ok(true))
        );
        assert!(queue.delete(&Receipt("none".to_owned())).await.is_err());
    }
}
