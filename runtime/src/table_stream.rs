//! Functions for Lambda handlers of DynamoDB change streams. They read the attributes of records,
//! and report failed records to Lambda.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use cellar_base::record::{Attribute, Item};
use serde_dynamo::AttributeValue;

/// The first of several records in a batch failed, so Lambda must split the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the first of {records} records failed; Lambda splits the batch and delivers it again")]
pub struct FirstRecordFailed {
    /// Number of records in the batch, which is always greater than one.
    pub records: usize,
}

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

/// Builds the response to a batch. If a record failed, the response contains its sequence number,
/// and Lambda delivers this record and all later records again.
///
/// # Errors
///
/// Returns [`FirstRecordFailed`] if the first of several records failed. Lambda then splits the
/// batch, repeatedly if necessary, until it contains only the failed record.
pub(crate) fn batch_response(
    record_count: usize,
    first_number: Option<&String>,
    failed_number: Option<String>,
) -> Result<DynamoDbEventResponse, FirstRecordFailed> {
    let mut response = DynamoDbEventResponse::default();
    let Some(failed_number) = failed_number else { return Ok(response) };
    if record_count > 1 && first_number == Some(&failed_number) {
        return Err(FirstRecordFailed { records: record_count });
    }
    let mut failure = DynamoDbBatchItemFailure::default();
    failure.item_identifier = Some(failed_number);
    response.batch_item_failures.push(failure);
    Ok(response)
}
