//! An estimate from use: what an operation costs is asserted by `budgets.rs` and `roll.rs` of
//! `tests/integration/`, or measured (README, "What it costs" and "Measured").

use cellar_base::limits::{SEGMENT_ENTRIES, SNAPSHOT_ENTRIES};
use cellar_log::upkeep::LogPolicy;

use super::bill::Amounts;
use super::facts::{Facts, Function};
use super::meter::Meter;
use super::{MONTH_HOURS, facts};

/// Write units of an edit, of making a spreadsheet (its log 4, its listing 1, the feed 2, a list 1), of a
/// snapshot, and of a new segment.
const EDIT_WRITES: u128 = 1;
const CREATE_WRITES: u128 = 8;
const SNAPSHOT_WRITES: u128 = 4;
const ROLL_WRITES: u128 = 6;
/// Halves of read units of a snapshot, of a thousand edits that are read, of a new segment, and of a
/// look at the head of a log that is not known.
const SNAPSHOT_READS: u128 = 7;
const TAIL_READS: u128 = 26;
const ROLL_READS: u128 = 2;
const HEAD_READS: u128 = 2;
/// Objects that a snapshot writes and reads, and that the first view of a sheet reads.
const SNAPSHOT_PUTS: u128 = 3;
const SNAPSHOT_GETS: u128 = 3;
const VIEW_GETS: u128 = 4;
/// Calls of the API for a view: the root with the tail, and the URLs of its chunks.
const VIEW_CALLS: u128 = 2;
/// Cells of an object that is imported, and bytes of a hundred cells.
const OBJECT_CELLS: u128 = 57_000;
const HUNDRED_CELLS_BYTES: u128 = 268;
/// Bytes of an edit in the table, of which 100 are what DynamoDB adds to each item.
const EDIT_BYTES: u128 = 200;
/// Bytes that are logged for a call, mostly by Lambda itself.
const CALL_LOG_BYTES: u128 = 700;
/// Halves of read units of an indexer that knows nothing yet, for a spreadsheet that was made.
const INDEX_READS: u128 = 10;
/// Entries that the indexer gets at once, if there are any for it: one a second, within its window of five.
const INDEXED_ENTRIES: u128 = 5;
/// Write units of indexing them: the item of the feed, and how far the log is.
const INDEX_WRITES: u128 = 2;
/// Write units and halves of read units of a delivery of the webhook, and the requests for its secret.
const DELIVERY_WRITES: u128 = 1;
const DELIVERY_READS: u128 = 5;
const DELIVERY_GETS: u128 = 1;
/// Milliseconds of a call of the relay, of the indexer, of the webhook, and of the worker on snapshots.
const RELAY_MS: u128 = 50;
const INDEXER_MS: u128 = 100;
const WEBHOOK_MS: u128 = 500;
const SNAPSHOT_MS: u128 = 1_000;
/// The function that delivers the feed.
const WEBHOOK: &str = "WebhookFunction";
/// Requests to a queue for each job: to send it, to receive it, to delete it.
const JOB_REQUESTS: u128 = 3;
/// Requests by which Lambda asks an empty queue, in an hour: five at a time, each for 20 seconds.
pub(super) const POLLS_OF_AN_HOUR: u128 = 5 * 180;
/// Requests to queues in a month that every account has for nothing.
const FREE_QUEUE_REQUESTS: u128 = 1_000_000;
/// Alarms that every account has for nothing.
const FREE_ALARMS: u64 = 10;
/// Calls of an hour that X-Ray traces in any case, and of how many others one.
const TRACES_OF_AN_HOUR: u128 = 3_600;
const TRACED_ONE_OF: u128 = 20;

/// How much a stack is used in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Edits; up to ten cells that are sent together are one.
    pub(crate) edits: u64,
    /// How often somebody opens a sheet.
    pub(crate) reads: u64,
    /// Cells that are imported.
    pub(crate) import_cells: u64,
    /// Spreadsheets that are made.
    pub(crate) spreadsheets: u64,
    /// Bytes in the bucket.
    pub(crate) stored_bytes: u64,
    /// Bytes in the tables.
    pub(crate) table_bytes: u64,
    /// Milliseconds of a request to the API.
    pub(crate) request_ms: u64,
}

