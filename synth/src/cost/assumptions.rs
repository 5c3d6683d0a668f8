//! Lists the assumptions of a cost estimate.

use cellar_base::count::grouped;
use cellar_log::upkeep::LogPolicy;

use super::estimate::{HEAD_HALF_READS, TAIL_HALF_READS_PER_THOUSAND, Usage, edits_per_view};
use super::facts::StackFacts;
use super::polling::PollCounts;

const NO_EDITS: &str = "edits of these people are not included: pass --edits-per-month, such as \
                        `--edits-per-month 100k`";

fn format_half_units(half_units: u128) -> String {
    let half = if half_units.is_multiple_of(2) { "" } else { ".5" };
    format!("{}{half}", half_units / 2)
}

fn open_spreadsheet_assumption(usage: &Usage) -> String {
    let polls_per_hour = PollCounts::estimate(usage).polls / u128::from(usage.open_hours.max(1));
    let viewers = match usage.viewers_per_edit {
        0 | 1 => "one person".to_owned(),
        several => format!("{several} people"),
    };
    format!(
        "an open spreadsheet: a poll per second after a change, less often afterwards, and one per minute \
         while nothing changes, here {polls_per_hour} per hour; an edit is seen by {viewers}; a poll: 1 API \
         request, 0.5 read units, and 0.5 for an access check at most every 30 seconds; a change: 1 API \
         request, 0.5 read units"
    )
}

/// Returns the assumptions of an estimate, one per line.
pub(crate) fn estimate_assumptions(
    usage: &Usage,
    stack_facts: &StackFacts,
    log_policy: Option<LogPolicy>,
) -> Vec<String> {
    let edits_per_view = edits_per_view(log_policy);
    let half_reads_per_view =
        HEAD_HALF_READS + u128::from(edits_per_view) * TAIL_HALF_READS_PER_THOUSAND / 1_000;
    let mut assumptions = vec![
        "on-demand prices of us-east-1 without the free tier, except 10 free alarms and a million free \
         queue requests per account"
            .to_owned(),
        "an edit (up to ten cells in one request): 1 write unit, 1 invocation, 200 bytes in the table; a new \
         spreadsheet: 8 write units"
            .to_owned(),
        format!(
            "opening a sheet: 2 API requests, {} edits after the snapshot (about {} read units), \
             4 objects; an API request takes {} ms and logs 700 bytes",
            grouped(edits_per_view),
            format_half_units(half_reads_per_view),
            usage.request_ms
        ),
    ];
    if let Some(LogPolicy { snapshot_entries, segment_entries, .. }) = log_policy {
        assumptions.push(format!(
            "a snapshot every {snapshot_entries} edits: 4 write units, 3.5 read units plus those of the edits, \
             3 PUTs, 3 GETs, 1 second; a segment every {segment_entries} edits: 6 write units, 1 read unit"
        ));
    }
    if usage.open_hours > 0 {
        assumptions.push(open_spreadsheet_assumption(usage));
        if usage.edits == 0 {
            assumptions.push(NO_EDITS.to_owned());
        }
    }
    assumptions.extend([
        "an import: one object per 57,000 cells; 2.68 bytes per cell are added to the bucket".to_owned(),
        "a dashboard is billed, although the first three of an account are free; KMS requests are not \
         included"
            .to_owned(),
        "not included: data transfer out of AWS, prices of other regions, taxes".to_owned(),
    ]);
    if stack_facts.feeds_entries {
        assumptions.push(
            "the feed contains all entries: 2 write units and an invocation per five edits"
                .to_owned(),
        );
    }
    if stack_facts.tracing {
        assumptions
            .push("one invocation per second is traced, and 1 in 20 of the others".to_owned());
    }
    assumptions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_edits_of_people_are_mentioned() {
        let mentions = |open_hours, edits| {
            let usage = Usage { open_hours, edits, viewers_per_edit: 1, ..Usage::default() };
            let assumptions = estimate_assumptions(&usage, &StackFacts::default(), None);
            assumptions.iter().any(|assumption| assumption == NO_EDITS)
        };
        assert!(mentions(1, 0));
        assert!(!mentions(1, 1) && !mentions(0, 0) && !mentions(0, 1));
    }
}
