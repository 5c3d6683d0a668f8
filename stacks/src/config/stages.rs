//! The `stages:` section of `cellar.yaml`. Each stage is a stack of its own, with overrides of the
//! common configuration.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use super::error::{ConfigError, ConfigProblem, UnknownField};
use super::fields::{Config, Stage};
use super::limits::{STAGE_NAME_CHARS_MAX, STAGES_MAX};
use super::parse::to_config_error;

/// The name of the only field that a stage cannot override.
const STAGES: &str = "stages";

impl Config {
    /// Returns the configuration of a stage, or `None` if the stage does not exist.
    ///
    /// The overrides of the stage are applied to this configuration. Unless they are overridden,
    /// the stack name and the token audience get the suffix `-NAME`, so a stage rejects the tokens
    /// of other stages. `file_name` is only used in error messages.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if the overrides are invalid. This cannot happen if the
    /// configuration was created by [`Config::parse`] and not modified afterwards.
    pub fn stage(&self, name: &str, file_name: &str) -> Result<Option<Self>, ConfigError> {
        let Some(Stage(overrides)) = self.stages.get(name) else { return Ok(None) };
        let file_name = format!("{file_name}, stage {name}");
        let overrides = overrides.clone().unwrap_or_default();
        if overrides.contains_key(STAGES) {
            let message = "a stage cannot have stages of its own".to_owned();
            return Err(ConfigError::Malformed { file_name, position: None, message });
        }
        let stage_config = self
            .with_stage_overrides(name, overrides)
            .map_err(|error| without_position(to_config_error(&error, &file_name)))?;
        let problems = stage_config.problems();
        if !problems.is_empty() {
            return Err(ConfigError::Invalid { file_name, problems });
        }
        Ok(Some(stage_config))
    }

    fn with_stage_overrides(
        &self,
        stage_name: &str,
        overrides: Mapping,
    ) -> Result<Self, serde_yaml::Error> {
        let mut stage_defaults = self.clone();
        stage_defaults.stages.clear();
        stage_defaults.stack = format!("{}-{stage_name}", self.stack);
        stage_defaults.tokens.audience = format!("{}-{stage_name}", self.tokens.audience);
        let mut stage_value = serde_yaml::to_value(&stage_defaults)?;
        apply_overrides(&mut stage_value, Value::Mapping(overrides));
        // Parses text instead of the value itself, because only errors of the text parser name the
        // section.
        let stage_text = serde_yaml::to_string(&stage_value)?;
        serde_yaml::from_str(&stage_text)
    }

    /// Returns the names of the stages in sorted order.
    pub fn stage_names(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }

    /// Stages in the same region must have different stack names.
    pub(super) fn check_stages(&self, file_name: &str) -> Result<(), ConfigError> {
        let mut stage_by_stack: BTreeMap<(String, Option<String>), &str> = BTreeMap::new();
        for stage_name in self.stage_names() {
            let Some(stage_config) = self.stage(stage_name, file_name)? else { continue };
            let Self { stack, region, .. } = stage_config;
            let earlier_stage = stage_by_stack.insert((stack.clone(), region), stage_name);
            if let Some(earlier_stage) = earlier_stage {
                let (one, other) = (earlier_stage.to_owned(), stage_name.to_owned());
                let problems = vec![ConfigProblem::StagesShareStack { one, other, stack }];
                return Err(ConfigError::Invalid { file_name: file_name.to_owned(), problems });
            }
        }
        Ok(())
    }
}

/// Removes the line and column from an error. They refer to the merged text, which the user cannot
/// see.
fn without_position(error: ConfigError) -> ConfigError {
    match error {
        ConfigError::UnknownField(unknown_field) => {
            ConfigError::UnknownField(Box::new(UnknownField { position: None, ..*unknown_field }))
        }
        ConfigError::Malformed { file_name, message, .. } => {
            let message_without_position = match message.rsplit_once(" at line ") {
                Some((message_before_position, _)) => message_before_position.to_owned(),
                None => message,
            };
            ConfigError::Malformed { file_name, position: None, message: message_without_position }
        }
        other_error => other_error,
    }
}

pub(super) fn find_stage_problems(stages: &BTreeMap<String, Stage>) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    if stages.len() > STAGES_MAX {
        problems.push(ConfigProblem::TooManyStages { count: stages.len() });
    }
    for stage_name in stages.keys() {
        if !is_stage_name(stage_name) {
            problems.push(ConfigProblem::StageName { value: stage_name.clone() });
        }
    }
    problems
}

