//! `AWS::CloudWatch::Dashboard`.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Alarm, Construct, Metric, ResourceType, Watched};
use crate::expression::Expression;

/// Columns of a dashboard's grid (CloudWatch).
const GRID_COLUMNS: usize = 24;
/// Widgets beside each other.
const WIDGETS_A_ROW: usize = 3;
/// Columns of a widget.
const WIDGET_COLUMNS: usize = GRID_COLUMNS / WIDGETS_A_ROW;
/// Rows of a widget.
const WIDGET_ROWS: usize = 6;

/// A dashboard: widgets in rows of three, in the order in which they were added. The first three of
/// an account are free, each one more is $3 a month.
///
/// Its body is one text of `Fn::Sub`, in which resources and the region are references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dashboard {
    widgets: Vec<Widget>,
}

/// A chart of some series over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widget {
    title: &'static str,
    series: Vec<Series>,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Series {
    label: &'static str,
    metric: Metric,
    watched: Watched,
    statistic: &'static str,
}

impl Dashboard {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a widget.
    #[must_use]
    pub fn widget(mut self, widget: Widget) -> Self {
        self.widgets.push(widget);
        self
    }

    fn body(&self) -> String {
        let widgets = self.widgets.iter().enumerate().map(|(index, widget)| widget.at(index));
        json!({ "widgets": widgets.collect::<Vec<_>>() }).to_string()
    }
}

impl Widget {
    /// A chart without a line. The title is plain text, without `${`.
    pub fn new(title: &'static str) -> Self {
        Self { title, series: Vec::new() }
    }

    /// Adds a line: a metric of a resource, with the metric's own statistic.
    #[must_use]
    pub fn line(self, label: &'static str, metric: Metric, watched: Watched) -> Self {
        let statistic = metric.statistic();
        self.series(Series { label, metric, watched, statistic })
    }

    /// Adds a line with another statistic, such as `p99`.
    #[must_use]
    pub fn percentile(
        self,
        label: &'static str,
        metric: Metric,
        watched: Watched,
        statistic: &'static str,
    ) -> Self {
        self.series(Series { label, metric, watched, statistic })
    }

    fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Its JSON at that place in the order of the dashboard.
    fn at(&self, index: usize) -> Value {
        let metrics: Vec<Value> = self.series.iter().map(Series::json).collect();
        json!({
            "type": "metric",
            "x": index % WIDGETS_A_ROW * WIDGET_COLUMNS,
            "y": index / WIDGETS_A_ROW * WIDGET_ROWS,
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
    fn json(&self) -> Value {
        let Self { label, metric, watched, statistic } = self;
        json!([
            watched.namespace(),
            metric.name(),
            watched.dimension(),
            watched.placeholder(),
            { "label": label, "stat": statistic },
        ])
    }
}

impl Construct for Dashboard {
    const TYPE: ResourceType = ResourceType::Dashboard;

    fn properties(self) -> Map<String, Value> {
        Properties::new().set("DashboardBody", Expression::substitution(self.body())).into_map()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constructs::{AttributeType, Table};
    use crate::stack::Stack;

    #[test]
    fn widgets_stand_in_rows_of_three_and_name_their_resource_by_reference() {
        let mut stack = Stack::new("test");
        let table = Table::new("id").attribute("id", AttributeType::String);
        let table = stack.add("Orders", table).unwrap();
        let widget =
            || Widget::new("Units").line("written", Metric::WriteUnits, Watched::table(&table));
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
