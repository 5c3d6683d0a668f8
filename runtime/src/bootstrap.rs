//! Entry point of the Lambda process. The `CELLAR_FUNCTION` environment variable selects the
//! function to run.

use std::process::ExitCode;
use std::sync::Arc;

use aws_config::SdkConfig;
use aws_lambda_events::event::dynamodb::Event;
use cellar_api::environment;
use cellar_catalog::webhook::Receivers;
use cellar_engine::meter::Meter;
use cellar_engine::ports::Blobs;
use cellar_engine::system::SystemClock;
use lambda_runtime::{LambdaEvent, service_fn};

use crate::function_url::RepairUrls;
use crate::indexer::{self, IndexerHandler};
use crate::relay::RelayHandler;
use crate::s3::S3Blobs;
use crate::sdk::{self, Service};
use crate::settings::{
    ApiSettings, IndexerSettings, RelaySettings, SettingsError, SnapshotSettings, WebhookSettings,
};
use crate::snapshot::{self, QueueEvent, SnapshotClients};
use crate::sqs::SqsQueue;
use crate::webhook::{self, WebhookHandler};
use crate::{api, dynamodb, s3, sqs};

fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn read_sdk_config(service: Service) -> Result<SdkConfig, SettingsError> {
    sdk::from_environment(service, read_variable)
}

/// Runs the function that `CELLAR_FUNCTION` selects, until Lambda ends the process.
#[must_use]
pub fn main() -> ExitCode {
    tracing_subscriber::fmt().json().with_current_span(false).with_writer(std::io::stderr).init();
    match run_to_end() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the function failed");
            ExitCode::FAILURE
        }
    }
}

fn run_to_end() -> Result<(), lambda_runtime::Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the async runtime: {error}"))?;
    runtime.block_on(run_function())
}

async fn run_function() -> Result<(), lambda_runtime::Error> {
    let function = read_variable(environment::FUNCTION).unwrap_or_default();
    match function.as_str() {
        environment::FUNCTION_API => run_api(ApiSettings::read(read_variable)?).await,
        environment::FUNCTION_RELAY => run_relay(RelaySettings::read(read_variable)?).await,
        environment::FUNCTION_INDEXER => run_indexer(IndexerSettings::read(read_variable)?).await,
        environment::FUNCTION_WEBHOOK => run_webhook(WebhookSettings::read(read_variable)?).await,
        environment::FUNCTION_SNAPSHOT => {
            run_snapshot(SnapshotSettings::read(read_variable)?).await
        }
        _ => Err(SettingsError::UnknownFunction { function }.into()),
    }
}

fn to_runtime_error(error: &lambda_runtime::Error) -> lambda_runtime::Error {
    format!("the Lambda runtime failed: {error}").into()
}

async fn run_api(settings: ApiSettings) -> Result<(), lambda_runtime::Error> {
    let dynamodb = dynamodb::client(&read_sdk_config(Service::DynamoDb)?);
    let s3 = s3::client(&read_sdk_config(Service::S3)?);
    let state = api::ApiState::new(&settings, dynamodb, s3)?;
    // Open connections now, so that the first request does not wait for TLS handshakes on a slow
    // CPU.
    state.warm_up().await;
    let service = RepairUrls::new(lambda_http::Adapter::from(api::router(state)));
    lambda_runtime::run(service).await.map_err(|error| to_runtime_error(&error))
}

async fn run_relay(settings: RelaySettings) -> Result<(), lambda_runtime::Error> {
    let meter = Arc::new(Meter::default());
    let client = sqs::client(&read_sdk_config(Service::Sqs)?, &meter);
    let dead_letters = Arc::new(SqsQueue::new(client.clone(), settings.dead_letter_queue));
    let jobs = Arc::new(SqsQueue::new(client, settings.snapshot_queue));
    let s3 = s3::client(&read_sdk_config(Service::S3)?);
    let blobs: Arc<dyn Blobs> = Arc::new(S3Blobs::new(settings.bucket, s3, meter));
    let handler = RelayHandler::new(jobs, dead_letters, Arc::new(blobs));
    let handle_event = |event: LambdaEvent<Event>| {
        let handler = handler.clone();
        async move { Ok::<_, lambda_runtime::Error>(handler.handle(event.payload).await) }
    };
    lambda_runtime::run(service_fn(handle_event)).await.map_err(|error| to_runtime_error(&error))
}

async fn run_indexer(settings: IndexerSettings) -> Result<(), lambda_runtime::Error> {
    let meter = Arc::new(Meter::default());
    let client = dynamodb::client(&read_sdk_config(Service::DynamoDb)?);
    let sqs = sqs::client(&read_sdk_config(Service::Sqs)?, &meter);
    let dead_letters = Arc::new(SqsQueue::new(sqs, settings.dead_letter_queue.clone()));
    let indexer = indexer::build_indexer(&settings, client, meter);
    let handler = IndexerHandler::new(indexer, dead_letters);
    let handle_event = |event: LambdaEvent<Event>| {
        let handler = handler.clone();
        async move { handler.handle(event.payload).await }
    };
    lambda_runtime::run(service_fn(handle_event)).await.map_err(|error| to_runtime_error(&error))
}

async fn run_webhook(settings: WebhookSettings) -> Result<(), lambda_runtime::Error> {
    let meter = Arc::new(Meter::default());
    let client = dynamodb::client(&read_sdk_config(Service::DynamoDb)?);
    let s3 = s3::client(&read_sdk_config(Service::S3)?);
    let blobs = Arc::new(S3Blobs::new(settings.bucket.clone(), s3, Arc::clone(&meter)));
    let webhook = webhook::build_webhook(settings, client, blobs, meter, Receivers::Public);
    let handler = WebhookHandler::new(webhook);
    let handle_event = |event: LambdaEvent<Event>| {
        let handler = handler.clone();
        async move {
            let deadline_ms = event.context.deadline;
            Ok::<_, lambda_runtime::Error>(handler.handle(event.payload, deadline_ms).await?)
        }
    };
    lambda_runtime::run(service_fn(handle_event)).await.map_err(|error| to_runtime_error(&error))
}

async fn run_snapshot(settings: SnapshotSettings) -> Result<(), lambda_runtime::Error> {
    let meter = Arc::new(Meter::default());
    let sqs = sqs::client(&read_sdk_config(Service::Sqs)?, &meter);
    let queue = Arc::new(SqsQueue::new(sqs, settings.snapshot_queue.clone()));
    let clients = SnapshotClients {
        dynamodb: dynamodb::client(&read_sdk_config(Service::DynamoDb)?),
        s3: s3::client(&read_sdk_config(Service::S3)?),
        meter,
        clock: Arc::new(SystemClock),
    };
    let handler = snapshot::build_handler(&settings, clients, queue, snapshot::levels_builder);
    handler.warm_up().await;
    let handle_event = |event: LambdaEvent<QueueEvent>| {
        let handler = handler.clone();
        async move {
            let deadline_ms = event.context.deadline;
            Ok::<_, lambda_runtime::Error>(handler.handle(event.payload, deadline_ms).await?)
        }
    };
    lambda_runtime::run(service_fn(handle_event)).await.map_err(|error| to_runtime_error(&error))
}
