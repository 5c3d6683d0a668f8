//! Signing of tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Role;
use cellar_runtime::token::{Claims, KeyPair, MintError, Spreadsheets};
use cellar_stacks::Config;

#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) subject: String,
    pub(crate) spreadsheets: Spreadsheets,
    /// Maximum role.
    pub(crate) role: Role,
    pub(crate) lifetime: Duration,
}

/// Lifetime of the operator token that a deployment saves in the profile.
const OPERATOR_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Clone)]
pub(crate) struct MintedToken {
    pub(crate) text: String,
    pub(crate) expires_s: u64,
}

/// Signs an operator token for the deploying user, with the role owner.
pub(crate) fn mint_for_operator(
    key_pair: &KeyPair,
    config: &Config,
) -> Result<MintedToken, MintError> {
    let subject = match std::env::var("USER") {
        Ok(user) if has_valid_subject_length(&user) => user,
        _ => "operator".to_owned(),
    };
    let grant = Grant {
        subject,
        spreadsheets: Spreadsheets::all(),
        role: Role::Owner,
        lifetime: OPERATOR_LIFETIME,
    };
    mint(key_pair, config, grant)
}

pub(crate) fn mint(
    key_pair: &KeyPair,
    config: &Config,
    grant: Grant,
) -> Result<MintedToken, MintError> {
    check_grant(&grant)?;
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
    Ok(MintedToken { text: key_pair.sign(&claims)?, expires_s })
}

fn check_grant(grant: &Grant) -> Result<(), MintError> {
    if !has_valid_subject_length(&grant.subject) {
        let subject_bytes = grant.subject.len();
        return Err(MintError::Sign {
            why: format!(
                "the subject has {subject_bytes} bytes; 1 to {MAX_AUTHOR_BYTES} are allowed"
            ),
        });
    }
    let listed_count = match &grant.spreadsheets {
        Spreadsheets::Only(log_ids) => log_ids.len(),
        Spreadsheets::Keyword(_) => 0,
    };
    if listed_count > MAX_TOKEN_SPREADSHEETS {
        return Err(MintError::Sign {
            why: format!(
                "{listed_count} spreadsheets are listed; at most {MAX_TOKEN_SPREADSHEETS} are allowed"
            ),
        });
    }
    Ok(())
}

fn has_valid_subject_length(subject: &str) -> bool {
    (1..=MAX_AUTHOR_BYTES).contains(&subject.len())
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
        let key_pair = KeyPair::generate().unwrap();
        let config = Config::default();
        let Config { tokens, .. } = &config;
        let keys = vec![key_pair.public()];
        let settings = TokenSettings::own(&tokens.issuer, &tokens.audience, keys);
        let verifier = cellar_runtime::token::Verifier::new(&settings).unwrap();
        let log = LogId::from_uuid(uuid::Uuid::nil());
        let most = Spreadsheets::Only(vec![log; MAX_TOKEN_SPREADSHEETS]);
        for spreadsheets in [Spreadsheets::all(), Spreadsheets::shared(), most] {
            let grant = Grant { spreadsheets, ..grant() };
            let token = mint(&key_pair, &config, grant).unwrap();
            let caller = verifier.verify(&token.text, token.expires_s).unwrap();
            assert_eq!(caller.author, "alice");
        }
        let many = Spreadsheets::Only(vec![log; MAX_TOKEN_SPREADSHEETS + 1]);
        let many = Grant { spreadsheets: many, ..grant() };
        assert!(mint(&key_pair, &config, many).is_err());
        for subject in [String::new(), "x".repeat(MAX_AUTHOR_BYTES + 1)] {
            assert!(mint(&key_pair, &config, Grant { subject, ..grant() }).is_err());
        }
    }
}
