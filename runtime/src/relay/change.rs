//! Converts change stream records to the input of the relay.

use aws_lambda_events::event::dynamodb::EventRecord;
use cellar_engine::relay::EntryChange;
use cellar_snapshot::relay::ATTRIBUTES;

use crate::table_stream::{take_new_image, take_sequence_number};

pub(super) fn read_change(mut record: EventRecord) -> EntryChange {
    let sequence_number = take_sequence_number(&mut record);
    let image = take_new_image(&mut record, &ATTRIBUTES);
    EntryChange { sequence_number, name: record.event_name, image }
}
