//! `AWS::CloudWatch::Alarm`.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, Metric, ResourceType, Watched};
use crate::expression::Expression;

/// An alarm on one metric of one resource. The first ten of an account are free; each one more is
/// $0.10 a month.
///
/// A metric without data is fine: nothing happens while nobody uses the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    description: String,
    metric: Metric,
    watched: Watched,
    above: u32,
    periods: u32,
    told: Vec<Expression>,
}

impl Alarm {
    /// Seconds of a period.
    pub const PERIOD_S: u32 = 300;

    /// Goes off when the metric is above `above` in each of so many periods of 5 minutes.
    pub fn new(
        description: &str,
        metric: Metric,
        watched: Watched,
        above: u32,
        periods: u32,
    ) -> Self {
        let description = description.to_owned();
        Self { description, metric, watched, above, periods, told: Vec::new() }
    }

    /// Tells these topics, by their ARNs, when it goes off and when that is over.
    #[must_use]
    pub fn tell(mut self, topics: &[Expression]) -> Self {
        self.told.extend_from_slice(topics);
        self
    }
}

impl Construct for Alarm {
    const TYPE: ResourceType = ResourceType::Alarm;

    fn properties(self) -> Map<String, Value> {
        let (dimension, name) = (self.watched.dimension(), Value::from(self.watched.name()));
        let told = (!self.told.is_empty()).then_some(self.told);
        Properties::new()
            .set_option("AlarmActions", told.clone())
            .set("AlarmDescription", self.description)
            .set("ComparisonOperator", "GreaterThanThreshold")
            .set("Dimensions", json!([{ "Name": dimension, "Value": name }]))
            .set("EvaluationPeriods", self.periods)
            .set("MetricName", self.metric.name())
            .set("Namespace", self.watched.namespace())
            .set_option("OKActions", told)
            .set("Period", Self::PERIOD_S)
            .set("Statistic", self.metric.statistic())
            .set("Threshold", self.above)
            .set("TreatMissingData", "notBreaching")
            .into_map()
    }
}