/// What is used of AWS in a month.
pub(crate) fn estimate(usage: &Usage, facts: &Facts, policy: Option<LogPolicy>) -> Amounts {
    let of = u128::from;
    let (edits, reads) = (of(usage.edits), of(usage.reads));
    let every = |entries: u32| edits / u128::from(entries.max(1));
    let snapshots = policy.map_or(0, |policy| every(policy.snapshot_entries));
    let rolls = policy.map_or(0, |policy| every(policy.segment_entries));
    let cells = of(usage.import_cells);
    let objects = cells.div_ceil(OBJECT_CELLS);
    let imports = cells.min(1);
    let mut amounts = Amounts::default();
    let creates = of(usage.spreadsheets) * CREATE_WRITES;
    let upkeep = snapshots * SNAPSHOT_WRITES + rolls * ROLL_WRITES;
    let batches = if facts.feeds_entries { edits.div_ceil(INDEXED_ENTRIES) } else { 0 };
    // Each new spreadsheet is delivered by itself, if there is a webhook.
    let has_webhook = facts.functions.contains_key(WEBHOOK);
    let deliveries = if has_webhook { of(usage.spreadsheets) + batches } else { 0 };
    let delivered = deliveries * DELIVERY_WRITES;
    let writes =
        edits * EDIT_WRITES + creates + upkeep + imports + delivered + batches * INDEX_WRITES;
    amounts.add(Meter::TableWrites, writes);
    let tails = if snapshots > 0 { edits * TAIL_READS / 1_000 } else { 0 };
    let upkeep = snapshots * SNAPSHOT_READS + rolls * ROLL_READS + tails;
    // The tail behind a snapshot is half as long as it gets.
    let indexed = of(usage.spreadsheets) * INDEX_READS + deliveries * DELIVERY_READS;
    amounts.add(Meter::TableReads, reads * (HEAD_READS + TAIL_READS / 2) + upkeep + indexed);
    let table_bytes = of(usage.table_bytes) + edits * EDIT_BYTES;
    amounts.add(Meter::TableStorage, table_bytes * MONTH_HOURS);
    amounts.add(Meter::TableBackup, table_bytes * MONTH_HOURS);
    // A PUT and a tag that says that it is pending, and later a check that takes the tag away.
    amounts.add(Meter::ObjectWrites, snapshots * SNAPSHOT_PUTS + objects * 2);
    let gets = snapshots * SNAPSHOT_GETS + reads * VIEW_GETS + objects;
    amounts.add(Meter::ObjectReads, gets + deliveries * DELIVERY_GETS);
    let stored = of(usage.stored_bytes) + cells * HUNDRED_CELLS_BYTES / 100;
    amounts.add(Meter::ObjectStorage, stored * MONTH_HOURS);
    let calls = Calls {
        api: edits + reads * VIEW_CALLS + of(usage.spreadsheets) + objects,
        relay: snapshots + imports,
        indexer: of(usage.spreadsheets) + batches,
        webhook: deliveries,
        snapshot: snapshots,
    };
    calls.add_to(&mut amounts, of(usage.request_ms), facts);
    let polls = of(facts.polled_queues) * POLLS_OF_AN_HOUR * MONTH_HOURS;
    add_queue_requests(&mut amounts, snapshots * JOB_REQUESTS + polls, MONTH_HOURS);
    add_standing(&mut amounts, facts, MONTH_HOURS);
    amounts
}

struct Calls {
    api: u128,
    relay: u128,
    indexer: u128,
    webhook: u128,
    snapshot: u128,
}

