//! Computes the cost of a stack from the usage measured by CloudWatch metrics.

use std::collections::BTreeMap;

use cellar_stacks::constructs::ResourceType;

use super::bill::Amounts;
use super::estimate::{
    add_duration, add_fixed_costs, add_log_storage, add_queue_requests, add_traces,
};
use super::facts::StackFacts;
use super::meter::Meter;
use crate::aws::MetricQuery;

/// CloudWatch retains hourly values longer than values of shorter periods.
const HOUR_S: u32 = 3_600;
/// S3 measures bucket sizes once a day.
const DAY_S: u32 = 86_400;

/// CloudWatch reports read request units, but the meter counts half units.
const HALF_UNITS_PER_READ_UNIT: f64 = 2.0;

/// Notes for the report on usage that is not measured.
const NOTES: [&str; 3] = [
    "not included, because AWS has no free metric: S3 requests, KMS requests",
    "not included: data transfer out of AWS, prices of other regions, taxes",
    "on-demand prices of us-east-1 without the free tier, except 10 free alarms and a million free queue \
     requests per account; metrics are up to an hour late, and whole hours are counted",
];
/// Shown if tracing is enabled.
const TRACES_NOTE: &str =
    "traces are computed from invocations: one per second, and 1 in 20 of the others";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Quantity {
    WriteUnits,
    ReadUnits,
    Invocations,
    Milliseconds,
    QueueRequests,
    LoggedBytes,
    StoredBytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageQuery {
    pub(crate) query: MetricQuery,
    quantity: Quantity,
    logical_id: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct MeasuredUsage {
    pub(crate) values: BTreeMap<MetricQuery, Vec<f64>>,
    /// Current size of all tables in bytes.
    pub(crate) table_bytes: u64,
    pub(crate) hours: u64,
}

impl MeasuredUsage {
    fn values_of(&self, usage_query: &UsageQuery) -> &[f64] {
        self.values.get(&usage_query.query).map(Vec::as_slice).unwrap_or_default()
    }
}

pub(crate) fn usage_queries(
    logical_id: &str,
    resource_type: &str,
    physical_name: &str,
) -> Vec<UsageQuery> {
    let Some(resource_type) = ResourceType::from_name(resource_type) else { return Vec::new() };
    let mut queries = Vec::new();
    for (quantity, metric) in measured_metrics(resource_type) {
        let query = match resource_type {
            ResourceType::Table => hourly_sum("AWS/DynamoDB", metric, "TableName", physical_name),
            ResourceType::Function => {
                hourly_sum("AWS/Lambda", metric, "FunctionName", physical_name)
            }
            ResourceType::Queue => {
                // The physical id of a queue is a URL, whose last segment is the queue's name.
                let queue_name = physical_name.rsplit('/').next().unwrap_or(physical_name);
                hourly_sum("AWS/SQS", metric, "QueueName", queue_name)
            }
            ResourceType::LogGroup => hourly_sum("AWS/Logs", metric, "LogGroupName", physical_name),
            ResourceType::Bucket => daily_bucket_size(metric, physical_name),
            _ => continue,
        };
        queries.push(UsageQuery { query, quantity: *quantity, logical_id: logical_id.to_owned() });
    }
    queries
}

fn measured_metrics(resource_type: ResourceType) -> &'static [(Quantity, &'static str)] {
    match resource_type {
        ResourceType::Table => &[
            (Quantity::WriteUnits, "ConsumedWriteCapacityUnits"),
            (Quantity::ReadUnits, "ConsumedReadCapacityUnits"),
        ],
        ResourceType::Function => {
            &[(Quantity::Invocations, "Invocations"), (Quantity::Milliseconds, "Duration")]
        }
        ResourceType::Queue => &[
            (Quantity::QueueRequests, "NumberOfMessagesSent"),
            (Quantity::QueueRequests, "NumberOfMessagesReceived"),
            (Quantity::QueueRequests, "NumberOfMessagesDeleted"),
            (Quantity::QueueRequests, "NumberOfEmptyReceives"),
        ],
        ResourceType::LogGroup => &[(Quantity::LoggedBytes, "IncomingBytes")],
        ResourceType::Bucket => &[(Quantity::StoredBytes, "BucketSizeBytes")],
        _ => &[],
    }
}

