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
        let Some(TokenSigner { key_pair, config }) = self.signer else { return Ok(None) };
        let grant = Grant {
            subject: "smoke-test".to_owned(),
            spreadsheets: Spreadsheets::Only(vec![log_id]),
            role,
            lifetime: TOKEN_LIFETIME,
        };
        Ok(Some(mint(key_pair, config, grant)?.text))
    }
}
