//! Estimates the cost of a stack from the expected usage.
//!
//! The costs per operation were measured (see `docs/cost.md` and `docs/measurements.md`), or are
//! asserted by `budgets.rs` and `roll.rs` in `tests/integration/`.

use cellar_log::upkeep::LogPolicy;

use super::bill::Amounts;
use super::facts::{Function, StackFacts};
use super::meter::Meter;
use super::polling::PollCounts;
use super::units::MONTH_HOURS;

/// Write request units per edit.
const EDIT_WRITES: u128 = 1;
/// Write request units per new spreadsheet: 4 for the log, 1 for the catalog, 2 for the feed, and 1
/// for a spreadsheet list.
const CREATE_WRITES: u128 = 8;
const SNAPSHOT_WRITES: u128 = 4;
/// Write request units per new log segment.
const ROLL_WRITES: u128 = 6;
/// Read request units per snapshot, counted in half units.
const SNAPSHOT_HALF_READS: u128 = 7;
/// Read request units per thousand edits read, counted in half units.
pub(super) const TAIL_HALF_READS_PER_THOUSAND: u128 = 26;
const ROLL_HALF_READS: u128 = 2;
/// Read request units for finding the newest entry of a log that is not cached, counted in half
/// units.
pub(super) const HEAD_HALF_READS: u128 = 2;
const SNAPSHOT_PUTS: u128 = 3;
const SNAPSHOT_GETS: u128 = 3;
/// One write creates the object with a tag, and the other removes the tag after the object has been
/// verified.
const WRITES_PER_IMPORTED_OBJECT: u128 = 2;
/// Number of objects read when a sheet is viewed for the first time.
const VIEW_GETS: u128 = 4;
/// One request returns the snapshot root and the newest log entries, and the other returns the URLs
/// of chunks.
const VIEW_REQUESTS: u128 = 2;
/// Read request units per poll, per request for new entries and per access check, counted in half
/// units.
const POLL_HALF_READS: u128 = 1;
const NEW_ENTRIES_HALF_READS: u128 = 1;
const ACCESS_CHECK_HALF_READS: u128 = 1;
const CELLS_PER_OBJECT: u128 = 57_000;
const BYTES_PER_HUNDRED_CELLS: u128 = 268;
/// Includes the 100 bytes per item that DynamoDB bills as overhead.
const EDIT_BYTES: u128 = 200;
/// Number of log bytes per function invocation. Lambda itself writes most of them.
const INVOCATION_LOG_BYTES: u128 = 700;
/// Read request units of the indexer per new spreadsheet, counted in half units. Assumes that the
/// indexer's cache is empty.
const INDEXER_HALF_READS: u128 = 10;
/// Number of log entries per indexer invocation, assuming one entry per second and the indexer's
/// batching window of five seconds.
const ENTRIES_PER_INDEXED_BATCH: u128 = 5;
/// Write request units per indexer invocation: one for the feed item and one for the log position.
const INDEXER_WRITES: u128 = 2;
const DELIVERY_WRITES: u128 = 1;
const DELIVERY_HALF_READS: u128 = 5;
/// The only object is the signing secret.
const DELIVERY_GETS: u128 = 1;
const RELAY_MS: u128 = 50;
const INDEXER_MS: u128 = 100;
const WEBHOOK_MS: u128 = 500;
const SNAPSHOT_MS: u128 = 1_000;
const WEBHOOK_FUNCTION: &str = "WebhookFunction";
/// Number of queue requests per job: one to send, one to receive and one to delete the job.
const JOB_REQUESTS: u128 = 3;
/// Five pollers wait up to 20 seconds per request.
const POLLS_PER_QUEUE_HOUR: u128 = 5 * 180;
/// Number of free queue requests per account and month.
const FREE_QUEUE_REQUESTS: u128 = 1_000_000;
const FREE_ALARMS: u64 = 10;
/// Number of invocations per hour that X-Ray traces regardless of the sampling rate.
const ALWAYS_TRACED_PER_HOUR: u128 = 3_600;
/// Reciprocal of X-Ray's sampling rate, which applies to the invocations beyond
/// [`ALWAYS_TRACED_PER_HOUR`].
const TRACE_SAMPLING: u128 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Each edit sets up to ten cells.
    pub(crate) edits: u64,
    pub(crate) views: u64,
    /// Sum of the hours for which people have a spreadsheet open.
    pub(crate) open_hours: u64,
    /// Number of people who have the edited spreadsheet open at the time of an edit, including the
    /// author.
    pub(crate) viewers_per_edit: u64,
    pub(crate) imported_cells: u64,
    pub(crate) new_spreadsheets: u64,
    /// Bytes in the bucket.
    pub(crate) stored_bytes: u64,
    pub(crate) table_bytes: u64,
    /// Average duration of an API request, in milliseconds.
    pub(crate) request_ms: u64,
}

