//! `AWS::CloudWatch::Alarm`.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, Function, Queue, ResourceType};
use crate::expression::Expression;
use crate::stack::Handle;

/// What an alarm watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Calls of a function that failed.
    Errors,
    /// Calls of a function that were refused for want of concurrency.
    Throttles,
    /// Age of the last record that a function took from a stream, milliseconds.
    IteratorAge,
    /// Age of the oldest message of a queue, seconds.
    OldestMessage,
    /// Messages of a queue that wait.
    Messages,
}

/// An alarm on one metric of one resource. The first ten of an account are free.
///
/// A metric without data is fine: nothing happens while nobody uses the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    description: String,
    metric: Metric,
    dimension: (&'static str, Expression),
    above: u32,
    periods: u32,
}

/// Seconds of a period.
const PERIOD_S: u32 = 300;

impl Alarm {
    /// Goes off when a function's metric is above `above` in each of so many periods of 5 minutes.
    pub fn on_function(
        description: &str,
        metric: Metric,
        function: &Handle<Function>,
        above: u32,
        periods: u32,
    ) -> Self {
        let dimension = ("FunctionName", function.name());
        Self { description: description.to_owned(), metric, dimension, above, periods }
    }

    /// Goes off when a queue's metric is above `above` in each of so many periods of 5 minutes.
    pub fn on_queue(
        description: &str,
        metric: Metric,
        queue: &Handle<Queue>,
        above: u32,
        periods: u32,
    ) -> Self {
        let dimension = ("QueueName", queue.name());
        Self { description: description.to_owned(), metric, dimension, above, periods }
    }
}

impl Metric {
    const fn name(self) -> &'static str {
        match self {
            Self::Errors => "Errors",
            Self::Throttles => "Throttles",
            Self::IteratorAge => "IteratorAge",
            Self::OldestMessage => "ApproximateAgeOfOldestMessage",
            Self::Messages => "ApproximateNumberOfMessagesVisible",
        }
    }

    const fn namespace(self) -> &'static str {
        match self {
            Self::Errors | Self::Throttles | Self::IteratorAge => "AWS/Lambda",
            Self::OldestMessage | Self::Messages => "AWS/SQS",
        }
    }

    /// Counts are added up, ages and lengths are not.
    const fn statistic(self) -> &'static str {
        match self {
            Self::Errors | Self::Throttles => "Sum",
            Self::IteratorAge | Self::OldestMessage | Self::Messages => "Maximum",
        }
    }
}

impl Construct for Alarm {
    const TYPE: ResourceType = ResourceType::Alarm;

    fn properties(self) -> Map<String, Value> {
        let (name, value) = self.dimension;
        let value = Value::from(value);
        Properties::new()
            .set("AlarmDescription", self.description)
            .set("ComparisonOperator", "GreaterThanThreshold")
            .set("Dimensions", json!([{ "Name": name, "Value": value }]))
            .set("EvaluationPeriods", self.periods)
            .set("MetricName", self.metric.name())
            .set("Namespace", self.metric.namespace())
            .set("Period", PERIOD_S)
            .set("Statistic", self.metric.statistic())
            .set("Threshold", self.above)
            .set("TreatMissingData", "notBreaching")
            .into_map()
    }
}
