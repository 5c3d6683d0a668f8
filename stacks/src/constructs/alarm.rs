//! `AWS::CloudWatch::Alarm`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::metric::{Metric, MonitoredResource};
use super::properties::Properties;
use super::resource_type::ResourceType;
use super::table::Table;
use crate::expression::Expression;

/// An alarm on metrics of resources. An account's first ten watched metrics are free; each
/// additional metric costs $0.10 a month.
///
/// Missing data does not trigger the alarm, because idle stacks publish no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    description: String,
    condition: Condition,
    topic_arns: Vec<Expression>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Above {
        metric: Metric,
        resource: MonitoredResource,
        threshold: u32,
        periods: u32,
    },
    /// Items were written to a table, but the function that reads its change stream did not run.
    Unread {
        table: MonitoredResource,
        function: MonitoredResource,
        write_units: u32,
    },
}

impl Alarm {
    /// Period length in seconds of an alarm on one metric.
    pub const PERIOD_S: u32 = 300;
    /// Period length in seconds of an alarm on an unread change stream, one day.
    pub const UNREAD_PERIOD_S: u32 = 86_400;

    /// Creates an alarm that triggers if the metric exceeds `threshold` in `periods` consecutive
    /// periods. Each period lasts [`Alarm::PERIOD_S`] seconds.
    pub fn new(
        description: &str,
        metric: Metric,
        resource: MonitoredResource,
        threshold: u32,
        periods: u32,
    ) -> Self {
        Self::on(description, Condition::Above { metric, resource, threshold, periods })
    }

    /// Creates an alarm that triggers if the table consumes more than `write_units` within
    /// [`Alarm::UNREAD_PERIOD_S`] seconds, and the function, which reads the table's change stream,
    /// is not invoked. It watches two metrics.
    pub fn unread(
        description: &str,
        table: &Handle<Table>,
        function: &Handle<Function>,
        write_units: u32,
    ) -> Self {
        let table = MonitoredResource::table(table);
        let function = MonitoredResource::function(function);
        Self::on(description, Condition::Unread { table, function, write_units })
    }

    fn on(description: &str, condition: Condition) -> Self {
        Self { description: description.to_owned(), condition, topic_arns: Vec::new() }
    }

    /// Notifies these SNS topics when the alarm triggers and when it returns to OK.
    #[must_use]
    pub fn notify(mut self, topic_arns: &[Expression]) -> Self {
        self.topic_arns.extend_from_slice(topic_arns);
        self
    }
}

impl Condition {
    fn set(self, properties: Properties) -> Properties {
        match self {
            Self::Above { metric, resource, threshold, periods } => properties
                .set("Dimensions", dimensions(&resource))
                .set("EvaluationPeriods", periods)
                .set("MetricName", metric.name())
                .set("Namespace", resource.namespace())
                .set("Period", Alarm::PERIOD_S)
                .set("Statistic", metric.statistic())
                .set("Threshold", threshold),
            Self::Unread { table, function, write_units } => {
                // A function that is not invoked publishes no data.
                let expression = format!(
                    "IF(FILL(writes, 0) > {write_units} AND FILL(invocations, 0) == 0, 1, 0)"
                );
                let unread =
                    json!({ "Expression": expression, "Id": "unread", "ReturnData": true });
                properties
                    .set("EvaluationPeriods", 1)
                    .set(
                        "Metrics",
                        vec![
                            unread,
                            daily_sum("invocations", Metric::Invocations, &function),
                            daily_sum("writes", Metric::WriteUnits, &table),
                        ],
                    )
                    .set("Threshold", 0)
            }
        }
    }
}

fn dimensions(resource: &MonitoredResource) -> Value {
    json!([{ "Name": resource.dimension(), "Value": Value::from(resource.name()) }])
}

fn daily_sum(id: &str, metric: Metric, resource: &MonitoredResource) -> Value {
    json!({
        "Id": id,
        "MetricStat": {
            "Metric": {
                "Dimensions": dimensions(resource),
                "MetricName": metric.name(),
                "Namespace": resource.namespace(),
            },
            "Period": Alarm::UNREAD_PERIOD_S,
            "Stat": metric.statistic(),
        },
        "ReturnData": false,
    })
}

impl Construct for Alarm {
    const TYPE: ResourceType = ResourceType::Alarm;

    fn properties(self) -> Map<String, Value> {
        let actions = if self.topic_arns.is_empty() { None } else { Some(self.topic_arns) };
        let properties = Properties::new()
            .set_option("AlarmActions", actions.clone())
            .set("AlarmDescription", self.description)
            .set("ComparisonOperator", "GreaterThanThreshold")
            .set_option("OKActions", actions)
            .set("TreatMissingData", "notBreaching");
        self.condition.set(properties).into_map()
    }
}
