//! Many clients edit one spreadsheet concurrently, offline half of the time, over connections that
//! lose and duplicate requests, with restarts from their disks. Finally all clients show the same
//! cells, and each edit is in the log once, in the order of its client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar::live::{EditOutcome, LiveSheet};
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_local::Ports;
use cellar_log::entry::Entry;
use cellar_log::invariants::{check_no_gap, check_once, check_order};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, ClearRange, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_tests::cloud::TestCloud;
use cellar_tests::faulty_proxy::{Faults, FaultyProxy};
use fastrand::Rng;

use crate::kills::Killed;
use crate::kills::log::Log;

/// Number of rows and columns that all clients edit.
const SIDE: u32 = 12;
/// Maximum time of the last syncs, when no request is lost.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client.
struct Guest {
    token: String,
    url: String,
    spreadsheet: LogId,
    folder: tempfile::TempDir,
    random: Rng,
    live: Option<LiveSheet>,
    /// The client's edits in order.
    made: Vec<Operation>,
    /// Reported outcomes; each id is reported once.
    reported: BTreeMap<u64, Option<Position>>,
}

impl Guest {
    fn new(url: &str, token: &str, spreadsheet: LogId, seed: u64) -> Self {
        Self {
            token: token.to_owned(),
            url: url.to_owned(),
            spreadsheet,
            folder: tempfile::tempdir().unwrap(),
            random: Rng::with_seed(seed),
            live: None,
            made: Vec::new(),
            reported: BTreeMap::new(),
        }
    }

    /// Returns the live sheet, after opening it again if necessary.
    async fn live(&mut self) -> &mut LiveSheet {
        while self.live.is_none() {
            let client = Client::new(&self.url, Some(&self.token)).unwrap();
            let client = client.with_identity(Some("the party"));
            let open =
                LiveSheet::open(client.spreadsheet(self.spreadsheet), self.folder.path()).await;
            match open {
                Ok(live) => self.live = Some(live),
                Err(error) => {
                    assert!(error.is_offline(), "{error:?}");
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        }
        self.live.as_mut().unwrap()
    }

    /// Makes one edit of the shown cells, and sometimes a sync or a restart.
    async fn step(&mut self) {
        let operation = self.operation();
        self.live().await.edit(operation.clone()).unwrap();
        self.made.push(operation.validated().unwrap());
        match self.random.u8(..20) {
            0..9 => drop(self.round().await),
            9 => self.live = None,
            10 => {
                // A view may lack cells that a newer snapshot has replaced or that were never
                // loaded.
                let view = self.live().await.view(None, Rectangle::EVERYTHING).await;
                assert!(view.is_ok() || view.is_err_and(|error| error.is_offline()));
            }
            _ => {}
        }
    }

    /// Syncs. Returns whether the API replied.
    async fn round(&mut self) -> bool {
        match self.live().await.sync().await {
            Ok(synced) => {
                assert_eq!(synced.set_aside, [], "edits were set aside without a restore");
                for settled in synced.settled {
                    let rejected = matches!(settled.outcome, EditOutcome::Rejected(_));
                    assert!(!rejected, "{settled:?}");
                    let before = self.reported.insert(settled.id, settled.position);
                    assert_eq!(before, None, "two outcomes were reported for {}", settled.id);
                }
                true
            }
            Err(error) => {
                assert!(error.is_offline(), "{error:?}");
                false
            }
        }
    }

    /// Returns a random operation in the shared rows and columns.
    fn operation(&mut self) -> Operation {
        let (sheet, random) = (SheetId::FIRST, &mut self.random);
        let (row, column) = (random.u32(..SIDE), random.u32(..SIDE));
        match random.u8(..12) {
            0 => Operation::InsertRows(InsertBefore { sheet, before: row, count: 1 }),
            1 => Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(row, 1) }),
            2 => Operation::InsertColumns(InsertBefore { sheet, before: column, count: 1 }),
            3 => Operation::DeleteColumns(DeleteSpans { sheet, spans: Spans::one(column, 1) }),
            4 => Operation::ClearRange(ClearRange {
                sheet,
                rows: Spans::one(row, 2),
                columns: Spans::one(column, 2),
            }),
            _ => {
                let value = Some(Value::Number(f64::from(random.u32(..1_000))));
                let edit = CellEdit { row, column, value, formula: None, format: None };
                Operation::SetCells(SetCells { sheet, cells: vec![edit] })
            }
        }
    }

