//! The stack that a smoke test checks.

use std::time::Duration;

use cellar::Client;
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_runtime::token::{KeyPair, Spreadsheets};
use cellar_stacks::Config;

use crate::error::SynthError;
use crate::tokens::{Grant, mint};

const TOKEN_LIFETIME: Duration = Duration::from_secs(300);
/// The person who owns the spreadsheet of the smoke test.
const SUBJECT: &str = "smoke-test";

pub(crate) struct SmokeTarget<'a> {
    pub(crate) url: &'a str,
    /// A token with the role editor for all spreadsheets.
    pub(crate) token: &'a str,
    /// If `None`, checks that need further tokens are skipped.
    pub(crate) signer: Option<TokenSigner<'a>>,
    pub(crate) startup_timeout: Duration,
}

#[derive(Clone, Copy)]
pub(crate) struct TokenSigner<'a> {
    pub(crate) key_pair: &'a KeyPair,
    pub(crate) config: &'a Config,
}

impl SmokeTarget<'_> {
    pub(super) fn client(&self, token: Option<&str>) -> Result<Client, SynthError> {
        Ok(Client::new(self.url, token)?)
    }

    /// Returns `None` if the signing key is missing.
    pub(super) fn token_for(
        &self,
        log_id: LogId,
        role: Role,
    ) -> Result<Option<String>, SynthError> {
        self.sign(Spreadsheets::Only(vec![log_id]), role)
    }

    /// Returns the token that creates and edits the spreadsheet of the smoke test. If the signing
    /// key exists, its subject is a person of its own, so that the spreadsheet is not in the
    /// spreadsheet list of the person who deploys.
    pub(super) fn editor_token(&self) -> Result<String, SynthError> {
        let own_token = self.sign(Spreadsheets::all(), Role::Editor)?;
        Ok(own_token.unwrap_or_else(|| self.token.to_owned()))
    }

    fn sign(&self, spreadsheets: Spreadsheets, role: Role) -> Result<Option<String>, SynthError> {
        let Some(TokenSigner { key_pair, config }) = self.signer else { return Ok(None) };
        let lifetime = TOKEN_LIFETIME;
        let grant = Grant { subject: SUBJECT.to_owned(), spreadsheets, role, lifetime };
        Ok(Some(mint(key_pair, config, grant)?.text))
    }
}