struct OperationCounts {
    edits: u128,
    views: u128,
    edits_per_view: u128,
    open_clients: PollCounts,
    new_spreadsheets: u128,
    snapshots: u128,
    rolls: u128,
    imported_objects: u128,
    /// Number of imports: 1 if cells are imported, and 0 otherwise.
    imports: u128,
    /// Number of indexer invocations for log entries.
    indexed_batches: u128,
    deliveries: u128,
}

/// `log_policy` determines when snapshots are built. If it is `None`, snapshots are disabled.
pub(crate) fn estimated_amounts(
    usage: &Usage,
    stack_facts: &StackFacts,
    log_policy: Option<LogPolicy>,
) -> Amounts {
    let operations = OperationCounts::new(usage, stack_facts, log_policy);
    let mut amounts = Amounts::default();
    operations.add_table_requests(&mut amounts);
    operations.add_object_requests(&mut amounts);
    add_storage(&mut amounts, usage);
    operations.add_invocations(&mut amounts, usage, stack_facts);
    let polls = u128::from(stack_facts.polled_queues) * POLLS_PER_QUEUE_HOUR * MONTH_HOURS;
    let queue_requests = operations.snapshots * JOB_REQUESTS + polls;
    add_queue_requests(&mut amounts, queue_requests, MONTH_HOURS);
    add_fixed_costs(&mut amounts, stack_facts, MONTH_HOURS);
    amounts
}

impl OperationCounts {
    fn new(usage: &Usage, stack_facts: &StackFacts, log_policy: Option<LogPolicy>) -> Self {
        let edits = u128::from(usage.edits);
        let new_spreadsheets = u128::from(usage.new_spreadsheets);
        let imported_cells = u128::from(usage.imported_cells);
        let (snapshots, rolls) = match log_policy {
            Some(log_policy) => (
                edits / u128::from(log_policy.snapshot_entries.max(1)),
                edits / u128::from(log_policy.segment_entries.max(1)),
            ),
            None => (0, 0),
        };
        let indexed_batches =
            if stack_facts.feeds_entries { edits.div_ceil(ENTRIES_PER_INDEXED_BATCH) } else { 0 };
        let has_webhook = stack_facts.functions.contains_key(WEBHOOK_FUNCTION);
        Self {
            edits,
            views: u128::from(usage.views),
            edits_per_view: u128::from(edits_per_view(log_policy)),
            open_clients: PollCounts::estimate(usage),
            new_spreadsheets,
            snapshots,
            rolls,
            imported_objects: imported_cells.div_ceil(CELLS_PER_OBJECT),
            imports: if imported_cells > 0 { 1 } else { 0 },
            indexed_batches,
            deliveries: if has_webhook { new_spreadsheets + indexed_batches } else { 0 },
        }
    }

