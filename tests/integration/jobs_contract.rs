//! SQS, through the SDK and HTTP, satisfies the contract of a job queue.

use std::sync::Arc;

use aws_sdk_sqs::types::QueueAttributeName;
use cellar_engine::contract::{self, JobsUnderTest};
use cellar_engine::meter::Meter;
use cellar_engine::ports::Jobs as _;
use cellar_engine::system::SystemClock;
use cellar_runtime::sqs::{SqsQueue, client_for_endpoint};

const REGION: &str = "us-east-1";
const MAX_RECEIVE_COUNT: u32 = 3;

/// Creates two queues at this endpoint, and checks the contract.
pub(crate) async fn jobs_contract_on_an_emulator(endpoint_url: &str) {
    let meter = Arc::new(Meter::default());
    let client = client_for_endpoint(endpoint_url, REGION, "test", "test", &meter);
    let name = format!("contract-{}", uuid::Uuid::new_v4());
    let letters = client.create_queue().queue_name(format!("{name}-letters"));
    let letters_url = letters.send().await.unwrap().queue_url.unwrap();
    let arn = client
        .get_queue_attributes()
        .queue_url(&letters_url)
        .attribute_names(QueueAttributeName::QueueArn)
        .send()
        .await
        .unwrap();
    let arn = arn.attributes.unwrap()[&QueueAttributeName::QueueArn].clone();
    let redrive = serde_json::json!({
        "deadLetterTargetArn": arn, "maxReceiveCount": MAX_RECEIVE_COUNT,
    });
    let jobs = client.create_queue().queue_name(&name);
    let jobs = jobs.attributes(QueueAttributeName::RedrivePolicy, redrive.to_string());
    let jobs_url = jobs.send().await.unwrap().queue_url.unwrap();

    let queue = SqsQueue::new(client.clone(), jobs_url);
    let _ = meter.take();
    queue.send("counted").await.unwrap();
    let counted = queue.receive(1, 60).await.unwrap();
    queue.delete(&counted[0].receipt).await.unwrap();
    assert_eq!(meter.take().queue_requests, 3, "each request is counted");

    contract::jobs(&JobsUnderTest {
        queue: &queue,
        dead_letters: &SqsQueue::new(client, letters_url),
        max_receive_count: MAX_RECEIVE_COUNT,
        clock: &SystemClock,
    })
    .await;
}
