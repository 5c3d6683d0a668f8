//! The dashboard: whether requests are served, whether what follows them gets done, and what both
//! cost.

use super::alarms::Parts;
use crate::constructs::{Dashboard, Metric, Watched, Widget};
use crate::stack::{Stack, SynthesisError};

/// Adds it.
pub(super) fn add(stack: &mut Stack, parts: &Parts<'_>) -> Result<(), SynthesisError> {
    let widgets = of_requests(parts).into_iter().chain(of_work(parts)).chain(of_tables(parts));
    stack.add("Dashboard", widgets.fold(Dashboard::new(), Dashboard::widget))?;
    Ok(())
}

fn of_requests(parts: &Parts<'_>) -> [Widget; 3] {
    let api = || Watched::function(parts.api);
    [
        Widget::new("Requests")
            .line("requests", Metric::UrlRequests, api())
            .line("refused (4xx)", Metric::UrlRefusals, api())
            .line("failed (5xx)", Metric::UrlFailures, api()),
        Widget::new("Latency of requests, ms")
            .percentile("median", Metric::UrlLatency, api(), "p50")
            .percentile("99 of 100", Metric::UrlLatency, api(), "p99"),
        Widget::new("Functions: throttles and concurrency")
            .line("API throttled", Metric::Throttles, api())
            .line("relay throttled", Metric::Throttles, Watched::function(&parts.events.relay))
            .line("indexer throttled", Metric::Throttles, Watched::function(parts.indexer))
            .line("snapshots throttled", Metric::Throttles, Watched::function(parts.snapshot))
            .line("API at the same time", Metric::ConcurrentExecutions, api()),
    ]
}

fn of_work(parts: &Parts<'_>) -> [Widget; 3] {
    let relay = || Watched::function(&parts.events.relay);
    let indexer = || Watched::function(parts.indexer);
    let snapshot = || Watched::function(parts.snapshot);
    let jobs = || Watched::queue(&parts.events.snapshots);
    let relay_letters = Watched::queue(&parts.events.change_stream_dead_letters);
    let snapshot_letters = Watched::queue(&parts.events.snapshot_dead_letters);
    let streams = Widget::new("Relay and indexer: age of their streams' records, ms")
        .line("relay's", Metric::IteratorAge, relay())
        .line("errors of the relay", Metric::Errors, relay())
        .line("indexer's", Metric::IteratorAge, indexer())
        .line("errors of the indexer", Metric::Errors, indexer());
    let streams = match parts.webhook {
        Some(webhook) => streams
            .line("webhook's", Metric::IteratorAge, Watched::function(webhook))
            .line("errors of the webhook", Metric::Errors, Watched::function(webhook)),
        None => streams,
    };
    [
        streams,
        Widget::new("Snapshots")
            .line("calls", Metric::Invocations, snapshot())
            .line("errors", Metric::Errors, snapshot())
            .line("longest, ms", Metric::Duration, snapshot()),
        Widget::new("Queue of snapshots, and dead letters")
            .line("waiting", Metric::Messages, jobs())
            .line("in work, or hidden", Metric::MessagesHidden, jobs())
            .line("oldest, s", Metric::OldestMessage, jobs())
            .line("dead letters of streams", Metric::Messages, relay_letters)
            .line("dead letters of snapshots", Metric::Messages, snapshot_letters),
    ]
}

fn of_tables(parts: &Parts<'_>) -> [Widget; 3] {
    let tables = || {
        let storage = parts.storage;
        [
            ("entries", Watched::table(&storage.entries)),
            ("segments", Watched::table(&storage.segments)),
            ("pending snapshots", Watched::table(&storage.pending_snapshots)),
            ("streams", Watched::table(&storage.streams)),
            ("index", Watched::table(&storage.index)),
        ]
    };
    let chart = |title, metric| {
        let lines = tables().into_iter();
        lines.fold(Widget::new(title), |widget, (label, table)| widget.line(label, metric, table))
    };
    let entries = || Watched::table(&parts.storage.entries);
    [
        chart("Write units", Metric::WriteUnits),
        chart("Read units", Metric::ReadUnits),
        Widget::new("Entry table: throttles")
            .line("writes refused", Metric::WriteThrottles, entries())
            .line("reads refused", Metric::ReadThrottles, entries()),
    ]
}
