//! Estimates the stack cost from expected usage.
//!
//! The per-operation costs were measured (see `docs/cost.md` and `docs/measurements.md`) or are
//! asserted by `budgets.rs` and `roll.rs` in `tests/integration/`.

use cellar_base::limits::{SEGMENT_ENTRIES, SNAPSHOT_ENTRIES};
use cellar_log::upkeep::LogPolicy;

use super::bill::Amounts;
use super::facts::{Function, StackFacts};
use super::meter::Meter;
use super::units::MONTH_HOURS;

/// Write request units per edit.
const EDIT_WRITES: u128 = 1;
/// Write request units per new spreadsheet: 4 for the log, 1 for the catalog, 2 for the feed, and 1
/// for a spreadsheet list.
const CREATE_WRITES: u128 = 8;
/// Write request units per snapshot.
const SNAPSHOT_WRITES: u128 = 4;
/// Write request units per new log segment.
const ROLL_WRITES: u128 = 6;
/// Read request units per snapshot, in half units.
const SNAPSHOT_READS: u128 = 7;
/// Read request units per thousand edits read, in half units.
const TAIL_READS: u128 = 26;
/// Read request units per new log segment, in half units.
const ROLL_READS: u128 = 2;
/// Read request units for finding the head of an uncached log, in half units.
const HEAD_READS: u128 = 2;
/// Number of objects written per snapshot.
const SNAPSHOT_PUTS: u128 = 3;
/// Number of objects read per snapshot.
const SNAPSHOT_GETS: u128 = 3;
/// Number of objects read by the first view of a sheet.
const VIEW_GETS: u128 = 4;
/// API requests per sheet view: one returns the snapshot root and the log tail, the other the chunk
/// URLs.
const VIEW_REQUESTS: u128 = 2;
/// Number of cells in an imported object.
const OBJECT_CELLS: u128 = 57_000;
/// Imported object size, in bytes per hundred cells.
const HUNDRED_CELLS_BYTES: u128 = 268;
/// Stored size of an edit in bytes, including DynamoDB's billed overhead of 100 bytes per item.
const EDIT_BYTES: u128 = 200;
/// Log bytes per function invocation, mostly written by Lambda.
const INVOCATION_LOG_BYTES: u128 = 700;
/// Read request units per new spreadsheet, for an indexer with a cold cache, in half units.
const INDEXER_READS: u128 = 10;
/// Log entries per indexer invocation, assuming one entry per second and the indexer's batching
/// window of five seconds.
const INDEXED_ENTRIES: u128 = 5;
/// Write request units per indexer invocation: one for the feed item, and one for the log position.
const INDEXER_WRITES: u128 = 2;
/// Write request units per webhook delivery.
const DELIVERY_WRITES: u128 = 1;
/// Read request units per webhook delivery, in half units.
const DELIVERY_READS: u128 = 5;
/// Objects read per webhook delivery (the signing secret).
const DELIVERY_GETS: u128 = 1;
/// Duration of a relay invocation, in milliseconds.
const RELAY_MS: u128 = 50;
/// Duration of an indexer invocation in milliseconds.
const INDEXER_MS: u128 = 100;
/// Duration of a webhook invocation in milliseconds.
const WEBHOOK_MS: u128 = 500;
/// Duration of a snapshot invocation in milliseconds.
const SNAPSHOT_MS: u128 = 1_000;
/// Logical id of the function that delivers the feed.
const WEBHOOK_FUNCTION: &str = "WebhookFunction";
/// Queue requests per job: one to send, one to receive, and one to delete.
const JOB_REQUESTS: u128 = 3;
/// Requests per hour of Lambda polling an idle queue: five pollers, each long polling for 20
/// seconds.
const POLLS_PER_HOUR: u128 = 5 * 180;
/// Free queue requests per account and month.
const FREE_QUEUE_REQUESTS: u128 = 1_000_000;
/// Free alarms per account.
const FREE_ALARMS: u64 = 10;
/// Invocations per hour that X-Ray always traces.
const ALWAYS_TRACED_PER_HOUR: u128 = 3_600;
/// X-Ray sampling divisor: traces one in this many of the remaining invocations.
const TRACE_SAMPLING: u128 = 20;

