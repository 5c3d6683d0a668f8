//! CloudWatch metrics for alarms and dashboards.

use super::function::Function;
use super::handle::Handle;
use super::queue::Queue;
use super::table::Table;
use crate::expression::Expression;

/// A metric that AWS services provide free of charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Number of invocations of a function.
    Invocations,
    /// Number of failed invocations of a function.
    Errors,
    /// Number of invocations that Lambda rejected because the concurrency limit was reached.
    Throttles,
    /// Number of concurrent invocations of a function.
    ConcurrentExecutions,
    /// Duration of an invocation in milliseconds.
    Duration,
    /// Age in milliseconds of the change stream record that a function read last.
    IteratorAge,
    /// Number of requests to a function URL, including rejected ones.
    UrlRequests,
    /// Number of requests to a function URL with a 4xx response.
    UrlClientErrors,
    /// Number of requests to a function URL with a 5xx response, including failed invocations.
    UrlServerErrors,
    /// Latency of a request to a function URL in milliseconds.
    UrlLatency,
    /// Age of the oldest message in a queue, in seconds.
    OldestMessage,
    /// Number of messages in a queue that are visible to receivers.
    VisibleMessages,
    /// Number of in-flight messages: received from a queue, but not yet deleted or visible again.
    HiddenMessages,
    /// Read units consumed by a table.
    ReadUnits,
    /// Write units consumed by a table.
    WriteUnits,
    /// Number of throttled reads of a table.
    ReadThrottles,
    /// Number of throttled writes to a table.
    WriteThrottles,
}

impl Metric {
    /// Returns the name of the metric in CloudWatch.
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

    /// Returns the default statistic: the sum for counts, and the maximum for ages, lengths and
    /// durations.
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

/// A resource whose metrics an alarm or a dashboard uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    namespace: &'static str,
    dimension: &'static str,
    name: Expression,
    placeholder: String,
}

impl Watched {
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

    /// Returns the CloudWatch namespace of the resource's metrics.
    pub(super) const fn namespace(&self) -> &'static str {
        self.namespace
    }

    /// Returns the name of the CloudWatch dimension that identifies the resource by its physical
    /// name.
    pub(super) const fn dimension(&self) -> &'static str {
        self.dimension
    }

    /// Returns the physical name of the resource.
    pub(super) fn name(&self) -> Expression {
        self.name.clone()
    }

    /// Returns a placeholder for the physical name, in the syntax of `Fn::Sub`.
    pub(super) fn placeholder(&self) -> &str {
        &self.placeholder
    }
}
