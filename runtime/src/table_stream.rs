//! What the handlers of tables' streams of changes share: the attributes of a record, and how a failure is
//! told to Lambda.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use cellar_base::{record::Attribute, record::Item};
use serde_dynamo::AttributeValue;

/// The very first record of a batch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the first of {records} records failed: split the batch")]
pub struct FirstFailed {
    /// How many records the batch has: more than one.
    pub records: usize,
}

/// Takes these attributes of a record as it is after the change. What is missing, or of a type that Cellar
/// does not write, is left out: the decision names it.
pub(crate) fn image(record: &mut EventRecord, names: &[&str]) -> Item {
    let mut attributes = std::mem::take(&mut record.change.new_image).into_inner();
    let mut image = Item::new();
    for name in names {
        let value = attributes.remove(*name).and_then(value);
        image.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    image
}

fn value(value: AttributeValue) -> Option<Attribute> {
    match value {
        AttributeValue::S(text) => Some(Attribute::Text(text)),
        AttributeValue::N(number) => number.parse().ok().map(Attribute::Number),
        AttributeValue::B(bytes) => Some(Attribute::Bytes(bytes)),
        AttributeValue::L(list) => {
            list.into_iter().map(self::value).collect::<Option<_>>().map(Attribute::List)
        }
        _ => None,
    }
}

/// A record's place in the stream. Without one there is no place to go on from: an empty one fails the whole
/// batch.
pub(crate) fn sequence_number(record: &mut EventRecord) -> String {
    record.change.sequence_number.take().unwrap_or_default()
}

/// The answer about a batch: the first record that failed, if one did, from which Lambda repeats the stream.
///
/// # Errors
/// [`FirstFailed`]: Lambda splits only batches of which it learns nothing, and one bad record is not to be
/// given up together with those behind it.
pub(crate) fn response(
    records: usize,
    first: Option<&String>,
    failed: Option<String>,
) -> Result<DynamoDbEventResponse, FirstFailed> {
    if records > 1 && failed.is_some() && failed.as_ref() == first {
        return Err(FirstFailed { records });
    }
    let mut response = DynamoDbEventResponse::default();
    response.batch_item_failures.extend(failed.map(failure));
    Ok(response)
}

/// A failure in the form that Lambda reads.
fn failure(sequence_number: String) -> DynamoDbBatchItemFailure {
    let mut failure = DynamoDbBatchItemFailure::default();
    failure.item_identifier = Some(sequence_number);
    failure
}
