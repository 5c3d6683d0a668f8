//! Adapter for the webhook's checkpoint in the Feed table: the feed position up to which items are
//! delivered.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use cellar_base::record::Attribute;
use cellar_base::table_attributes::{FEED, NEXT_INDEX};
use cellar_catalog::records::webhook;
use cellar_catalog::webhook::WebhookProgress;
use cellar_engine::ports::{PortError, WebhookProgresses};

use super::DynamoFeed;
use super::capacity::is_condition_failed;
use super::items::{to_attributes, to_value};
use crate::outcome::port_error;

#[async_trait]
impl WebhookProgresses for DynamoFeed {
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError> {
        let record = self.get(webhook::key()).await?;
        Ok(record.as_ref().map(webhook::decode).transpose()?)
    }

    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError> {
        let feed_value =
            |progress: WebhookProgress| to_value(Attribute::Bytes(progress.feed.0.to_vec()));
        let next_value =
            |progress: WebhookProgress| to_value(Attribute::Number(progress.next.number()));
        let update = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(to_attributes(webhook::key())))
            .update_expression("SET #f = :f, #n = :n")
            .expression_attribute_names("#f", FEED)
            .expression_attribute_names("#n", NEXT_INDEX)
            .expression_attribute_values(":f", feed_value(to))
            .expression_attribute_values(":n", next_value(to))
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let update = match from {
            None => update.condition_expression("attribute_not_exists(#n)"),
            Some(from) => update
                .condition_expression("#f = :g AND #n = :m")
                .expression_attribute_values(":g", feed_value(from))
                .expression_attribute_values(":m", next_value(from)),
        };
        match self.capacity.count(update.send().await) {
            Ok(_) => Ok(true),
            Err(error) if is_condition_failed(&error) => {
                self.capacity.count_rejected(1);
                Ok(false)
            }
            Err(error) => Err(port_error(&error)),
        }
    }
}
