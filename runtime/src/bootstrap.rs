//! The Lambda process: dispatches on `CELLAR_FUNCTION` (design `1-overview.md`, one binary path).

use std::process::ExitCode;

use cellar_core::environment;

use crate::api;
use crate::dynamodb;
use crate::s3;
use crate::settings::{ApiSettings, SettingsError};

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the process cannot start: {0}")]
    Process(#[from] std::io::Error),
    #[error("the Lambda runtime failed: {0}")]
    Lambda(#[from] lambda_http::Error),
}

/// Runs the function that the environment names, until Lambda ends the process.
#[must_use]
pub fn main() -> ExitCode {
    tracing_subscriber::fmt().json().with_current_span(false).with_writer(std::io::stderr).init();
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the function cannot start");
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), StartError> {
    let variable = |name: &str| std::env::var(name).ok();
    let function = variable(environment::FUNCTION).unwrap_or_default();
    if function != environment::FUNCTION_API {
        return Err(SettingsError::UnknownFunction { function }.into());
    }
    let settings = ApiSettings::read(variable)?;
    let dynamodb = dynamodb::client_from_environment().await;
    let s3 = s3::client_from_environment().await;
    let state = api::ApiState::new(&settings, dynamodb, s3)?;
    // The first request would otherwise pay for the TLS handshake, at a fraction of a CPU.
    state.warm_up().await;
    Ok(lambda_http::run(api::router(state)).await?)
}
