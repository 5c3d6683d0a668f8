//! Permissions that a function's role must grant for Lambda's event source mappings.

use std::sync::Arc;

use cellar_engine::ports::Jobs;

use super::access_request::AccessRequest;
use super::function_roles::{Denied, Roles};
use super::messages::RoleQueue;
use crate::error::LocalError;

/// Actions on a change stream that Lambda performs with the function's role. Lambda also requires
/// [`LIST_STREAMS`], which is not limited to one stream.
const STREAM_ACTIONS: [&str; 3] =
    ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
const LIST_STREAMS: &str = "dynamodb:ListStreams";
/// Actions on a queue that Lambda performs with the function's role.
const QUEUE_ACTIONS: [&str; 3] =
    ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"];

impl Roles {
    /// Like in AWS, the event source cannot be created without this permission.
    pub(crate) fn check_stream(
        &self,
        source_id: &str,
        function_id: &str,
        stream_arn: &str,
    ) -> Result<(), LocalError> {
        let mut access_requests: Vec<AccessRequest> =
            STREAM_ACTIONS.map(|action| AccessRequest::new(action, stream_arn)).into();
        access_requests.push(AccessRequest::new(LIST_STREAMS, "*"));
        self.check_source(source_id, function_id, &access_requests)
    }

    pub(crate) fn check_queue(
        &self,
        source_id: &str,
        function_id: &str,
        queue_arn: &str,
    ) -> Result<(), LocalError> {
        let access_requests = QUEUE_ACTIONS.map(|action| AccessRequest::new(action, queue_arn));
        self.check_source(source_id, function_id, &access_requests)
    }

    fn check_source(
        &self,
        source_id: &str,
        function_id: &str,
        access_requests: &[AccessRequest],
    ) -> Result<(), LocalError> {
        let caller = self.caller_of(function_id)?;
        for access_request in access_requests {
            if let Err(Denied(message)) = self.authorize(caller, access_request) {
                return Err(LocalError::Template {
                    logical_id: source_id.to_owned(),
                    why: message,
                });
            }
        }
        Ok(())
    }
}

pub(crate) fn queue_with_role(
    roles: &Arc<Roles>,
    function_id: &str,
    queue_url: &str,
    queue: Arc<dyn Jobs>,
) -> Result<Arc<dyn Jobs>, LocalError> {
    Ok(Arc::new(RoleQueue {
        queue,
        url: queue_url.to_owned(),
        roles: Arc::clone(roles),
        caller: roles.caller_of(function_id)?,
    }))
}
