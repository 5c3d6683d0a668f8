//! Checks every value of a [`Config`] against the [`limits`](super::limits).

use std::collections::HashSet;

use super::error::ConfigProblem;
use super::fields::{Api, Config, Limits};
use super::limits::{
    API_MEMORY_MB, API_TIMEOUT_S, CORS_ORIGINS_MAX, INCARNATION_MAX, KEEP_SEGMENTS,
    LOG_RETENTION_DAYS, OFFLOAD_AFTER_DAYS, PUBLIC_KEY_CHARS, STACK_NAME_CHARS_MAX,
    TOKEN_CLAIM_CHARS_MAX, TOKEN_KEY_ID_CHARS_MAX, TOKEN_KEYS_MAX, WRITE_UNITS_PER_SECOND,
};
use super::origin::{self, OriginFault};
use super::tokens::{TokenKey, Tokens};
use super::webhook::Webhook;
use super::{oidc, region, stages, tags};

impl Config {
    /// Returns a problem for each out-of-bounds value, in field order. The result is empty if the
    /// configuration is valid.
    ///
    /// [`Config::parse`] calls this method. After modifying a configuration, call it again.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let stack_region = self.region.as_deref();
        let mut problems = Vec::new();
        if !is_stack_name(&self.stack) {
            problems.push(ConfigProblem::StackName { value: self.stack.clone() });
        }
        problems.extend(stack_region.and_then(region::find_region_problem));
        problems.extend(find_claim_problems(&self.tokens));
        problems.extend(find_token_key_problems(&self.tokens.keys));
        problems.extend(oidc::find_token_problems(&self.tokens));
        problems.extend(find_origin_problems(&self.cors_origins));
        problems.extend(self.api.find_problems());
        problems.extend(self.snapshots.find_problems());
        problems.extend(self.find_retention_problems());
        problems.extend(self.webhook.as_ref().and_then(Webhook::find_problem));
        if self.incarnation > INCARNATION_MAX {
            problems.push(ConfigProblem::Incarnation { value: self.incarnation });
        }
        problems.extend(self.encryption.find_problem(stack_region));
        problems.extend(self.alarms.find_problems(stack_region));
        problems.extend(self.limits.find_problem());
        problems.extend(tags::find_tag_problems(&self.tags));
        problems.extend(stages::find_stage_problems(&self.stages));
        if self.local.port == 0 {
            problems.push(ConfigProblem::Port);
        }
        problems
    }

    fn find_retention_problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        if !LOG_RETENTION_DAYS.contains(&self.log_retention_days) {
            problems.push(ConfigProblem::LogRetention { value: self.log_retention_days });
        }
        if let Some(offload_after_days) = self.offload_after_days
            && !OFFLOAD_AFTER_DAYS.contains(&offload_after_days)
        {
            problems.push(ConfigProblem::OffloadAfter { value: offload_after_days });
        }
        if !KEEP_SEGMENTS.contains(&self.keep_segments) {
            problems.push(ConfigProblem::KeepSegments { value: self.keep_segments });
        }
        problems
    }
}

impl Api {
    fn find_problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        if !API_MEMORY_MB.contains(&self.memory_mb) {
            problems.push(ConfigProblem::Memory { value: self.memory_mb });
        }
        if !API_TIMEOUT_S.contains(&self.timeout_s) {
            problems.push(ConfigProblem::Timeout { value: self.timeout_s });
        }
        problems
    }
}

impl Limits {
    fn find_problem(&self) -> Option<ConfigProblem> {
        let value = self.write_units_per_second?;
        let is_allowed = WRITE_UNITS_PER_SECOND.contains(&value);
        (!is_allowed).then_some(ConfigProblem::WriteUnits { value })
    }
}

fn is_stack_name(name: &str) -> bool {
    name.len() <= STACK_NAME_CHARS_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn find_claim_problems(tokens: &Tokens) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    for (field, claim) in [("issuer", &tokens.issuer), ("audience", &tokens.audience)] {
        if !is_claim(claim) {
            problems.push(ConfigProblem::TokenClaim { field });
        }
    }
    problems
}

fn is_claim(claim: &str) -> bool {
    (1..=TOKEN_CLAIM_CHARS_MAX).contains(&claim.chars().count())
        && !claim.chars().any(char::is_control)
}

fn find_token_key_problems(keys: &[TokenKey]) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    if keys.len() > TOKEN_KEYS_MAX {
        problems.push(ConfigProblem::TooManyTokenKeys { count: keys.len() });
    }
    let mut seen_ids = HashSet::new();
    for (index, key) in keys.iter().enumerate() {
        if !is_key_id(&key.id) {
            problems.push(ConfigProblem::TokenKeyId { index, value: key.id.clone() });
        } else if !seen_ids.insert(&key.id) {
            problems.push(ConfigProblem::DuplicateTokenKeyId { index, value: key.id.clone() });
        }
        if !is_public_key(&key.public_key) {
            problems.push(ConfigProblem::PublicKey { index });
        }
    }
    problems
}

