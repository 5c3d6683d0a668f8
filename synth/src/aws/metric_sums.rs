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
    json_version: "1.0",
    name: "read the alarms",
};
const GET_METRIC_DATA: Operation = Operation {
    service: "monitoring",
    target: "GraniteServiceVersion20100801.GetMetricData",
    json_version: "1.0",
    name: "read the metrics",
};
const ALARMS_PER_REQUEST: usize = 100;
const METRICS_PER_REQUEST: usize = 500;
/// Even the metrics of the longest period need far fewer pages.
pub(super) const PAGES_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AlarmState {
    pub(crate) alarm_name: String,
    pub(crate) state_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AlarmsPage {
    #[serde(default)]
    metric_alarms: Vec<AlarmState>,
    next_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MetricQuery {
    pub(crate) namespace: &'static str,
    pub(crate) metric: &'static str,
    pub(crate) dimensions: Vec<(&'static str, String)>,
    /// CloudWatch statistic that is computed per metric period: `Sum` or `Average`.
    pub(crate) statistic: &'static str,
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
struct DataRequest<'a> {
    metric_data_queries: &'a [Value],
    /// Start of the period, in seconds since the Unix epoch.
    start_time: u64,
    end_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_token: Option<String>,
}

trait NextToken {
    /// Returns `None` for the last page.
    fn take_next_token(&mut self) -> Option<String>;
}

impl NextToken for AlarmsPage {
    fn take_next_token(&mut self) -> Option<String> {
        self.next_token.take()
    }
}

impl NextToken for DataPage {
    fn take_next_token(&mut self) -> Option<String> {
        self.next_token.take()
    }
}

impl Aws {
    pub(crate) async fn active_alarms(
        &self,
        alarm_names: &[String],
    ) -> Result<Vec<AlarmState>, AwsError> {
        let mut active_alarms = Vec::new();
        for requested_names in alarm_names.chunks(ALARMS_PER_REQUEST) {
            let page_request = |next_token: Option<String>| AlarmsRequest {
                alarm_names: requested_names,
                state_value: "ALARM",
                next_token,
            };
            let pages: Vec<AlarmsPage> = self.read_pages(DESCRIBE_ALARMS, page_request).await?;
            for page in pages {
                active_alarms.extend(page.metric_alarms);
            }
        }
        Ok(active_alarms)
    }

    /// Returns the values of the metrics between two times, unsorted. The times are in seconds
    /// since the Unix epoch. A metric has no value for a period in which nothing was measured.
    pub(crate) async fn metric_values(
        &self,
        queries: &[MetricQuery],
        start_s: u64,
        end_s: u64,
    ) -> Result<BTreeMap<MetricQuery, Vec<f64>>, AwsError> {
        let mut values: BTreeMap<MetricQuery, Vec<f64>> = BTreeMap::new();
        for requested_queries in queries.chunks(METRICS_PER_REQUEST) {
            let query_by_id: BTreeMap<String, &MetricQuery> = requested_queries
                .iter()
                .enumerate()
                .map(|(index, query)| (query_id(index), query))
                .collect();
            let queries_as_json: Vec<Value> =
                query_by_id.iter().map(|(id, query)| query.to_json(id)).collect();
            let page_request = |next_token: Option<String>| DataRequest {
                metric_data_queries: &queries_as_json,
                start_time: start_s,
                end_time: end_s,
                next_token,
            };
            let pages: Vec<DataPage> = self.read_pages(GET_METRIC_DATA, page_request).await?;
            let results = pages.into_iter().flat_map(|page| page.metric_data_results);
            for result in results {
                if let Some(query) = query_by_id.get(&result.id) {
                    values.entry((*query).clone()).or_default().extend(result.values);
                }
            }
        }
        Ok(values)
    }

    /// `page_request` creates the request for a page, given the token of the page. The first page
    /// has no token.
    ///
    /// # Errors
    ///
    /// Returns [`AwsError::TooManyPages`] if there are more than [`PAGES_MAX`] pages.
    async fn read_pages<Request: Serialize, Page: NextToken + DeserializeOwned>(
        &self,
        operation: Operation,
        page_request: impl Fn(Option<String>) -> Request,
    ) -> Result<Vec<Page>, AwsError> {
        let mut pages: Vec<Page> = Vec::new();
        let mut next_token = None;
        for _ in 0..PAGES_MAX {
            let mut page: Page =
                self.send_read_request(operation, &page_request(next_token)).await?;
            next_token = page.take_next_token();
            pages.push(page);
            if next_token.is_none() {
                return Ok(pages);
            }
        }
        Err(AwsError::TooManyPages { operation: operation.name, pages: PAGES_MAX })
    }
}

/// CloudWatch requires that ids start with a lower-case letter.
fn query_id(query_index: usize) -> String {
    format!("m{query_index}")
}

impl MetricQuery {
    fn to_json(&self, id: &str) -> Value {
        let dimensions: Vec<Value> = self
            .dimensions
            .iter()
            .map(|(name, value)| json!({ "Name": name, "Value": value }))
            .collect();
        let metric = json!({
            "Namespace": self.namespace, "MetricName": self.metric, "Dimensions": dimensions,
        });
        json!({
            "Id": id,
            "MetricStat": { "Metric": metric, "Period": self.period_s, "Stat": self.statistic },
        })
    }
}
