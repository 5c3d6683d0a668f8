//! The `cellar.yaml` that `synth init` writes. It lists every field with its default and a comment.

use super::alarms::Alarms;
use super::architecture::Architecture;
use super::feed::FeedScope;
use super::fields::Config;
use super::limits::{
    API_MEMORY_MB, API_TIMEOUT_S, KEEP_SEGMENTS, LOG_RETENTION_DAYS, OFFLOAD_AFTER_DAYS,
    SEGMENT_BYTES, SEGMENT_ENTRIES, SNAPSHOT_BYTES, SNAPSHOT_ENTRIES, SNAPSHOT_MEMORY_MB,
    SNAPSHOT_TIMEOUT_S, TAGS_MAX, WRITE_UNITS_PER_SECOND,
};
use super::snapshots::Snapshots;
use super::tokens::Tokens;

impl Config {
    /// Returns a `cellar.yaml` that lists every field with its default and a comment.
    ///
    /// Fields without a default are commented out, so parsing the text yields [`Config::default`].
    pub fn documented_yaml() -> String {
        Self::documented_yaml_with("host")
    }

    /// Returns the documented `cellar.yaml` with a fixed architecture, so that every machine deploys
    /// the same functions.
    pub fn documented_yaml_for(architecture: Architecture) -> String {
        Self::documented_yaml_with(architecture.name())
    }

    fn documented_yaml_with(architecture: &str) -> String {
        let Self { stack, tokens, api, snapshots, deletion_protection, .. } = Self::default();
        format!(
            r"# Configuration of Cellar. Every field is optional; the values shown are the defaults.
# Durations have a unit: 500ms, 30s, 5m, 2h or 30d.

# Name of the CloudFormation stack; one account can hold several.
stack: {stack}

# AWS region [default: the region of the AWS profile].
# region: eu-central-1

# CPU architecture of the functions: x86_64, arm64 or host (that of the build machine) [default: host].
# With `host`, a laptop and a CI runner may deploy different functions.
architecture: {architecture}

{tokens}
# Web origins that may call the API from a browser, such as https://sheets.example.com or
# http://localhost:5173. If empty, browsers block such calls.
cors_origins: []

# The function that serves the HTTP API.
api:
  # Memory in MB, {min_memory} to {max_memory}. CPU power is proportional to it.
  memory_mb: {memory_mb}
  # Timeout of a request, {min_timeout}s to {max_timeout}s.
  timeout: {timeout_s}s

{snapshots}
{retention}
# Protect the tables and the CloudFormation stack from deletion.
deletion_protection: {deletion_protection}

{operation}
{local}",
            tokens = tokens_section_yaml(&tokens),
            snapshots = snapshots_section_yaml(&snapshots),
            min_memory = API_MEMORY_MB.start(),
            max_memory = API_MEMORY_MB.end(),
            memory_mb = api.memory_mb,
            min_timeout = API_TIMEOUT_S.start(),
            max_timeout = API_TIMEOUT_S.end(),
            timeout_s = api.timeout_s,
            retention = retention_fields_yaml(&Self::default()),
            operation = operation_fields_yaml(&Self::default()),
            local = local_section_yaml(&Self::default()),
        )
    }
}

fn tokens_section_yaml(tokens: &Tokens) -> String {
    format!(
        r"# Tokens that the API accepts.
tokens:
  # Required issuer (`iss`) of tokens.
  issuer: {issuer}
  # Required audience (`aud`) of tokens.
  audience: {audience}
  # Public keys that verify tokens; during a rotation, list the old and the new key.
  # - id: id of the key, the `kid` in the header of a token
  #   public_key: the 32 bytes of the Ed25519 public key, as unpadded base64url
  keys: []
  # OpenID Connect issuers, such as Auth0, Cognito, Entra ID, Google or Keycloak. Their people can access
  # their own spreadsheets and those shared with them.
  # - issuer: `iss` of the tokens, exactly; starts with https://
  #   audience: `aud` of the tokens, the id of this application at the issuer
  #   algorithm: RS256 (default), RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA
  #   keys_url: JWKS URL [default: from the issuer's discovery document]
  #   subject_claim: claim that identifies a person: sub (default), email, ...
  #   max_role: maximum role: owner (default), editor or viewer
  #   client_id: id of the page at the issuer, with the URL of the stack as a redirect URI; without it,
  #     the page offers no login at this issuer
  #   name: name of the issuer on the page [default: its host]
  #   token_url: URL from which the page fetches tokens, if it is on another host than the issuer
  oidc: []
  # Reject tokens issued before this time (Unix seconds, as `date +%s` prints), for example after tokens
  # have leaked.
  # not_before_s: 1800000000
",
        issuer = tokens.issuer,
        audience = tokens.audience,
    )
}