fn is_stage_name(name: &str) -> bool {
    (1..=STAGE_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Maps are merged recursively.
fn apply_overrides(value: &mut Value, overrides: Value) {
    match (value, overrides) {
        (Value::Mapping(fields), Value::Mapping(field_overrides)) => {
            for (key, field_override) in field_overrides {
                match fields.get_mut(&key) {
                    Some(field) => apply_overrides(field, field_override),
                    None => {
                        fields.insert(key, field_override);
                    }
                }
            }
        }
        (value, replacement) => *value = replacement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
stack: books
api: {memory_mb: 256, timeout: 10s}
cors_origins: ['https://a.example']
tags: {team: books, tier: base}
stages:
  dev:
  prod:
    stack: books-production
    api: {memory_mb: 1024}
    cors_origins: []
    tags: {tier: prod}
    tokens: {audience: readers}
    alarms: {email: a@b.example}
";

    fn error(text: &str) -> String {
        Config::parse(text, "f").unwrap_err().to_string()
    }

    #[test]
    fn a_stage_overrides_the_configuration() {
        let base = Config::parse(FILE, "f").unwrap();
        assert_eq!(base.stage_names().collect::<Vec<_>>(), ["dev", "prod"]);
        let prod = base.stage("prod", "f").unwrap().unwrap();
        assert_eq!(
            (prod.stack.as_str(), prod.tokens.audience.as_str()),
            ("books-production", "readers")
        );
        assert_eq!((prod.api.memory_mb, prod.api.timeout_s), (1_024, 10), "maps are merged");
        assert!(prod.cors_origins.is_empty(), "lists are replaced");
        assert_eq!(prod.tags.values().map(String::as_str).collect::<Vec<_>>(), ["books", "prod"]);
        assert_eq!(prod.alarms.email.as_deref(), Some("a@b.example"));
        assert!(prod.stages.is_empty());
        let dev = base.stage("dev", "f").unwrap().unwrap();
        assert_eq!((dev.stack.as_str(), dev.tokens.audience.as_str()), ("books-dev", "cellar-dev"));
        let same = Config { stack: base.stack.clone(), tokens: base.tokens.clone(), ..dev };
        assert_eq!(same, Config { stages: BTreeMap::new(), ..base.clone() });
        assert_eq!(base.stage("test", "f").unwrap(), None);
    }

    #[test]
    fn parse_validates_every_stage() {
        let unknown = error("stages: {prod: {api: {memroy_mb: 1}}}\n");
        assert!(unknown.contains("f, stage prod: unknown field `memroy_mb` in `api`"), "{unknown}");
        assert!(unknown.contains("did you mean `memory_mb`?"), "{unknown}");
        let wrong = error("stages: {prod: {api: {memory_mb: lots}}}\n");
        assert_eq!(
            wrong,
            "f, stage prod: api.memory_mb: invalid type: string \"lots\", expected u32"
        );
        let bounds = error("stages: {prod: {api: {memory_mb: 1}}}\n");
        assert!(bounds.contains("f, stage prod") && bounds.contains("memory_mb"), "{bounds}");
        let nested = error("stages: {prod: {stages: {a: {}}}}\n");
        assert!(nested.contains("cannot have stages"), "{nested}");
        for wrong in ["stages: [a]\n", "stages: {a: 1}\n", "stages: {a: {api: 1}}\n"] {
            assert!(Config::parse(wrong, "f").is_err(), "{wrong}");
        }
        let shared = error("stages: {a: {stack: x}, b: {stack: x}}\n");
        assert!(shared.contains("a and b") && shared.contains('x'), "{shared}");
        let apart =
            "stages: {a: {stack: x, region: eu-west-1}, b: {stack: x, region: eu-west-2}}\n";
        assert!(Config::parse(apart, "f").is_ok());
    }

    #[test]
    fn names_and_their_number_are_bounded() {
        let named = |name: &str| Config::parse(&format!("stages: {{{name}: {{}}}}\n"), "f");
        assert!(named(&"a".repeat(STAGE_NAME_CHARS_MAX)).is_ok());
        for bad in ["a".repeat(STAGE_NAME_CHARS_MAX + 1), "'a b'".to_owned(), "''".to_owned()] {
            assert!(named(&bad).unwrap_err().to_string().contains("stage"), "{bad}");
        }
        let many = |count: usize| {
            let stages: String = (0..count).map(|at| format!("  s{at}: {{}}\n")).collect();
            Config::parse(&format!("stages:\n{stages}"), "f")
        };
        assert!(many(STAGES_MAX).is_ok() && many(STAGES_MAX + 1).is_err());
        assert!(many(STAGES_MAX + 1).unwrap_err().to_string().contains(&STAGES_MAX.to_string()));
    }
}
