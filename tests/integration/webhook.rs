//! The webhook with a real receiver, real tables and HTTP.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::{wire::CreateRequest, wire::ShareRequest, wire::UpdateDetailsRequest};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::feed::Checkpoint;
use cellar_catalog::webhook::Receivers;
use cellar_engine::feed::WebhookError;
use cellar_engine::meter::Meter;
use cellar_engine::ports::Blobs;
use cellar_local::Ports;
use cellar_runtime::dynamodb::{DynamoFeed, DynamoStreams};
use cellar_runtime::s3::S3Blobs;
use cellar_runtime::webhook::{WebhookParts, WebhookSecrets};
use cellar_stacks::config::Webhook;
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use cellar_tests::receiver::{Answer, TestReceiver};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::catalog_commands::Person;
use crate::journey::Project;

/// Maximum time of a delivery on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

fn ports() -> Ports {
    Ports { snapshot_builder: None, ..Ports::default() }
}

/// Starts a cloud that delivers to the receiver.
async fn cloud(receiver: &TestReceiver, events: bool) -> TestCloud {
    let webhook = Some(Webhook { url: receiver.url().to_owned(), payloads: events });
    TestCloud::start_configured(ports(), |config| {
        config.snapshots.enabled = false;
        config.webhook = webhook;
    })
    .await
}

fn alice(cloud: &TestCloud) -> Client {
    Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap()
}

async fn create(of: &Client, name: &str) -> LogId {
    let request = CreateRequest { nonce: name.to_owned(), name: Some(name.to_owned()) };
    of.create(&request).await.unwrap().id
}

async fn rename(of: &Client, id: LogId, name: &str) {
    let request = UpdateDetailsRequest { name: Some(name.to_owned()), status: None };
    of.spreadsheet(id).update_details(&request, None).await.unwrap();
}

async fn share(of: &Client, id: LogId, with: &str) {
    let request = ShareRequest { subject: with.to_owned(), issuer: None, role: Role::Viewer };
    of.spreadsheet(id).share(&request, None).await.unwrap();
}

fn stream(id: LogId) -> String {
    format!("Spreadsheet-{id}")
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(PAUSE).await;
    }
}

fn secrets(cloud: &TestCloud) -> WebhookSecrets {
    WebhookSecrets::new(blobs(cloud, &Arc::default()))
}

