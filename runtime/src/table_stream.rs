//! Functions for Lambda handlers of DynamoDB change streams. They read the attributes of records,
//! and report to Lambda which records it must deliver again.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use cellar_base::record::{Attribute, Item};
use serde_dynamo::AttributeValue;

/// Takes the named attributes from a record's new image, which is the item after the change. Skips
/// attributes that are missing or have an unexpected type. The caller must report missing
/// attributes that it requires.
pub(crate) fn take_new_image(record: &mut EventRecord, attribute_names: &[&str]) -> Item {
    let mut attributes = std::mem::take(&mut record.change.new_image).into_inner();
    let mut image = Item::new();
    for name in attribute_names {
        if let Some(value) = attributes.remove(*name).and_then(convert_value) {
            image.insert((*name).to_owned(), value);
        }
    }
    image
}

fn convert_value(value: AttributeValue) -> Option<Attribute> {
    match value {
        AttributeValue::S(text) => Some(Attribute::Text(text)),
        AttributeValue::N(number) => number.parse().ok().map(Attribute::Number),
        AttributeValue::B(bytes) => Some(Attribute::Bytes(bytes)),
        AttributeValue::L(list) => {
            list.into_iter().map(convert_value).collect::<Option<_>>().map(Attribute::List)
        }
        _ => None,
    }
}

/// Takes a record's sequence number, or returns an empty string if there is none. If a response
/// contains an empty string, Lambda retries the whole batch.
pub(crate) fn take_sequence_number(record: &mut EventRecord) -> String {
    record.change.sequence_number.take().unwrap_or_default()
}

/// Returns the ARN of the change stream that contains the records of a batch. It is empty if the
/// batch is empty.
pub(crate) fn stream_arn(records: &[EventRecord]) -> String {
    records.first().and_then(|record| record.event_source_arn.clone()).unwrap_or_default()
}

/// Builds the response to a batch. Lambda delivers the record with the sequence number
/// `retry_from` and all later records again.
pub(crate) fn batch_response(retry_from: Option<String>) -> DynamoDbEventResponse {
    let mut response = DynamoDbEventResponse::default();
    if retry_from.is_some() {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = retry_from;
        response.batch_item_failures.push(failure);
    }
    response
}

#[cfg(test)]
pub(crate) mod tests {
    use async_trait::async_trait;
    use cellar_engine::ports::{Jobs, PortError, Receipt, Received};

    /// A queue that rejects every request.
    pub(crate) struct NoQueue;

    #[async_trait]
    impl Jobs for NoQueue {
        async fn send(&self, _: &str) -> Result<(), PortError> {
            Err(PortError::temporary("the queue is down"))
        }
        async fn receive(&self, _: u8, _: u32) -> Result<Vec<Received>, PortError> {
            Err(PortError::temporary("the queue is down"))
        }
        async fn change_visibility(&self, _: &Receipt, _: u32) -> Result<bool, PortError> {
            Err(PortError::temporary("the queue is down"))
        }
        async fn delete(&self, _: &Receipt) -> Result<(), PortError> {
            Err(PortError::temporary("the queue is down"))
        }
    }
}
