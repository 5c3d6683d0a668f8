//! `AWS::CloudWatch::Dashboard`.

use serde_json::{Map, Value, json};

use super::alarm::Alarm;
use super::construct::Construct;
use super::metric::{Metric, MonitoredResource};
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

const GRID_COLUMNS: usize = 24;
const WIDGETS_PER_ROW: usize = 3;
const WIDGET_COLUMNS: usize = GRID_COLUMNS / WIDGETS_PER_ROW;
/// Widget height in grid rows.
const WIDGET_ROWS: usize = 6;

/// A dashboard with three charts per row. An account's first three dashboards are free. Each
/// additional dashboard costs $3 a month.
///
/// The body of the dashboard is a single `Fn::Sub` with placeholders for resource names and the
/// region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dashboard {
    widgets: Vec<Widget>,
}

/// A line chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widget {
    title: &'static str,
    series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Series {
    label: &'static str,
    metric: Metric,
    resource: MonitoredResource,
    statistic: &'static str,
}

impl Dashboard {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn widget(mut self, widget: Widget) -> Self {
        self.widgets.push(widget);
        self
    }

    fn body_json(&self) -> String {
        let mut widget_values = Vec::new();
        for (index, widget) in self.widgets.iter().enumerate() {
            widget_values.push(widget.to_json(index));
        }
        json!({ "widgets": widget_values }).to_string()
    }
}

impl Widget {
    /// Creates a chart without lines. `title` must not contain `${`, because CloudFormation would
    /// parse it as a placeholder.
    pub fn new(title: &'static str) -> Self {
        Self { title, series: Vec::new() }
    }

    /// Adds a line that shows a resource's metric with the metric's default statistic.
    #[must_use]
    pub fn line(self, label: &'static str, metric: Metric, resource: MonitoredResource) -> Self {
        let statistic = metric.statistic();
        self.add_series(Series { label, metric, resource, statistic })
    }

    /// Adds a line that shows a resource's metric with a statistic such as `p99`.
    #[must_use]
    pub fn percentile(
        self,
        label: &'static str,
        metric: Metric,
        resource: MonitoredResource,
        statistic: &'static str,
    ) -> Self {
        self.add_series(Series { label, metric, resource, statistic })
    }

    fn add_series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    fn to_json(&self, index: usize) -> Value {
        let row_index = index / WIDGETS_PER_ROW;
        let index_in_row = index % WIDGETS_PER_ROW;
        let metrics: Vec<Value> = self.series.iter().map(Series::to_json).collect();
        json!({
            "type": "metric",
            "x": index_in_row * WIDGET_COLUMNS,
            "y": row_index * WIDGET_ROWS,
            "width": WIDGET_COLUMNS,
            "height": WIDGET_ROWS,
            "properties": {
                "metrics": metrics,
                "period": Alarm::PERIOD_S,
                "region": "${AWS::Region}",
                "title": self.title,
                "view": "timeSeries",
            },
        })
    }
}

impl Series {
    fn to_json(&self) -> Value {
        let Self { label, metric, resource, statistic } = self;
        json!([
            resource.namespace(),
            metric.name(),
            resource.dimension(),
            resource.placeholder(),
            { "label": label, "stat": statistic },
        ])
    }
}

impl Construct for Dashboard {
    const TYPE: ResourceType = ResourceType::Dashboard;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("DashboardBody", Expression::substitution(self.body_json()))
            .into_map()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constructs::{AttributeType, Table};
    use crate::stack::Stack;

    #[test]
    fn widgets_are_in_rows_of_three_and_refer_to_their_resource() {
        let mut stack = Stack::new("test");
        let table = Table::new("id").attribute("id", AttributeType::String);
        let table = stack.add("Orders", table).unwrap();
        let widget = || {
            Widget::new("Units").line(
                "written",
                Metric::WriteUnits,
                MonitoredResource::table(&table),
            )
        };
        let dashboard = (0..4).fold(Dashboard::new(), |all, _| all.widget(widget()));
        stack.add("Dashboard", dashboard).unwrap();
        let template = stack.synthesize().unwrap();
        let body = &template.resource("Dashboard").unwrap().properties["DashboardBody"]["Fn::Sub"];
        let body: Value = serde_json::from_str(body.as_str().unwrap()).unwrap();
        let places: Vec<_> = body["widgets"].as_array().unwrap().iter().collect();
        let place = |index: usize| (places[index]["x"].clone(), places[index]["y"].clone());
        assert_eq!(place(2), (json!(16), json!(0)));
        assert_eq!(place(3), (json!(0), json!(6)));
        assert_eq!(places[0]["properties"]["region"], "${AWS::Region}");
        assert_eq!(
            places[0]["properties"]["metrics"],
            json!([[
                "AWS/DynamoDB",
                "ConsumedWriteCapacityUnits",
                "TableName",
                "${Orders}",
                {"label": "written", "stat": "Sum"}
            ]])
        );
    }
}
