//! Functions that all handlers of DynamoDB change streams share. They read the attributes of a
//! record and report failures to Lambda.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use cellar_base::{record::Attribute, record::Item};
use serde_dynamo::AttributeValue;

/// The first record failed and the batch contains more than one record, so Lambda must split the
/// batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the first of {records} records failed; the batch is delivered again, split")]
pub struct FirstRecordFailed {
    /// Number of records in the batch. Always greater than one.
    pub records: usize,
}

/// Extracts the named attributes from the new image of a record. Omits attributes that are missing
/// or have a type that Cellar does not write. The caller reports them.
pub(crate) fn take_new_image(record: &mut EventRecord, names: &[&str]) -> Item {
    let mut attributes = std::mem::take(&mut record.change.new_image).into_inner();
    let mut image = Item::new();
    for name in names {
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

/// Returns the sequence number of a record. If it is missing, returns the empty string: reporting
/// the empty string makes Lambda retry the whole batch.
pub(crate) fn take_sequence_number(record: &mut EventRecord) -> String {
    record.change.sequence_number.take().unwrap_or_default()
}

/// Builds the response to a batch of `records` records. If a record failed, the response identifies
/// the first failed record, and Lambda continues the stream from that record.
///
/// # Errors
///
/// Returns [`FirstRecordFailed`] if the failed record is the first of several. Lambda splits a
/// batch only if the function returns an error. Splitting isolates the failed record from the
/// records after it.
pub(crate) fn batch_response(
    records: usize,
    first: Option<&String>,
    failed: Option<String>,
) -> Result<DynamoDbEventResponse, FirstRecordFailed> {
    if records > 1 && failed.is_some() && failed.as_ref() == first {
        return Err(FirstRecordFailed { records });
    }
    let mut response = DynamoDbEventResponse::default();
    if let Some(sequence_number) = failed {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(sequence_number);
        response.batch_item_failures.push(failure);
    }
    Ok(response)
}
