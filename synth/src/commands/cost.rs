//! `synth cost`: estimates the cost of a stack, or computes it from measured usage.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_stacks::constructs::ResourceType;
use serde::Serialize;
use serde_json::Value;

use super::observed::ObservedStack;
use crate::aws::{AwsError, MetricQuery};
use crate::cli::{CostArguments, Output};
use crate::cost::{
    Bill, MONTH_HOURS, MeasuredUsage, StackFacts, Usage, UsageQuery, estimate_assumptions,
    estimated_amounts, measured_amounts, measurement_notes, usage_queries,
};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

const HOUR_S: u64 = 3_600;
/// S3 measures bucket sizes once a day and reports each measurement a day later.
const BUCKET_SIZE_PERIOD_S: u64 = 3 * 86_400;

#[derive(Debug, Serialize)]
struct CostReport {
    stack: String,
    /// How the cost was determined: `estimate` or `measured`.
    basis: &'static str,
    period_hours: u128,
    #[serde(flatten)]
    bill: Bill,
    assumptions: Vec<String>,
}

struct Measurement {
    queries: Vec<UsageQuery>,
    usage: MeasuredUsage,
    stack_facts: StackFacts,
}

pub(crate) async fn show_cost(
    config_selection: ConfigSelection<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match arguments.since {
        None => print_estimated_cost(config_selection, arguments, output),
        Some(since) => {
            Box::pin(print_measured_cost(config_selection, since, arguments, output)).await
        }
    }
}

fn print_estimated_cost(
    config_selection: ConfigSelection<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config_selection)?.config;
    let stack_facts = StackFacts::from_template(&synthesize(&config)?.to_value());
    let usage = usage_from_arguments(arguments);
    let log_policy = config.snapshots.log_policy();
    let mut assumptions = Vec::from_iter(arguments.people_assumption());
    assumptions.extend(estimate_assumptions(&usage, &stack_facts, log_policy));
    let report = CostReport {
        stack: config.stack,
        basis: "estimate",
        period_hours: MONTH_HOURS,
        bill: Bill::new(&estimated_amounts(&usage, &stack_facts, log_policy)),
        assumptions,
    };
    let usage_condition = if is_idle(usage) { "while idle" } else { "with this usage" };
    let title = format!("Estimated cost of {} per month {usage_condition}:", report.stack);
    print_cost_report(&report, &title, output);
    Ok(())
}

/// The duration of a request is irrelevant to an idle stack.
fn is_idle(usage: Usage) -> bool {
    usage == Usage { request_ms: usage.request_ms, ..Usage::default() }
}

fn usage_from_arguments(arguments: &CostArguments) -> Usage {
    Usage {
        edits: arguments.edits_per_month,
        views: arguments.views_per_month,
        open_hours: arguments.people.saturating_mul(arguments.hours_per_month()),
        viewers_per_edit: arguments.people_per_spreadsheet.min(arguments.people),
        imported_cells: arguments.imported_cells_per_month,
        new_spreadsheets: arguments.new_spreadsheets_per_month,
        stored_bytes: arguments.s3_gb,
        table_bytes: arguments.table_gb,
        request_ms: arguments.request_ms,
    }
}

async fn print_measured_cost(
    config_selection: ConfigSelection<'_>,
    measured_period: Duration,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.endpoint_url.as_deref();
    let stack = ObservedStack::find(config_selection, endpoint_url).await?;
    let step = output.start_step("Read the metrics");
    let result = measure_usage(&stack, measured_period).await;
    let Measurement { queries, usage, stack_facts } =
        step.finish(result, |measurement| format!("{} metrics", measurement.queries.len()))?;
    let report = CostReport {
        stack: stack.name.clone(),
        basis: "measured",
        period_hours: usage.hours.into(),
        bill: Bill::new(&measured_amounts(&queries, &usage, &stack_facts)),
        assumptions: measurement_notes(&stack_facts),
    };
    let period_text = humantime::format_duration(measured_period);
    let title = format!("Cost of {} in the last {period_text}, measured:", report.stack);
    print_cost_report(&report, &title, output);
    Ok(())
}

async fn measure_usage(
    stack: &ObservedStack,
    measured_period: Duration,
) -> Result<Measurement, AwsError> {
    let template_text = stack.aws.deployed_template(&stack.state.id).await?;
    // `synth` deploys only JSON templates. A template in another format yields no facts about the
    // stack.
    let template: Value = serde_json::from_str(&template_text).unwrap_or_default();
    let stack_facts = StackFacts::from_template(&template);
    let queries = resource_queries(stack);
    let hours = measured_period.as_secs().div_ceil(HOUR_S);
    let values = read_metric_values(stack, &queries, hours).await?;
    let mut table_bytes = 0_u64;
    for (_, table_name) in stack.ids_of_type(ResourceType::Table) {
        table_bytes += stack.aws.table_bytes(table_name).await?;
    }
    Ok(Measurement { queries, usage: MeasuredUsage { values, table_bytes, hours }, stack_facts })
}

/// Daily metrics are read for at least [`BUCKET_SIZE_PERIOD_S`], because they are reported late.
async fn read_metric_values(
    stack: &ObservedStack,
    queries: &[UsageQuery],
    hours: u64,
) -> Result<BTreeMap<MetricQuery, Vec<f64>>, AwsError> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // Round the period to whole hours, because CloudWatch also does so.
    let end_s = now_s.next_multiple_of(HOUR_S);
    let hourly_start_s = end_s.saturating_sub(hours.saturating_mul(HOUR_S));
    let daily_start_s = hourly_start_s.min(end_s.saturating_sub(BUCKET_SIZE_PERIOD_S));
    let (daily_queries, hourly_queries): (Vec<_>, Vec<_>) = queries
        .iter()
        .map(|usage_query| usage_query.query.clone())
        .partition(|metric_query| u64::from(metric_query.period_s) > HOUR_S);
    let mut values = stack.aws.metric_values(&hourly_queries, hourly_start_s, end_s).await?;
    values.extend(stack.aws.metric_values(&daily_queries, daily_start_s, end_s).await?);
    Ok(values)
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

fn print_cost_report(report: &CostReport, title: &str, output: &Output) {
    let assumption_lines: Vec<String> =
        report.assumptions.iter().map(|assumption| format!("- {assumption}")).collect();
    let bill = report.bill.to_text();
    let assumptions = assumption_lines.join("\n");
    let text = format!("{title}\n{bill}\n{assumptions}");
    output.print_result(report, &text);
}