fn local_section_yaml(config: &Config) -> String {
    let (stack, audience) = (&config.stack, &config.tokens.audience);
    format!(
        r"# The local stack (`synth deploy --local`).
local:
  # Port on 127.0.0.1.
  port: {port}

# Several stacks from one configuration, each with its overrides: `synth --stage dev deploy`. Maps are
# merged; other values replace those above. By default, the stack of the stage dev is named {stack}-dev
# and the audience of its tokens is {audience}-dev.
# stages:
#   dev: {{deletion_protection: false}}
#   prod: {{region: eu-west-1, alarms: {{email: operators@example.com}}}}
",
        port = config.local.port,
    )
}

fn retention_fields_yaml(config: &Config) -> String {
    let Config { log_retention_days, keep_segments, incarnation, .. } = config;
    let feed = match config.feed {
        FeedScope::Catalog => "catalog",
        FeedScope::Everything => "everything",
    };
    let days = LOG_RETENTION_DAYS.map(|days| days.to_string());
    let (first_allowed_days, last_allowed_days) = days.split_at(days.len() / 2);
    format!(
        r"# How long CloudWatch keeps log lines. Allowed numbers of days:
# {first_allowed_days},
# {last_allowed_days}.
log_retention: {log_retention_days}d

# Age, since it was closed, at which `synth offload` moves a log segment to S3, {min_offload}d to
# {max_offload}d. Unset: segments stay in DynamoDB.
# offload_after: 365d

# Newest log segments of each spreadsheet to keep in DynamoDB, at least {min_keep}.
keep_segments: {keep_segments}

# Contents of the feed: `catalog` (creating, naming, sharing, ...) or `everything` (also that an entry was
# appended, without its contents; roughly doubles the cost of an edit, see `synth cost`). After changing
# this, run `synth feed repair`.
feed: {feed}

# URL that receives the feed, signed according to Standard Webhooks; `synth webhook secret` prints the
# secret. With `payloads: true`, deliveries include the payload of each event.
# webhook:
#   url: https://example.com/cellar
#   payloads: false

# Number of times the tables were restored. Managed by `synth restore`; each incarnation has its own
# tables.
incarnation: {incarnation}
",
        first_allowed_days = first_allowed_days.join(", "),
        last_allowed_days = last_allowed_days.join(", "),
        min_offload = OFFLOAD_AFTER_DAYS.start(),
        max_offload = OFFLOAD_AFTER_DAYS.end(),
        min_keep = KEEP_SEGMENTS.start(),
    )
}

fn operation_fields_yaml(config: &Config) -> String {
    let Alarms { requests_per_5_minutes, write_units_per_5_minutes, event_sources, .. } =
        config.alarms;
    format!(
        r"# Encryption at rest; AWS-owned keys unless a key is set.
encryption:
  # ARN of a symmetric KMS key in the stack's region, for tables, bucket, queues, log groups and the
  # alarm topic; costs $1 a month plus requests. Its key policy must allow this account,
  # logs.REGION.amazonaws.com and (with `alarms.email`) cloudwatch.amazonaws.com; see `synth runbook`.
  # kms_key_arn: arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef

# Alarm notifications and usage thresholds. The stack has 10 alarms: the first 10 of an account are
# free, each further one costs $0.10 a month.
alarms:
  # Email address to notify; its owner must confirm the subscription.
  # email: operators@example.com
  # ARN of your own SNS topic to notify.
  # topic_arn: arn:aws:sns:eu-central-1:123456789012:operators
  # Threshold: requests per 5 minutes. 30000 are 100 per second, about $3 a day.
  requests_per_5_minutes: {requests_per_5_minutes}
  # Threshold: write units per 5 minutes. 60000 are 200 per second, about $11 a day.
  write_units_per_5_minutes: {write_units_per_5_minutes}
  # Alarms for functions that have not read their change stream for a day, for example because an event
  # source was disabled. They watch 4 metrics (6 with a webhook), which cost $0.10 each a month.
  event_sources: {event_sources}

# Limits on usage, and thereby on cost.
limits:
  # Maximum write units per second of the Entry table, {min_write_units} to {max_write_units}. Requests beyond it get 503,
  # and clients retry them. 400 write units per second cost at most $22 a day. Unset: no limit.
  # write_units_per_second: 400

# Create a CloudWatch dashboard. The first 3 of an account are free, each further one costs $3 a month.
dashboard: {dashboard}

# Trace the functions with X-Ray: one invocation per second, and one in twenty beyond that. The first
# 100,000 traces a month are free, each further million costs $5, several times the cost of the
# invocations.
tracing: {tracing}

# Tags for all taggable resources, such as `cost-center: '42'`; at most {TAGS_MAX}.
tags: {{}}
",
        min_write_units = WRITE_UNITS_PER_SECOND.start(),
        max_write_units = WRITE_UNITS_PER_SECOND.end(),
        dashboard = config.dashboard,
        tracing = config.tracing,
    )
}

