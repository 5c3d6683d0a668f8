//! The metrics of CloudWatch that alarms and dashboards look at.

use super::{Function, Queue, Table};
use crate::expression::Expression;
use crate::stack::Handle;

/// A metric that AWS keeps without being asked, and for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Calls of a function.
    Invocations,
    /// Calls of a function that failed.
    Errors,
    /// Calls of a function that were refused for want of concurrency.
    Throttles,
    /// Calls of a function that run at the same time.
    ConcurrentExecutions,
    /// Milliseconds that calls of a function take.
    Duration,
    /// Age of the last record that a function took from a stream, milliseconds.
    IteratorAge,
    /// Requests to a function's URL, those that are refused included.
    UrlRequests,
    /// Requests to a function's URL that were answered with 400 to 499.
    UrlRefusals,
    /// Requests to a function's URL that were answered with 500 to 599, calls that failed included.
    UrlFailures,
    /// Milliseconds that requests to a function's URL take.
    UrlLatency,
    /// Age of the oldest message of a queue, seconds.
    OldestMessage,
    /// Messages of a queue that wait.
    Messages,
    /// Messages of a queue that were received and are hidden.
    MessagesHidden,
    /// Read units that a table used.
    ReadUnits,
    /// Write units that a table used.
    WriteUnits,
    /// Reads that a table refused for their rate.
    ReadThrottles,
    /// Writes that a table refused for their rate.
    WriteThrottles,
}

impl Metric {
    /// The name that CloudWatch has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invocations => "Invocations",
            Self::Errors => "Errors",
            Self::Throttles => "Throttles",
            Self::ConcurrentExecutions => "ConcurrentExecutions",
            Self::Duration => "Duration",
            Self::IteratorAge => "IteratorAge",
            Self::UrlRequests => "UrlRequestCount",
            Self::UrlRefusals => "Url4xxCount",
            Self::UrlFailures => "Url5xxCount",
            Self::UrlLatency => "UrlRequestLatency",
            Self::OldestMessage => "ApproximateAgeOfOldestMessage",
            Self::Messages => "ApproximateNumberOfMessagesVisible",
            Self::MessagesHidden => "ApproximateNumberOfMessagesNotVisible",
            Self::ReadUnits => "ConsumedReadCapacityUnits",
            Self::WriteUnits => "ConsumedWriteCapacityUnits",
            Self::ReadThrottles => "ReadThrottleEvents",
            Self::WriteThrottles => "WriteThrottleEvents",
        }
    }

    /// Counts are added up; of ages, lengths and durations the worst counts.
    pub const fn statistic(self) -> &'static str {
        match self {
            Self::Invocations
            | Self::Errors
            | Self::Throttles
            | Self::UrlRequests
            | Self::UrlRefusals
            | Self::UrlFailures
            | Self::ReadUnits
            | Self::WriteUnits
            | Self::ReadThrottles
            | Self::WriteThrottles => "Sum",
            Self::ConcurrentExecutions
            | Self::Duration
            | Self::IteratorAge
            | Self::UrlLatency
            | Self::OldestMessage
            | Self::Messages
            | Self::MessagesHidden => "Maximum",
        }
    }
}

/// A resource whose metrics are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    namespace: &'static str,
    dimension: &'static str,
    name: Expression,
    placeholder: String,
}

impl Watched {
    /// A function.
    pub fn function(function: &Handle<Function>) -> Self {
        let placeholder = format!("${{{}}}", function.logical_id());
        let name = function.name();
        Self { namespace: "AWS/Lambda", dimension: "FunctionName", name, placeholder }
    }

    /// A queue.
    pub fn queue(queue: &Handle<Queue>) -> Self {
        let placeholder = format!("${{{}.QueueName}}", queue.logical_id());
        Self { namespace: "AWS/SQS", dimension: "QueueName", name: queue.name(), placeholder }
    }

    /// A table.
    pub fn table(table: &Handle<Table>) -> Self {
        let placeholder = format!("${{{}}}", table.logical_id());
        Self { namespace: "AWS/DynamoDB", dimension: "TableName", name: table.name(), placeholder }
    }

    /// The namespace of its metrics.
    pub(super) const fn namespace(&self) -> &'static str {
        self.namespace
    }

    /// The dimension that names it.
    pub(super) const fn dimension(&self) -> &'static str {
        self.dimension
    }

    /// Its name.
    pub(super) fn name(&self) -> Expression {
        self.name.clone()
    }

    /// Its name in a text of `Fn::Sub`.
    pub(super) fn placeholder(&self) -> &str {
        &self.placeholder
    }
}