fn hourly_sum(
    namespace: &'static str,
    metric: &'static str,
    dimension: &'static str,
    resource_name: &str,
) -> MetricQuery {
    MetricQuery {
        namespace,
        metric,
        dimensions: vec![(dimension, resource_name.to_owned())],
        statistic: "Sum",
        period_s: HOUR_S,
    }
}

fn daily_bucket_size(metric: &'static str, bucket: &str) -> MetricQuery {
    MetricQuery {
        namespace: "AWS/S3",
        metric,
        dimensions: vec![
            ("BucketName", bucket.to_owned()),
            ("StorageType", "StandardStorage".to_owned()),
        ],
        statistic: "Average",
        period_s: DAY_S,
    }
}

pub(crate) fn measurement_notes(stack_facts: &StackFacts) -> Vec<String> {
    let mut notes = NOTES.map(str::to_owned).to_vec();
    if stack_facts.tracing {
        notes.push(TRACES_NOTE.to_owned());
    }
    notes
}

pub(crate) fn measured_amounts(
    queries: &[UsageQuery],
    usage: &MeasuredUsage,
    stack_facts: &StackFacts,
) -> Amounts {
    let mut amounts = Amounts::default();
    let hours = u128::from(usage.hours);
    for usage_query in queries {
        add_measured_quantity(&mut amounts, usage_query, usage, stack_facts);
    }
    let invocations = total_over_resources(Quantity::Invocations, queries, usage);
    amounts.add(Meter::Invocations, invocations);
    add_traces(&mut amounts, invocations, hours, stack_facts);
    let queue_requests = total_over_resources(Quantity::QueueRequests, queries, usage);
    add_queue_requests(&mut amounts, queue_requests, hours);
    let table_byte_hours = u128::from(usage.table_bytes) * hours;
    amounts.add(Meter::TableStorage, table_byte_hours);
    amounts.add(Meter::TableBackup, table_byte_hours);
    add_fixed_costs(&mut amounts, stack_facts, hours);
    amounts
}

/// Adds the measured quantity of a resource, unless the quantity is billed as a total over all
/// resources.
fn add_measured_quantity(
    amounts: &mut Amounts,
    usage_query: &UsageQuery,
    usage: &MeasuredUsage,
    stack_facts: &StackFacts,
) {
    let values = usage.values_of(usage_query);
    let sum: f64 = values.iter().sum();
    match usage_query.quantity {
        Quantity::WriteUnits => amounts.add(Meter::TableWrites, to_integer(sum)),
        Quantity::ReadUnits => {
            amounts.add(Meter::TableReads, to_integer(sum * HALF_UNITS_PER_READ_UNIT));
        }
        Quantity::Milliseconds => {
            if let Some(function) = stack_facts.functions.get(&usage_query.logical_id) {
                add_duration(amounts, *function, to_integer(sum));
            }
        }
        Quantity::LoggedBytes => {
            amounts.add(Meter::LogBytes, to_integer(sum));
            add_log_storage(amounts, to_integer(sum), stack_facts);
        }
        Quantity::StoredBytes => {
            let stored_bytes = to_integer(average(values));
            amounts.add(Meter::ObjectStorage, stored_bytes * u128::from(usage.hours));
        }
        Quantity::Invocations | Quantity::QueueRequests => {}
    }
}

fn total_over_resources(quantity: Quantity, queries: &[UsageQuery], usage: &MeasuredUsage) -> u128 {
    let mut total = 0;
    for usage_query in queries {
        if usage_query.quantity == quantity {
            total += to_integer(usage.values_of(usage_query).iter().sum());
        }
    }
    total
}

