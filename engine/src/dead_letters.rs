//! Dead letters: change stream records that can never be processed. They are sent to a queue, where
//! an alarm notices them.
//!
//! A function could also fail until Lambda gives the record up. Lambda retries for about an hour,
//! and the later records of the same shard would wait for as long.

use crate::ports::{Jobs, PortError};
use cellar_base::limits::MAX_DEAD_LETTER_REASON_CHARS;

/// A change stream record that can never be processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Sequence number of the record in the change stream.
    pub sequence_number: String,
    /// Why the record cannot be processed.
    reason: String,
}

impl DeadLetter {
    /// Describes a record that failed with `error`. Long reasons are cut at
    /// `MAX_DEAD_LETTER_REASON_CHARS`.
    pub fn new(sequence_number: String, error: &dyn std::error::Error) -> Self {
        let reason = error.to_string().chars().take(MAX_DEAD_LETTER_REASON_CHARS).collect();
        Self { sequence_number, reason }
    }

    fn encode(&self, stream_arn: &str) -> String {
        let Self { sequence_number, reason } = self;
        let letter = serde_json::json!({
            "eventSourceArn": stream_arn, "sequenceNumber": sequence_number, "reason": reason,
        });
        letter.to_string()
    }
}

/// Sends dead letters to a queue, one message for each, and logs them. `stream_arn` is the ARN of the change stream
/// that contains the records.
///
/// # Errors
///
/// Returns the first letter that was not sent, and the error of the queue. Letters after it were
/// not sent either.
pub async fn send_dead_letters<'a>(
    queue: &dyn Jobs,
    stream_arn: &str,
    letters: &'a [DeadLetter],
) -> Result<(), (&'a DeadLetter, PortError)> {
    for letter in letters {
        let DeadLetter { sequence_number, reason } = letter;
        if let Err(error) = queue.send(&letter.encode(stream_arn)).await {
            tracing::error!(sequence_number, reason, %error, "a dead letter was not sent");
            return Err((letter, error));
        }
        tracing::error!(
            sequence_number,
            reason,
            "sent a record that cannot be processed to the dead-letter queue"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::check_message_body;

    #[test]
    fn reasons_are_cut_and_fit_in_a_message() {
        for (length, kept) in [
            (MAX_DEAD_LETTER_REASON_CHARS, MAX_DEAD_LETTER_REASON_CHARS),
            (MAX_DEAD_LETTER_REASON_CHARS + 1, MAX_DEAD_LETTER_REASON_CHARS),
        ] {
            // The JSON form of this character is the longest: six bytes.
            let error = PortError::permanent("\u{1}".repeat(length));
            let letter = DeadLetter::new("17".to_owned(), &error);
            assert_eq!(letter.reason.chars().count(), kept);
            check_message_body(&letter.encode("arn")).unwrap();
        }
        let letter = DeadLetter::new("17".to_owned(), &PortError::permanent("no key"));
        let expected = r#"{"eventSourceArn":"arn","reason":"no key","sequenceNumber":"17"}"#;
        assert_eq!(letter.encode("arn"), expected);
    }
}
