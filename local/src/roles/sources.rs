//! Permissions that Lambda's event source mappings require of a function's role.

use std::sync::Arc;

use cellar_engine::ports::Jobs;

use super::access_request::AccessRequest;
use super::function_roles::Roles;
use super::messages::RoleQueue;
use crate::error::LocalError;

/// Actions that Lambda performs on a stream. [`LIST_STREAMS`] is required as well, but applies to
/// no particular resource.
const STREAM_ACTIONS: [&str; 3] =
    ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
const LIST_STREAMS: &str = "dynamodb:ListStreams";
/// Actions that Lambda performs on a queue.
const QUEUE_ACTIONS: [&str; 3] =
    ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"];

impl Roles {
    /// Checks that a function's role permits Lambda to read a stream. Like in AWS, the event source
    /// cannot be created otherwise.
    pub(crate) fn check_stream(
        &self,
        source: &str,
        function: &str,
        stream_arn: &str,
    ) -> Result<(), LocalError> {
        let requests = STREAM_ACTIONS.map(|action| AccessRequest::new(action, stream_arn));
        let list = AccessRequest::new(LIST_STREAMS, "*");
        self.check_source(source, function, requests.iter().chain([&list]))
    }

    /// Checks that a function's role permits Lambda to receive messages from a queue.
    pub(crate) fn check_queue(
        &self,
        source: &str,
        function: &str,
        queue_arn: &str,
    ) -> Result<(), LocalError> {
        let requests = QUEUE_ACTIONS.map(|action| AccessRequest::new(action, queue_arn));
        self.check_source(source, function, requests.iter())
    }

    fn check_source<'a>(
        &self,
        source: &str,
        function: &str,
        requests: impl Iterator<Item = &'a AccessRequest>,
    ) -> Result<(), LocalError> {
        let caller = self.caller_of(function)?;
        for request in requests {
            self.check(caller, request).map_err(|denied| LocalError::Template {
                logical_id: source.to_owned(),
                why: denied.0,
            })?;
        }
        Ok(())
    }
}

/// Returns a queue that checks each call against the role of `function`.
pub(crate) fn queue_with_role(
    roles: &Arc<Roles>,
    function: &str,
    url: &str,
    queue: Arc<dyn Jobs>,
) -> Result<Arc<dyn Jobs>, LocalError> {
    let (caller, roles) = (roles.caller_of(function)?, Arc::clone(roles));
    Ok(Arc::new(RoleQueue { queue, url: url.to_owned(), roles, caller }))
}
