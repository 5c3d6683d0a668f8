//! What Lambda does with a function's role itself, for its event sources.

use std::sync::Arc;

use cellar_engine::ports::Jobs;

use super::messages::RoleQueue;
use super::{Ask, Roles};
use crate::error::LocalError;

/// What Lambda needs to read a stream, besides the action on no resource.
const STREAM: [&str; 3] =
    ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
const LIST_STREAMS: &str = "dynamodb:ListStreams";
/// What Lambda needs to receive from a queue.
const QUEUE: [&str; 3] = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"];

impl Roles {
    /// Whether a function's role lets Lambda read a stream for it. As in AWS, a source without is not
    /// made at all.
    pub(crate) fn check_stream(
        &self,
        source: &str,
        function: &str,
        stream_arn: &str,
    ) -> Result<(), LocalError> {
        let asks = STREAM.map(|action| Ask::new(action, stream_arn));
        let list = Ask::new(LIST_STREAMS, "*");
        self.check_source(source, function, asks.iter().chain([&list]))
    }

    /// Whether a function's role lets Lambda receive from a queue for it.
    pub(crate) fn check_queue(
        &self,
        source: &str,
        function: &str,
        queue_arn: &str,
    ) -> Result<(), LocalError> {
        let asks = QUEUE.map(|action| Ask::new(action, queue_arn));
        self.check_source(source, function, asks.iter())
    }

    fn check_source<'a>(
        &self,
        source: &str,
        function: &str,
        mut asks: impl Iterator<Item = &'a Ask>,
    ) -> Result<(), LocalError> {
        let caller = self.caller_of(function)?;
        let fault = |why| LocalError::Template { logical_id: source.to_owned(), why };
        asks.try_for_each(|ask| self.check(caller, ask).map_err(|denied| fault(denied.0)))
    }
}

/// The queue of a function, at a URL, as its role lets it use that.
pub(crate) fn queue_of(
    roles: &Arc<Roles>,
    function: &str,
    url: &str,
    queue: Arc<dyn Jobs>,
) -> Result<Arc<dyn Jobs>, LocalError> {
    let (caller, roles) = (roles.caller_of(function)?, Arc::clone(roles));
    Ok(Arc::new(RoleQueue { queue, url: url.to_owned(), roles, caller }))
}
