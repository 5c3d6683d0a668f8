//! `synth cost`: what a stack will cost by the use that is expected, or what it has cost by AWS's meters.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_stacks::constructs::ResourceType;
use serde::Serialize;
use serde_json::Value;

use super::template::synthesize;
use super::watched::Watched;
use crate::aws::AwsError;
use crate::cli::{CostArguments, Output};
use crate::cost::{
    Bill, Facts, Measured, Usage, Used, assumptions, estimate, measured, not_measured, queries,
};
use crate::error::SynthError;
use crate::project::{Named, Project};

/// Seconds of an hour.
const HOUR_S: u64 = 3_600;
/// Bucket sizes are measured once a day, and told a day later.
const STORED_S: u64 = 3 * 86_400;

/// What is shown.
#[derive(Debug, Serialize)]
struct Cost {
    stack: String,
    /// `estimate` or `measured`.
    basis: &'static str,
    /// How long it is for.
    period_hours: u64,
    #[serde(flatten)]
    bill: Bill,
    assumptions: Vec<String>,
}

/// Shows it.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match arguments.since {
        None => expected(config, arguments, output),
        Some(since) => Box::pin(was(config, since, arguments, output)).await,
    }
}

fn expected(
    config: Named<'_>,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config)?.config;
    let facts = Facts::of(&synthesize(&config)?.to_value());
    let usage = Usage {
        edits: arguments.edits_per_month,
        reads: arguments.views_per_month,
        import_cells: arguments.imported_cells_per_month,
        spreadsheets: arguments.new_spreadsheets_per_month,
        stored_bytes: arguments.s3_gb,
        table_bytes: arguments.table_gb,
        request_ms: arguments.request_ms,
    };
    let policy = config.snapshots.log_policy();
    let cost = Cost {
        stack: config.stack,
        basis: "estimate",
        period_hours: 730,
        bill: Bill::of(&estimate(&usage, &facts, policy)),
        assumptions: assumptions(&usage, &facts, policy),
    };
    let idle = Usage { request_ms: arguments.request_ms, ..Usage::default() } == usage;
    let what = if idle { "while idle" } else { "as it is used" };
    show(&cost, &format!("What {} costs in a month, {what}, estimated:", cost.stack), output);
    Ok(())
}

async fn was(
    config: Named<'_>,
    since: Duration,
    arguments: &CostArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let endpoint_url = arguments.endpoint_url.as_deref();
    let watched = Watched::find(config, endpoint_url).await?;
    let step = output.step("Read the meters of AWS");
    let used = meters(&watched, since).await;
    let (all, used, facts) = step.ended(used, |(all, ..)| format!("{} of them", all.len()))?;
    let cost = Cost {
        stack: watched.name.clone(),
        basis: "measured",
        period_hours: used.hours,
        bill: Bill::of(&measured(&all, &used, &facts)),
        assumptions: not_measured(&facts),
    };
    let period = humantime::format_duration(since);
    show(&cost, &format!("What {} cost in the last {period}, measured:", cost.stack), output);
    Ok(())
}

/// What CloudWatch and DynamoDB know of the stack's own resources.
async fn meters(
    watched: &Watched,
    since: Duration,
) -> Result<(Vec<Measured>, Used, Facts), AwsError> {
    let template = watched.aws.template(&watched.state.id).await?;
    // What is no JSON was not deployed by us; then nothing is known of it.
    let template: Value = serde_json::from_str(&template).unwrap_or_default();
    let facts = Facts::of(&template);
    let named = watched.resources.iter().filter_map(|resource| {
        Some((&resource.logical_id, &resource.resource_type, resource.physical_id.as_deref()?))
    });
    let all: Vec<Measured> = named.flat_map(|(id, kind, name)| queries(id, kind, name)).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // Whole hours: CloudWatch rounds so, and says nothing of it.
    let to_s = now.next_multiple_of(HOUR_S);
    let hours = since.as_secs().div_ceil(HOUR_S);
    let from_s = to_s.saturating_sub(hours.saturating_mul(HOUR_S));
    let (daily, hourly): (Vec<_>, Vec<_>) = all
        .iter()
        .map(|measured| measured.query.clone())
        .partition(|query| u64::from(query.period_s) > HOUR_S);
    let mut values = watched.aws.metrics(&hourly, from_s, to_s).await?;
    let stored_from_s = from_s.min(to_s.saturating_sub(STORED_S));
    values.extend(watched.aws.metrics(&daily, stored_from_s, to_s).await?);
    let mut table_bytes = 0_u64;
    for (_, table) in watched.of_type(ResourceType::Table) {
        table_bytes = table_bytes.saturating_add(watched.aws.table_bytes(table).await?);
    }
    Ok((all, Used { values, table_bytes, hours }, facts))
}

fn show(cost: &Cost, title: &str, output: &Output) {
    let assumed = cost.assumptions.iter().map(|assumption| format!("- {assumption}"));
    let assumed: Vec<String> = assumed.collect();
    output.result(cost, &format!("{title}\n{}\n{}", cost.bill.text(), assumed.join("\n")));
}
