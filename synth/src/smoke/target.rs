//! The stack under test in a smoke test.

use std::time::Duration;

use cellar::Client;
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_runtime::token::{KeyPair, Spreadsheets};
use cellar_stacks::Config;

use crate::error::SynthError;
use crate::tokens::{Grant, mint};

/// Lifetime of tokens signed by the smoke test.
const TOKEN_LIFETIME: Duration = Duration::from_secs(300);

/// The stack under test in a smoke test.
pub(crate) struct Target<'a> {
    /// URL of the API.
    pub(crate) url: &'a str,
    /// Token with the editor role for all spreadsheets.
    pub(crate) token: &'a str,
    /// Signing key and configuration of the stack. If `None`, checks that need other tokens are
    /// skipped.
    pub(crate) signer: Option<(&'a KeyPair, &'a Config)>,
    /// Startup timeout for a new stack.
    pub(crate) startup_timeout: Duration,
}

impl Target<'_> {
    /// Returns a client that uses `token`.
    pub(super) fn client(&self, token: Option<&str>) -> Result<Client, SynthError> {
        Ok(Client::new(self.url, token)?)
    }

    /// Signs a token for a single spreadsheet. Returns `None` if the signing key is missing.
    pub(super) fn token_for(&self, log: LogId, role: Role) -> Result<Option<String>, SynthError> {
        let Some((key_pair, config)) = self.signer else { return Ok(None) };
        let grant = Grant {
            subject: "smoke-test".to_owned(),
            spreadsheets: Spreadsheets::Only(vec![log]),
            role,
            lifetime: TOKEN_LIFETIME,
        };
        let (token, _) = mint(key_pair, config, grant)?;
        Ok(Some(token))
    }
}