/// Returns the average of the values, or 0 if there are no values.
fn average(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns 0 if the value is not finite.
fn to_integer(value: f64) -> u128 {
    format!("{:.0}", value.max(0.0)).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::facts::Function;
    use super::*;

    fn used(resources: &[(&str, &str, &str)], value: impl Fn(&UsageQuery) -> Vec<f64>) -> Amounts {
        let all: Vec<UsageQuery> = resources
            .iter()
            .flat_map(|(id, resource_type, name)| usage_queries(id, resource_type, name))
            .collect();
        let values = all.iter().map(|query| (query.query.clone(), value(query))).collect();
        let used = MeasuredUsage { values, table_bytes: 1_000, hours: 10 };
        let stack_facts =
            StackFacts { alarms: 11, dashboards: 1, tracing: true, ..StackFacts::default() };
        let mut stack_facts = StackFacts { log_days: 2, ..stack_facts };
        stack_facts.functions.insert("F".to_owned(), Function { memory_mb: 512, is_arm: false });
        measured_amounts(&all, &used, &stack_facts)
    }

    #[test]
    fn each_quantity_is_added_to_its_meters() {
        let all = [
            ("T", "AWS::DynamoDB::Table", "t-1"),
            ("T2", "AWS::DynamoDB::Table", "t-2"),
            ("F", "AWS::Lambda::Function", "f-1"),
            ("Q", "AWS::SQS::Queue", "https://sqs/1/q-1"),
            ("L", "AWS::Logs::LogGroup", "l-1"),
            ("B", "AWS::S3::Bucket", "b-1"),
            ("R", "AWS::IAM::Role", "r-1"),
        ];
        let amounts = used(&all, |query| match query.quantity {
            Quantity::WriteUnits => vec![3.0, 4.0],
            Quantity::ReadUnits => vec![0.5, 1.0],
            Quantity::Invocations => vec![7.0],
            Quantity::Milliseconds => vec![100.4, 20.0],
            Quantity::QueueRequests => vec![4_000.0],
            Quantity::LoggedBytes => vec![50.0],
            Quantity::StoredBytes => vec![100.0, 300.0],
        });
        for (meter, expected) in [
            (Meter::TableWrites, 14),
            (Meter::TableReads, 6),
            (Meter::TableStorage, 10_000),
            (Meter::TableBackup, 10_000),
            (Meter::Invocations, 7),
            (Meter::X86Time, 512 * 120),
            (Meter::ArmTime, 0),
            (Meter::QueueRequests, 16_000 - 1_000_000 * 10 / 730),
            (Meter::LogBytes, 50),
            (Meter::LogStorage, 50 * 48),
            (Meter::ObjectStorage, 2_000),
            (Meter::Traces, 7),
            (Meter::Alarms, 10),
            (Meter::Dashboards, 10),
            (Meter::KmsKeys, 0),
        ] {
            assert_eq!(amounts.get(meter), expected, "{meter:?}");
        }
    }

    #[test]
    fn queues_are_measured_by_name_and_buckets_daily() {
        let queue = usage_queries("Q", "AWS::SQS::Queue", "https://sqs.r.amazonaws.com/1/q-1");
        assert_eq!(queue[0].query.dimensions, [("QueueName", "q-1".to_owned())]);
        let bucket = &usage_queries("B", "AWS::S3::Bucket", "b")[0].query;
        assert_eq!(
            (bucket.statistic, bucket.period_s, bucket.dimensions.len()),
            ("Average", DAY_S, 2)
        );
    }

    #[test]
    fn invalid_numbers_count_as_zero() {
        for (value, expected) in
            [(f64::NAN, 0), (f64::INFINITY, 0), (-1.0, 0), (0.4, 0), (1e15, 1_000_000_000_000_000)]
        {
            assert_eq!(to_integer(value), expected, "{value}");
        }
        let nothing = used(&[("B", "AWS::S3::Bucket", "b")], |_| Vec::new());
        assert_eq!(nothing.get(Meter::ObjectStorage), 0);
    }
}