    fn add_table_requests(&self, amounts: &mut Amounts) {
        let write_units = self.edits * EDIT_WRITES
            + self.new_spreadsheets * CREATE_WRITES
            + self.snapshots * SNAPSHOT_WRITES
            + self.rolls * ROLL_WRITES
            + self.imports
            + self.deliveries * DELIVERY_WRITES
            + self.indexed_batches * INDEXER_WRITES;
        amounts.add(Meter::TableWrites, write_units);
        // Each edit is read once to build a snapshot.
        let edits_read_by_snapshots = if self.snapshots > 0 { self.edits } else { 0 };
        let edits_read_by_views = self.views * self.edits_per_view;
        let read_half_units = self.views * HEAD_HALF_READS
            + edits_read_by_views * TAIL_HALF_READS_PER_THOUSAND / 1_000
            + self.snapshots * SNAPSHOT_HALF_READS
            + self.rolls * ROLL_HALF_READS
            + edits_read_by_snapshots * TAIL_HALF_READS_PER_THOUSAND / 1_000
            + self.new_spreadsheets * INDEXER_HALF_READS
            + self.deliveries * DELIVERY_HALF_READS
            + self.open_clients.polls * POLL_HALF_READS
            + self.open_clients.found_changes * NEW_ENTRIES_HALF_READS
            + self.open_clients.access_checks * ACCESS_CHECK_HALF_READS;
        amounts.add(Meter::TableReads, read_half_units);
    }

    fn add_object_requests(&self, amounts: &mut Amounts) {
        let writes =
            self.snapshots * SNAPSHOT_PUTS + self.imported_objects * WRITES_PER_IMPORTED_OBJECT;
        let reads = self.snapshots * SNAPSHOT_GETS
            + self.views * VIEW_GETS
            + self.imported_objects
            + self.deliveries * DELIVERY_GETS;
        amounts.add(Meter::ObjectWrites, writes);
        amounts.add(Meter::ObjectReads, reads);
    }

    fn add_invocations(&self, amounts: &mut Amounts, usage: &Usage, stack_facts: &StackFacts) {
        let api_requests = self.edits
            + self.views * VIEW_REQUESTS
            + self.new_spreadsheets
            + self.imported_objects
            + self.open_clients.requests();
        let invocations_by_function = [
            ("ApiFunction", api_requests, u128::from(usage.request_ms)),
            ("RelayFunction", self.snapshots + self.imports, RELAY_MS),
            ("IndexerFunction", self.new_spreadsheets + self.indexed_batches, INDEXER_MS),
            (WEBHOOK_FUNCTION, self.deliveries, WEBHOOK_MS),
            ("SnapshotFunction", self.snapshots, SNAPSHOT_MS),
        ];
        let mut total_invocations = 0;
        for (logical_id, invocations, duration_ms) in invocations_by_function {
            if let Some(function) = stack_facts.functions.get(logical_id) {
                add_duration(amounts, *function, invocations * duration_ms);
            }
            total_invocations += invocations;
        }
        let log_bytes = total_invocations * INVOCATION_LOG_BYTES;
        amounts.add(Meter::Invocations, total_invocations);
        amounts.add(Meter::LogBytes, log_bytes);
        add_log_storage(amounts, log_bytes, stack_facts);
        add_traces(amounts, total_invocations, MONTH_HOURS, stack_facts);
    }
}

fn add_storage(amounts: &mut Amounts, usage: &Usage) {
    let table_bytes = u128::from(usage.table_bytes) + u128::from(usage.edits) * EDIT_BYTES;
    amounts.add(Meter::TableStorage, table_bytes * MONTH_HOURS);
    amounts.add(Meter::TableBackup, table_bytes * MONTH_HOURS);
    let imported_bytes = u128::from(usage.imported_cells) * BYTES_PER_HUNDRED_CELLS / 100;
    let object_bytes = u128::from(usage.stored_bytes) + imported_bytes;
    amounts.add(Meter::ObjectStorage, object_bytes * MONTH_HOURS);
}

