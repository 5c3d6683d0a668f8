//! Mints tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Role;
use cellar_runtime::token::{Claims, KeyPair, MintError, Spreadsheets};
use cellar_stacks::Config;

/// What a token is to allow.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// To whom.
    pub(crate) subject: String,
    /// Where.
    pub(crate) spreadsheets: Spreadsheets,
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
    let (spreadsheets, role, lifetime) = (Spreadsheets::all(), Role::Owner, OPERATOR_LIFETIME);
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
    let named = match &grant.spreadsheets {
        Spreadsheets::Only(logs) => logs.len(),
        Spreadsheets::Named(_) => 0,
    };
    if named > MAX_TOKEN_SPREADSHEETS {
        return Err(fault(format!("a token names at most {MAX_TOKEN_SPREADSHEETS} spreadsheets")));
    }
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let expires_s = now_s.saturating_add(grant.lifetime.as_secs());
    let claims = Claims {
        iss: config.tokens.issuer.clone(),
        aud: config.tokens.audience.clone(),
        sub: grant.subject,
        exp: expires_s,
        nbf: None,
        iat: now_s,
        jti: uuid::Uuid::new_v4().to_string(),
        role: grant.role,
        spreadsheets: grant.spreadsheets,
    };
    Ok((pair.sign(&claims)?, expires_s))
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;

    use cellar_runtime::settings::TokenSettings;

    use super::*;

    fn grant() -> Grant {
        Grant {
            subject: "alice".into(),
            spreadsheets: Spreadsheets::all(),
            role: Role::Editor,
            lifetime: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_minted_token_is_accepted_by_the_runtime() {
        let pair = KeyPair::generate().unwrap();
        let config = Config::default();
        let Config { tokens, .. } = &config;
        let keys = vec![pair.public()];
        let settings = TokenSettings::own(&tokens.issuer, &tokens.audience, keys);
        let verifier = cellar_runtime::token::Verifier::new(&settings).unwrap();
        let log = LogId::from_uuid(uuid::Uuid::nil());
        let most = Spreadsheets::Only(vec![log; MAX_TOKEN_SPREADSHEETS]);
        for spreadsheets in [Spreadsheets::all(), Spreadsheets::shared(), most] {
            let grant = Grant { spreadsheets, ..grant() };
            let (token, expires_s) = mint(&pair, &config, grant).unwrap();
            assert_eq!(verifier.verify(&token, expires_s).unwrap().author, "alice");
        }
        let many = Spreadsheets::Only(vec![log; MAX_TOKEN_SPREADSHEETS + 1]);
        let many = Grant { spreadsheets: many, ..grant() };
        assert!(mint(&pair, &config, many).is_err());
        for subject in [String::new(), "x".repeat(MAX_AUTHOR_BYTES + 1)] {
            assert!(mint(&pair, &config, Grant { subject, ..grant() }).is_err());
        }
    }
}
