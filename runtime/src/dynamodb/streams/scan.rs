//! All streams of the EventStream table: for an operator, never for a function of the stack.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::limits::TIP_INDEX;
use cellar_base::schema::{NEXT_INDEX, STREAM, STREAM_INDEX};
use cellar_base::{record::Attribute, record::Item, record::RecordError};
use cellar_catalog::stream::StreamName;
use cellar_engine::ports::{AllStreams, PortError, StreamPage, StreamScanKey};

use super::super::consumed_units;
use super::super::items::{from_attributes, to_attributes, to_value};
use super::DynamoStreams;
use crate::outcome::port_error;

#[async_trait]
impl AllStreams for DynamoStreams {
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError> {
        let after = after.map(|StreamScanKey { stream, index }| {
            to_attributes(Item::from([
                (STREAM.to_owned(), Attribute::Text(stream)),
                (STREAM_INDEX.to_owned(), Attribute::Number(index)),
            ]))
        });
        let reply = self
            .client
            .scan()
            .table_name(&self.table)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .filter_expression("#i = :tip")
            .projection_expression("#p, #i, #n")
            .expression_attribute_names("#p", STREAM)
            .expression_attribute_names("#i", STREAM_INDEX)
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_values(":tip", to_value(Attribute::Number(TIP_INDEX)))
            .set_exclusive_start_key(after)
            .send()
            .await
            .map_err(|error| port_error(&error))?;
        self.meter.count(consumed_units(reply.consumed_capacity()), 0.0);
        let streams = reply.items().iter().map(|item| read(&from_attributes(item)?));
        let streams = streams.collect::<Result<_, PortError>>()?;
        let next = reply.last_evaluated_key().map(|key| scan_key(&from_attributes(key)?));
        Ok(StreamPage { streams, next: next.transpose()? })
    }
}

fn read(item: &Item) -> Result<(StreamName, u64), PortError> {
    let StreamScanKey { stream, .. } = scan_key(item)?;
    let name = stream.parse().map_err(|_| fault(STREAM, "the name of a stream"))?;
    match item.get(NEXT_INDEX) {
        Some(Attribute::Number(next)) => Ok((name, *next)),
        _ => Err(fault(NEXT_INDEX, "a number")),
    }
}

fn scan_key(item: &Item) -> Result<StreamScanKey, PortError> {
    match (item.get(STREAM), item.get(STREAM_INDEX)) {
        (Some(Attribute::Text(stream)), Some(Attribute::Number(index))) => {
            Ok(StreamScanKey { stream: stream.clone(), index: *index })
        }
        _ => Err(fault(STREAM, "a key of a stream")),
    }
}

fn fault(name: &'static str, expected: &'static str) -> PortError {
    RecordError::Attribute { record: "item of a stream", name, expected }.into()
}
