//! Parses `cellar.yaml` into a [`Config`].

use super::error::{ConfigError, SourcePosition, UnknownField};
use super::fields::Config;
use super::limits::CONFIG_BYTES_MAX;
use crate::brackets::{BRACKET_DEPTH_MAX, bracket_depth};
use crate::suggest;

impl Config {
    /// Parses a configuration file. Empty text yields the default configuration. `file_name` is
    /// only used in error messages.
    ///
    /// # Errors
    /// Returns a [`ConfigError`] if the text is too large, is not YAML, or contains an unknown
    /// field or a value of the wrong type. If values are out of bounds, returns one error that
    /// lists all of them.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfigError> {
        check_size_and_nesting(text, file_name)?;
        let parsed_config: Option<Self> =
            serde_yaml::from_str(text).map_err(|error| to_config_error(&error, file_name))?;
        // A file that contains only comments parses as `null`. Such a file yields the default
        // configuration.
        let config = parsed_config.unwrap_or_default();
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(ConfigError::Invalid { file_name: file_name.to_owned(), problems });
        }
        config.check_stages(file_name)?;
        Ok(config)
    }
}

fn check_size_and_nesting(text: &str, file_name: &str) -> Result<(), ConfigError> {
    let file_name = file_name.to_owned();
    if text.len() > CONFIG_BYTES_MAX {
        return Err(ConfigError::TooLarge { file_name, bytes: text.len() });
    }
    if bracket_depth(text) > BRACKET_DEPTH_MAX {
        let message = format!("brackets are nested more than {BRACKET_DEPTH_MAX} levels deep");
        return Err(ConfigError::Malformed { file_name, position: None, message });
    }
    Ok(())
}

/// If the error is about an unknown field, the result suggests a known field.
pub(super) fn to_config_error(error: &serde_yaml::Error, file_name: &str) -> ConfigError {
    let position = error
        .location()
        .map(|location| SourcePosition { line: location.line(), column: location.column() });
    let message = error.to_string();
    let file_name = file_name.to_owned();
    let Some(UnknownFieldMessage { section, field, known_fields }) =
        UnknownFieldMessage::parse(&message)
    else {
        return ConfigError::Malformed { file_name, position, message };
    };
    let known_names = known_fields.iter().map(String::as_str);
    let suggestion = suggest::closest_candidate(&field, known_names).map(str::to_owned);
    let unknown_field =
        UnknownField { file_name, section, field, position, suggestion, known: known_fields };
    ConfigError::UnknownField(Box::new(unknown_field))
}

/// The parts of an error message of serde, such as ``section: unknown field `x`, expected one of
/// `a`, `b` at line 1 column 1``.
struct UnknownFieldMessage {
    section: String,
    field: String,
    known_fields: Vec<String>,
}

