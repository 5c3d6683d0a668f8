use std::io;

use cellar_api::wire::{ChangeView, FeedItemView};

use super::args;
use super::catalog;
use super::context::Context;
use super::error::CliError;
use super::output::{COLUMN_GAP, Output, count};
use crate::Client;
use crate::feed::{
    Checkpoints, Delivery, FeedProgress, FileCheckpoints, SubscribeError, Subscriber, Subscription,
    subscribe,
};
use crate::text::escape;
use cellar_api::time::format_utc;

const MILLISECONDS_PER_SECOND: u64 = 1_000;

pub(super) async fn print_feed(
    context: &Context,
    output: &Output,
    args: args::Feed,
) -> Result<(), CliError> {
    let client = context.client()?;
    tokio::select! {
        result = print_items(&client, output, args) => result,
        // Ctrl-C is the normal way to end `--follow`, so the command succeeds.
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

async fn print_items(client: &Client, output: &Output, args: args::Feed) -> Result<(), CliError> {
    let args::Feed { after, checkpoint, follow, payloads, page_size } = args;
    let subscription = Subscription { payloads, limit: page_size, until_end: !follow };
    match checkpoint {
        Some(path) => deliver_feed(client, subscription, FileCheckpoints::at(path), *output).await,
        None => {
            let checkpoint = after.map(|after| after.number());
            let progress = FeedProgress { generation: None, checkpoint };
            deliver_feed(client, subscription, progress, *output).await
        }
    }
}

struct Printer(Output);

impl Subscriber for Printer {
    type Error = io::Error;

    async fn handle(&mut self, delivery: Delivery<'_>) -> Result<(), io::Error> {
        let Self(output) = self;
        output.print_json(delivery.item)?;
        output.print_lines(item_lines(delivery.item))?;
        Ok(())
    }
}

async fn deliver_feed(
    client: &Client,
    subscription: Subscription,
    mut checkpoints: impl Checkpoints,
    output: Output,
) -> Result<(), CliError> {
    let progress = subscribe(client, subscription, &mut checkpoints, &mut Printer(output))
        .await
        .map_err(to_cli_error)?;
    match progress.checkpoint {
        Some(checkpoint) => {
            output.print_note(format!(
                "End of the feed. To continue: cellar feed --after {checkpoint}"
            ));
        }
        None => output.print_note("The feed is empty."),
    }
    Ok(())
}

fn to_cli_error(error: SubscribeError<io::Error>) -> CliError {
    match error {
        SubscribeError::GenerationChanged => CliError::FeedGenerationChanged,
        SubscribeError::Client(error) => error.into(),
        SubscribeError::Checkpoint(error) => error.into(),
        SubscribeError::Handler(error) => error.into(),
    }
}

fn item_lines(item: &FeedItemView) -> Vec<String> {
    let indexed_at = format_utc(item.indexed_ms / MILLISECONDS_PER_SECOND);
    let mut lines = Vec::new();
    for span in &item.spans {
        let event_count = count(span.kinds.len(), "event", "events");
        let event_range = format!("{event_count} from {}", span.first);
        let kinds = escape(&span.kinds.join(", "));
        let columns = [indexed_at.clone(), escape(&span.stream), event_range, kinds];
        lines.push(columns.join(COLUMN_GAP));
        for change in span.events.iter().flatten() {
            lines.push(payload_line(change));
        }
    }
    lines
}

fn payload_line(change: &ChangeView) -> String {
    format!("{COLUMN_GAP}{}", catalog::describe::format_change(change))
}
