//! Queues, as far as one asks how full they are.

use aws_sdk_sqs::types::QueueAttributeName;

use super::{Aws, AwsError};

impl Aws {
    /// About how many messages of a queue wait.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn waiting_messages(&self, queue_url: &str) -> Result<u64, AwsError> {
        let number = QueueAttributeName::ApproximateNumberOfMessages;
        let request = self.sqs.get_queue_attributes().queue_url(queue_url);
        let reply = request.attribute_names(number.clone()).send().await;
        let reply = reply.map_err(|error| AwsError::of("count the messages of a queue", &error))?;
        let count = reply.attributes().and_then(|attributes| attributes.get(&number)?.parse().ok());
        count.ok_or(AwsError::Reply { missing: "the number of messages" })
    }
}
