//! Signing of tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Role;
use cellar_runtime::token::{Claims, KeyPair, MintError, Spreadsheets};
use cellar_stacks::Config;

/// The access that a token grants.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// Subject of the token.
    pub(crate) subject: String,
    /// Spreadsheets to which the token grants access.
    pub(crate) spreadsheets: Spreadsheets,
    /// Maximum role.
    pub(crate) role: Role,
    /// Lifetime of the token.
    pub(crate) lifetime: Duration,
}

/// Lifetime of the operator token that a deployment saves in the profile.
const OPERATOR_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Signs an operator token with the owner role for the deploying user. Returns the token and its
/// expiry time in seconds since the Unix epoch.
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

/// Signs a token for a stack. Returns the token and its expiry time in seconds since the Unix
/// epoch.
///
/// # Errors
/// Returns [`MintError`] if the subject is empty or too long, or if too many spreadsheets are
/// listed.
pub(crate) fn mint(
    pair: &KeyPair,
    config: &Config,
    grant: Grant,
) -> Result<(String, u64), MintError> {
    let sign_error = |why: String| MintError::Sign { why };
    if grant.subject.is_empty() || grant.subject.len() > MAX_AUTHOR_BYTES {
        let bytes = grant.subject.len();
        return Err(sign_error(format!(
            "the subject has {bytes} bytes; 1 to {MAX_AUTHOR_BYTES} are allowed"
        )));
    }
    let listed = match &grant.spreadsheets {
        Spreadsheets::Only(logs) => logs.len(),
        Spreadsheets::Named(_) => 0,
    };
    if listed > MAX_TOKEN_SPREADSHEETS {
        return Err(sign_error(format!(
            "{listed} spreadsheets; a token can list at most {MAX_TOKEN_SPREADSHEETS}"
        )));
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
    fn the_runtime_accepts_a_signed_token() {
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
