//! Code shared by the handlers of DynamoDB change streams: reading a record's attributes, and
//! reporting failures to Lambda.

use aws_lambda_events::event::dynamodb::EventRecord;
use aws_lambda_events::event::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use cellar_base::{record::Attribute, record::Item};
use serde_dynamo::AttributeValue;

/// The first record of a batch with several records failed, so that Lambda has to split the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the first of {records} records failed; the batch is delivered again, split")]
pub struct FirstRecordFailed {
    /// Number of records in the batch; more than one.
    pub records: usize,
}

/// Extracts the named attributes from the new image of a record. Attributes that are missing or
/// have a type that Cellar does not write are omitted; the caller reports them.
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

/// Takes the sequence number of a record. A missing number becomes the empty string, which makes
/// Lambda retry the whole batch if it is reported.
pub(crate) fn take_sequence_number(record: &mut EventRecord) -> String {
    record.change.sequence_number.take().unwrap_or_default()
}

/// Builds the response to a batch of `records` records. It names the first record that failed, if
/// any; Lambda continues the stream from that record.
///
/// # Errors
/// [`FirstRecordFailed`] if the failed record is the first of several. Lambda splits a batch only
/// if the function returns an error, and splitting isolates the bad record from those after it.
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
