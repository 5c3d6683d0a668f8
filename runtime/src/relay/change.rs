//! A stream's record as the relay reads it.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::DynamoDbBatchItemFailure;
use cellar_core::records::{Attribute, Item};
use cellar_core::relay::ATTRIBUTES;
use cellar_engine::relay::Change;
use serde_dynamo::AttributeValue;

/// The parts of a record that decide. What is missing, or of a type that Cellar does not write, is
/// left out: the decision names it.
pub(super) fn read(record: EventRecord) -> Change {
    let mut attributes = record.change.new_image.into_inner();
    let mut image = Item::new();
    for name in ATTRIBUTES {
        let value = attributes.remove(name).and_then(value);
        image.extend(value.map(|value| (name.to_owned(), value)));
    }
    // Without a number there is no place to go on from: an empty one fails the whole batch.
    let sequence_number = record.change.sequence_number.unwrap_or_default();
    Change { sequence_number, name: record.event_name, image }
}

fn value(value: AttributeValue) -> Option<Attribute> {
    match value {
        AttributeValue::S(text) => Some(Attribute::Text(text)),
        AttributeValue::N(number) => number.parse().ok().map(Attribute::Number),
        AttributeValue::B(bytes) => Some(Attribute::Bytes(bytes)),
        _ => None,
    }
}

/// A failure in the form that Lambda reads.
pub(super) fn failure(sequence_number: String) -> DynamoDbBatchItemFailure {
    let mut failure = DynamoDbBatchItemFailure::default();
    failure.item_identifier = Some(sequence_number);
    failure
}
