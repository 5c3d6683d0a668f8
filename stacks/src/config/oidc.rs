//! Validates `tokens.oidc` and `tokens.not_before_s`.

use std::collections::HashSet;

use cellar_catalog::oidc::{OidcIssuer, is_trustworthy};

use super::error::{ConfigProblem, IssuerFault};
use super::limits::{
    OIDC_AUDIENCE_CHARS_MAX, OIDC_CLAIM_CHARS_MAX, OIDC_ISSUERS_MAX, OIDC_NAME_CHARS_MAX,
    OIDC_URL_CHARS_MAX, TOKENS_BYTES_MAX,
};
use super::tokens::Tokens;

/// The last second of the year 9999, in seconds since the Unix epoch.
const MAX_UNIX_TIME_S: u64 = 253_402_300_799;

pub(super) fn find_token_problems(tokens: &Tokens) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    if tokens.oidc.len() > OIDC_ISSUERS_MAX {
        problems.push(ConfigProblem::TooManyIssuers { count: tokens.oidc.len() });
    }
    problems.extend(find_issuer_problems(tokens));
    let variables = [&tokens.issuer, &tokens.audience, &tokens.keys_json(), &tokens.oidc_json()];
    let total_bytes = variables.into_iter().map(String::len).sum();
    if total_bytes > TOKENS_BYTES_MAX {
        problems.push(ConfigProblem::TokensTooLarge { bytes: total_bytes });
    }
    if let Some(not_before_s) = tokens.not_before_s
        && not_before_s > MAX_UNIX_TIME_S
    {
        problems.push(ConfigProblem::NotBefore { value: not_before_s });
    }
    problems
}

fn find_issuer_problems(tokens: &Tokens) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut seen_issuer_urls = HashSet::from([tokens.issuer.as_str()]);
    for (index, issuer) in tokens.oidc.iter().enumerate() {
        let is_new_issuer = seen_issuer_urls.insert(issuer.issuer.as_str());
        if let Some(fault) = find_issuer_fault(issuer) {
            problems.push(ConfigProblem::Issuer { index, fault });
        } else if !is_new_issuer {
            problems.push(ConfigProblem::Issuer { index, fault: IssuerFault::Duplicate });
        }
    }
    problems
}

fn find_issuer_fault(issuer: &OidcIssuer) -> Option<IssuerFault> {
    if !is_valid_url(&issuer.issuer) {
        return Some(IssuerFault::Url { field: "issuer" });
    }
    if issuer.keys_url.as_deref().is_some_and(|url| !is_valid_url(url)) {
        return Some(IssuerFault::Url { field: "keys_url" });
    }
    if issuer.token_url.as_deref().is_some_and(|url| !is_valid_url(url)) {
        return Some(IssuerFault::Url { field: "token_url" });
    }
    if !is_valid_text(&issuer.audience, OIDC_AUDIENCE_CHARS_MAX) {
        return Some(IssuerFault::Audience);
    }
    if issuer.client_id.as_deref().is_some_and(|id| !is_valid_text(id, OIDC_AUDIENCE_CHARS_MAX)) {
        return Some(IssuerFault::ClientId);
    }
    if issuer.name.as_deref().is_some_and(|name| !is_valid_text(name, OIDC_NAME_CHARS_MAX)) {
        return Some(IssuerFault::Name);
    }
    if !is_valid_claim_name(&issuer.subject_claim) {
        return Some(IssuerFault::Claim);
    }
    None
}

fn is_valid_url(url: &str) -> bool {
    url.len() <= OIDC_URL_CHARS_MAX && is_trustworthy(url)
}

fn is_valid_text(text: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

fn is_valid_claim_name(name: &str) -> bool {
    let is_claim_byte = |byte: u8| byte.is_ascii_alphanumeric() || b".:/_-".contains(&byte);
    (1..=OIDC_CLAIM_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_claim_byte)
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
    fn an_issuer_needs_only_issuer_and_audience() {
        let yaml =
            "tokens:\n  oidc:\n    - {issuer: 'https://a.example', audience: app}\n    - issuer: \
                    https://b.example/\n      audience: x\n      algorithm: ES256\n      keys_url: \
                    https://b.example/keys\n      subject_claim: email
      max_role: editor\n      client_id: page\n      name: B\n      \
                    token_url: https://token.b.example/\n  \
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
        for (letters, fits) in
            [(OIDC_AUDIENCE_CHARS_MAX, true), (OIDC_AUDIENCE_CHARS_MAX + 1, false), (0, false)]
        {
            let found = problems(vec![issuer(|it| it.client_id = Some("a".repeat(letters)))]);
            assert_eq!(found, if fits { vec![] } else { at(0, IssuerFault::ClientId) });
        }
        for (letters, fits) in
            [(OIDC_NAME_CHARS_MAX, true), (OIDC_NAME_CHARS_MAX + 1, false), (0, false)]
        {
            let found = problems(vec![issuer(|it| it.name = Some("a".repeat(letters)))]);
            assert_eq!(found, if fits { vec![] } else { at(0, IssuerFault::Name) });
        }
        let long = issuer(|it| it.token_url = Some(url(OIDC_URL_CHARS_MAX + 1)));
        assert_eq!(problems(vec![long]), at(0, IssuerFault::Url { field: "token_url" }));
        let many = |count: usize| {
            (0..count).map(|n| issuer(|it| it.issuer = format!("https://{n}.example"))).collect()
        };
        assert_eq!(problems(many(OIDC_ISSUERS_MAX)), []);
        let count = OIDC_ISSUERS_MAX + 1;
        assert_eq!(problems(many(count)), [ConfigProblem::TooManyIssuers { count }]);
    }

    #[test]
    fn the_total_size_of_the_token_settings_is_bounded() {
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
    fn invalid_and_duplicate_issuers_are_rejected() {
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
    fn not_before_is_in_seconds() {
        let found = |moment_s| {
            let mut config = Config::default();
            config.tokens.not_before_s = Some(moment_s);
            config.problems()
        };
        assert_eq!(found(MAX_UNIX_TIME_S), []);
        let value = 1_800_000_000_000;
        assert_eq!(found(value), [ConfigProblem::NotBefore { value }]);
        assert_eq!(found(MAX_UNIX_TIME_S + 1).len(), 1);
    }
}
