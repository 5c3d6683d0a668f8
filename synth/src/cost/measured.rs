//! What AWS has measured of a stack.

use std::collections::BTreeMap;

use cellar_stacks::constructs::ResourceType;

use super::bill::Amounts;
use super::estimate::{add_kept_logs, add_queue_requests, add_standing, add_time, add_traces};
use super::facts::Facts;
use super::meter::Meter;
use crate::aws::Query;

/// Seconds of a period: as long as CloudWatch keeps metrics, it keeps them by the hour.
const PERIOD_S: u32 = 3_600;
/// S3 measures once a day.
const DAY_S: u32 = 86_400;

/// What is not in it.
const NOT_MEASURED: [&str; 3] = [
    "not in it, since AWS has no meter for it that costs nothing: requests to S3, requests to KMS",
    "not in it: data that leaves AWS, the prices of other regions, taxes",
    "prices of us-east-1, on demand, without the free tier; but the 10 alarms and the million requests \
     to queues that every account has for nothing are taken off; metrics come up to an hour late, and \
     whole hours are counted",
];

/// What is not measured either, where there are some.
const TRACES: &str =
    "traces are reckoned from calls: one a second at most, and 1 in 20 beyond that";

/// What of a stack is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Writes,
    Reads,
    Calls,
    Milliseconds,
    Messages,
    Logged,
    Stored,
}

/// A query, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// The query.
    pub(crate) query: Query,
    kind: Kind,
    logical_id: String,
}

/// What was used in a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    /// The values of each query.
    pub(crate) values: BTreeMap<Query, Vec<f64>>,
    /// Bytes in the tables, as they are now.
    pub(crate) table_bytes: u64,
    /// Hours of that time.
    pub(crate) hours: u64,
}

/// The queries about a resource, by its logical id, type and physical name.
pub(crate) fn queries(logical_id: &str, resource_type: &str, name: &str) -> Vec<Measured> {
    let sum = |kind, namespace, metric, dimension: &'static str, name: &str| {
        let dimensions = vec![(dimension, name.to_owned())];
        let (statistic, period_s) = ("Sum", PERIOD_S);
        let query = Query { namespace, metric, dimensions, statistic, period_s };
        Measured { query, kind, logical_id: logical_id.to_owned() }
    };
    match ResourceType::named(resource_type) {
        Some(ResourceType::Table) => [
            (Kind::Writes, "ConsumedWriteCapacityUnits"),
            (Kind::Reads, "ConsumedReadCapacityUnits"),
        ]
        .map(|(kind, metric)| sum(kind, "AWS/DynamoDB", metric, "TableName", name))
        .to_vec(),
        Some(ResourceType::Function) => {
            [(Kind::Calls, "Invocations"), (Kind::Milliseconds, "Duration")]
                .map(|(kind, metric)| sum(kind, "AWS/Lambda", metric, "FunctionName", name))
                .to_vec()
        }
        Some(ResourceType::Queue) => {
            // Its physical name is its URL.
            let name = name.rsplit('/').next().unwrap_or(name);
            let metrics = [
                "NumberOfMessagesSent",
                "NumberOfMessagesReceived",
                "NumberOfMessagesDeleted",
                "NumberOfEmptyReceives",
            ];
            metrics.map(|metric| sum(Kind::Messages, "AWS/SQS", metric, "QueueName", name)).to_vec()
        }
        Some(ResourceType::LogGroup) => {
            vec![sum(Kind::Logged, "AWS/Logs", "IncomingBytes", "LogGroupName", name)]
        }
        Some(ResourceType::Bucket) => {
            let mut stored = sum(Kind::Stored, "AWS/S3", "BucketSizeBytes", "BucketName", name);
            stored.query.dimensions.push(("StorageType", "StandardStorage".to_owned()));
            (stored.query.statistic, stored.query.period_s) = ("Average", DAY_S);
            vec![stored]
        }
        _ => Vec::new(),
    }
}

/// What is not in it, and what is not measured.
pub(crate) fn not_measured(facts: &Facts) -> Vec<String> {
    let traces = facts.tracing.then_some(TRACES);
    NOT_MEASURED.into_iter().chain(traces).map(str::to_owned).collect()
}