/// Lambda bills the run time multiplied by the memory size of the function.
pub(super) fn add_duration(amounts: &mut Amounts, function: Function, duration_ms: u128) {
    let meter = if function.is_arm { Meter::ArmTime } else { Meter::X86Time };
    amounts.add(meter, u128::from(function.memory_mb).saturating_mul(duration_ms));
}

pub(super) fn add_log_storage(amounts: &mut Amounts, log_bytes: u128, stack_facts: &StackFacts) {
    let hours = u128::from(stack_facts.log_days) * 24;
    amounts.add(Meter::LogStorage, log_bytes.saturating_mul(hours));
}

/// Assumes that the invocations are spread evenly over `hours`.
pub(super) fn add_traces(
    amounts: &mut Amounts,
    invocations: u128,
    hours: u128,
    stack_facts: &StackFacts,
) {
    if !stack_facts.tracing {
        return;
    }
    let always_traced_invocations = invocations.min(ALWAYS_TRACED_PER_HOUR * hours);
    let sampled_invocations = (invocations - always_traced_invocations) / TRACE_SAMPLING;
    amounts.add(Meter::Traces, always_traced_invocations + sampled_invocations);
}

/// Adds the queue requests of a period of `hours`, after subtracting the free requests.
pub(super) fn add_queue_requests(amounts: &mut Amounts, requests: u128, hours: u128) {
    let free_requests = FREE_QUEUE_REQUESTS * hours / MONTH_HOURS;
    amounts.add(Meter::QueueRequests, requests.saturating_sub(free_requests));
}

pub(super) fn add_fixed_costs(amounts: &mut Amounts, stack_facts: &StackFacts, hours: u128) {
    let billed_alarms = stack_facts.alarms.saturating_sub(FREE_ALARMS);
    amounts.add(Meter::Alarms, u128::from(billed_alarms) * hours);
    amounts.add(Meter::Dashboards, u128::from(stack_facts.dashboards) * hours);
    amounts.add(Meter::KmsKeys, u128::from(stack_facts.has_kms_key) * hours);
}

/// A view reads the edits since the last snapshot, on average half as many as there are between two
/// snapshots.
pub(super) fn edits_per_view(log_policy: Option<LogPolicy>) -> u32 {
    log_policy.unwrap_or_default().snapshot_entries / 2
}

#[cfg(test)]
mod tests {
    use cellar_stacks::config::Architecture;
    use cellar_stacks::{Config, FeedScope, cellar_stack};

    use super::super::assumptions::estimate_assumptions;
    use super::*;
    use crate::cost::Bill;
    use crate::cost::units::GB;

    fn stack_facts(config: &Config) -> StackFacts {
        StackFacts::from_template(&cellar_stack(config, Architecture::Arm64).unwrap().to_value())
    }

    fn amounts(usage: Usage) -> Amounts {
        let usage = Usage { request_ms: 20, ..usage };
        estimated_amounts(&usage, &stack_facts(&Config::default()), Some(LogPolicy::default()))
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
        let idle = |stack_facts: &StackFacts| {
            total(&estimated_amounts(&Usage::default(), stack_facts, None))
        };
        let mut stack_facts = stack_facts(&config);
        assert_eq!(idle(&stack_facts), "4");
        stack_facts.alarms = 12;
        assert_eq!(idle(&stack_facts), "4.2");
    }

