//! Mints tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_core::access::Role;
use cellar_core::identity::LogId;
use cellar_core::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_SPREADSHEETS};
use cellar_runtime::token::{Claims, KeyPair, MintError, Spreadsheets};
use cellar_stacks::Config;

/// What a token is to allow.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// To whom.
    pub(crate) subject: String,
    /// Where; everywhere if empty.
    pub(crate) spreadsheets: Vec<LogId>,
    /// What.
    pub(crate) role: Role,
    /// For how long.
    pub(crate) lifetime: Duration,
}

/// How long the token is valid that a deployment leaves in the profile.
const OPERATOR_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A token for whoever deployed, owner of everything, and when it ends in Unix seconds.
pub(crate) fn mint_for_operator(
    pair: &KeyPair,
    config: &Config,
) -> Result<(String, u64), MintError> {
    let user = std::env::var("USER").ok();
    let user = user.filter(|user| !user.is_empty() && user.len() <= MAX_AUTHOR_BYTES);
    let subject = user.unwrap_or_else(|| "operator".to_owned());
    let (spreadsheets, role, lifetime) = (vec![], Role::Owner, OPERATOR_LIFETIME);
    mint(pair, config, Grant { subject, spreadsheets, role, lifetime })
}

/// A signed token for a stack, and when it ends in Unix seconds.
pub(crate) fn mint(
    pair: &KeyPair,
    config: &Config,
    grant: Grant,
) -> Result<(String, u64), MintError> {
    let fault = |why: String| MintError::Sign { why };
    if grant.subject.is_empty() || grant.subject.len() > MAX_AUTHOR_BYTES {
        return Err(fault(format!("the subject must have 1 to {MAX_AUTHOR_BYTES} bytes")));
    }
    if grant.spreadsheets.len() > MAX_TOKEN_SPREADSHEETS {
        return Err(fault(format!("a token names at most {MAX_TOKEN_SPREADSHEETS} spreadsheets")));
    }
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let expires_s = now_s.saturating_add(grant.lifetime.as_secs());
    let spreadsheets = match grant.spreadsheets.is_empty() {
        true => Spreadsheets::all(),
        false => Spreadsheets::Only(grant.spreadsheets),
    };
    let claims = Claims {
        iss: config.tokens.issuer.clone(),
        aud: config.tokens.audience.clone(),
        sub: grant.subject,
        exp: expires_s,
        nbf: None,
        iat: now_s,
        jti: uuid::Uuid::new_v4().to_string(),
        role: grant.role,
        spreadsheets,
    };
    Ok((pair.sign(&claims)?, expires_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant {
            subject: "alice".into(),
            spreadsheets: vec![],
            role: Role::Editor,
            lifetime: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_minted_token_is_accepted_by_the_runtime() {
        let pair = KeyPair::generate().unwrap();
        let config = Config::default();
        let settings = cellar_runtime::settings::TokenSettings {
            issuer: config.tokens.issuer.clone(),
            audience: config.tokens.audience.clone(),
            keys: vec![pair.public()],
        };
        let verifier = cellar_runtime::token::Verifier::new(&settings).unwrap();
        let log = LogId::from_uuid(uuid::Uuid::nil());
        for spreadsheets in [vec![], vec![log; MAX_TOKEN_SPREADSHEETS]] {
            let grant = Grant { spreadsheets, ..grant() };
            let (token, expires_s) = mint(&pair, &config, grant).unwrap();
            assert_eq!(verifier.verify(&token, expires_s).unwrap().author, "alice");
        }
        let many = Grant { spreadsheets: vec![log; MAX_TOKEN_SPREADSHEETS + 1], ..grant() };
        assert!(mint(&pair, &config, many).is_err());
        for subject in [String::new(), "x".repeat(MAX_AUTHOR_BYTES + 1)] {
            assert!(mint(&pair, &config, Grant { subject, ..grant() }).is_err());
        }
    }
}
