//! CloudWatch dashboard for requests, background work and consumed capacity.

use super::alarms::Parts;
use crate::constructs::{Dashboard, Metric, Watched, Widget};
use crate::stack::{Stack, SynthesisError};

pub(super) fn add_dashboard(stack: &mut Stack, parts: &Parts<'_>) -> Result<(), SynthesisError> {
    let widgets = request_widgets(parts)
        .into_iter()
        .chain(background_widgets(parts))
        .chain(table_widgets(parts));
    stack.add("Dashboard", widgets.fold(Dashboard::new(), Dashboard::widget))?;
    Ok(())
}

fn request_widgets(parts: &Parts<'_>) -> [Widget; 3] {
    let api = || Watched::function(parts.api);
    [
        Widget::new("Requests")
            .line("requests", Metric::UrlRequests, api())
            .line("rejected (4xx)", Metric::UrlClientErrors, api())
            .line("failed (5xx)", Metric::UrlServerErrors, api()),
        Widget::new("Request latency (ms)")
            .percentile("median", Metric::UrlLatency, api(), "p50")
            .percentile("p99", Metric::UrlLatency, api(), "p99"),
        Widget::new("Functions: throttles and concurrency")
            .line("API throttled", Metric::Throttles, api())
            .line("relay throttled", Metric::Throttles, Watched::function(&parts.events.relay))
            .line("indexer throttled", Metric::Throttles, Watched::function(parts.indexer))
            .line("snapshots throttled", Metric::Throttles, Watched::function(parts.snapshot))
            .line("API concurrency", Metric::ConcurrentExecutions, api()),
    ]
}

fn background_widgets(parts: &Parts<'_>) -> [Widget; 3] {
    let relay = || Watched::function(&parts.events.relay);
    let indexer = || Watched::function(parts.indexer);
    let snapshot = || Watched::function(parts.snapshot);
    let jobs = || Watched::queue(&parts.events.snapshots);
    let change_stream_dead_letters = Watched::queue(&parts.events.change_stream_dead_letters);
    let snapshot_dead_letters = Watched::queue(&parts.events.snapshot_dead_letters);
    let mut change_streams = Widget::new("Change stream lag (ms)")
        .line("relay", Metric::IteratorAge, relay())
        .line("relay errors", Metric::Errors, relay())
        .line("indexer", Metric::IteratorAge, indexer())
        .line("indexer errors", Metric::Errors, indexer());
    if let Some(webhook) = parts.webhook {
        change_streams = change_streams
            .line("webhook", Metric::IteratorAge, Watched::function(webhook))
            .line("webhook errors", Metric::Errors, Watched::function(webhook));
    }
    [
        change_streams,
        Widget::new("Snapshots")
            .line("invocations", Metric::Invocations, snapshot())
            .line("errors", Metric::Errors, snapshot())
            .line("maximum (ms)", Metric::Duration, snapshot()),
        Widget::new("Snapshot queue and dead letters")
            .line("waiting", Metric::VisibleMessages, jobs())
            .line("in flight", Metric::HiddenMessages, jobs())
            .line("oldest (s)", Metric::OldestMessage, jobs())
            .line("change stream dead letters", Metric::VisibleMessages, change_stream_dead_letters)
            .line("snapshot dead letters", Metric::VisibleMessages, snapshot_dead_letters),
    ]
}

fn table_widgets(parts: &Parts<'_>) -> [Widget; 3] {
    let tables = || {
        let storage = parts.storage;
        [
            ("entries", Watched::table(&storage.entries)),
            ("segments", Watched::table(&storage.segments)),
            ("pending snapshots", Watched::table(&storage.pending_snapshots)),
            ("event streams", Watched::table(&storage.event_streams)),
            ("feed", Watched::table(&storage.feed)),
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
            .line("throttled writes", Metric::WriteThrottles, entries())
            .line("throttled reads", Metric::ReadThrottles, entries()),
    ]
}