impl Calls {
    fn add_to(&self, amounts: &mut Amounts, request_ms: u128, facts: &Facts) {
        for (id, calls, ms) in [
            ("ApiFunction", self.api, request_ms),
            ("RelayFunction", self.relay, RELAY_MS),
            ("IndexerFunction", self.indexer, INDEXER_MS),
            (WEBHOOK, self.webhook, WEBHOOK_MS),
            ("SnapshotFunction", self.snapshot, SNAPSHOT_MS),
        ] {
            if let Some(function) = facts.functions.get(id) {
                add_time(amounts, *function, calls * ms);
            }
            amounts.add(Meter::Calls, calls);
        }
        let calls = self.api + self.relay + self.indexer + self.webhook + self.snapshot;
        amounts.add(Meter::LogBytes, calls * CALL_LOG_BYTES);
        add_kept_logs(amounts, calls * CALL_LOG_BYTES, facts);
        add_traces(amounts, calls, MONTH_HOURS, facts);
    }
}

/// What a function's time costs by its memory and processor.
pub(super) fn add_time(amounts: &mut Amounts, function: facts::Function, ms: u128) {
    let Function { memory_mb, on_arm } = function;
    let meter = if on_arm { Meter::TimeOnArm } else { Meter::TimeOnX86 };
    amounts.add(meter, u128::from(memory_mb).saturating_mul(ms));
}

/// Lines are paid for when they are written, for as long as they are kept.
pub(super) fn add_kept_logs(amounts: &mut Amounts, bytes: u128, facts: &Facts) {
    amounts.add(Meter::LogStorage, bytes.saturating_mul(u128::from(facts.log_days) * 24));
}

/// A call a second is traced, if any is, and one in twenty of the others; if they come at all evenly.
pub(super) fn add_traces(amounts: &mut Amounts, calls: u128, hours: u128, facts: &Facts) {
    if !facts.tracing {
        return;
    }
    let always = calls.min(TRACES_OF_AN_HOUR * hours);
    amounts.add(Meter::Traces, always + (calls - always) / TRACED_ONE_OF);
}

/// Those that are not for nothing.
pub(super) fn add_queue_requests(amounts: &mut Amounts, requests: u128, hours: u128) {
    let free = FREE_QUEUE_REQUESTS * hours / MONTH_HOURS;
    amounts.add(Meter::QueueRequests, requests.saturating_sub(free));
}

/// What costs money whether it is used or not.
pub(super) fn add_standing(amounts: &mut Amounts, facts: &Facts, hours: u128) {
    let of = u128::from;
    amounts.add(Meter::Alarms, of(facts.alarms.saturating_sub(FREE_ALARMS)) * hours);
    amounts.add(Meter::Dashboards, of(facts.dashboards) * hours);
    amounts.add(Meter::Keys, u128::from(facts.own_key) * hours);
}

/// What an estimate takes for granted.
pub(crate) fn assumptions(usage: &Usage, facts: &Facts, policy: Option<LogPolicy>) -> Vec<String> {
    let snapshot = policy.map_or(SNAPSHOT_ENTRIES, |policy| policy.snapshot_entries);
    let segment = policy.map_or(SEGMENT_ENTRIES, |policy| policy.segment_entries);
    let mut said = vec![
        "prices of us-east-1, on demand, without the free tier; but the 10 alarms and the million \
         requests to queues that every account has for nothing are taken off"
            .to_owned(),
        "an edit, or up to ten cells at once: 1 write unit, 1 call, 200 bytes in the table; making a \
         spreadsheet: 8 write units"
            .to_owned(),
        format!(
            "opening a sheet: 2 calls, half a tail of 1,000 edits (7.5 read units), 4 objects; a call \
             of the API takes {} ms and logs 700 bytes",
            usage.request_ms
        ),
        "an import: an object for 57,000 cells, 2.68 bytes a cell, which are added to the bucket"
            .to_owned(),
        "a dashboard is paid for, though the first three of an account are not; requests to KMS are \
         not in it"
            .to_owned(),
        "not in it: data that leaves AWS, the prices of other regions, taxes".to_owned(),
    ];
    if facts.feeds_entries {
        said.push(
            "the feed of everything: 2 write units and a call for five edits that come together"
                .to_owned(),
        );
    }
    if facts.tracing {
        said.push("each call is traced up to one a second (1 in 20 beyond that)".to_owned());
    }
    if policy.is_some() {
        said.insert(
            3,
            format!(
                "every {snapshot} edits a snapshot: 4 write units, 3.5 read units and those of its \
                 tail, 3 PUTs, 3 GETs, a second; every {segment} a segment: 6 write units, 1 read unit"
            ),
        );
    }
    said
}

