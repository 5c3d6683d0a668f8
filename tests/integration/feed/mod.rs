//! The feed and the spreadsheet lists over HTTP and the real tables.

mod audit;
mod budgets;
mod entries;
mod figures;
mod followed;
mod killed;
mod listed;
mod many;
mod refusals;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use cellar::{Client, ClientError, FeedQuery, SpreadsheetsQuery};
use cellar_api::{
    wire::CreateRequest, wire::FeedReply, wire::ProblemKind, wire::ShareRequest,
    wire::SpreadsheetStatus, wire::SpreadsheetView, wire::UpdateDetailsRequest,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_engine::feed::{Auditor, FeedReader};
use cellar_engine::meter::Meter;
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_runtime::dynamodb::{DynamoFeed, DynamoStreams};
use cellar_runtime::indexer::IndexerPorts;
use cellar_tests::cloud::TestCloud;

/// Maximum time of the indexer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cloud with a running indexer.
struct World {
    cloud: TestCloud,
}

impl World {
    async fn new() -> Self {
        Self { cloud: TestCloud::start_without_snapshots().await }
    }

    fn person(&self, name: &str) -> Client {
        Client::new(&self.cloud.url, Some(&self.cloud.token_of(name))).unwrap()
    }

    fn operator(&self) -> Client {
        self.cloud.client("operator")
    }

    /// Creates a spreadsheet of a person.
    async fn create(&self, of: &Client, name: &str) -> LogId {
        let nonce = format!("nonce of {name}");
        let request = CreateRequest { nonce, name: Some(name.to_owned()) };
        of.create(&request).await.unwrap().id
    }

    fn tables(&self) -> (Arc<DynamoStreams>, Arc<DynamoFeed>) {
        let (settings, client) = (&self.cloud.settings, self.cloud.dynamodb_client());
        let meter = Arc::new(Meter::default());
        let streams =
            DynamoStreams::named(&settings.event_stream_table, client.clone(), meter.clone());
        let index = DynamoFeed::named(&settings.feed_table, client, meter);
        (Arc::new(streams), Arc::new(index))
    }

    fn auditor(&self) -> Auditor {
        let (streams, index) = self.tables();
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let ports = IndexerPorts {
            index: index.clone(),
            lists: index.clone(),
            streams: streams.clone(),
            clock: clock.clone(),
            random: random.clone(),
        };
        Auditor::new(&streams, FeedReader::new(index, 0), ports.build(0), clock, random)
    }
}

async fn share(owner: &Client, id: LogId, with: &str, role: Role) {
    let request = ShareRequest { subject: with.to_owned(), issuer: None, role };
    owner.spreadsheet(id).share(&request, None).await.unwrap();
}

async fn rename(of: &Client, id: LogId, name: &str) {
    let request = UpdateDetailsRequest { name: Some(name.to_owned()), status: None };
    of.spreadsheet(id).update_details(&request, None).await.unwrap();
}

async fn set_status(of: &Client, id: LogId, status: SpreadsheetStatus) {
    let request = UpdateDetailsRequest { name: None, status: Some(status) };
    of.spreadsheet(id).update_details(&request, None).await.unwrap();
}

/// Returns all pages of a person's list.
async fn list(of: &Client, query: &SpreadsheetsQuery) -> Vec<SpreadsheetView> {
    let (mut query, mut listed) = (query.clone(), Vec::new());
    loop {
        let page = of.spreadsheets_page(&query).await.unwrap();
        listed.extend(page.spreadsheets);
        query.cursor = page.next;
        if query.cursor.is_none() {
            return listed;
        }
    }
}

async fn names(of: &Client, query: &SpreadsheetsQuery) -> Vec<(String, Role)> {
    let listed = list(of, query).await;
    let mut names: Vec<_> = listed.into_iter().map(|one| (one.name, one.role)).collect();
    names.sort();
    names
}

/// Repeats `ask` until it returns `wanted`.
async fn until<T: PartialEq + std::fmt::Debug>(wanted: T, ask: impl AsyncFn() -> T) {
    let asked = async {
        loop {
            if ask().await == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, asked).await.is_err() {
        assert_eq!(ask().await, wanted);
    }
}

/// Returns the whole feed: the kinds of events of each event stream, in feed order.
async fn walk(operator: &Client) -> Vec<(String, u64, Vec<String>)> {
    let (mut query, mut spans) = (FeedQuery::default(), Vec::new());
    loop {
        let FeedReply { items, checkpoint: next, at_end: end, generation: feed } =
            operator.feed_page(&query).await.unwrap();
        for span in items.into_iter().flat_map(|item| item.spans) {
            spans.push((span.stream, span.first, span.kinds));
        }
        (query.after, query.generation) = (feed.is_some().then_some(next), feed);
        if end {
            return spans;
        }
    }
}

/// Returns the kinds of events of each event stream, after checking that they are in order and
/// without gaps.
async fn streams(operator: &Client) -> std::collections::BTreeMap<String, Vec<String>> {
    let mut streams: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    for (stream, first, kinds) in walk(operator).await {
        let known = streams.entry(stream.clone()).or_default();
        assert_eq!(first, known.len() as u64, "{stream} has a gap or a duplicate");
        known.extend(kinds);
    }
    streams
}

fn kind<T: std::fmt::Debug>(refused: Result<T, ClientError>) -> ProblemKind {
    refused.unwrap_err().problem_kind().unwrap()
}
