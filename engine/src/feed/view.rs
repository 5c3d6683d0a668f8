//! Converts feed pages to the JSON format of the HTTP API and the webhook.

use cellar_api::{wire::ChangeView, wire::EventRange, wire::FeedItemView, wire::FeedReply};
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_catalog::feed::Span;
use cellar_catalog::spreadsheet::CATEGORY;

use super::reader::FeedPage;
use crate::catalog::CatalogStore;
use crate::streams::StreamError;

const MAX_EVENT_BYTES: usize = MAX_REPLY_BYTES / 2;

/// Converts a feed page to an API response. If `catalog` is set, the response includes the contents
/// of catalog events, up to half of the maximum response size.
///
/// # Errors
///
/// Returns [`StreamError`] if the events cannot be read.
pub async fn feed_reply(
    page: FeedPage,
    catalog: Option<&CatalogStore>,
) -> Result<FeedReply, StreamError> {
    let mut remaining_event_bytes = MAX_EVENT_BYTES;
    let mut items = Vec::new();
    for item in page.items {
        let mut spans = Vec::new();
        for span in item.spans {
            let events = match catalog {
                Some(catalog) => event_views(catalog, &span, &mut remaining_event_bytes).await?,
                None => None,
            };
            spans.push(EventRange { events, ..span.into() });
        }
        // Clients continue at the checkpoint after the item. After the last item of a partition,
        // this checkpoint is the end of the partition.
        let next_checkpoint = item.at.number().saturating_add(1);
        items.push(FeedItemView { checkpoint: next_checkpoint, indexed_ms: item.time_ms, spans });
    }
    let generation = page.feed.map(|feed| feed.to_string());
    Ok(FeedReply { generation, items, checkpoint: page.next.number(), at_end: page.is_end })
}

/// Returns the contents of the catalog events in a span, or `None` if they are larger than
/// `remaining_bytes`.
async fn event_views(
    catalog: &CatalogStore,
    span: &Span,
    remaining_bytes: &mut usize,
) -> Result<Option<Vec<ChangeView>>, StreamError> {
    if span.stream.category() != CATEGORY || *remaining_bytes == 0 {
        return Ok(None);
    }
    let events = catalog.events_of_span(span).await?;
    let views: Vec<ChangeView> = events.into_iter().map(ChangeView::from).collect();
    let json_bytes = serde_json::to_vec(&views).map_or(usize::MAX, |json| json.len());
    *remaining_bytes = remaining_bytes.saturating_sub(json_bytes);
    if *remaining_bytes == 0 { Ok(None) } else { Ok(Some(views)) }
}