#[cfg(test)]
mod tests {
    use cellar_stacks::config::Architecture;
    use cellar_stacks::{Config, FeedScope, cellar_stack};

    use super::*;
    use crate::cost::{Bill, GB};

    fn facts(config: &Config) -> Facts {
        Facts::of(&cellar_stack(config, Architecture::Arm64).unwrap().to_value())
    }

    fn amounts(usage: Usage) -> Amounts {
        let usage = Usage { request_ms: 20, ..usage };
        estimate(&usage, &facts(&Config::default()), Some(LogPolicy::default()))
    }

    fn total(amounts: &Amounts) -> String {
        Bill::of(amounts).total().to_owned()
    }

    #[test]
    fn nothing_is_paid_for_while_nothing_is_done() {
        assert_eq!(total(&amounts(Usage::default())), "0");
        let gb = 1 << 30;
        let stored = Usage { stored_bytes: 10 * gb, table_bytes: gb, ..Usage::default() };
        assert_eq!(total(&amounts(stored)), "0.68");
    }

    #[test]
    fn what_the_configuration_adds_is_paid_for_while_nothing_is_done() {
        let mut config = Config { dashboard: true, ..Config::default() };
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        let idle = |facts: &Facts| total(&estimate(&Usage::default(), facts, None));
        let mut facts = facts(&config);
        assert_eq!(idle(&facts), "4");
        facts.alarms = 12;
        assert_eq!(idle(&facts), "4.2");
    }

    #[test]
    fn entries_in_the_feed_cost_two_units_for_each_five_that_come_together() {
        let config = Config { feed: FeedScope::Everything, ..Config::default() };
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let policy = Some(LogPolicy::default());
        let of = |config: &Config| estimate(&usage, &facts(config), policy);
        let (catalog, everything) = (of(&Config::default()), of(&config));
        let more = |meter| everything.of(meter) - catalog.of(meter);
        assert_eq!(more(Meter::TableWrites), 2 * 200_000);
        assert_eq!(more(Meter::Calls), 200_000);
        let is_said = |config| {
            assumptions(&usage, &facts(config), policy).join("\n").contains("feed of everything")
        };
        assert!(is_said(&config) && !is_said(&Config::default()));
        assert_eq!(more(Meter::TimeOnArm), 256 * 100 * 200_000);
        assert_eq!(
            (total(&catalog).as_str(), total(&everything).as_str()),
            ("1.432846934542", "1.858564486636")
        );
    }

    #[test]
    fn a_million_edits_cost_what_the_budgets_say() {
        let used = amounts(Usage { edits: 1_000_000, ..Usage::default() });
        // 1 W each, 4 W for each of 1,000 snapshots, 6 W for each of 100 segments.
        assert_eq!(used.of(Meter::TableWrites), 1_000_000 + 4_000 + 600);
        // 3.5 R a snapshot, 13 R for its thousand edits, 1 R a segment.
        assert_eq!(used.of(Meter::TableReads), 2 * (3_500 + 13_000 + 100));
        assert_eq!(used.of(Meter::Calls), 1_000_000 + 2 * 1_000);
        let api = 512 * 20 * 1_000_000;
        assert_eq!(used.of(Meter::TimeOnArm), api + 256 * 50 * 1_000 + 1_769 * 1_000 * 1_000);
        assert_eq!(used.of(Meter::ObjectWrites), 3_000);
        assert_eq!(used.of(Meter::ObjectReads), 3_000);
        assert_eq!(used.of(Meter::QueueRequests), 0, "3,000 and 657,000 are free");
        assert_eq!(used.of(Meter::TableStorage), 200_000_000 * MONTH_HOURS);
        assert_eq!(used.of(Meter::LogBytes), 700 * 1_002_000);
        assert_eq!(used.of(Meter::LogStorage), 700 * 1_002_000 * 30 * 24);
        assert_eq!(used.of(Meter::Traces), 0);
        assert_eq!(total(&used), "1.432846934542");
    }