impl UnknownFieldMessage {
    /// Parses an error message of serde. Returns `None` if the message is not about an unknown
    /// field.
    ///
    /// The known fields are read from the message, so that they are not listed twice in this crate.
    /// Tests assert the format of the message.
    fn parse(message: &str) -> Option<Self> {
        let (section_prefix, after_section) = message.split_once("unknown field `")?;
        let section = section_prefix.trim_end_matches(": ");
        // An error about another value may quote the words `unknown field` from the file. In this
        // case, the text before these words is not a path of field names: it contains spaces or
        // quotes.
        if section.contains([' ', '"', '`']) {
            return None;
        }
        let (field, quoted_known_fields) = after_section.rsplit_once("`, expected ")?;
        // Every second part is a field name, because the message puts each name between two
        // backticks.
        let known_fields = quoted_known_fields.split('`').skip(1).step_by(2).map(str::to_owned);
        Some(Self {
            section: section.to_owned(),
            field: field.to_owned(),
            known_fields: known_fields.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Config::parse(text, "cellar.yaml").unwrap_err().to_string()
    }

    #[test]
    fn empty_files_and_comments_are_the_defaults() {
        for text in ["", "\n", "# only a comment\n", "---\n", "{}"] {
            assert_eq!(Config::parse(text, "f").unwrap(), Config::default(), "{text:?}");
        }
    }

    #[test]
    fn every_field_is_read() {
        let key = "A".repeat(43);
        let kms = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        let text = format!(
            "stack: books\nregion: eu-central-1\narchitecture: arm64\n\
             tokens:\n  issuer: me\n  audience: you\n  keys:\n    - {{id: k1, public_key: {key}}}\n\
             cors_origins: ['https://a.example']\napi: {{memory_mb: 256, timeout: 10s}}\n\
             log_retention: 7d\noffload_after: 90d\nkeep_segments: 5\n\
             deletion_protection: false\n\
             encryption: {{kms_key_arn: {kms}}}\n\
             alarms: {{email: a@b.example, requests_per_5_minutes: 5, event_sources: true}}\n\
             limits: {{write_units_per_second: 500}}\n\
             dashboard: true\ntracing: true\ntags: {{team: books}}\nlocal: {{port: 9000}}\n"
        );
        let config = Config::parse(&text, "cellar.yaml").unwrap();
        assert_eq!(config.stack, "books");
        assert_eq!(config.region.as_deref(), Some("eu-central-1"));
        assert_eq!((config.api.memory_mb, config.api.timeout_s), (256, 10));
        assert_eq!(config.tokens.keys[0].id, "k1");
        assert_eq!(config.cors_origins, ["https://a.example"]);
        assert_eq!((config.log_retention_days, config.local.port), (7, 9000));
        assert_eq!((config.offload_after_days, config.keep_segments), (Some(90), 5));
        assert!(!config.deletion_protection && config.dashboard && config.tracing);
        assert_eq!(config.encryption.key(), Some(kms));
        assert_eq!(config.alarms.email.as_deref(), Some("a@b.example"));
        assert_eq!(config.alarms.requests_per_5_minutes, 5);
        assert!(config.alarms.event_sources);
        assert_eq!(config.limits.write_units_per_second, Some(500));
        assert_eq!(config.tags["team"], "books");
    }

    #[test]
    fn an_unknown_field_is_reported_with_its_position_and_a_suggestion() {
        assert_eq!(
            message("region: eu-west-1\n\nstak: x\n"),
            "cellar.yaml: unknown field `stak` at line 3, column 1; did you mean `stack`?; known \
             fields: stack, region, architecture, tokens, cors_origins, api, snapshots, \
             log_retention, offload_after, keep_segments, feed, webhook, incarnation, \
             deletion_protection, encryption, alarms, limits, dashboard, tracing, tags, local, \
             stages"
        );
    }

    #[test]
    fn unknown_fields_are_rejected_at_every_level() {
        assert_eq!(
            message("api:\n  memory: 512\n"),
            "cellar.yaml: unknown field `memory` in `api` at line 2, column 3; known fields: \
             memory_mb, timeout"
        );
        assert_eq!(
            message("local:\n  prot: 1\n"),
            "cellar.yaml: unknown field `prot` in `local` at line 2, column 3; did you mean \
             `port`?; known fields: port"
        );
        assert_eq!(
            message("tokens:\n  keys:\n    - id: a\n      publik_key: b\n"),
            "cellar.yaml: unknown field `publik_key` in `tokens.keys[0]` at line 4, column 7; did \
             you mean `public_key`?; known fields: id, public_key"
        );
        assert!(message("tokens:\n  isuer: a\n").contains("did you mean `issuer`?"));
    }

    #[test]
    fn a_field_name_cannot_inject_text_into_the_message() {
        let text = "\"a`, expected `b\": 1\n";
        let error = Config::parse(text, "cellar.yaml").unwrap_err();
        let ConfigError::UnknownField(unknown) = error else {
            panic!("{error}");
        };
        assert_eq!(unknown.field, "a`, expected `b");
        assert_eq!(unknown.known.len(), 22);
    }

    #[test]
    fn wrong_types_and_malformed_yaml_are_rejected() {
        let wrong = message("api:\n  memory_mb: lots\n");
        assert_eq!(
            wrong,
            "cellar.yaml: api.memory_mb: invalid type: string \"lots\", expected u32 at line 2 \
             column 14"
        );
        for text in [
            "api: [",
            "stack: b: c",
            "stack: a\nstack: b",
            "- stack",
            "stack: {}",
            "architecture: mips",
        ] {
            let error = Config::parse(text, "cellar.yaml").unwrap_err();
            assert!(matches!(error, ConfigError::Malformed { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_value_that_quotes_a_message_is_not_parsed_as_a_message() {
        let text = "api:\n  memory_mb: 'x: unknown field `a`, expected `b`'\n";
        let error = Config::parse(text, "cellar.yaml").unwrap_err();
        assert!(matches!(error, ConfigError::Malformed { .. }), "{error}");
    }

    #[test]
    fn the_file_size_is_bounded() {
        let fill = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
        assert!(Config::parse(&fill(CONFIG_BYTES_MAX), "f").is_ok());
        assert_eq!(
            Config::parse(&fill(CONFIG_BYTES_MAX + 1), "f").unwrap_err(),
            ConfigError::TooLarge { file_name: "f".to_owned(), bytes: CONFIG_BYTES_MAX + 1 }
        );
    }

    /// The parser's running time is quadratic in the nesting depth.
    #[test]
    fn bracket_nesting_is_bounded() {
        let deep = |depth: usize| format!("tags: {}{}\n", "[".repeat(depth), "]".repeat(depth));
        assert!(!message(&deep(BRACKET_DEPTH_MAX)).contains("brackets are nested"));
        assert!(message(&deep(BRACKET_DEPTH_MAX + 1)).contains("brackets are nested"));
    }
}
