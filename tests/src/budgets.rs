//! The cost of each operation. Integration tests assert these costs, and `docs/cost.md` lists them.

use cellar_api::cost::Cost;

/// The asserted cost of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Description of the operation in `docs/cost.md`.
    pub operation: &'static str,
    /// Cost of the operation, without the number of table requests.
    pub cost: Cost,
    /// Whether the budget is an upper bound. Otherwise, it is the exact cost.
    pub is_upper_bound: bool,
}

impl Budget {
    const fn exact(operation: &'static str, read_half_units: u64, write_units: u64) -> Self {
        let cost = Cost {
            read_half_units,
            write_units,
            table_requests: 0,
            object_puts: 0,
            object_gets: 0,
            object_tags: 0,
            object_deletes: 0,
            object_bytes_sent: 0,
            object_bytes_received: 0,
            queue_requests: 0,
        };
        Self { operation, cost, is_upper_bound: false }
    }

    const fn at_most(operation: &'static str, read_half_units: u64, write_units: u64) -> Self {
        Self { is_upper_bound: true, ..Self::exact(operation, read_half_units, write_units) }
    }

    const fn with_object_requests(self, puts: u64, gets: u64, tags: u64) -> Self {
        let cost = Cost { object_puts: puts, object_gets: gets, object_tags: tags, ..self.cost };
        Self { cost, ..self }
    }

    /// Returns the read request units and the write request units.
    #[must_use]
    pub fn units(&self) -> (f64, u64) {
        (self.cost.read_units(), self.cost.write_units)
    }
}

/// Cost of editing up to ten cells in a process that has cached the newest entries of the log.
pub const WARM_EDIT: Budget = Budget::exact("edit of up to ten cells, warm process", 0, 1);
/// Cost of an edit in a process without cached state.
pub const COLD_EDIT: Budget = Budget::exact("edit of up to ten cells, cold process", 1, 1);
/// Additional cost of an edit per race that it loses against another writer.
pub const LOST_RACE: Budget = Budget::exact("lost race against another writer, in addition", 0, 1);
/// Cost of creating a spreadsheet: its log and its catalog entry.
pub const CREATE: Budget = Budget::exact("create a spreadsheet", 0, 5);
/// Cost of one snapshot, from its start until it is finished.
pub const SNAPSHOT: Budget = Budget::exact(
    "snapshot (one per 1,000 edits), without reading the log and without 1 to 3 PUTs",
    7,
    4,
);
/// Cost of an entry whose body is uploaded as an object.
pub const LARGE_ENTRY: Budget =
    Budget::exact("large entry of up to 8 MiB, uploaded", 0, 1).with_object_requests(1, 1, 1);
/// Cost of closing a log segment and opening the next one.
pub const ROLL: Budget = Budget::exact("new log segment", 2, 6);
/// Cost of a Replicache push of one edit to a process with cached state.
pub const PUSH: Budget = Budget::exact("push an edit (Replicache), warm process", 0, 1);
/// Cost of a Replicache pull when nothing has changed.
pub const PULL_WITHOUT_CHANGES: Budget = Budget::exact("pull (Replicache) without changes", 2, 0);
/// Cost of a Replicache pull of recent changes.
pub const PULL_OF_CHANGES: Budget = Budget::exact("pull (Replicache) of recent changes", 3, 0);
/// Cost of polling for the newest position.
pub const POLL: Budget = Budget::exact("poll", 1, 0);
/// Cost of reading cells of the newest state in a process that has read the spreadsheet before.
pub const WINDOW: Budget = Budget::exact("read of cells that a screen shows, warm process", 1, 0);
/// Cost per hour of an open client that receives no changes, without access checks.
pub const IDLE_HOUR: Budget = Budget::exact("polls of an idle client, per hour", 60, 0);
/// Cost of announcing a selection.
pub const PRESENCE: Budget = Budget::exact("announce a selection, with up to 30 clients", 1, 1);
/// Cost of reading the selections of others.
pub const PRESENCE_POLL: Budget = Budget::exact("read the selections of up to 30 clients", 1, 0);
/// Cost of a client that leaves.
pub const PRESENCE_END: Budget = Budget::exact("stop showing a selection", 2, 1);
/// Cost of creating a fork: its log and its catalog entry.
pub const FORK: Budget = Budget::exact("fork a spreadsheet of any size", 3, 9);
/// Cost of changing a catalog entry with a short event stream.
pub const LISTING_CHANGE: Budget = Budget::exact(
    "rename, share, unshare, link, archive, unarchive, delete, undelete (short event stream)",
    0,
    1,
);
/// Cost of indexing one change of a catalog entry, without spreadsheet lists.
pub const FEED_ITEM: Budget =
    Budget::exact("feed after each of these; with a cold indexer, up to 4 read units more", 2, 2);
/// Cost of indexing the edits of one batch.
pub const FEED_ITEM_OF_EDITS: Budget = Budget::exact(
    "with `feed: everything`: feed after all edits of a spreadsheet within five seconds",
    0,
    2,
);
/// Cost of a webhook delivery.
pub const WEBHOOK_DELIVERY: Budget =
    Budget::exact("webhook delivery", 6, 1).with_object_requests(0, 1, 0);
/// Cost of reading one page of a user's spreadsheet list.
pub const SPREADSHEET_PAGE: Budget = Budget::at_most("page of 50 spreadsheets", 2, 0);
/// Cost of polling the feed.
pub const FEED_POLL: Budget = Budget::exact("poll of the feed", 2, 0);
/// Additional cost of a request if the caller's role is not cached.
pub const ACCESS_CHECK: Budget =
    Budget::exact("access check, in addition, if not cached for 30 s", 1, 0);
/// Cost of loading a spreadsheet with many entries after its newest snapshot.
pub const LOAD: Budget = Budget::at_most("load 1,000 single edits after the snapshot", 26, 0);

/// All budgets, in the order in which the documentation lists them.
pub const BUDGETS: [Budget; 25] = [
    WARM_EDIT,
    COLD_EDIT,
    LOST_RACE,
    CREATE,
    SNAPSHOT,
    LARGE_ENTRY,
    ROLL,
    PUSH,
    PULL_WITHOUT_CHANGES,
    PULL_OF_CHANGES,
    POLL,
    WINDOW,
    IDLE_HOUR,
    PRESENCE,
    PRESENCE_POLL,
    PRESENCE_END,
    FORK,
    LISTING_CHANGE,
    FEED_ITEM,
    FEED_ITEM_OF_EDITS,
    WEBHOOK_DELIVERY,
    SPREADSHEET_PAGE,
    FEED_POLL,
    ACCESS_CHECK,
    LOAD,
];
