//! CloudWatch metrics for alarms and dashboards.

use super::function::Function;
use super::handle::Handle;
use super::queue::Queue;
use super::table::Table;
use crate::expression::Expression;

/// A CloudWatch metric that AWS publishes free of charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Number of function invocations.
    Invocations,
    /// Number of failed function invocations.
    Errors,
    /// Number of function invocations throttled by the concurrency limit.
    Throttles,
    /// Number of concurrent function invocations.
    ConcurrentExecutions,
    /// Invocation duration in milliseconds.
    Duration,
    /// Age of the last change stream record that a function read, in milliseconds.
    IteratorAge,
    /// Number of function URL requests, including rejected ones.
    UrlRequests,
    /// Number of function URL requests with a 4xx response.
    UrlClientErrors,
    /// Number of function URL requests with a 5xx response, including failed invocations.
    UrlServerErrors,
    /// Function URL latency in milliseconds.
    UrlLatency,
    /// Age of the oldest message in a queue, in seconds.
    OldestMessage,
    /// Number of visible messages in a queue.
    VisibleMessages,
    /// Number of in-flight messages, which were received but neither deleted nor made visible
    /// again.
    HiddenMessages,
    /// Read request units consumed by a table.
    ReadUnits,
    /// Write request units consumed by a table.
    WriteUnits,
    /// Number of throttled table reads.
    ReadThrottles,
    /// Number of throttled table writes.
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

    /// Returns the default statistic: the sum for counts, and the maximum for ages, queue lengths
    /// and durations.
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

/// A resource whose metrics are used by an alarm or the dashboard.
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

    /// Returns the metrics' CloudWatch namespace.
    pub(super) const fn namespace(&self) -> &'static str {
        self.namespace
    }

    /// Returns the name of the CloudWatch dimension whose value is the physical resource name.
    pub(super) const fn dimension(&self) -> &'static str {
        self.dimension
    }

    /// Returns the resource's physical name.
    pub(super) fn name(&self) -> Expression {
        self.name.clone()
    }

    /// Returns an `Fn::Sub` placeholder for the physical name.
    pub(super) fn placeholder(&self) -> &str {
        &self.placeholder
    }
}
