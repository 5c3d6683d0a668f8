//! The feed as it is told: over HTTP, and to the webhook.

use cellar_api::{wire::ChangeView, wire::EventRange, wire::FeedItemView, wire::FeedReply};
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_catalog::feed::Span;
use cellar_catalog::spreadsheet::CATEGORY;

use super::reader::FeedPage;
use crate::catalog::CatalogStore;
use crate::streams::StreamError;

/// A page as it is told: with a catalog, what its events say, too, as long as there is room for it.
///
/// # Errors
/// [`StreamError`] if the events cannot be read.
pub async fn view(
    page: FeedPage,
    catalog: Option<&CatalogStore>,
) -> Result<FeedReply, StreamError> {
    let mut room = MAX_REPLY_BYTES / 2;
    let mut items = Vec::new();
    for item in page.items {
        let mut spans = Vec::new();
        for span in item.spans {
            let events = match catalog {
                Some(catalog) => told(catalog, &span, &mut room).await?,
                None => None,
            };
            spans.push(EventRange { events, ..span.into() });
        }
        // Behind the last place of a partition is its end.
        let next = item.at.number().saturating_add(1);
        items.push(FeedItemView { checkpoint: next, indexed_ms: item.time_ms, spans });
    }
    let feed = page.feed.map(|feed| feed.to_string());
    Ok(FeedReply { generation: feed, items, checkpoint: page.next.number(), at_end: page.is_end })
}

/// What the events of a span say, as long as there is room for it.
async fn told(
    catalog: &CatalogStore,
    span: &Span,
    room: &mut usize,
) -> Result<Option<Vec<ChangeView>>, StreamError> {
    if span.stream.category() != CATEGORY || *room == 0 {
        return Ok(None);
    }
    let dated = catalog.told(span).await?;
    let views: Vec<ChangeView> = dated.into_iter().map(ChangeView::from).collect();
    let bytes = serde_json::to_vec(&views).map(|text| text.len()).unwrap_or(usize::MAX);
    *room = room.saturating_sub(bytes);
    Ok((*room > 0).then_some(views))
}
