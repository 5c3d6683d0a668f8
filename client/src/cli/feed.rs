//! `cellar feed`

use cellar_api::{wire::ChangeView, wire::EventRange, wire::FeedItemView};

use super::args;
use super::catalog;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::time::utc;
use crate::Client;
use crate::feed::{
    Checkpoints, Delivery, FeedProgress, FileCheckpoints, SubscribeError, Subscriber, Subscription,
    subscribe,
};
use crate::table::escape;

/// Between two columns.
const GAP: &str = "   ";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Feed,
) -> Result<(), CliError> {
    let args::Feed { after, checkpoint, follow, payloads: events, page_size: limit } = args;
    let client = context.client()?;
    let subscription = Subscription { events, limit, until_end: !follow };
    let reading = async {
        match checkpoint {
            Some(path) => read(&client, subscription, FileCheckpoints::at(path), *output).await,
            None => {
                let next = after.map(|after| after.number());
                let progress = FeedProgress { feed: None, next };
                read(&client, subscription, progress, *output).await
            }
        }
    };
    tokio::select! {
        read = reading => read,
        // That is how following ends.
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// Prints what is delivered.
struct Printer(Output);

impl Subscriber for Printer {
    type Error = std::io::Error;

    async fn handle(&mut self, delivery: Delivery<'_>) -> Result<(), std::io::Error> {
        let Self(output) = self;
        output.result(delivery.item)?;
        lines(delivery.item).into_iter().try_for_each(|line| output.say(line))
    }
}

async fn read(
    client: &Client,
    subscription: Subscription,
    mut checkpoints: impl Checkpoints,
    output: Output,
) -> Result<(), CliError> {
    let read = subscribe(client, subscription, &mut checkpoints, &mut Printer(output)).await;
    let progress = read.map_err(|error| match error {
        SubscribeError::FeedChanged => CliError::FeedChanged,
        SubscribeError::Client(error) => error.into(),
        SubscribeError::Checkpoint(error) => error.into(),
        SubscribeError::Handler(error) => error.into(),
    })?;
    match progress.next {
        Some(next) => output.note(format!("That is all. To go on: cellar feed --after {next}")),
        None => output.note("Nothing has been indexed yet."),
    }
    Ok(())
}

/// A line for each stream of an item, and one for each change that was told.
fn lines(item: &FeedItemView) -> Vec<String> {
    let when = utc(item.indexed_ms / 1_000);
    let of_span = |span: &EventRange| {
        let events = count(span.kinds.len(), "event", "events");
        let kinds = escape(&span.kinds.join(", "));
        let stream = escape(&span.stream);
        let first = span.first;
        let line = [when.clone(), stream, format!("{events} from {first}"), kinds].join(GAP);
        let told = span.events.iter().flatten().map(of_change);
        [line].into_iter().chain(told).collect::<Vec<_>>()
    };
    item.spans.iter().flat_map(of_span).collect()
}

fn of_change(change: &ChangeView) -> String {
    format!("{GAP}{}", catalog::describe::change(change))
}
