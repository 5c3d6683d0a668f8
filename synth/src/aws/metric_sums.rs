//! Reads the alarms and metrics of a stack from CloudWatch.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::connect::Aws;
use super::error::AwsError;
use super::signed::Operation;

const DESCRIBE_ALARMS: Operation = Operation {
    service: "monitoring",
    target: "GraniteServiceVersion20100801.DescribeAlarms",
    json: "1.0",
    name: "read the alarms",
};
const GET_METRIC_DATA: Operation = Operation {
    service: "monitoring",
    target: "GraniteServiceVersion20100801.GetMetricData",
    json: "1.0",
    name: "read the metrics",
};
/// Maximum number of alarms per request.
const ALARMS_PER_REQUEST: usize = 100;
/// Maximum number of metrics per request.
const METRICS_PER_REQUEST: usize = 500;
/// Maximum number of pages to read, far more than even the longest period needs.
pub(super) const PAGES_MAX: usize = 100;

/// An active alarm.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AlarmState {
    /// Name of the alarm.
    pub(crate) alarm_name: String,
    /// CloudWatch's reason for the alarm state.
    pub(crate) state_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AlarmsPage {
    #[serde(default)]
    metric_alarms: Vec<AlarmState>,
    next_token: Option<String>,
}

/// Metric query for one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MetricQuery {
    /// Namespace, `AWS/…`.
    pub(crate) namespace: &'static str,
    /// Name of the metric.
    pub(crate) metric: &'static str,
    /// Dimensions that select the resource.
    pub(crate) dimensions: Vec<(&'static str, String)>,
    /// Statistic per period: `Sum` or `Average`.
    pub(crate) statistic: &'static str,
    /// Metric period in seconds.
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
    /// Time in seconds since the Unix epoch.
    start_time: u64,
    /// Time in seconds since the Unix epoch.
    end_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

impl Aws {
    /// Returns those of the named alarms that are in the alarm state.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn active_alarms(
        &self,
        names: &[String],
    ) -> Result<Vec<AlarmState>, AwsError> {
        let mut alarms = Vec::new();
        for names in names.chunks(ALARMS_PER_REQUEST) {
            let request = |next_token: Option<String>| AlarmsRequest {
                alarm_names: names,
                state_value: "ALARM",
                next_token,
            };
            let handle_page = |page: AlarmsPage| {
                alarms.extend(page.metric_alarms);
                page.next_token
            };
            self.read_pages(DESCRIBE_ALARMS, request, handle_page).await?;
        }
        Ok(alarms)
    }

    /// Returns the values of metrics between two times in seconds since the Unix epoch. The values
    /// are not sorted. A period without measurements has no value.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails.
    pub(crate) async fn metrics(
        &self,
        queries: &[MetricQuery],
        from_s: u64,
        to_s: u64,
    ) -> Result<BTreeMap<MetricQuery, Vec<f64>>, AwsError> {
        let mut values: BTreeMap<MetricQuery, Vec<f64>> = BTreeMap::new();
        for queries in queries.chunks(METRICS_PER_REQUEST) {
            let query_of_id: BTreeMap<String, &MetricQuery> = with_ids(queries).collect();
            let request = |next_token: Option<String>| DataRequest {
                metric_data_queries: with_ids(queries)
                    .map(|(id, query)| query.to_json(&id))
                    .collect(),
                start_time: from_s,
                end_time: to_s,
                next_token,
            };
            let handle_page = |page: DataPage| {
                for result in page.metric_data_results {
                    if let Some(query) = query_of_id.get(&result.id) {
                        values.entry((*query).clone()).or_default().extend(result.values);
                    }
                }
                page.next_token
            };
            self.read_pages(GET_METRIC_DATA, request, handle_page).await?;
        }
        Ok(values)
    }

    /// Reads all pages of a response. `handle_page` processes a page and returns the next-page
    /// token.
    ///
    /// # Errors
    /// Returns [`AwsError::TooManyPages`] after [`PAGES_MAX`] pages.
    async fn read_pages<Request: Serialize, Page: DeserializeOwned>(
        &self,
        operation: Operation,
        request: impl Fn(Option<String>) -> Request,
        mut handle_page: impl FnMut(Page) -> Option<String>,
    ) -> Result<(), AwsError> {
        let mut next_token = None;
        for _ in 0..PAGES_MAX {
            let page = self.read(operation, &request(next_token)).await?;
            next_token = handle_page(page);
            if next_token.is_none() {
                return Ok(());
            }
        }
        Err(AwsError::TooManyPages { operation: operation.name, pages: PAGES_MAX })
    }
}

/// Assigns an id to each metric query. CloudWatch ids must start with a lower-case letter.
fn with_ids(queries: &[MetricQuery]) -> impl Iterator<Item = (String, &MetricQuery)> {
    queries.iter().enumerate().map(|(index, query)| (format!("m{index}"), query))
}

impl MetricQuery {
    fn to_json(&self, id: &str) -> Value {
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
