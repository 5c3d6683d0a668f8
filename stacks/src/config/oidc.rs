//! Which issuers of `tokens.oidc` can be believed.

use std::collections::HashSet;

use cellar_catalog::oidc::{OidcIssuer, is_trustworthy};
use thiserror::Error;

use super::Tokens;
use super::error::ConfigProblem;
use super::limits::{
    OIDC_AUDIENCE_CHARS_MAX, OIDC_CLAIM_CHARS_MAX, OIDC_ISSUERS_MAX, OIDC_URL_CHARS_MAX,
    TOKENS_BYTES_MAX,
};

/// The last second of the year 9999.
const LAST_S: u64 = 253_402_300_799;

/// Why an issuer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IssuerFault {
    /// A URL that anybody on the way could answer for, or that is none.
    #[error(
        "`{field}` has to be a URL that begins with https:// (or http://127.0.0.1 while developing), \
         of at most {OIDC_URL_CHARS_MAX} characters"
    )]
    Url {
        /// `issuer` or `keys_url`.
        field: &'static str,
    },
    /// No audience, or a long one.
    #[error(
        "`audience` has to be 1 to {OIDC_AUDIENCE_CHARS_MAX} printable characters: what the issuer \
         calls this application"
    )]
    Audience,
    /// No claim, or a long one.
    #[error(
        "`subject_claim` has to be 1 to {OIDC_CLAIM_CHARS_MAX} of the characters A-Z a-z 0-9 . _ - : /"
    )]
    Claim,
    /// The issuer of an earlier one, or that of the stack's own keys.
    #[error("`issuer` is that of other tokens already: each token has to be somebody's")]
    Duplicate,
}

/// Checks the issuers, and from when on tokens are accepted.
pub(super) fn check(tokens: &Tokens, problems: &mut Vec<ConfigProblem>) {
    if tokens.oidc.len() > OIDC_ISSUERS_MAX {
        problems.push(ConfigProblem::TooManyIssuers { count: tokens.oidc.len() });
    }
    let mut seen = HashSet::from([tokens.issuer.as_str()]);
    for (index, issuer) in tokens.oidc.iter().enumerate() {
        let duplicate = !seen.insert(issuer.issuer.as_str());
        let fault = fault(issuer).or(duplicate.then_some(IssuerFault::Duplicate));
        problems.extend(fault.map(|fault| ConfigProblem::Issuer { index, fault }));
    }
    let texts = [&tokens.issuer, &tokens.audience, &tokens.keys_json(), &tokens.oidc_json()];
    let bytes = texts.into_iter().map(String::len).sum();
    if bytes > TOKENS_BYTES_MAX {
        problems.push(ConfigProblem::TokensTooLarge { bytes });
    }
    if let Some(value) = tokens.not_before_s.filter(|moment_s| *moment_s > LAST_S) {
        problems.push(ConfigProblem::NotBefore { value });
    }
}