    #[test]
    fn traces_are_paid_for_where_there_are_some() {
        let facts = facts(&Config { tracing: true, ..Config::default() });
        let usage = Usage { edits: 1_000_000, request_ms: 20, ..Usage::default() };
        let policy = Some(LogPolicy::default());
        let used = estimate(&usage, &facts, policy);
        assert_eq!(used.of(Meter::Traces), 1_002_000);
        assert_eq!(total(&used), "6.442846934542");
        let is_said = |facts| assumptions(&usage, facts, policy).join("\n").contains("traced");
        assert!(is_said(&facts) && !is_said(&Facts::default()));
    }

    #[test]
    fn reads_and_imports_cost_what_was_measured() {
        let used = amounts(Usage { reads: 1_000, ..Usage::default() });
        assert_eq!(used.of(Meter::TableReads), 2 * 7_500);
        assert_eq!((used.of(Meter::Calls), used.of(Meter::ObjectReads)), (2_000, 4_000));
        assert_eq!(used.of(Meter::TableWrites), 0);
        let used = amounts(Usage { import_cells: 10_000_000, spreadsheets: 1, ..Usage::default() });
        // 174 objects were measured.
        assert_eq!((used.of(Meter::ObjectWrites), used.of(Meter::ObjectReads)), (352, 176));
        assert_eq!(used.of(Meter::TableWrites), 8 + 1);
        assert_eq!(used.of(Meter::TableReads), 10);
        assert_eq!(used.of(Meter::ObjectStorage), 26_800_000 * MONTH_HOURS);
    }

    #[test]
    fn without_snapshots_none_is_paid_for() {
        let usage = Usage { edits: 10_000, ..Usage::default() };
        let used = estimate(&usage, &facts(&Config::default()), None);
        assert_eq!((used.of(Meter::TableWrites), used.of(Meter::TableReads)), (10_000, 0));
        assert_eq!(used.of(Meter::ObjectWrites), 0);
        let said = |policy| assumptions(&usage, &Facts::default(), policy).len();
        assert_eq!(said(None) + 1, said(Some(LogPolicy::default())));
    }

    #[test]
    fn what_is_free_is_free_up_to_its_bound() {
        let queue = |requests, hours| {
            let mut amounts = Amounts::default();
            add_queue_requests(&mut amounts, requests, hours);
            amounts.of(Meter::QueueRequests)
        };
        assert_eq!((queue(1_000_000, 730), queue(1_000_001, 730)), (0, 1));
        assert_eq!((queue(500_000, 365), queue(500_001, 365)), (0, 1));
        let traces = |calls| {
            let mut amounts = Amounts::default();
            add_traces(&mut amounts, calls, 1, &Facts { tracing: true, ..Facts::default() });
            amounts.of(Meter::Traces)
        };
        assert_eq!((traces(3_600), traces(3_619), traces(3_620)), (3_600, 3_600, 3_601));
    }

    #[test]
    fn the_largest_use_has_a_price() {
        let most = 1_000_000_000_000;
        let usage = Usage {
            edits: most,
            reads: most,
            import_cells: most,
            spreadsheets: most,
            stored_bytes: u64::MAX,
            table_bytes: u64::MAX,
            request_ms: 900_000,
        };
        let used = estimate(&usage, &facts(&Config::default()), Some(LogPolicy::default()));
        assert!(used.of(Meter::TimeOnArm) > GB && !total(&used).is_empty());
    }
}
