//! Requests without access cost the same whether or not the spreadsheet exists.

use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::cost::Cost;
use cellar_api::wire::CreateRequest;
use cellar_base::identity::LogId;
use cellar_base::limits::LISTING_REFUSAL_AGE_MS;
use cellar_catalog::{spreadsheet::LinkSecret, spreadsheet::LinkToken};
use cellar_tests::cloud::TestCloud;

use super::routes::{Route, Subject, routes};

/// Number of attempts. An attempt fails if two requests are too slow to share one cached refusal.
const TRIES: u32 = 20;

struct World {
    cloud: TestCloud,
    http: reqwest::Client,
    subject: Subject,
    strangers: u32,
}

impl World {
    /// Returns the costs of the first two requests of a new subject without access.
    async fn costs(&mut self, route: &Route, log: LogId, with_link: bool) -> [Cost; 2] {
        for _ in 0..TRIES {
            self.strangers += 1;
            let token = match with_link {
                true => {
                    let secret = LinkSecret(u128::from(self.strangers).to_le_bytes());
                    LinkToken { log, secret }.to_string()
                }
                false => self.cloud.token_of(&format!("stranger {}", self.strangers)),
            };
            let began = Instant::now();
            let mut costs = [Cost::default(); 2];
            for cost in &mut costs {
                let _ = self.cloud.meter.take();
                let about = (&self.cloud, &self.http);
                let answer = route.send(about, &token, &log.to_string(), &self.subject).await;
                let expected = if with_link { 401 } else { 404 };
                assert_eq!(answer.status(), expected, "{route:?}");
                assert!(!answer.headers().contains_key("cellar-cost"), "{route:?}");
                *cost = self.cloud.meter.take();
            }
            if began.elapsed() < Duration::from_millis(LISTING_REFUSAL_AGE_MS) {
                return costs;
            }
        }
        panic!("this machine is too slow for two requests in a second");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_requests_cost_the_same_whether_there_is_a_spreadsheet() {
    let cloud = TestCloud::start_without_snapshots().await;
    let alice = Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap();
    let created = alice.create(&CreateRequest::new("strangers".to_owned())).await.unwrap();
    let subject = Subject {
        head: created.head,
        incarnation: created.incarnation,
        fork: created.id,
        upload: uuid::Uuid::nil().to_string(),
        upload_bytes: 9,
        upload_sha256: "00".repeat(32),
    };
    let absent = LogId::from_uuid(uuid::Uuid::new_v4());
    let mut world = World { cloud, http: reqwest::Client::new(), subject, strangers: 0 };
    for route in routes(&world.cloud).await {
        for with_link in [false, true] {
            // The owner has just read the listing: the cached listing must not answer a subject
            // without access.
            assert!(alice.spreadsheet(created.id).details().await.is_ok());
            let there = world.costs(&route, created.id, with_link).await;
            let nowhere = world.costs(&route, absent, with_link).await;
            assert_eq!(there, nowhere, "{route:?}, with a link: {with_link}");
        }
    }
}