/// Expected monthly usage of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Number of edits, each setting up to ten cells.
    pub(crate) edits: u64,
    /// Number of sheets opened.
    pub(crate) views: u64,
    /// Number of cells imported.
    pub(crate) imported_cells: u64,
    /// Number of spreadsheets created.
    pub(crate) new_spreadsheets: u64,
    /// Bytes in the bucket.
    pub(crate) stored_bytes: u64,
    /// Bytes in the tables.
    pub(crate) table_bytes: u64,
    /// Average duration of an API request in milliseconds.
    pub(crate) request_ms: u64,
}

/// Number of operations by kind, derived from the usage.
struct Operations {
    edits: u128,
    views: u128,
    new_spreadsheets: u128,
    snapshots: u128,
    rolls: u128,
    imported_objects: u128,
    /// Number of imports: 1 if the usage includes imported cells, otherwise 0.
    imports: u128,
    /// Indexer invocations for log entries.
    indexed_batches: u128,
    /// Webhook deliveries.
    deliveries: u128,
}

/// Estimates the monthly usage. `policy` is the snapshot policy; `None` if snapshots are disabled.
pub(crate) fn estimate(usage: &Usage, facts: &StackFacts, policy: Option<LogPolicy>) -> Amounts {
    let operations = Operations::new(usage, facts, policy);
    let mut amounts = Amounts::default();
    operations.add_table_requests(&mut amounts);
    operations.add_object_requests(&mut amounts);
    add_storage(&mut amounts, usage);
    operations.add_invocations(&mut amounts, usage, facts);
    let polls = u128::from(facts.polled_queues) * POLLS_PER_HOUR * MONTH_HOURS;
    add_queue_requests(&mut amounts, operations.snapshots * JOB_REQUESTS + polls, MONTH_HOURS);
    add_fixed_costs(&mut amounts, facts, MONTH_HOURS);
    amounts
}

impl Operations {
    fn new(usage: &Usage, facts: &StackFacts, policy: Option<LogPolicy>) -> Self {
        let (edits, cells) = (u128::from(usage.edits), u128::from(usage.imported_cells));
        let new_spreadsheets = u128::from(usage.new_spreadsheets);
        let once_per = |entries: u32| edits / u128::from(entries.max(1));
        let indexed_batches = if facts.feeds_entries { edits.div_ceil(INDEXED_ENTRIES) } else { 0 };
        let has_webhook = facts.functions.contains_key(WEBHOOK_FUNCTION);
        Self {
            edits,
            views: u128::from(usage.views),
            new_spreadsheets,
            snapshots: policy.map_or(0, |policy| once_per(policy.snapshot_entries)),
            rolls: policy.map_or(0, |policy| once_per(policy.segment_entries)),
            imported_objects: cells.div_ceil(OBJECT_CELLS),
            imports: cells.min(1),
            indexed_batches,
            deliveries: if has_webhook { new_spreadsheets + indexed_batches } else { 0 },
        }
    }

    fn add_table_requests(&self, amounts: &mut Amounts) {
        let writes = self.edits * EDIT_WRITES
            + self.new_spreadsheets * CREATE_WRITES
            + self.snapshots * SNAPSHOT_WRITES
            + self.rolls * ROLL_WRITES
            + self.imports
            + self.deliveries * DELIVERY_WRITES
            + self.indexed_batches * INDEXER_WRITES;
        amounts.add(Meter::TableWrites, writes);
        // A snapshot reads all edits since the previous one; a view reads half as many on average.
        let snapshot_tails = if self.snapshots > 0 { self.edits * TAIL_READS / 1_000 } else { 0 };
        let reads = self.views * (HEAD_READS + TAIL_READS / 2)
            + self.snapshots * SNAPSHOT_READS
            + self.rolls * ROLL_READS
            + snapshot_tails
            + self.new_spreadsheets * INDEXER_READS
            + self.deliveries * DELIVERY_READS;
        amounts.add(Meter::TableReads, reads);
    }

    fn add_object_requests(&self, amounts: &mut Amounts) {
        // An imported object costs two writes: one creates it with a tag, the other removes the tag
        // once the object has been verified.
        let writes = self.snapshots * SNAPSHOT_PUTS + self.imported_objects * 2;
        let reads = self.snapshots * SNAPSHOT_GETS
            + self.views * VIEW_GETS
            + self.imported_objects
            + self.deliveries * DELIVERY_GETS;
        amounts.add(Meter::ObjectWrites, writes);
        amounts.add(Meter::ObjectReads, reads);
    }

