//! Reads queue sizes.

use aws_sdk_sqs::types::QueueAttributeName;

use super::connect::Aws;
use super::error::AwsError;

impl Aws {
    /// Returns the approximate number of messages in a queue.
    pub(crate) async fn message_count(&self, queue_url: &str) -> Result<u64, AwsError> {
        let attribute = QueueAttributeName::ApproximateNumberOfMessages;
        let request = self.sqs.get_queue_attributes().queue_url(queue_url);
        let reply = request.attribute_names(attribute.clone()).send().await;
        let reply =
            reply.map_err(|error| AwsError::from_sdk("count the messages of a queue", &error))?;
        let count =
            reply.attributes().and_then(|attributes| attributes.get(&attribute)?.parse().ok());
        count.ok_or(AwsError::IncompleteReply { missing: "the number of messages" })
    }
}