fn blobs(cloud: &TestCloud, meter: &Arc<Meter>) -> Arc<dyn Blobs> {
    let bucket = cloud.settings.bucket.clone();
    Arc::new(S3Blobs::new(bucket, cloud.s3_client(), Arc::clone(meter)))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_delivered_signed_and_in_order() {
    let receiver = TestReceiver::start().await;
    let cloud = cloud(&receiver, true).await;
    let alice = alice(&cloud);
    let id = create(&alice, "Budget").await;
    rename(&alice, id, "Budget 2027").await;
    share(&alice, id, "bob").await;
    let wanted = ["Created", "Renamed", "Shared"];
    until("the events are not delivered", || receiver.kinds_of(&stream(id)).len() == 3).await;
    assert_eq!(receiver.kinds_of(&stream(id)), wanted);
    let secrets = secrets(&cloud).get().await.unwrap();
    let mut told = Vec::new();
    for arrived in receiver.arrived() {
        assert!(arrived.is_signed_by(secrets[0].text()), "{arrived:?}");
        assert!(!arrived.is_signed_by("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        let delivery = arrived.delivery();
        assert_eq!((delivery.kind.as_str(), delivery.stack.as_str()), ("cellar.feed", "cellar"));
        assert_eq!(delivery.id(), arrived.id);
        let spans = delivery.data.items.into_iter().flat_map(|item| item.spans);
        told.extend(spans.flat_map(|span| span.events.unwrap()));
    }
    // With payloads, a delivery contains the contents of the events.
    let told = serde_json::to_value(&told).unwrap();
    assert!(told.to_string().contains("Budget 2027") && told.to_string().contains("bob"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_accepted_comes_again_and_nothing_is_left_out() {
    let receiver = TestReceiver::start().await;
    let cloud = cloud(&receiver, false).await;
    let alice = alice(&cloud);
    let id = create(&alice, "Budget").await;
    until("the first event is not delivered", || receiver.kinds_of(&stream(id)).len() == 1).await;
    for answer in
        [Answer::Status(500), Answer::Status(404), Answer::Redirect, Answer::AcceptedUnheard]
    {
        receiver.answers(answer);
        let before = receiver.arrived().len();
        rename(&alice, id, &format!("{answer:?}")).await;
        until("no delivery was attempted", || receiver.arrived().len() > before + 1).await;
        receiver.answers(Answer::Accepted);
        let arrived = receiver.arrived();
        // The delivery is repeated with the same id until it is accepted.
        let tries: Vec<&str> = arrived[before..].iter().map(|it| it.id.as_str()).collect();
        assert_eq!(tries[0], tries[1]);
        let sent = arrived.last().unwrap().id.clone();
        let accepted = || {
            let arrived = receiver.arrived();
            arrived.iter().rev().any(|it| it.accepted && it.id >= sent)
        };
        until("the delivery is not accepted", accepted).await;
    }
    let renamed = ["Renamed"; 4];
    assert_eq!(receiver.kinds_of(&stream(id)), [&["Created"], &renamed[..]].concat());
    let told = receiver.arrived().iter().any(|arrived| arrived.body.contains("Redirect"));
    assert!(!told, "payloads were delivered although they were not requested");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_secrets_sign_after_a_rotation() {
    let receiver = TestReceiver::start().await;
    let cloud = cloud(&receiver, false).await;
    let alice = alice(&cloud);
    let id = create(&alice, "Budget").await;
    until("the events are not delivered", || receiver.kinds_of(&stream(id)).len() == 1).await;
    let secrets = secrets(&cloud);
    let former = secrets.get().await.unwrap()[0].text().to_owned();
    let new = secrets.rotate().await.unwrap()[0].text().to_owned();
    rename(&alice, id, "Signed twice").await;
    until("the events are not delivered", || receiver.kinds_of(&stream(id)).len() == 2).await;
    let last = receiver.arrived().pop().unwrap();
    assert!(last.is_signed_by(&former) && last.is_signed_by(&new), "{last:?}");
    assert_eq!(last.signatures.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_killed_goes_on_where_it_was() {
    let receiver = TestReceiver::start().await;
    let mut cloud = cloud(&receiver, false).await;
    let mut ids = Vec::new();
    for round in 0..4 {
        let alice = alice(&cloud);
        for number in 0..5 {
            let id = create(&alice, &format!("{round}-{number}")).await;
            share(&alice, id, "bob").await;
            ids.push(id);
        }
        // In every other round, the receiver is unavailable.
        let answer = if round % 2 == 0 { Answer::Status(503) } else { Answer::AcceptedUnheard };
        receiver.answers(answer);
        rename(&alice, ids[0], &format!("Round {round}")).await;
        tokio::time::sleep(PAUSE * round).await;
        cloud = cloud.kill_and_start(ports()).await;
        receiver.answers(Answer::Accepted);
    }
    let all = || {
        ids.iter().enumerate().all(|(number, id)| {
            let renames = if number == 0 { 4 } else { 0 };
            receiver.kinds_of(&stream(*id)).len() == 2 + renames
        })
    };
    until("an event was lost", all).await;
}

/// A delivery that the test runs itself, to measure its cost.
struct ByHand {
    cloud: TestCloud,
    receiver: TestReceiver,
    meter: Arc<Meter>,
}

impl ByHand {
    async fn new() -> Self {
        let receiver = TestReceiver::start().await;
        let cloud = TestCloud::start_without_snapshots().await;
        Self { cloud, receiver, meter: Arc::default() }
    }

    async fn deliver(&self, place: u64) -> Result<usize, WebhookError> {
        let (settings, meter) = (&self.cloud.settings, || Arc::clone(&self.meter));
        let client = || self.cloud.dynamodb_client();
        let parts = WebhookParts {
            index: Arc::new(DynamoFeed::named(&settings.feed_table, client(), meter())),
            streams: Arc::new(DynamoStreams::named(
                &settings.event_stream_table,
                client(),
                meter(),
            )),
            blobs: blobs(&self.cloud, &self.meter),
            url: self.receiver.url().to_owned(),
            receivers: Receivers::PublicAndLocalhost,
            events: false,
            stack: "cellar".to_owned(),
            incarnation: 0,
        };
        let place = Checkpoint::new(place).unwrap();
        parts.build().deliver((place, place), u64::MAX).await
    }

    /// Returns read units, write units, and requests for objects of a delivery.
    async fn cost(&self, place: u64, items: usize) -> (f64, u64, u64) {
        let _ = self.meter.take();
        assert_eq!(self.deliver(place).await, Ok(items));
        let cost = self.meter.take();
        (cost.read_units(), cost.write_units, cost.object_gets)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_costs_one_write_and_a_look_before_and_after() {
    let by_hand = ByHand::new().await;
    let alice = alice(&by_hand.cloud);
    let operator = by_hand.cloud.client("operator");
    let count = async |wanted: usize| {
        let begun = Instant::now();
        while operator.feed_page(&cellar::FeedQuery::default()).await.unwrap().items.len() < wanted
        {
            assert!(begun.elapsed() < PATIENCE);
            tokio::time::sleep(PAUSE).await;
        }
    };
    create(&alice, "first").await;
    count(1).await;
    by_hand.deliver(0).await.unwrap();
    create(&alice, "second").await;
    count(2).await;
    // The progress, with a strongly consistent read; the list of incarnations and the items, before
    // and after; the secret.
    let (read_units, write_units) = budgets::WEBHOOK_DELIVERY.units();
    let expected = (read_units, write_units, budgets::WEBHOOK_DELIVERY.cost.object_gets);
    assert_eq!(by_hand.cost(1, 1).await, expected);
    assert_eq!(by_hand.cost(1, 0).await, (2.0, 0, 0), "delivered already");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sets_it_up_sees_how_far_it_is_gets_the_secret_and_delivers_what_was_missed() {
    let receiver = TestReceiver::start().await;
    let project = Project::new();
    let webhook = Webhook { url: receiver.url().to_owned(), payloads: true };
    fs::write(project.path("cellar.yaml"), json!({"webhook": webhook}).to_string()).unwrap();
    let run = |arguments: &[&str]| block_in_place(|| project.synth(arguments));
    block_in_place(|| project.deploy());
    // The smoke test has created a spreadsheet.
    until("the webhook does not reach its receiver", || {
        run(&["webhook", "status", "--local"]).code == 0
    })
    .await;
    let there = run(&["webhook", "status", "--local"]);
    assert!(there.stdout.contains("Everything was delivered, up to checkpoint"), "{there:?}");
    let secret = run(&["webhook", "secret", "--local"]).stdout.trim().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert_eq!(run(&["webhook", "secret", "--local"]).stdout.trim(), secret);

    receiver.answers(Answer::Status(503));
    let alice = block_in_place(|| Person::of(&project, "alice"));
    let id =
        block_in_place(|| alice.does(&["create", "--name", "Budget"]).stdout.trim().to_owned());
    let refused = || receiver.arrived().iter().any(|arrived| !arrived.accepted);
    until("no delivery was attempted", refused).await;
    let behind = run(&["--json", "webhook", "status", "--local"]);
    let status: Value = serde_json::from_str(&behind.stdout).unwrap();
    assert_eq!((behind.code, &status["complete"]), (2, &json!(false)), "{behind:?}");
    assert!(status["delivered"].as_u64() <= status["last"].as_u64(), "{status}");
    let refused = run(&["--json", "webhook", "deliver", "--local"]);
    assert!(refused.code == 1 && refused.stderr.contains("status 503"), "{refused:?}");
    receiver.answers(Answer::Accepted);
    let delivered = run(&["webhook", "deliver", "--local"]);
    assert_eq!(delivered.code, 0, "{delivered:?}");
    assert!(delivered.stdout.contains("Everything was delivered"), "{delivered:?}");
    assert_eq!(receiver.kinds_of(&format!("Spreadsheet-{id}")), ["Created"]);
    assert!(receiver.arrived().iter().all(|arrived| arrived.is_signed_by(&secret)));

    let rotated = run(&["webhook", "secret", "--rotate", "--local", "--json"]);
    let rotated: Value = serde_json::from_str(&rotated.stdout).unwrap();
    assert_eq!(rotated["secrets"][1], secret.as_str());
    fs::write(project.path("cellar.yaml"), "{}").unwrap();
    let none = run(&["webhook", "deliver", "--local"]);
    assert!(none.code == 1 && none.stderr.contains("no `webhook`"), "{none:?}");
}