    fn add_invocations(&self, amounts: &mut Amounts, usage: &Usage, facts: &StackFacts) {
        let api =
            self.edits + self.views * VIEW_REQUESTS + self.new_spreadsheets + self.imported_objects;
        let functions = [
            ("ApiFunction", api, u128::from(usage.request_ms)),
            ("RelayFunction", self.snapshots + self.imports, RELAY_MS),
            ("IndexerFunction", self.new_spreadsheets + self.indexed_batches, INDEXER_MS),
            (WEBHOOK_FUNCTION, self.deliveries, WEBHOOK_MS),
            ("SnapshotFunction", self.snapshots, SNAPSHOT_MS),
        ];
        let mut total = 0;
        for (logical_id, invocations, duration_ms) in functions {
            if let Some(function) = facts.functions.get(logical_id) {
                add_duration(amounts, *function, invocations * duration_ms);
            }
            total += invocations;
        }
        amounts.add(Meter::Invocations, total);
        amounts.add(Meter::LogBytes, total * INVOCATION_LOG_BYTES);
        add_log_storage(amounts, total * INVOCATION_LOG_BYTES, facts);
        add_traces(amounts, total, MONTH_HOURS, facts);
    }
}

fn add_storage(amounts: &mut Amounts, usage: &Usage) {
    let table_bytes = u128::from(usage.table_bytes) + u128::from(usage.edits) * EDIT_BYTES;
    amounts.add(Meter::TableStorage, table_bytes * MONTH_HOURS);
    amounts.add(Meter::TableBackup, table_bytes * MONTH_HOURS);
    let imported_bytes = u128::from(usage.imported_cells) * HUNDRED_CELLS_BYTES / 100;
    let object_bytes = u128::from(usage.stored_bytes) + imported_bytes;
    amounts.add(Meter::ObjectStorage, object_bytes * MONTH_HOURS);
}

/// Adds the total run time of a function, weighted by its memory.
pub(super) fn add_duration(amounts: &mut Amounts, function: Function, duration_ms: u128) {
    let meter = if function.is_arm { Meter::ArmTime } else { Meter::X86Time };
    amounts.add(meter, u128::from(function.memory_mb).saturating_mul(duration_ms));
}

/// Adds the storage of new log lines over their retention period.
pub(super) fn add_log_storage(amounts: &mut Amounts, bytes: u128, facts: &StackFacts) {
    let hours = u128::from(facts.log_days) * 24;
    amounts.add(Meter::LogStorage, bytes.saturating_mul(hours));
}

/// Adds traced invocations if tracing is enabled, assuming invocations evenly spread over `hours`.
pub(super) fn add_traces(
    amounts: &mut Amounts,
    invocations: u128,
    hours: u128,
    facts: &StackFacts,
) {
    if !facts.tracing {
        return;
    }
    let always_traced = invocations.min(ALWAYS_TRACED_PER_HOUR * hours);
    let sampled = (invocations - always_traced) / TRACE_SAMPLING;
    amounts.add(Meter::Traces, always_traced + sampled);
}

/// Adds the queue requests over a period of `hours`, net of the free requests.
pub(super) fn add_queue_requests(amounts: &mut Amounts, requests: u128, hours: u128) {
    let free = FREE_QUEUE_REQUESTS * hours / MONTH_HOURS;
    amounts.add(Meter::QueueRequests, requests.saturating_sub(free));
}

/// Adds the usage-independent costs over a period of `hours`.
pub(super) fn add_fixed_costs(amounts: &mut Amounts, facts: &StackFacts, hours: u128) {
    let billed_alarms = facts.alarms.saturating_sub(FREE_ALARMS);
    amounts.add(Meter::Alarms, u128::from(billed_alarms) * hours);
    amounts.add(Meter::Dashboards, u128::from(facts.dashboards) * hours);
    amounts.add(Meter::KmsKeys, u128::from(facts.has_kms_key) * hours);
}