fn fault(issuer: &OidcIssuer) -> Option<IssuerFault> {
    let is_url = |url: &str| url.len() <= OIDC_URL_CHARS_MAX && is_trustworthy(url);
    let printable = |text: &str| !text.chars().any(char::is_control);
    let audience = issuer.audience.chars().count();
    let in_claim = |b: u8| b.is_ascii_alphanumeric() || b".:/_-".contains(&b);
    if !is_url(&issuer.issuer) {
        return Some(IssuerFault::Url { field: "issuer" });
    }
    if issuer.keys_url.as_deref().is_some_and(|url| !is_url(url)) {
        return Some(IssuerFault::Url { field: "keys_url" });
    }
    if !(1..=OIDC_AUDIENCE_CHARS_MAX).contains(&audience) || !printable(&issuer.audience) {
        return Some(IssuerFault::Audience);
    }
    let claim = issuer.subject_claim.as_str();
    let named = (1..=OIDC_CLAIM_CHARS_MAX).contains(&claim.len()) && claim.bytes().all(in_claim);
    if named { None } else { Some(IssuerFault::Claim) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn issuer(change: impl FnOnce(&mut OidcIssuer)) -> OidcIssuer {
        let text = r#"{"issuer":"https://login.example.com","audience":"cellar"}"#;
        let mut issuer = serde_json::from_str(text).unwrap();
        change(&mut issuer);
        issuer
    }

    fn problems(oidc: Vec<OidcIssuer>) -> Vec<ConfigProblem> {
        let mut config = Config::default();
        config.tokens.oidc = oidc;
        config.problems()
    }

    fn at(index: usize, fault: IssuerFault) -> Vec<ConfigProblem> {
        vec![ConfigProblem::Issuer { index, fault }]
    }

    fn url(bytes: usize) -> String {
        format!("https://{}", "a".repeat(bytes - "https://".len()))
    }

    #[test]
    fn an_issuer_needs_no_more_than_two_texts() {
        let yaml =
            "tokens:\n  oidc:\n    - {issuer: 'https://a.example', audience: app}\n    - issuer: \
                    https://b.example/\n      audience: x\n      algorithm: ES256\n      keys_url: \
                    https://b.example/keys\n      subject_claim: email
      max_role: editor\n  \
                    not_before_s: 1800000000\n";
        let config = Config::parse(yaml, "cellar.yaml").unwrap();
        assert_eq!(config.tokens.oidc.len(), 2);
        assert_eq!(config.tokens.not_before_s, Some(1_800_000_000));
        let again = serde_yaml::to_string(&config).unwrap();
        assert_eq!(Config::parse(&again, "cellar.yaml").unwrap(), config);
        let unknown = Config::parse(&yaml.replace("keys_url", "jwks"), "cellar.yaml").unwrap_err();
        assert!(unknown.to_string().contains("keys_url"), "{unknown}");
    }

    #[test]
    fn limits_hold_at_n_and_n_plus_1() {
        assert_eq!(problems(vec![issuer(|it| it.issuer = url(OIDC_URL_CHARS_MAX))]), []);
        let long = issuer(|it| it.issuer = url(OIDC_URL_CHARS_MAX + 1));
        assert_eq!(problems(vec![long]), at(0, IssuerFault::Url { field: "issuer" }));
        let long = issuer(|it| it.keys_url = Some(url(OIDC_URL_CHARS_MAX + 1)));
        assert_eq!(problems(vec![long]), at(0, IssuerFault::Url { field: "keys_url" }));
        for (letters, fits) in
            [(OIDC_AUDIENCE_CHARS_MAX, true), (OIDC_AUDIENCE_CHARS_MAX + 1, false), (0, false)]
        {
            let found = problems(vec![issuer(|it| it.audience = "a".repeat(letters))]);
            assert_eq!(found, if fits { vec![] } else { at(0, IssuerFault::Audience) });
        }
        for (letters, fits) in
            [(OIDC_CLAIM_CHARS_MAX, true), (OIDC_CLAIM_CHARS_MAX + 1, false), (0, false)]
        {
            let found = problems(vec![issuer(|it| it.subject_claim = "a".repeat(letters))]);
            assert_eq!(found, if fits { vec![] } else { at(0, IssuerFault::Claim) });
        }
        let many = |count: usize| {
            (0..count).map(|n| issuer(|it| it.issuer = format!("https://{n}.example"))).collect()
        };
        assert_eq!(problems(many(OIDC_ISSUERS_MAX)), []);
        let count = OIDC_ISSUERS_MAX + 1;
        assert_eq!(problems(many(count)), [ConfigProblem::TooManyIssuers { count }]);
    }

    #[test]
    fn all_of_it_fits_into_an_environment_or_is_refused() {
        let of = |letters: usize| {
            let mut config = Config::default();
            config.tokens.oidc = (0..4)
                .map(|n| {
                    issuer(|it| {
                        it.issuer = format!("https://{n}.{}", "i".repeat(OIDC_URL_CHARS_MAX - 10));
                        it.audience = "a".repeat(OIDC_AUDIENCE_CHARS_MAX);
                    })
                })
                .collect();
            config.tokens.issuer = "c".repeat(letters);
            config.problems()
        };
        let fits = (1..=255).take_while(|letters| of(*letters).is_empty()).count();
        let bytes = TOKENS_BYTES_MAX + 1;
        assert_eq!(of(fits + 1), [ConfigProblem::TokensTooLarge { bytes }]);
        assert!((2..255).contains(&fits), "{fits}");
    }

    #[test]
    fn who_cannot_be_believed_is_refused() {
        for wrong in ["", "login.example.com", "http://login.example.com", "https://a b"] {
            let found = problems(vec![issuer(|it| it.issuer = wrong.to_owned())]);
            assert_eq!(found, at(0, IssuerFault::Url { field: "issuer" }), "{wrong}");
        }
        let twice = vec![issuer(|_| ()), issuer(|it| it.audience = "other".to_owned())];
        assert_eq!(problems(twice), at(1, IssuerFault::Duplicate));
        let mut own = Config::default();
        own.tokens.issuer = "https://login.example.com".to_owned();
        own.tokens.oidc = vec![issuer(|_| ())];
        assert_eq!(own.problems(), at(0, IssuerFault::Duplicate));
        let claim = issuer(|it| it.subject_claim = "e mail".to_owned());
        assert_eq!(problems(vec![claim]), at(0, IssuerFault::Claim));
    }

    #[test]
    fn a_moment_is_in_seconds() {
        let found = |moment_s| {
            let mut config = Config::default();
            config.tokens.not_before_s = Some(moment_s);
            config.problems()
        };
        assert_eq!(found(LAST_S), []);
        let value = 1_800_000_000_000;
        assert_eq!(found(value), [ConfigProblem::NotBefore { value }]);
        assert_eq!(found(LAST_S + 1).len(), 1);
    }
}
