//! The smoke test: a few requests through the public URL that show that a stack works.
//!
//! It uses one spreadsheet per subject, found again by its nonce, and clears what it has set: besides its
//! own entries in that log it leaves nothing behind, however often it runs.

mod checks;
mod report;

use std::time::Duration;

use cellar::Client;
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_runtime::token::{KeyPair, Spreadsheets};
use cellar_stacks::Config;

use crate::cli::Output;
use crate::error::SynthError;
use crate::tokens::{Grant, mint};

pub(crate) use report::SmokeReport;

/// How long the tokens of a smoke test are valid.
const LIFETIME: Duration = Duration::from_secs(300);

/// How often a stack is asked that does not answer yet.
const SETTLE_POLL: Duration = Duration::from_secs(1);

/// Where to look, and how to get in.
pub(crate) struct Target<'a> {
    /// The URL of the API.
    pub(crate) url: &'a str,
    /// A token with the role editor for all spreadsheets.
    pub(crate) token: &'a str,
    /// The key that signs tokens, if it is at hand: more can be checked then.
    pub(crate) signer: Option<(&'a KeyPair, &'a Config)>,
    /// How long the stack may take until it answers at all.
    pub(crate) settle: Duration,
}

impl Target<'_> {
    fn client(&self, token: Option<&str>) -> Result<Client, SynthError> {
        Ok(Client::new(self.url, token)?)
    }

    /// A token for one spreadsheet, if one can be made.
    fn token_for(&self, log: LogId, role: Role) -> Result<Option<String>, SynthError> {
        let Some((pair, config)) = self.signer else { return Ok(None) };
        let subject = "smoke-test".to_owned();
        let grant = Grant {
            subject,
            spreadsheets: Spreadsheets::Only(vec![log]),
            role,
            lifetime: LIFETIME,
        };
        Ok(Some(mint(pair, config, grant)?.0))
    }
}

/// Runs all checks as a step of a deployment.
pub(crate) async fn step(target: &Target<'_>, output: &Output) -> Result<(), SynthError> {
    let step = output.step("Smoke test");
    let report = run(target).await;
    step.ended(report.result(), |()| report.summary())
}

/// Runs all checks; the first that fails ends the run, since the others build on it.
pub(crate) async fn run(target: &Target<'_>) -> SmokeReport {
    checks::all(target).await
}
