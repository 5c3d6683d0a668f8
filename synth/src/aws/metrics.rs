//! What CloudWatch knows of a stack: its alarms, and sums of metrics.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::signed::Operation;
use super::{Aws, AwsError};

const DESCRIBE_ALARMS: Operation = Operation {
    service: "monitoring",
    target: "GraniteServiceVersion20100801.DescribeAlarms",
    json: "1.0",
    what: "read the alarms",
};
const GET_METRIC_DATA: Operation = Operation {
    service: "monitoring",
    target: "GraniteServiceVersion20100801.GetMetricData",
    json: "1.0",
    what: "read the metrics",
};
/// Alarms that can be asked for at a time.
const ALARMS_OF_A_REQUEST: usize = 100;
/// Metrics that can be asked for at a time.
const METRICS_OF_A_REQUEST: usize = 500;
/// Pages of an answer: far above what an hour each of the longest time gives.
pub(super) const PAGES_MAX: usize = 100;

/// An alarm that has gone off.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AlarmState {
    /// Its name.
    pub(crate) alarm_name: String,
    /// Why, in the words of CloudWatch.
    pub(crate) state_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AlarmsPage {
    #[serde(default)]
    metric_alarms: Vec<AlarmState>,
    next_token: Option<String>,
}

/// A metric of one resource, and how its values become one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Query {
    /// `AWS/…`.
    pub(crate) namespace: &'static str,
    /// Its name.
    pub(crate) metric: &'static str,
    /// The dimensions that name the resource.
    pub(crate) dimensions: Vec<(&'static str, String)>,
    /// `Sum` or `Average`, of each period.
    pub(crate) statistic: &'static str,
    /// Seconds of a period.
    pub(crate) period_s: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DataPage {
    #[serde(default)]
    metric_data_results: Vec<DataResult>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DataResult {
    id: String,
    #[serde(default)]
    values: Vec<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct AlarmsRequest<'a> {
    alarm_names: &'a [String],
    state_value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct DataRequest {
    metric_data_queries: Vec<Value>,
    /// Unix seconds, as JSON of this kind has times.
    start_time: u64,
    end_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

impl Aws {
    /// Those of these alarms that have gone off.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn alarms_off(&self, names: &[String]) -> Result<Vec<AlarmState>, AwsError> {
        let mut alarms = Vec::new();
        for names in names.chunks(ALARMS_OF_A_REQUEST) {
            let request = |next_token: Option<String>| AlarmsRequest {
                alarm_names: names,
                state_value: "ALARM",
                next_token,
            };
            let take = |page: AlarmsPage| {
                alarms.extend(page.metric_alarms);
                page.next_token
            };
            self.pages(DESCRIBE_ALARMS, request, take).await?;
        }
        Ok(alarms)
    }

    /// The values of metrics between two times, Unix seconds, in no order; none where nothing was
    /// measured.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn metrics(
        &self,
        queries: &[Query],
        from_s: u64,
        to_s: u64,
    ) -> Result<BTreeMap<Query, Vec<f64>>, AwsError> {
        let mut values: BTreeMap<Query, Vec<f64>> = BTreeMap::new();
        for queries in queries.chunks(METRICS_OF_A_REQUEST) {
            let ids: BTreeMap<String, &Query> = named(queries).collect();
            let request = |next_token: Option<String>| DataRequest {
                metric_data_queries: named(queries).map(|(id, query)| query.ask(&id)).collect(),
                start_time: from_s,
                end_time: to_s,
                next_token,
            };
            let take = |page: DataPage| {
                for result in page.metric_data_results {
                    if let Some(query) = ids.get(&result.id) {
                        values.entry((*query).clone()).or_default().extend(result.values);
                    }
                }
                page.next_token
            };
            self.pages(GET_METRIC_DATA, request, take).await?;
        }
        Ok(values)
    }

    /// Takes one page after the other, each of which says where the next one begins, up to the last.
    async fn pages<Request: Serialize, Page: DeserializeOwned>(
        &self,
        operation: Operation,
        request: impl Fn(Option<String>) -> Request,
        mut take: impl FnMut(Page) -> Option<String>,
    ) -> Result<(), AwsError> {
        let mut next_token = None;
        for _ in 0..PAGES_MAX {
            next_token = take(self.read(operation, &request(next_token)).await?);
            if next_token.is_none() {
                return Ok(());
            }
        }
        Err(AwsError::Endless { what: operation.what, pages: PAGES_MAX })
    }
}

/// Ids begin with a small letter.
fn named(queries: &[Query]) -> impl Iterator<Item = (String, &Query)> {
    queries.iter().enumerate().map(|(index, query)| (format!("m{index}"), query))
}

impl Query {
    fn ask(&self, id: &str) -> Value {
        let dimensions = self.dimensions.iter();
        let dimensions: Vec<Value> =
            dimensions.map(|(name, value)| json!({ "Name": name, "Value": value })).collect();
        let metric = json!({
            "Namespace": self.namespace, "MetricName": self.metric, "Dimensions": dimensions,
        });
        json!({
            "Id": id,
            "MetricStat": { "Metric": metric, "Period": self.period_s, "Stat": self.statistic },
        })
    }
}
