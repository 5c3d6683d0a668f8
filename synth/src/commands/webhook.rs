//! `synth webhook`: how far the feed was delivered, the secret, and what is missing.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_catalog::feed::Checkpoint;
use cellar_catalog::webhook::Receivers;
use cellar_engine::feed::{Webhook, WebhookError};
use cellar_engine::ports::{Index as _, PortError, WebhookProgresses as _};
use cellar_runtime::webhook::{Secret, WebhookParts, WebhookSecrets};
use serde::Serialize;

use super::data::Data;
use crate::cli::{
    Output, ProgressStep, WebhookCommand, WebhookPlace, WebhookSecret, WhereArguments,
};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::{Named, Project};

/// How long one round of deliveries takes at most; there are as many as are needed.
const ROUND: Duration = Duration::from_secs(60);

/// Why the webhook did not do what was asked for.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum WebhookFailure {
    /// Nothing is configured.
    #[error("`cellar.yaml` names no `webhook`, so nothing is delivered")]
    #[diagnostic(
        code(synth::no_webhook),
        help("add `webhook:` with a `url:` to it, and deploy the stack again")
    )]
    NotConfigured,
    /// The webhook's progress or its secret cannot be read or written.
    #[error("the webhook's state cannot be read or written: {0}")]
    #[diagnostic(code(synth::webhook), help("run it again; nothing is lost"))]
    State(PortError),
    /// The receiver did not accept everything.
    #[error("not everything was delivered: {0}")]
    #[diagnostic(
        code(synth::not_delivered),
        help("`synth logs webhook` says what the receiver answers; run it again when it is there")
    )]
    NotDelivered(WebhookError),
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Status {
    /// The checkpoint behind what was delivered last; none if nothing ever was.
    delivered: Option<u64>,
    /// The last place of the feed; none if it has nothing.
    last: Option<u64>,
    /// Whether the last place was delivered, or there is none.
    complete: bool,
}

/// The secrets that sign, the newest first.
#[derive(Serialize)]
struct Secrets {
    secrets: Vec<String>,
}

/// Does what is asked; whether something was not delivered.
pub(crate) async fn run(
    config: Named<'_>,
    command: &WebhookCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    let place = match command {
        WebhookCommand::Status(WebhookPlace { place })
        | WebhookCommand::Deliver(WebhookPlace { place })
        | WebhookCommand::Secret(WebhookSecret { place, .. }) => place,
    };
    let data = reach(config, place).await?;
    let done = match command {
        WebhookCommand::Status(_) => status(&data, output).await,
        WebhookCommand::Secret(secret) => self::secret(&data, secret.rotate, output).await,
        WebhookCommand::Deliver(_) => deliver(config, &data, output).await,
    };
    data.leave().await;
    done
}

async fn reach(config: Named<'_>, place: &WhereArguments) -> Result<Data, SynthError> {
    Data::reach(config, place, Run::Everything).await
}

async fn status(data: &Data, output: &Output) -> Result<bool, SynthError> {
    let status = Status::read(data).await?;
    output.result(&status, &status.text());
    Ok(!status.complete)
}

async fn secret(data: &Data, rotate: bool, output: &Output) -> Result<bool, SynthError> {
    let secrets = WebhookSecrets::new(Arc::clone(&data.blobs) as _);
    let secrets = if rotate { secrets.rotate().await } else { secrets.get().await };
    let secrets = secrets.map_err(WebhookFailure::State)?;
    let texts = Secrets { secrets: secrets.iter().map(|it| it.text().to_owned()).collect() };
    output.result(&texts, secrets.first().map(Secret::text).unwrap_or_default());
    if rotate && secrets.len() > 1 {
        output.note("The former secret signs as well, until the next rotation.");
    }
    Ok(false)
}

async fn deliver(config: Named<'_>, data: &Data, output: &Output) -> Result<bool, SynthError> {
    let project = Project::find(config)?;
    let configured = project.config.webhook.clone().ok_or(WebhookFailure::NotConfigured)?;
    let (streams, index, incarnation) = data.indexed()?;
    let parts = WebhookParts {
        index,
        streams,
        blobs: Arc::clone(&data.blobs) as _,
        url: configured.url,
        receivers: Receivers::PublicAndLocalhost,
        events: configured.payloads,
        stack: project.config.stack.clone(),
        incarnation,
    };
    let webhook = parts.build();
    let step = output.step("Deliver what was not delivered");
    let delivered = everything(data, &webhook, &step).await;
    step.ended(delivered, |items| format!("{items} items"))?;
    status(data, output).await
}

/// Delivers until there is nothing more; how many items that were.
async fn everything(
    data: &Data,
    webhook: &Webhook,
    step: &ProgressStep,
) -> Result<usize, SynthError> {
    let mut delivered = 0_usize;
    while let Status { complete: false, last: Some(last), .. } = Status::read(data).await? {
        let last = Checkpoint::new(last).unwrap_or_default();
        match webhook.deliver((last, last), deadline_ms()).await {
            Ok(items) | Err(WebhookError::More { items }) => {
                delivered = delivered.saturating_add(items);
            }
            Err(error) => return Err(WebhookFailure::NotDelivered(error).into()),
        }
        step.does(&format!("{delivered} items"));
    }
    Ok(delivered)
}

fn deadline_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from((now + ROUND).as_millis()).unwrap_or(u64::MAX)
}

impl Status {
    async fn read(data: &Data) -> Result<Self, SynthError> {
        let (_, index, _) = data.indexed()?;
        let delivered = index.progress().await.map_err(WebhookFailure::State)?;
        let newest = index.newest_partition(true).await.map_err(WebhookFailure::State)?;
        let last = match newest {
            None => None,
            Some((incarnation, feed)) => {
                let item = index.last_item(incarnation).await.map_err(WebhookFailure::State)?;
                let last = item.and_then(|(offset, _)| Checkpoint::at(incarnation, offset).ok());
                last.map(|last| (feed, last))
            }
        };
        let complete = match (&delivered, &last) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(delivered), Some((feed, last))) => {
                delivered.feed == feed.id && delivered.next > *last
            }
        };
        let delivered = delivered.map(|progress| progress.next.number());
        Ok(Self { delivered, last: last.map(|(_, last)| last.number()), complete })
    }

    fn text(&self) -> String {
        match (self.delivered, self.last) {
            (_, None) => "There is nothing to deliver: nothing has changed yet.".to_owned(),
            (None, Some(_)) => "Nothing was delivered yet.".to_owned(),
            (Some(delivered), Some(_)) if self.complete => {
                format!("Everything was delivered, up to checkpoint {delivered}.")
            }
            (Some(delivered), Some(last)) => {
                format!("Delivered up to checkpoint {delivered}; the feed's last place is {last}.")
            }
        }
    }
}