    #[test]
    fn entries_in_the_feed_cost_two_units_per_five_entries() {
        let config = Config { feed: FeedScope::Everything, ..Config::default() };
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let log_policy = Some(LogPolicy::default());
        let estimate_for =
            |config: &Config| estimated_amounts(&usage, &stack_facts(config), log_policy);
        let (catalog, everything) = (estimate_for(&Config::default()), estimate_for(&config));
        let more = |meter| everything.get(meter) - catalog.get(meter);
        assert_eq!(more(Meter::TableWrites), 2 * 200_000);
        assert_eq!(more(Meter::Invocations), 200_000);
        let is_assumed = |config| {
            estimate_assumptions(&usage, &stack_facts(config), log_policy)
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
        // Expected write request units: 1 per edit, 4 for each of the 1,000 snapshots, and 6 for
        // each of the 100 segments.
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
        let stack_facts = stack_facts(&Config { tracing: true, ..Config::default() });
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let log_policy = Some(LogPolicy::default());
        let used = estimated_amounts(&usage, &stack_facts, log_policy);
        assert_eq!(used.get(Meter::Traces), 1_002_000);
        assert_eq!(total(&used), "6.442846934542");
        let is_assumed = |stack_facts| {
            estimate_assumptions(&usage, stack_facts, log_policy).join("\n").contains("traced")
        };
        assert!(is_assumed(&stack_facts) && !is_assumed(&StackFacts::default()));
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
    fn open_spreadsheets_cost_more_than_their_edits() {
        let edits = Usage { edits: 100_000, ..Usage::default() };
        assert_eq!(total(&amounts(edits)), "0.143284693454");
        // Twenty people, each for 160 hours.
        let idle = Usage { open_hours: 3_200, viewers_per_edit: 1, ..Usage::default() };
        let used = amounts(idle);
        assert_eq!(used.get(Meter::TableReads), 2 * 192_000);
        assert_eq!((used.get(Meter::Invocations), used.get(Meter::TableWrites)), (192_000, 0));
        assert_eq!(used.get(Meter::ArmTime), 512 * 20 * 192_000);
        // An edit every 115 seconds of open time: seven polls in 123 seconds.
        let both = Usage { edits: 100_000, ..idle };
        let (used, alone) = (amounts(both), amounts(edits));
        let more = |meter| used.get(meter) - alone.get(meter);
        let (polls, changes) = (655_609, 93_658);
        assert_eq!(more(Meter::Invocations), polls + changes);
        assert_eq!(more(Meter::TableReads), polls + changes + 3_200 * 120);
        assert_eq!(total(&used), "0.722556547211");
    }

    #[test]
    fn a_view_reads_half_of_the_edits_between_two_snapshots() {
        let usage = Usage { views: 1_000, ..Usage::default() };
        for (snapshot_entries, half_units, assumption) in [
            (1_000, 15_000, "500 edits after the snapshot (about 7.5 read units)"),
            (10_000, 132_000, "5,000 edits after the snapshot (about 66 read units)"),
            (100, 3_300, "50 edits after the snapshot (about 1.5 read units)"),
        ] {
            let log_policy = Some(LogPolicy { snapshot_entries, ..LogPolicy::default() });
            let used = estimated_amounts(&usage, &stack_facts(&Config::default()), log_policy);
            assert_eq!(used.get(Meter::TableReads), half_units);
            let assumptions = estimate_assumptions(&usage, &StackFacts::default(), log_policy);
            assert!(assumptions.join("\n").contains(assumption), "{assumptions:?}");
        }
    }

    #[test]
    fn disabled_snapshots_cost_nothing() {
        let usage = Usage { edits: 10_000, ..Usage::default() };
        let used = estimated_amounts(&usage, &stack_facts(&Config::default()), None);
        assert_eq!((used.get(Meter::TableWrites), used.get(Meter::TableReads)), (10_000, 0));
        assert_eq!(used.get(Meter::ObjectWrites), 0);
        let assumption_count =
            |log_policy| estimate_assumptions(&usage, &StackFacts::default(), log_policy).len();
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
            open_hours: 730 * most,
            viewers_per_edit: most,
            imported_cells: most,
            new_spreadsheets: most,
            stored_bytes: u64::MAX,
            table_bytes: u64::MAX,
            request_ms: 900_000,
        };
        let used =
            estimated_amounts(&usage, &stack_facts(&Config::default()), Some(LogPolicy::default()));
        assert!(used.get(Meter::ArmTime) > GB && !total(&used).is_empty());
    }
}