fn snapshots_section_yaml(snapshots: &Snapshots) -> String {
    let Snapshots { enabled, entries, bytes, segment_entries, segment_bytes, .. } = snapshots;
    format!(
        r"# Snapshots, from which spreadsheets open fast, and log segments.
snapshots:
  # Create snapshots and start new log segments automatically.
  enabled: {enabled}
  # Entries between two snapshots, {min_entries} to {max_entries}.
  entries: {entries}
  # Bytes of entries between two snapshots, {min_bytes} to {max_bytes}.
  bytes: {bytes}
  # Maximum entries of a log segment, {min_segment_entries} to {max_segment_entries}.
  segment_entries: {segment_entries}
  # Maximum bytes of a log segment, {min_segment_bytes} to {max_segment_bytes}.
  segment_bytes: {segment_bytes}
  # Memory of the snapshot function in MB, {min_memory} to {max_memory}.
  memory_mb: {memory_mb}
  # Timeout of the snapshot function, {min_timeout}s to {max_timeout}s; the next invocation resumes
  # unfinished work.
  timeout: {timeout_s}s
",
        min_entries = SNAPSHOT_ENTRIES.start(),
        max_entries = SNAPSHOT_ENTRIES.end(),
        min_bytes = SNAPSHOT_BYTES.start(),
        max_bytes = SNAPSHOT_BYTES.end(),
        min_segment_entries = SEGMENT_ENTRIES.start(),
        max_segment_entries = SEGMENT_ENTRIES.end(),
        min_segment_bytes = SEGMENT_BYTES.start(),
        max_segment_bytes = SEGMENT_BYTES.end(),
        min_memory = SNAPSHOT_MEMORY_MB.start(),
        max_memory = SNAPSHOT_MEMORY_MB.end(),
        memory_mb = snapshots.memory_mb,
        min_timeout = SNAPSHOT_TIMEOUT_S.start(),
        max_timeout = SNAPSHOT_TIMEOUT_S.end(),
        timeout_s = snapshots.timeout_s,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_parses_to_the_default() {
        let config = Config::parse(&Config::documented_yaml(), "cellar.yaml").unwrap();
        let arm64_yaml = Config::documented_yaml_for(Architecture::Arm64);
        let arm64_config = Config::parse(&arm64_yaml, "cellar.yaml").unwrap();
        assert_eq!(arm64_config.architecture, Some(Architecture::Arm64));
        assert_eq!(config, Config::default());
    }

    /// Collects all keys of a value, in the form `KEY:`.
    fn collect_keys(value: &serde_json::Value, found: &mut Vec<String>) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            found.push(format!("{key}:"));
            collect_keys(inner, found);
        }
    }

    #[test]
    fn every_field_has_a_comment() {
        let example = Config::documented_yaml();
        let lines: Vec<&str> = example.lines().map(str::trim).collect();
        let mut wanted = Vec::new();
        collect_keys(&serde_json::to_value(Config::default()).unwrap(), &mut wanted);
        assert_eq!(wanted.len(), 40);
        for key in wanted {
            let at = lines
                .iter()
                .position(|line| line.trim_start_matches("# ").starts_with(&key))
                .unwrap_or_else(|| panic!("{key} is missing"));
            assert!(lines[at - 1].starts_with('#'), "{key} has no comment");
        }
    }

    #[test]
    fn fields_without_a_default_are_valid_when_uncommented() {
        let example = Config::documented_yaml()
            .replace("# region:", "region:")
            .replace("# offload_after:", "offload_after:")
            .replace("# kms_key_arn:", "kms_key_arn:")
            .replace("# email:", "email:")
            .replace("# topic_arn:", "topic_arn:")
            .replace("# write_units_per_second:", "write_units_per_second:");
        let config = Config::parse(&example, "cellar.yaml").unwrap();
        assert!(config.region.is_some() && config.encryption.kms_key_arn.is_some());
        assert!(config.alarms.email.is_some() && config.alarms.topic_arn.is_some());
        assert!(config.offload_after_days.is_some());
        assert_eq!(config.limits.write_units_per_second, Some(400));
    }
}
