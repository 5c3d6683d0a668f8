//! Implements the [`Jobs`] port with SQS.

use std::str::FromStr;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::SdkError;
use aws_sdk_sqs::operation::change_message_visibility::ChangeMessageVisibilityError;
use aws_sdk_sqs::operation::delete_message::DeleteMessageError;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use cellar_engine::ports::{
    Jobs, PortError, Receipt, Received, check_message_body, check_receive_count, check_visibility,
};

use crate::outcome::port_error;

/// Time in seconds for which a receive request waits for messages (long polling). Without it, SQS
/// queries only some of its servers and may miss messages.
const WAIT_S: i32 = 1;

/// A queue in SQS.
#[derive(Debug, Clone)]
pub struct SqsQueue {
    client: Client,
    url: String,
}

impl SqsQueue {
    /// Uses the queue with the given URL. Sends all requests through `client`.
    #[must_use]
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into() }
    }
}

#[async_trait]
impl Jobs for SqsQueue {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        check_message_body(body)?;
        let request = self.client.send_message().queue_url(&self.url).message_body(body);
        request.send().await.map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn receive(
        &self,
        max_messages: u8,
        visibility_s: u32,
    ) -> Result<Vec<Received>, PortError> {
        check_receive_count(max_messages)?;
        let reply = self
            .client
            .receive_message()
            .queue_url(&self.url)
            .max_number_of_messages(i32::from(max_messages))
            .visibility_timeout(checked_visibility(visibility_s)?)
            .wait_time_seconds(WAIT_S)
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        let messages = reply.messages.unwrap_or_default();
        messages.into_iter().map(to_received).collect()
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        let result = self
            .client
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(&receipt.0)
            .visibility_timeout(checked_visibility(visibility_s)?)
            .send()
            .await;
        match result {
            Ok(_) => Ok(true),
            Err(error) if error.as_service_error().is_some_and(is_no_longer_hidden) => Ok(false),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        let request = self.client.delete_message().queue_url(&self.url).receipt_handle(&receipt.0);
        match request.send().await {
            Ok(_) => Ok(()),
            // This queue issued all receipt handles, so an unknown handle belongs to a deleted
            // message. SQS itself reports success in this case, but some emulators report an error.
            Err(error) if is_receipt_unknown(&error) => Ok(()),
            Err(error) => Err(port_error(&error)),
        }
    }
}

fn checked_visibility(visibility_s: u32) -> Result<i32, PortError> {
    check_visibility(visibility_s)?;
    i32::try_from(visibility_s).map_err(|error| PortError::permanent(error.to_string()))
}

/// Returns whether a request failed because its message was deleted or has become visible again.
fn is_no_longer_hidden(error: &ChangeMessageVisibilityError) -> bool {
    // SQS reports an invalid parameter if the receipt handle belongs to a deleted message.
    let is_deleted = error.meta().code() == Some("InvalidParameterValue")
        && error.meta().message().is_some_and(|message| message.contains("does not exist"));
    is_deleted
        || matches!(
            error,
            ChangeMessageVisibilityError::MessageNotInflight(_)
                | ChangeMessageVisibilityError::ReceiptHandleIsInvalid(_)
        )
}

fn is_receipt_unknown(error: &SdkError<DeleteMessageError>) -> bool {
    error.as_service_error().is_some_and(DeleteMessageError::is_receipt_handle_is_invalid)
}

fn to_received(message: Message) -> Result<Received, PortError> {
    let receive_count =
        parse_attribute(&message, &MessageSystemAttributeName::ApproximateReceiveCount)?;
    let sent_ms = parse_attribute(&message, &MessageSystemAttributeName::SentTimestamp)?;
    let receipt_handle = message.receipt_handle.ok_or_else(|| missing_field("ReceiptHandle"))?;
    Ok(Received {
        id: message.message_id.ok_or_else(|| missing_field("MessageId"))?,
        body: message.body.ok_or_else(|| missing_field("Body"))?,
        receipt: Receipt(receipt_handle),
        receive_count,
        sent_ms,
    })
}

fn parse_attribute<T: FromStr>(
    message: &Message,
    name: &MessageSystemAttributeName,
) -> Result<T, PortError> {
    let value = message.attributes.as_ref().and_then(|attributes| attributes.get(name));
    let number = value.and_then(|value| value.parse().ok());
    number.ok_or_else(|| missing_field(name.as_str()))
}

fn missing_field(name: &str) -> PortError {
    PortError::permanent(format!("SQS returned a message whose {name} is missing or invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_messages_with_missing_fields() {
        let complete = || {
            Message::builder()
                .message_id("id")
                .body("body")
                .receipt_handle("receipt")
                .attributes(MessageSystemAttributeName::ApproximateReceiveCount, "3")
                .attributes(MessageSystemAttributeName::SentTimestamp, "1795246133000")
        };
        let message = to_received(complete().build()).unwrap();
        assert_eq!((message.id.as_str(), message.body.as_str()), ("id", "body"));
        assert_eq!((message.receive_count, message.sent_ms), (3, 1_795_246_133_000));
        for broken in [
            complete().set_message_id(None),
            complete().set_body(None),
            complete().set_receipt_handle(None),
            complete().set_attributes(None),
            complete().attributes(MessageSystemAttributeName::SentTimestamp, "soon"),
        ] {
            assert!(!to_received(broken.build()).unwrap_err().temporary);
        }
    }
}
