//! Stores the webhook's checkpoint in the Feed table. All feed items up to the checkpoint have been
//! delivered.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use cellar_base::record::Attribute;
use cellar_base::table_attributes::{FEED, NEXT_INDEX};
use cellar_catalog::records::webhook;
use cellar_catalog::webhook::WebhookProgress;
use cellar_engine::ports::{PortError, WebhookProgresses};

use super::DynamoFeed;
use super::capacity::MIN_WRITE_UNITS;
use super::conditional::{ConditionalWrite, count_conditional_write};
use super::items::{to_sdk_item, to_sdk_value};

#[async_trait]
impl WebhookProgresses for DynamoFeed {
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError> {
        match self.get_record(webhook::key()).await? {
            Some(record) => Ok(Some(webhook::decode(&record)?)),
            None => Ok(None),
        }
    }

    async fn advance(
        &self,
        old_progress: Option<WebhookProgress>,
        new_progress: WebhookProgress,
    ) -> Result<bool, PortError> {
        let update = self
            .client
            .update_item()
            .table_name(&self.table_name)
            .set_key(Some(to_sdk_item(webhook::key())))
            .update_expression("SET #f = :f, #n = :n")
            .expression_attribute_names("#f", FEED)
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_values(":f", feed_value(new_progress))
            .expression_attribute_values(":n", next_value(new_progress))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let conditional_update = match old_progress {
            None => update.condition_expression("attribute_not_exists(#n)"),
            Some(old_progress) => update
                .condition_expression("#f = :old_f AND #n = :old_n")
                .expression_attribute_values(":old_f", feed_value(old_progress))
                .expression_attribute_values(":old_n", next_value(old_progress)),
        };
        let result = conditional_update.send().await;
        let write = count_conditional_write(&self.capacity, result, MIN_WRITE_UNITS)?;
        Ok(write == ConditionalWrite::Written)
    }
}

fn feed_value(progress: WebhookProgress) -> AttributeValue {
    to_sdk_value(Attribute::Bytes(progress.feed.0.to_vec()))
}

fn next_value(progress: WebhookProgress) -> AttributeValue {
    to_sdk_value(Attribute::Number(progress.next.number()))
}