/// Returns the assumptions of an estimate, one per line.
pub(crate) fn assumptions(
    usage: &Usage,
    facts: &StackFacts,
    policy: Option<LogPolicy>,
) -> Vec<String> {
    let snapshot_entries = policy.map_or(SNAPSHOT_ENTRIES, |policy| policy.snapshot_entries);
    let segment_entries = policy.map_or(SEGMENT_ENTRIES, |policy| policy.segment_entries);
    let mut assumptions = vec![
        "on-demand prices of us-east-1 without the free tier, except 10 free alarms and a million free \
         queue requests per account"
            .to_owned(),
        "an edit (up to ten cells in one request): 1 write unit, 1 invocation, 200 bytes in the table; a new \
         spreadsheet: 8 write units"
            .to_owned(),
        format!(
            "opening a sheet: 2 API requests, 500 edits after the snapshot (7.5 read units), 4 objects; \
             an API request takes {} ms and logs 700 bytes",
            usage.request_ms
        ),
        "an import: one object per 57,000 cells; 2.68 bytes per cell are added to the bucket".to_owned(),
        "a dashboard is billed, although the first three of an account are free; KMS requests are not \
         included"
            .to_owned(),
        "not included: data transfer out of AWS, prices of other regions, taxes".to_owned(),
    ];
    if facts.feeds_entries {
        assumptions.push(
            "the feed contains all entries: 2 write units and an invocation per five edits"
                .to_owned(),
        );
    }
    if facts.tracing {
        assumptions
            .push("one invocation per second is traced, and 1 in 20 of the others".to_owned());
    }
    if policy.is_some() {
        let snapshots = format!(
            "a snapshot every {snapshot_entries} edits: 4 write units, 3.5 read units plus those of the edits, \
             3 PUTs, 3 GETs, 1 second; a segment every {segment_entries} edits: 6 write units, 1 read unit"
        );
        assumptions.insert(3, snapshots);
    }
    assumptions
}

#[cfg(test)]
mod tests {
    use cellar_stacks::config::Architecture;
    use cellar_stacks::{Config, FeedScope, cellar_stack};

    use super::*;
    use crate::cost::Bill;
    use crate::cost::units::GB;

    fn facts(config: &Config) -> StackFacts {
        StackFacts::from_template(&cellar_stack(config, Architecture::Arm64).unwrap().to_value())
    }

    fn amounts(usage: Usage) -> Amounts {
        let usage = Usage { request_ms: 20, ..usage };
        estimate(&usage, &facts(&Config::default()), Some(LogPolicy::default()))
    }

    fn total(amounts: &Amounts) -> String {
        Bill::new(amounts).total().to_owned()
    }

    #[test]
    fn an_idle_stack_costs_only_its_storage() {
        assert_eq!(total(&amounts(Usage::default())), "0");
        let gb = 1 << 30;
        let stored = Usage { stored_bytes: 10 * gb, table_bytes: gb, ..Usage::default() };
        assert_eq!(total(&amounts(stored)), "0.68");
    }

    #[test]
    fn optional_features_cost_money_while_idle() {
        let mut config = Config { dashboard: true, ..Config::default() };
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        let idle = |facts: &StackFacts| total(&estimate(&Usage::default(), facts, None));
        let mut facts = facts(&config);
        assert_eq!(idle(&facts), "4");
        facts.alarms = 12;
        assert_eq!(idle(&facts), "4.2");
    }

    #[test]
    fn entries_in_the_feed_cost_two_units_per_five_entries() {
        let config = Config { feed: FeedScope::Everything, ..Config::default() };
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let policy = Some(LogPolicy::default());
        let estimate_for = |config: &Config| estimate(&usage, &facts(config), policy);
        let (catalog, everything) = (estimate_for(&Config::default()), estimate_for(&config));
        let more = |meter| everything.get(meter) - catalog.get(meter);
        assert_eq!(more(Meter::TableWrites), 2 * 200_000);
        assert_eq!(more(Meter::Invocations), 200_000);
        let is_assumed = |config| {
            assumptions(&usage, &facts(config), policy)
                .join("\n")
                .contains("feed contains all entries")
        };
        assert!(is_assumed(&config) && !is_assumed(&Config::default()));
        assert_eq!(more(Meter::ArmTime), 256 * 100 * 200_000);
        assert_eq!(
            (total(&catalog).as_str(), total(&everything).as_str()),
            ("1.432846934542", "1.858564486636")
        );
    }