/// What is billed of it.
pub(crate) fn measured(all: &[Measured], used: &Used, facts: &Facts) -> Amounts {
    let mut amounts = Amounts::default();
    let hours = u128::from(used.hours);
    let (mut calls, mut messages) = (0, 0);
    for Measured { query, kind, logical_id } in all {
        let values = used.values.get(query).map(Vec::as_slice).unwrap_or_default();
        let sum: f64 = values.iter().sum();
        match kind {
            Kind::Writes => amounts.add(Meter::TableWrites, whole(sum)),
            Kind::Reads => amounts.add(Meter::TableReads, whole(sum * 2.0)),
            Kind::Calls => calls += whole(sum),
            Kind::Milliseconds => {
                if let Some(function) = facts.functions.get(logical_id) {
                    add_time(&mut amounts, *function, whole(sum));
                }
            }
            Kind::Messages => messages += whole(sum),
            Kind::Logged => {
                amounts.add(Meter::LogBytes, whole(sum));
                add_kept_logs(&mut amounts, whole(sum), facts);
            }
            Kind::Stored if !values.is_empty() => {
                let average = sum / values.len() as f64;
                amounts.add(Meter::ObjectStorage, whole(average) * hours);
            }
            Kind::Stored => {}
        }
    }
    amounts.add(Meter::Calls, calls);
    add_traces(&mut amounts, calls, hours, facts);
    add_queue_requests(&mut amounts, messages, hours);
    for meter in [Meter::TableStorage, Meter::TableBackup] {
        amounts.add(meter, u128::from(used.table_bytes) * hours);
    }
    add_standing(&mut amounts, facts, hours);
    amounts
}

/// The nearest whole number that is not negative.
fn whole(value: f64) -> u128 {
    format!("{:.0}", value.max(0.0)).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::facts::Function;
    use super::*;

    fn used(resources: &[(&str, &str, &str)], value: impl Fn(&Measured) -> Vec<f64>) -> Amounts {
        let all: Vec<Measured> = resources
            .iter()
            .flat_map(|(id, resource_type, name)| queries(id, resource_type, name))
            .collect();
        let values = all.iter().map(|measured| (measured.query.clone(), value(measured))).collect();
        let used = Used { values, table_bytes: 1_000, hours: 10 };
        let facts = Facts { alarms: 11, dashboards: 1, tracing: true, ..Facts::default() };
        let mut facts = Facts { log_days: 2, ..facts };
        facts.functions.insert("F".to_owned(), Function { memory_mb: 512, on_arm: false });
        measured(&all, &used, &facts)
    }

    #[test]
    fn each_meter_becomes_what_is_billed_of_it() {
        let all = [
            ("T", "AWS::DynamoDB::Table", "t-1"),
            ("T2", "AWS::DynamoDB::Table", "t-2"),
            ("F", "AWS::Lambda::Function", "f-1"),
            ("Q", "AWS::SQS::Queue", "https://sqs/1/q-1"),
            ("L", "AWS::Logs::LogGroup", "l-1"),
            ("B", "AWS::S3::Bucket", "b-1"),
            ("R", "AWS::IAM::Role", "r-1"),
        ];
        let amounts = used(&all, |measured| match measured.kind {
            Kind::Writes => vec![3.0, 4.0],
            Kind::Reads => vec![0.5, 1.0],
            Kind::Calls => vec![7.0],
            Kind::Milliseconds => vec![100.4, 20.0],
            Kind::Messages => vec![4_000.0],
            Kind::Logged => vec![50.0],
            Kind::Stored => vec![100.0, 300.0],
        });
        for (meter, expected) in [
            (Meter::TableWrites, 14),
            (Meter::TableReads, 6),
            (Meter::TableStorage, 10_000),
            (Meter::TableBackup, 10_000),
            (Meter::Calls, 7),
            (Meter::TimeOnX86, 512 * 120),
            (Meter::TimeOnArm, 0),
            (Meter::QueueRequests, 16_000 - 1_000_000 * 10 / 730),
            (Meter::LogBytes, 50),
            (Meter::LogStorage, 50 * 48),
            (Meter::ObjectStorage, 2_000),
            (Meter::Traces, 7),
            (Meter::Alarms, 10),
            (Meter::Dashboards, 10),
            (Meter::Keys, 0),
        ] {
            assert_eq!(amounts.of(meter), expected, "{meter:?}");
        }
    }

    #[test]
    fn queues_are_measured_by_name_and_buckets_by_day() {
        let queue = queries("Q", "AWS::SQS::Queue", "https://sqs.r.amazonaws.com/1/q-1");
        assert_eq!(queue[0].query.dimensions, [("QueueName", "q-1".to_owned())]);
        let bucket = &queries("B", "AWS::S3::Bucket", "b")[0].query;
        assert_eq!(
            (bucket.statistic, bucket.period_s, bucket.dimensions.len()),
            ("Average", DAY_S, 2)
        );
    }

    #[test]
    fn what_is_no_number_is_nothing() {
        for (value, expected) in
            [(f64::NAN, 0), (f64::INFINITY, 0), (-1.0, 0), (0.4, 0), (1e15, 1_000_000_000_000_000)]
        {
            assert_eq!(whole(value), expected, "{value}");
        }
        let nothing = used(&[("B", "AWS::S3::Bucket", "b")], |_| Vec::new());
        assert_eq!(nothing.of(Meter::ObjectStorage), 0);
    }
}
