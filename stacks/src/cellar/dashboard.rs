//! The CloudWatch dashboard, which shows metrics of requests, background work and table capacity.

use super::alarms::StackResources;
use super::storage::Storage;
use crate::constructs::{Dashboard, Metric, MonitoredResource, Widget};
use crate::stack::{Stack, SynthesisError};

pub(super) fn add_dashboard(
    stack: &mut Stack,
    resources: &StackResources<'_>,
) -> Result<(), SynthesisError> {
    let mut dashboard = Dashboard::new();
    for row_of_widgets in
        [request_widgets(resources), background_widgets(resources), table_widgets(resources)]
    {
        for widget in row_of_widgets {
            dashboard = dashboard.widget(widget);
        }
    }
    stack.add("Dashboard", dashboard)?;
    Ok(())
}

fn request_widgets(resources: &StackResources<'_>) -> [Widget; 3] {
    let api_function = || MonitoredResource::function(resources.api);
    [
        Widget::new("Requests")
            .line("requests", Metric::UrlRequests, api_function())
            .line("rejected (4xx)", Metric::UrlClientErrors, api_function())
            .line("failed (5xx)", Metric::UrlServerErrors, api_function()),
        Widget::new("Request latency (ms)")
            .percentile("median", Metric::UrlLatency, api_function(), "p50")
            .percentile("p99", Metric::UrlLatency, api_function(), "p99"),
        Widget::new("Functions: throttles and concurrency")
            .line("API throttled", Metric::Throttles, api_function())
            .line(
                "relay throttled",
                Metric::Throttles,
                MonitoredResource::function(resources.relay),
            )
            .line(
                "indexer throttled",
                Metric::Throttles,
                MonitoredResource::function(resources.indexer),
            )
            .line(
                "snapshots throttled",
                Metric::Throttles,
                MonitoredResource::function(resources.snapshot),
            )
            .line("API concurrency", Metric::ConcurrentExecutions, api_function()),
    ]
}

fn background_widgets(resources: &StackResources<'_>) -> [Widget; 3] {
    let relay_function = || MonitoredResource::function(resources.relay);
    let indexer_function = || MonitoredResource::function(resources.indexer);
    let snapshot_function = || MonitoredResource::function(resources.snapshot);
    let job_queue = || MonitoredResource::queue(&resources.queues.snapshot_jobs);
    let change_stream_dead_letters =
        MonitoredResource::queue(&resources.queues.change_stream_dead_letters);
    let snapshot_dead_letters = MonitoredResource::queue(&resources.queues.snapshot_dead_letters);
    let mut lag_chart = Widget::new("Change stream lag (ms)")
        .line("relay", Metric::IteratorAge, relay_function())
        .line("relay errors", Metric::Errors, relay_function())
        .line("indexer", Metric::IteratorAge, indexer_function())
        .line("indexer errors", Metric::Errors, indexer_function());
    if let Some(webhook) = resources.webhook {
        lag_chart = lag_chart
            .line("webhook", Metric::IteratorAge, MonitoredResource::function(webhook))
            .line("webhook errors", Metric::Errors, MonitoredResource::function(webhook));
    }
    [
        lag_chart,
        Widget::new("Snapshots")
            .line("invocations", Metric::Invocations, snapshot_function())
            .line("errors", Metric::Errors, snapshot_function())
            .line("maximum (ms)", Metric::Duration, snapshot_function()),
        Widget::new("Snapshot queue and dead letters")
            .line("waiting", Metric::VisibleMessages, job_queue())
            .line("in flight", Metric::HiddenMessages, job_queue())
            .line("oldest (s)", Metric::OldestMessage, job_queue())
            .line("change stream dead letters", Metric::VisibleMessages, change_stream_dead_letters)
            .line("snapshot dead letters", Metric::VisibleMessages, snapshot_dead_letters),
    ]
}

fn table_widgets(resources: &StackResources<'_>) -> [Widget; 3] {
    let entry_table = || MonitoredResource::table(&resources.storage.entries);
    [
        chart_of_all_tables("Write units", Metric::WriteUnits, resources.storage),
        chart_of_all_tables("Read units", Metric::ReadUnits, resources.storage),
        Widget::new("Entry table: throttles")
            .line("throttled writes", Metric::WriteThrottles, entry_table())
            .line("throttled reads", Metric::ReadThrottles, entry_table()),
    ]
}

fn chart_of_all_tables(title: &'static str, metric: Metric, storage: &Storage) -> Widget {
    let labeled_tables = [
        ("entries", &storage.entries),
        ("segments", &storage.segments),
        ("pending snapshots", &storage.pending_snapshots),
        ("event streams", &storage.event_streams),
        ("feed", &storage.feed),
    ];
    let mut chart = Widget::new(title);
    for (label, table) in labeled_tables {
        chart = chart.line(label, metric, MonitoredResource::table(table));
    }
    chart
}
