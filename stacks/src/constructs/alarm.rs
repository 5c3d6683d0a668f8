//! `AWS::CloudWatch::Alarm`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::metric::{Metric, MonitoredResource};
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// An alarm on a resource's metric. An account's first ten alarms are free; each additional alarm
/// costs $0.10 a month.
///
/// Missing data does not trigger the alarm, because idle stacks publish no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    description: String,
    metric: Metric,
    resource: MonitoredResource,
    threshold: u32,
    periods: u32,
    topic_arns: Vec<Expression>,
}

impl Alarm {
    /// Period length in seconds.
    pub const PERIOD_S: u32 = 300;

    /// Creates an alarm that triggers if the metric exceeds `threshold` in `periods` consecutive
    /// periods. Each period lasts [`Alarm::PERIOD_S`] seconds.
    pub fn new(
        description: &str,
        metric: Metric,
        resource: MonitoredResource,
        threshold: u32,
        periods: u32,
    ) -> Self {
        let description = description.to_owned();
        Self { description, metric, resource, threshold, periods, topic_arns: Vec::new() }
    }

    /// Notifies these SNS topics when the alarm triggers and when it returns to OK.
    #[must_use]
    pub fn notify(mut self, topic_arns: &[Expression]) -> Self {
        self.topic_arns.extend_from_slice(topic_arns);
        self
    }
}

impl Construct for Alarm {
    const TYPE: ResourceType = ResourceType::Alarm;

    fn properties(self) -> Map<String, Value> {
        let dimension_name = self.resource.dimension();
        let resource_name = Value::from(self.resource.name());
        let actions = if self.topic_arns.is_empty() { None } else { Some(self.topic_arns) };
        Properties::new()
            .set_option("AlarmActions", actions.clone())
            .set("AlarmDescription", self.description)
            .set("ComparisonOperator", "GreaterThanThreshold")
            .set("Dimensions", json!([{ "Name": dimension_name, "Value": resource_name }]))
            .set("EvaluationPeriods", self.periods)
            .set("MetricName", self.metric.name())
            .set("Namespace", self.resource.namespace())
            .set_option("OKActions", actions)
            .set("Period", Self::PERIOD_S)
            .set("Statistic", self.metric.statistic())
            .set("Threshold", self.threshold)
            .set("TreatMissingData", "notBreaching")
            .into_map()
    }
}
