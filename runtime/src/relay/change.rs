//! A stream's record as the relay reads it.

use aws_lambda_events::event::dynamodb::EventRecord;
use cellar_engine::relay::EntryChange;
use cellar_snapshot::relay::ATTRIBUTES;

use crate::table_stream::{image, sequence_number};

/// The parts of a record that decide.
pub(super) fn read(mut record: EventRecord) -> EntryChange {
    let (sequence_number, image) = (sequence_number(&mut record), image(&mut record, &ATTRIBUTES));
    EntryChange { sequence_number, name: record.event_name, image }
}
