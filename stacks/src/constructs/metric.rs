//! CloudWatch metrics that alarms and dashboards use.

use super::function::Function;
use super::handle::Handle;
use super::queue::Queue;
use super::table::Table;
use crate::expression::Expression;

/// A CloudWatch metric that AWS publishes free of charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Invocations,
    Errors,
    /// The number of function invocations that the concurrency limit rejected.
    Throttles,
    /// The number of function invocations that run at the same time.
    ConcurrentExecutions,
    /// Invocation duration in milliseconds.
    Duration,
    /// The age in milliseconds of the last record that a function read from a change stream.
    IteratorAge,
    /// The number of requests to a function URL, including rejected requests.
    UrlRequests,
    /// The number of requests to a function URL that got a 4xx response.
    UrlClientErrors,
    /// The number of requests to a function URL that got a 5xx response. Failed invocations also
    /// count.
    UrlServerErrors,
    /// Function URL latency in milliseconds.
    UrlLatency,
    /// The age in seconds of the oldest message in a queue.
    OldestMessage,
    VisibleMessages,
    /// The number of in-flight messages of a queue. They were received, but neither deleted nor
    /// made visible again.
    HiddenMessages,
    ReadUnits,
    WriteUnits,
    ReadThrottles,
    WriteThrottles,
}

impl Metric {
    /// Returns the CloudWatch metric name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invocations => "Invocations",
            Self::Errors => "Errors",
            Self::Throttles => "Throttles",
            Self::ConcurrentExecutions => "ConcurrentExecutions",
            Self::Duration => "Duration",
            Self::IteratorAge => "IteratorAge",
            Self::UrlRequests => "UrlRequestCount",
            Self::UrlClientErrors => "Url4xxCount",
            Self::UrlServerErrors => "Url5xxCount",
            Self::UrlLatency => "UrlRequestLatency",
            Self::OldestMessage => "ApproximateAgeOfOldestMessage",
            Self::VisibleMessages => "ApproximateNumberOfMessagesVisible",
            Self::HiddenMessages => "ApproximateNumberOfMessagesNotVisible",
            Self::ReadUnits => "ConsumedReadCapacityUnits",
            Self::WriteUnits => "ConsumedWriteCapacityUnits",
            Self::ReadThrottles => "ReadThrottleEvents",
            Self::WriteThrottles => "WriteThrottleEvents",
        }
    }

    /// Returns the default statistic of the metric: the sum for event counts, and the maximum for
    /// all other metrics.
    pub const fn statistic(self) -> &'static str {
        match self {
            Self::Invocations
            | Self::Errors
            | Self::Throttles
            | Self::UrlRequests
            | Self::UrlClientErrors
            | Self::UrlServerErrors
            | Self::ReadUnits
            | Self::WriteUnits
            | Self::ReadThrottles
            | Self::WriteThrottles => "Sum",
            Self::ConcurrentExecutions
            | Self::Duration
            | Self::IteratorAge
            | Self::UrlLatency
            | Self::OldestMessage
            | Self::VisibleMessages
            | Self::HiddenMessages => "Maximum",
        }
    }
}

/// A resource whose metrics an alarm or the dashboard uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitoredResource {
    namespace: &'static str,
    dimension: &'static str,
    name: Expression,
    placeholder: String,
}

impl MonitoredResource {
    pub fn function(function: &Handle<Function>) -> Self {
        let placeholder = format!("${{{}}}", function.logical_id());
        let name = function.name();
        Self { namespace: "AWS/Lambda", dimension: "FunctionName", name, placeholder }
    }

    pub fn queue(queue: &Handle<Queue>) -> Self {
        let placeholder = format!("${{{}.QueueName}}", queue.logical_id());
        Self { namespace: "AWS/SQS", dimension: "QueueName", name: queue.name(), placeholder }
    }

    pub fn table(table: &Handle<Table>) -> Self {
        let placeholder = format!("${{{}}}", table.logical_id());
        Self { namespace: "AWS/DynamoDB", dimension: "TableName", name: table.name(), placeholder }
    }

    pub(super) const fn namespace(&self) -> &'static str {
        self.namespace
    }

    pub(super) const fn dimension(&self) -> &'static str {
        self.dimension
    }

    pub(super) fn name(&self) -> Expression {
        self.name.clone()
    }

    pub(super) fn placeholder(&self) -> &str {
        &self.placeholder
    }
}
