//! Phases of the indexing state machine.

use super::known::Mark;
use super::work::EventGap;
use crate::feed::checkpoint::{Checkpoint, Feed};
use crate::feed::item::Item;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::variant_names;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Deciding,
    Requesting(Request),
    /// Waiting to repeat this request.
    Waiting(Request),
    Finished,
}

variant_names!(Phase { Deciding, Requesting, Waiting, Finished });

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Request {
    ReadPartition,
    Begin(u64, Feed),
    ReadTail(u64, Feed),
    ReadMarks(Vec<StreamName>, Feed),
    RaiseMarks(Vec<(StreamName, Mark)>),
    ReadMissing(EventGap),
    React(Vec<Span>),
    Put(Checkpoint, Item),
}

variant_names!(Request {
    ReadPartition,
    Begin,
    ReadTail,
    ReadMarks,
    RaiseMarks,
    ReadMissing,
    React,
    Put,
});
