//! The record in the Feed table that states how far the webhook has delivered the feed.

use crate::feed::{Checkpoint, FeedId};
use crate::webhook::WebhookProgress;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{FEED, FEED_PARTITION_KEY, FEED_SORT_KEY, NEXT_INDEX};

const PROGRESS: &str = "progress of the webhook";

/// Returns the key of the record that states how far the webhook has delivered the feed.
#[must_use]
pub fn key() -> Item {
    let mut item = Item::new();
    put_text(&mut item, FEED_PARTITION_KEY, Some("$Webhook"));
    put_text(&mut item, FEED_SORT_KEY, Some("progress"));
    item
}

/// Encodes the progress.
#[must_use]
pub fn encode(progress: WebhookProgress) -> Item {
    let mut item = key();
    put_bytes(&mut item, FEED, progress.feed.0.to_vec());
    put_number(&mut item, NEXT_INDEX, progress.next.number());
    item
}

/// Decodes the record that states how far the webhook has delivered the feed.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<WebhookProgress, RecordError> {
    let reader = Reader { record: PROGRESS, item };
    let next = Checkpoint::new(reader.number(NEXT_INDEX)?);
    let next = next.map_err(|_| reader.attribute_error(NEXT_INDEX, "a checkpoint"))?;
    Ok(WebhookProgress { feed: FeedId(reader.array(FEED)?), next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::record::Attribute;

    #[test]
    fn progress_round_trips_and_invalid_attributes_are_named() {
        let next = Checkpoint::at(3, 7).unwrap();
        let progress = WebhookProgress { feed: FeedId([1, 2, 3, 4, 5, 6, 7, 8]), next };
        let item = encode(progress);
        assert_eq!(decode(&item), Ok(progress));
        for (name, wrong) in
            [(FEED, Attribute::Bytes(vec![1; 7])), (NEXT_INDEX, Attribute::Number(u64::MAX))]
        {
            let mut item = item.clone();
            item.insert(name.to_owned(), wrong);
            assert!(decode(&item).unwrap_err().to_string().contains(name));
            item.remove(name);
            assert!(decode(&item).is_err());
        }
    }
}
