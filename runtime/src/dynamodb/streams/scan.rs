//! Implements the [`AllStreams`] port, which lists all event streams. Only operator commands use
//! this implementation.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::limits::TIP_INDEX;
use cellar_base::record::{Attribute, Item, RecordError};
use cellar_base::table_attributes::{NEXT_INDEX, STREAM, STREAM_INDEX};
use cellar_catalog::stream::StreamName;
use cellar_engine::ports::{AllStreams, PortError, StreamPage, StreamScanKey};

use super::super::items::{SdkItem, from_sdk_item, to_sdk_item, to_sdk_value};
use super::DynamoStreams;

#[async_trait]
impl AllStreams for DynamoStreams {
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError> {
        let tips_scan = self
            .client
            .scan()
            .table_name(&self.table_name)
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .filter_expression("#i = :tip")
            .projection_expression("#p, #i, #n")
            .expression_attribute_names("#p", STREAM)
            .expression_attribute_names("#i", STREAM_INDEX)
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_values(":tip", to_sdk_value(Attribute::Number(TIP_INDEX)))
            .set_exclusive_start_key(after.map(from_scan_key));
        let reply = self.capacity.count_reply(tips_scan.send().await)?;
        let mut streams = Vec::new();
        for tip_item in reply.items() {
            streams.push(read_name_and_next(&from_sdk_item(tip_item)?)?);
        }
        let next_key = match reply.last_evaluated_key() {
            Some(last_key) => Some(to_scan_key(&from_sdk_item(last_key)?)?),
            None => None,
        };
        Ok(StreamPage { streams, next: next_key })
    }
}

fn from_scan_key(StreamScanKey { stream, index }: StreamScanKey) -> SdkItem {
    to_sdk_item(Item::from([
        (STREAM.to_owned(), Attribute::Text(stream)),
        (STREAM_INDEX.to_owned(), Attribute::Number(index)),
    ]))
}

fn read_name_and_next(item: &Item) -> Result<(StreamName, u64), PortError> {
    let StreamScanKey { stream, .. } = to_scan_key(item)?;
    let name = stream.parse().map_err(|_| unexpected(STREAM, "a stream name"))?;
    match item.get(NEXT_INDEX) {
        Some(Attribute::Number(next)) => Ok((name, *next)),
        _ => Err(unexpected(NEXT_INDEX, "a number")),
    }
}

fn to_scan_key(item: &Item) -> Result<StreamScanKey, PortError> {
    match (item.get(STREAM), item.get(STREAM_INDEX)) {
        (Some(Attribute::Text(stream)), Some(Attribute::Number(index))) => {
            Ok(StreamScanKey { stream: stream.clone(), index: *index })
        }
        _ => Err(unexpected(STREAM, "the key of a stream")),
    }
}

fn unexpected(name: &'static str, expected: &'static str) -> PortError {
    RecordError::Attribute { record: "event stream", name, expected }.into()
}
