//! `synth cost`: estimates the cost of a stack, or computes it from measured usage.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_stacks::constructs::ResourceType;
use serde::Serialize;
use serde_json::Value;

use super::observed::ObservedStack;
use crate::aws::AwsError;
use crate::cli::{CostArguments, Output};
use crate::cost::{
    Bill, MONTH_HOURS, MeasuredUsage, StackFacts, Usage, UsageQuery, assumptions, estimate,
    measured_amounts, measurement_notes, usage_queries,
};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

/// Number of seconds in an hour.
const HOUR_S: u64 = 3_600;
/// Minimum period for bucket size metrics, in seconds. S3 measures bucket sizes once a day and
/// reports them a day later.
const BUCKET_SIZE_PERIOD_S: u64 = 3 * 86_400;

/// Result of `synth cost`.
#[derive(Debug, Serialize)]
struct CostReport {
    stack: String,
    /// Basis of the costs: `estimate` or `measured`.
    basis: &'static str,
    /// Billed period in hours.
    period_hours: u128,
    #[serde(flatten)]
    bill: Bill,
    assumptions: Vec<String>,
}

/// Measured usage, and the metric queries behind it.
struct Measurement {
    queries: Vec<UsageQuery>,
    usage: MeasuredUsage,
    facts: StackFacts,
}

/// Prints the estimated stack cost or, with `--since`, the cost of measured usage.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match arguments.since {
        None => print_estimate(config, arguments, output),
        Some(since) => Box::pin(print_measured(config, since, arguments, output)).await,
    }
}

fn print_estimate(
    config: ConfigSelection<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config)?.config;
    let facts = StackFacts::from_template(&synthesize(&config)?.to_value());
    let usage = Usage {
        edits: arguments.edits_per_month,
        views: arguments.views_per_month,
        imported_cells: arguments.imported_cells_per_month,
        new_spreadsheets: arguments.new_spreadsheets_per_month,
        stored_bytes: arguments.s3_gb,
        table_bytes: arguments.table_gb,
        request_ms: arguments.request_ms,
    };
    let policy = config.snapshots.log_policy();
    let report = CostReport {
        stack: config.stack,
        basis: "estimate",
        period_hours: MONTH_HOURS,
        bill: Bill::new(&estimate(&usage, &facts, policy)),
        assumptions: assumptions(&usage, &facts, policy),
    };
    let is_idle = usage == Usage { request_ms: arguments.request_ms, ..Usage::default() };
    let condition = if is_idle { "while idle" } else { "with this usage" };
    let title = format!("Estimated cost of {} per month {condition}:", report.stack);
    print_report(&report, &title, output);
    Ok(())
}

async fn print_measured(
    config: ConfigSelection<'_>,
    since: Duration,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.endpoint_url.as_deref();
    let stack = ObservedStack::find(config, endpoint_url).await?;
    let step = output.step("Read the metrics");
    let measurement = measure(&stack, since).await;
    let Measurement { queries, usage, facts } =
        step.finish(measurement, |measurement| format!("{} metrics", measurement.queries.len()))?;
    let report = CostReport {
        stack: stack.name.clone(),
        basis: "measured",
        period_hours: usage.hours.into(),
        bill: Bill::new(&measured_amounts(&queries, &usage, &facts)),
        assumptions: measurement_notes(&facts),
    };
    let period = humantime::format_duration(since);
    let title = format!("Cost of {} in the last {period}, measured:", report.stack);
    print_report(&report, &title, output);
    Ok(())
}

/// Measures the resource usage of the stack with CloudWatch and DynamoDB.
async fn measure(stack: &ObservedStack, since: Duration) -> Result<Measurement, AwsError> {
    let template = stack.aws.template(&stack.state.id).await?;
    // `synth` deploys only JSON templates; a template in another format yields no facts about the
    // stack.
    let template: Value = serde_json::from_str(&template).unwrap_or_default();
    let facts = StackFacts::from_template(&template);
    let queries = resource_queries(stack);
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // Round the period to whole hours, like CloudWatch.
    let end_s = now_s.next_multiple_of(HOUR_S);
    let hours = since.as_secs().div_ceil(HOUR_S);
    let start_s = end_s.saturating_sub(hours.saturating_mul(HOUR_S));
    let (daily, hourly): (Vec<_>, Vec<_>) = queries
        .iter()
        .map(|query| query.query.clone())
        .partition(|query| u64::from(query.period_s) > HOUR_S);
    let mut values = stack.aws.metrics(&hourly, start_s, end_s).await?;
    let daily_start_s = start_s.min(end_s.saturating_sub(BUCKET_SIZE_PERIOD_S));
    values.extend(stack.aws.metrics(&daily, daily_start_s, end_s).await?);
    let mut table_bytes = 0_u64;
    for (_, table) in stack.ids_of_type(ResourceType::Table) {
        table_bytes = table_bytes.saturating_add(stack.aws.table_bytes(table).await?);
    }
    Ok(Measurement { queries, usage: MeasuredUsage { values, table_bytes, hours }, facts })
}

fn resource_queries(stack: &ObservedStack) -> Vec<UsageQuery> {
    let mut queries = Vec::new();
    for resource in &stack.resources {
        if let Some(name) = &resource.physical_id {
            queries.extend(usage_queries(&resource.logical_id, &resource.resource_type, name));
        }
    }
    queries
}

fn print_report(report: &CostReport, title: &str, output: &Output) {
    let assumptions: Vec<String> =
        report.assumptions.iter().map(|assumption| format!("- {assumption}")).collect();
    let text = format!("{title}\n{}\n{}", report.bill.text(), assumptions.join("\n"));
    output.print_result(report, &text);
}