fn is_key_id(id: &str) -> bool {
    (1..=TOKEN_KEY_ID_CHARS_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Returns whether `key` is the canonical unpadded base64url encoding of 32 bytes.
///
/// The 43 characters encode 258 bits, but 32 bytes are only 256 bits. A canonical encoding sets the
/// last two bits to zero, so only every fourth character of the alphabet is valid as the last
/// character.
fn is_public_key(key: &str) -> bool {
    const LAST_CHARS: &str = "AEIMQUYcgkosw048";
    key.len() == PUBLIC_KEY_CHARS
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && key.ends_with(|last| LAST_CHARS.contains(last))
}

fn find_origin_problems(origins: &[String]) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    if origins.len() > CORS_ORIGINS_MAX {
        problems.push(ConfigProblem::TooManyOrigins { count: origins.len() });
    }
    let mut seen_origins = HashSet::new();
    for (index, origin) in origins.iter().enumerate() {
        let is_new_origin = seen_origins.insert(origin);
        let fault = match origin::check_origin(origin) {
            Err(fault) => fault,
            Ok(()) if is_new_origin => continue,
            Ok(()) => OriginFault::Duplicate,
        };
        problems.push(ConfigProblem::Origin { index, value: origin.clone(), fault });
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_after(change: impl FnOnce(&mut Config)) -> Vec<ConfigProblem> {
        let mut config = Config::default();
        change(&mut config);
        config.problems()
    }

    fn assert_valid(change: impl FnOnce(&mut Config)) {
        assert_eq!(problems_after(change), []);
    }

    fn key(id: &str) -> TokenKey {
        TokenKey { id: id.to_owned(), public_key: "A".repeat(43) }
    }

    #[test]
    fn the_default_is_valid() {
        assert_valid(|_| {});
    }

    #[test]
    fn retention_is_bounded() {
        for value in [1, 36_525] {
            assert_valid(|config| config.offload_after_days = Some(value));
        }
        for value in [0, 36_526] {
            let problems = problems_after(|config| config.offload_after_days = Some(value));
            assert_eq!(problems, [ConfigProblem::OffloadAfter { value }]);
        }
        for value in [2, 1_000_000] {
            assert_valid(|config| config.keep_segments = value);
        }
        for value in [0, 1, 1_000_001] {
            let problems = problems_after(|config| config.keep_segments = value);
            assert_eq!(problems, [ConfigProblem::KeepSegments { value }]);
        }
    }

    #[test]
    fn the_write_throughput_is_bounded() {
        for value in [400, 40_000] {
            assert_valid(|config| config.limits.write_units_per_second = Some(value));
        }
        for value in [0, 399, 40_001] {
            let problems =
                problems_after(|config| config.limits.write_units_per_second = Some(value));
            assert_eq!(problems, [ConfigProblem::WriteUnits { value }]);
        }
    }

    #[test]
    fn the_incarnation_is_bounded() {
        assert_valid(|config| config.incarnation = 9_999);
        let problems = problems_after(|config| config.incarnation = 10_000);
        assert_eq!(problems, [ConfigProblem::Incarnation { value: 10_000 }]);
    }

    #[test]
    fn stack_names_are_checked() {
        assert_valid(|config| config.stack = "a".repeat(128));
        assert_valid(|config| config.stack = "My-stack-2".to_owned());
        for name in ["", "1a", "-a", "a_b", "a b", "é", &"a".repeat(129)] {
            let value = name.to_owned();
            let problems = problems_after(|config| config.stack.clone_from(&value));
            assert_eq!(problems, [ConfigProblem::StackName { value }]);
        }
    }

    #[test]
    fn regions_are_checked() {
        assert_valid(|config| config.region = Some("us-gov-west-1".to_owned()));
        assert_valid(|config| config.region = Some(format!("a-{}1", "x".repeat(29))));
        for region in
            ["", "Frankfurt", "eu central 1", "eu-central", &format!("a-{}1", "x".repeat(30))]
        {
            let value = region.to_owned();
            let problems = problems_after(|config| config.region = Some(value.clone()));
            assert_eq!(problems, [ConfigProblem::Region { value }]);
        }
    }

    #[test]
    fn claims_are_bounded() {
        assert_valid(|config| config.tokens.issuer = "ü".repeat(255));
        for claim in [String::new(), "a".repeat(256), "a\nb".to_owned()] {
            let problems = problems_after(|config| config.tokens.issuer.clone_from(&claim));
            assert_eq!(problems, [ConfigProblem::TokenClaim { field: "issuer" }]);
            let problems = problems_after(|config| config.tokens.audience.clone_from(&claim));
            assert_eq!(problems, [ConfigProblem::TokenClaim { field: "audience" }]);
        }
    }

    #[test]
    fn keys_are_bounded_unique_and_well_formed() {
        let keys = |count: usize| (0..count).map(|n| key(&format!("k{n}"))).collect::<Vec<_>>();
        assert_valid(|config| config.tokens.keys = keys(8));
        assert_eq!(
            problems_after(|config| config.tokens.keys = keys(9)),
            [ConfigProblem::TooManyTokenKeys { count: 9 }]
        );
        assert_valid(|config| config.tokens.keys = vec![key(&"a".repeat(64))]);
        for id in ["", "a b", "é", &"a".repeat(65)] {
            let problems = problems_after(|config| config.tokens.keys = vec![key(id)]);
            assert_eq!(problems, [ConfigProblem::TokenKeyId { index: 0, value: id.to_owned() }]);
        }
        assert_eq!(
            problems_after(|config| config.tokens.keys = vec![key("a"), key("b"), key("a")]),
            [ConfigProblem::DuplicateTokenKeyId { index: 2, value: "a".to_owned() }]
        );
    }

    #[test]
    fn public_keys_are_32_bytes_of_base64url() {
        let with = |public_key: &str| {
            let public_key = public_key.to_owned();
            problems_after(|config| {
                config.tokens.keys = vec![TokenKey { id: "a".to_owned(), public_key }];
            })
        };
        assert_eq!(with("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"), []);
        let faulty = [
            "A".repeat(42),
            "A".repeat(44),
            format!("{}=", "A".repeat(42)),
            format!("{}+A", "A".repeat(41)),
            format!("{}B", "A".repeat(42)),
        ];
        for public_key in faulty {
            assert_eq!(with(&public_key), [ConfigProblem::PublicKey { index: 0 }], "{public_key}");
        }
    }

    #[test]
    fn origins_are_bounded_and_unique() {
        let origins =
            |count: usize| (0..count).map(|n| format!("https://a{n}.example")).collect::<Vec<_>>();
        assert_valid(|config| config.cors_origins = origins(32));
        assert_eq!(
            problems_after(|config| config.cors_origins = origins(33)),
            [ConfigProblem::TooManyOrigins { count: 33 }]
        );
        let twice = vec!["https://a.example".to_owned(); 2];
        assert_eq!(
            problems_after(|config| config.cors_origins.clone_from(&twice)),
            [ConfigProblem::Origin {
                index: 1,
                value: "https://a.example".to_owned(),
                fault: OriginFault::Duplicate
            }]
        );
    }

    #[test]
    fn numbers_are_bounded() {
        for value in [128, 10_240] {
            assert_valid(|config| config.api.memory_mb = value);
        }
        for value in [0, 127, 10_241] {
            let problems = problems_after(|config| config.api.memory_mb = value);
            assert_eq!(problems, [ConfigProblem::Memory { value }]);
        }
        for value in [3, 60] {
            assert_valid(|config| config.api.timeout_s = value);
        }
        for value in [2, 61] {
            let problems = problems_after(|config| config.api.timeout_s = value);
            assert_eq!(problems, [ConfigProblem::Timeout { value }]);
        }
        for value in LOG_RETENTION_DAYS {
            assert_valid(|config| config.log_retention_days = value);
        }
        for value in [0, 2, 366, 3654] {
            let problems = problems_after(|config| config.log_retention_days = value);
            assert_eq!(problems, [ConfigProblem::LogRetention { value }]);
        }
        assert_valid(|config| config.local.port = 65_535);
        assert_eq!(problems_after(|config| config.local.port = 0), [ConfigProblem::Port]);
    }

    #[test]
    fn messages_name_the_value_and_the_correction() {
        let text = "stack: 1st\ncors_origins: ['*']\napi: {memory_mb: 64}\nlog_retention: 2d\n";
        let error = Config::parse(text, "cellar.yaml").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cellar.yaml: `stack` is `1st`, which is not a valid stack name: use 1 to 128 letters, \
             digits and hyphens, starting with a letter\n\
             `cors_origins[0]` is `*`: a wildcard would let any page call the API with a visitor's \
             token; list each origin, such as https://sheets.example.com\n\
             `api.memory_mb` is 64: use 128 to 10240\n\
             `log_retention` is 2d: CloudWatch Logs accepts only 1, 3, 5, 7, 14, 30, 60, 90, 120, \
             150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653 days"
        );
    }
}