    /// Syncs until no edit is pending and no entry is new.
    async fn finish(&mut self) {
        let began = Instant::now();
        loop {
            let answered = self.round().await;
            if answered && self.live().await.pending().count() == 0 {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "edits are still pending");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns a hash of all shown cells, as JSON and as an export.
    async fn hash(&mut self) -> String {
        self.round().await;
        let reply = self.live().await.view(None, Rectangle::EVERYTHING).await.unwrap();
        let cells: Vec<_> =
            reply.cells.iter().map(|cell| (cell.row, cell.column, cell.cell.text())).collect();
        hash(&serde_json::to_vec(&(reply.position, cells)).unwrap())
    }
}

fn hash(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    cellar_api::wire::hexadecimal(&sha2::Sha256::digest(bytes))
}

/// Checks that the log has each edit of each client once, unchanged and in order.
fn check(entries: &[Arc<Entry>], guests: &[Guest]) {
    check_no_gap(entries).unwrap();
    check_once(entries).unwrap();
    check_order(entries).unwrap();
    let mut found = BTreeMap::<ClientKey, Vec<Operation>>::new();
    let mut placed = BTreeMap::<ClientKey, BTreeMap<u64, Option<Position>>>::new();
    for entry in entries {
        let Some(edits) = entry.edits() else { continue };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            found.entry(edits.client).or_default().push(mutation.authored.clone());
            placed.entry(edits.client).or_default().insert(id, Some(entry.position));
        }
    }
    let sorted = |lists: Vec<Vec<Operation>>| {
        let mut lists: Vec<String> = lists.iter().map(|list| format!("{list:?}")).collect();
        lists.sort();
        lists
    };
    let made = guests.iter().map(|guest| guest.made.clone()).collect();
    assert!(
        sorted(found.into_values().collect()) == sorted(made),
        "an edit is missing, duplicated or out of order"
    );
    // A restarted client may lack outcomes that were already stored on disk; all reported outcomes
    // must be correct.
    for guest in guests {
        let is_true = |placed: &BTreeMap<u64, Option<Position>>| {
            guest.reported.iter().all(|(id, at)| at.is_none() || placed.get(id) == Some(at))
        };
        assert!(placed.values().any(is_true), "a client received a wrong outcome");
    }
}

/// Checks that all clients show the same cells as the server, and export the same.
async fn check_hashes(guests: &mut [Guest], server: &Client, created: CreateReply) {
    let mut hashes = Vec::new();
    for guest in guests.iter_mut() {
        hashes.push(guest.hash().await);
    }
    let head = server.spreadsheet(created.id).head().await.unwrap();
    let query = cellar::CellsQuery::default().at_position(head.head);
    let reply = server.spreadsheet(created.id).cells_page(&query).await.unwrap();
    let cells: Vec<_> =
        reply.cells.iter().map(|cell| (cell.row, cell.column, cell.cell.text())).collect();
    assert!(!cells.is_empty() && reply.next.is_none());
    let expected = hash(&serde_json::to_vec(&(reply.position, cells)).unwrap());
    assert!(hashes.iter().all(|hash| *hash == expected), "{hashes:?} instead of {expected}");
}

async fn party(count: u64, edits: usize) {
    let began = Instant::now();
    let seed = std::env::var("CELLAR_TEST_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("CELLAR_TEST_SEED={seed}");
    let configured =
        TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 50);
    let cloud = configured.await;
    let owner = cloud.client("owner");
    let created = owner.create(&CreateRequest::new("party".to_owned())).await.unwrap();
    let mut parties = Vec::new();
    for number in 0..count {
        let proxy = FaultyProxy::start(&cloud.url, seed ^ number).await;
        let token = cloud.token(&format!("guest {number}"), Role::Editor);
        let guest = Guest::new(&proxy.url, &token, created.id, seed.wrapping_add(number));
        parties.push(tokio::spawn(run_guest(guest, proxy, edits)));
    }
    let (mut guests, mut proxies) = (Vec::new(), Vec::new());
    for party in parties {
        let (guest, proxy) = party.await.unwrap();
        guests.push(guest);
        proxies.push(proxy);
    }
    let counts = proxies.iter().map(FaultyProxy::counts);
    let lost: u32 = counts.clone().map(|counts| counts.dropped_replies).sum();
    let (doubled, dropped): (u32, u32) =
        (counts.clone().map(|c| c.doubled).sum(), counts.map(|c| c.dropped_requests).sum());
    assert!(lost > 0 && doubled > 0 && dropped > 0, "no fault was injected");
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let log = Log::read(tables.as_ref(), created.id).await;
    check(&log.entries, &guests);
    check_hashes(&mut guests, &owner, created).await;
    println!(
        "{count} guests, {} entries, {lost} replies and {dropped} requests lost, {doubled} doubled, \
         {:?}",
        log.entries.len(),
        began.elapsed()
    );
}

/// Makes all edits of one client over an unreliable connection, then syncs until it is done.
async fn run_guest(mut guest: Guest, proxy: FaultyProxy, edits: usize) -> (Guest, FaultyProxy) {
    guest.live().await;
    proxy.set(Faults { drop_request: 8, drop_reply: 8, twice: 8, delay: 20 });
    for _ in 0..edits {
        if guest.random.u8(..8) == 0 {
            proxy.set_offline(guest.random.bool());
        }
        guest.step().await;
    }
    proxy.set_offline(false);
    guest.finish().await;
    proxy.set(Faults::default());
    (guest, proxy)
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_guests_agree_whatever_is_lost() {
    party(8, 40).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute: `.ci/run` runs it"]
async fn twenty_guests_agree_whatever_is_lost() {
    party(20, 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_killed_again_and_again_spoils_no_party() {
    let mut cloud = Killed::new();
    let created = cloud.create(0).await;
    let mut guests = Vec::new();
    for _ in 0..6 {
        let guest = Guest::new(&cloud.url, &cloud.token, created.id, cloud.random.u64(..));
        guests.push(tokio::spawn(async move {
            let mut guest = guest;
            for _ in 0..30 {
                guest.step().await;
                tokio::time::sleep(Duration::from_millis(guest.random.u64(..40))).await;
            }
            guest
        }));
    }
    for _ in 0..3 {
        cloud.kill_soon().await;
    }
    let mut done = Vec::new();
    for guest in guests {
        done.push(guest.await.unwrap());
    }
    for guest in &mut done {
        guest.finish().await;
    }
    check(&cloud.log(created).await.entries, &done);
    let server = Client::new(&cloud.url, Some(&cloud.token)).unwrap();
    check_hashes(&mut done, &server, created).await;
}
