//! What CloudWatch knows of a stack: its alarms, and sums of metrics.

use std::collections::BTreeMap;

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
/// Pages of metrics: far above what an hour each of the longest time gives.
const PAGES_MAX: usize = 100;

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
struct DataRequest<'a> {
    metric_data_queries: Vec<Value>,
    /// Unix seconds, as JSON of this kind has times.
    start_time: u64,
    end_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<&'a str>,
}

impl Aws {
    /// Those of these alarms that have gone off.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn alarms_off(&self, names: &[String]) -> Result<Vec<AlarmState>, AwsError> {
        let mut alarms = Vec::new();
        for names in names.chunks(ALARMS_OF_A_REQUEST) {
            let mut next_token: Option<String> = None;
            for _ in 0..PAGES_MAX {
                let mut request = json!({ "AlarmNames": names, "StateValue": "ALARM" });
                if let (Some(token), Some(request)) = (next_token, request.as_object_mut()) {
                    request.insert("NextToken".to_owned(), token.into());
                }
                let page: AlarmsPage = self.read(DESCRIBE_ALARMS, &request).await?;
                alarms.extend(page.metric_alarms);
                next_token = page.next_token;
                if next_token.is_none() {
                    break;
                }
            }
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
            let mut next_token: Option<String> = None;
            for _ in 0..PAGES_MAX {
                let request = DataRequest {
                    metric_data_queries: named(queries).map(|(id, query)| query.ask(&id)).collect(),
                    start_time: from_s,
                    end_time: to_s,
                    next_token: next_token.as_deref(),
                };
                let page: DataPage = self.read(GET_METRIC_DATA, &request).await?;
                for result in page.metric_data_results {
                    if let Some(query) = ids.get(&result.id) {
                        values.entry((*query).clone()).or_default().extend(result.values);
                    }
                }
                next_token = page.next_token;
                if next_token.is_none() {
                    break;
                }
            }
            if next_token.is_some() {
                return Err(AwsError::Reply { missing: "an end of the metrics" });
            }
        }
        Ok(values)
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
