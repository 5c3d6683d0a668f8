//! `stages:` of `cellar.yaml`: several stacks of one configuration, each with what differs in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::Config;
use super::error::{ConfigError, ConfigProblem, UnknownField};
use super::limits::{STAGE_NAME_CHARS_MAX, STAGES_MAX};
use super::parse::explain;

/// The field of a configuration that a stage does not have.
const STAGES: &str = "stages";

/// What differs in a stage: fields of the configuration with other values. It is checked when the file is
/// read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stage(Option<Mapping>);

impl Eq for Stage {}

impl Config {
    /// The configuration of a stage: this one, with what differs in the stage. Unless the stage says
    /// otherwise, its stack and the audience of its tokens are this one's with its name behind, so that
    /// no token of one stage is accepted by another. `None`: there is no such stage. `file_name` is only
    /// for messages.
    ///
    /// # Errors
    /// [`ConfigError`], as for [`Config::parse`], which has tried all stages.
    pub fn stage(&self, name: &str, file_name: &str) -> Result<Option<Self>, ConfigError> {
        let Some(Stage(differs)) = self.stages.get(name) else { return Ok(None) };
        let file_name = format!("{file_name}, stage {name}");
        let failed = |error: &serde_yaml::Error| nowhere(explain(error, &file_name));
        let malformed = |message: &str| ConfigError::Malformed {
            file_name: file_name.clone(),
            position: None,
            message: message.to_owned(),
        };
        let differs = differs.clone().unwrap_or_default();
        if differs.contains_key(STAGES) {
            return Err(malformed("a stage has no stages of its own"));
        }
        let mut base = self.clone();
        base.stages.clear();
        base.stack = format!("{}-{name}", base.stack);
        base.tokens.audience = format!("{}-{name}", base.tokens.audience);
        let mut value = serde_yaml::to_value(&base).map_err(|error| failed(&error))?;
        merge(&mut value, Value::Mapping(differs));
        // By way of text, since only that parser names the section of a fault.
        let text = serde_yaml::to_string(&value).map_err(|error| failed(&error))?;
        let config: Self = serde_yaml::from_str(&text).map_err(|error| failed(&error))?;
        let problems = config.problems();
        if problems.is_empty() {
            Ok(Some(config))
        } else {
            Err(ConfigError::Invalid { file_name, problems })
        }
    }

    /// The names of its stages, sorted.
    pub fn stage_names(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }

    /// Tries every stage.
    pub(super) fn check_stages(&self, file_name: &str) -> Result<(), ConfigError> {
        let mut stacks: BTreeMap<(String, Option<String>), &str> = BTreeMap::new();
        for name in self.stage_names() {
            let Some(config) = self.stage(name, file_name)? else { continue };
            let Config { stack, region, .. } = config;
            if let Some(other) = stacks.insert((stack.clone(), region), name) {
                let (one, other) = (other.to_owned(), name.to_owned());
                let problems = vec![ConfigProblem::StagesShareStack { one, other, stack }];
                return Err(ConfigError::Invalid { file_name: file_name.to_owned(), problems });
            }
        }
        Ok(())
    }
}

/// The fault without a place, which would be one of a text that nobody has written.
fn nowhere(fault: ConfigError) -> ConfigError {
    match fault {
        ConfigError::UnknownField(unknown) => {
            ConfigError::UnknownField(Box::new(UnknownField { position: None, ..*unknown }))
        }
        ConfigError::Malformed { file_name, message, .. } => {
            let message =
                message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            ConfigError::Malformed { file_name, position: None, message: message.to_owned() }
        }
        other => other,
    }
}

/// What is wrong with the names of stages.
pub(super) fn check(stages: &BTreeMap<String, Stage>, problems: &mut Vec<ConfigProblem>) {
    if stages.len() > STAGES_MAX {
        problems.push(ConfigProblem::TooManyStages { count: stages.len() });
    }
    let bad = stages.keys().filter(|name| !is_stage_name(name));
    problems.extend(bad.map(|name| ConfigProblem::StageName { value: name.clone() }));
}

/// It becomes part of the stack's name.
fn is_stage_name(name: &str) -> bool {
    (1..=STAGE_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Maps are merged field by field; anything else takes the place of what was there.
fn merge(value: &mut Value, differs: Value) {
    match (value, differs) {
        (Value::Mapping(fields), Value::Mapping(others)) => {
            for (key, other) in others {
                match fields.get_mut(&key) {
                    Some(field) => merge(field, other),
                    None => {
                        fields.insert(key, other);
                    }
                }
            }
        }
        (value, differs) => *value = differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
stack: books
api: {memory_mb: 256, timeout_s: 10}
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
    fn a_stage_is_the_configuration_with_what_differs() {
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
    fn every_stage_is_checked_when_the_file_is_read() {
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
        assert!(nested.contains("no stages of its own"), "{nested}");
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
    fn names_and_their_number_end_at_their_limits() {
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