    #[test]
    fn a_million_edits_match_the_budgets() {
        let used = amounts(Usage { edits: 1_000_000, ..Usage::default() });
        // Expected write request units: 1 per edit, 4 for each of 1,000 snapshots, and 6 for each
        // of 100 segments.
        assert_eq!(used.get(Meter::TableWrites), 1_000_000 + 4_000 + 600);
        // Expected read request units: 3.5 per snapshot, 13 for the thousand edits of a snapshot,
        // and 1 per segment.
        assert_eq!(used.get(Meter::TableReads), 2 * (3_500 + 13_000 + 100));
        assert_eq!(used.get(Meter::Invocations), 1_000_000 + 2 * 1_000);
        let api = 512 * 20 * 1_000_000;
        assert_eq!(used.get(Meter::ArmTime), api + 256 * 50 * 1_000 + 1_769 * 1_000 * 1_000);
        assert_eq!(used.get(Meter::ObjectWrites), 3_000);
        assert_eq!(used.get(Meter::ObjectReads), 3_000);
        assert_eq!(used.get(Meter::QueueRequests), 0, "3,000 and 657,000 are free");
        assert_eq!(used.get(Meter::TableStorage), 200_000_000 * MONTH_HOURS);
        assert_eq!(used.get(Meter::LogBytes), 700 * 1_002_000);
        assert_eq!(used.get(Meter::LogStorage), 700 * 1_002_000 * 30 * 24);
        assert_eq!(used.get(Meter::Traces), 0);
        assert_eq!(total(&used), "1.432846934542");
    }

    #[test]
    fn traces_cost_money_if_tracing_is_on() {
        let facts = facts(&Config { tracing: true, ..Config::default() });
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let policy = Some(LogPolicy::default());
        let used = estimate(&usage, &facts, policy);
        assert_eq!(used.get(Meter::Traces), 1_002_000);
        assert_eq!(total(&used), "6.442846934542");
        let is_assumed = |facts| assumptions(&usage, facts, policy).join("\n").contains("traced");
        assert!(is_assumed(&facts) && !is_assumed(&StackFacts::default()));
    }

    #[test]
    fn views_and_imports_match_measurements() {
        let used = amounts(Usage { views: 1_000, ..Usage::default() });
        assert_eq!(used.get(Meter::TableReads), 2 * 7_500);
        assert_eq!((used.get(Meter::Invocations), used.get(Meter::ObjectReads)), (2_000, 4_000));
        assert_eq!(used.get(Meter::TableWrites), 0);
        let used =
            amounts(Usage { imported_cells: 10_000_000, new_spreadsheets: 1, ..Usage::default() });
        // The measured import created 174 objects.
        assert_eq!((used.get(Meter::ObjectWrites), used.get(Meter::ObjectReads)), (352, 176));
        assert_eq!(used.get(Meter::TableWrites), 8 + 1);
        assert_eq!(used.get(Meter::TableReads), 10);
        assert_eq!(used.get(Meter::ObjectStorage), 26_800_000 * MONTH_HOURS);
    }

    #[test]
    fn disabled_snapshots_cost_nothing() {
        let usage = Usage { edits: 10_000, ..Usage::default() };
        let used = estimate(&usage, &facts(&Config::default()), None);
        assert_eq!((used.get(Meter::TableWrites), used.get(Meter::TableReads)), (10_000, 0));
        assert_eq!(used.get(Meter::ObjectWrites), 0);
        let assumption_count = |policy| assumptions(&usage, &StackFacts::default(), policy).len();
        assert_eq!(assumption_count(None) + 1, assumption_count(Some(LogPolicy::default())));
    }

    #[test]
    fn free_quotas_are_subtracted() {
        let queue = |requests, hours| {
            let mut amounts = Amounts::default();
            add_queue_requests(&mut amounts, requests, hours);
            amounts.get(Meter::QueueRequests)
        };
        assert_eq!((queue(1_000_000, 730), queue(1_000_001, 730)), (0, 1));
        assert_eq!((queue(500_000, 365), queue(500_001, 365)), (0, 1));
        let traces = |invocations| {
            let mut amounts = Amounts::default();
            add_traces(
                &mut amounts,
                invocations,
                1,
                &StackFacts { tracing: true, ..StackFacts::default() },
            );
            amounts.get(Meter::Traces)
        };
        assert_eq!((traces(3_600), traces(3_619), traces(3_620)), (3_600, 3_600, 3_601));
    }

    #[test]
    fn the_largest_usage_does_not_overflow() {
        let most = 1_000_000_000_000;
        let usage = Usage {
            edits: most,
            views: most,
            imported_cells: most,
            new_spreadsheets: most,
            stored_bytes: u64::MAX,
            table_bytes: u64::MAX,
            request_ms: 900_000,
        };
        let used = estimate(&usage, &facts(&Config::default()), Some(LogPolicy::default()));
        assert!(used.get(Meter::ArmTime) > GB && !total(&used).is_empty());
    }
}
