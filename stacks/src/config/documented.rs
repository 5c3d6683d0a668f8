//! The example file that `synth init` writes: every field, its default and its meaning.

use super::limits::{
    API_MEMORY_MB, API_TIMEOUT_S, ARCHIVE_AFTER_DAYS, KEEP_SEGMENTS, LOG_RETENTION_DAYS,
    SEGMENT_BYTES, SEGMENT_ENTRIES, SNAPSHOT_BYTES, SNAPSHOT_ENTRIES, SNAPSHOT_MEMORY_MB,
    SNAPSHOT_TIMEOUT_S, TAGS_MAX,
};
use super::{Alarms, Config, FeedScope, Snapshots};

impl Config {
    /// A commented `cellar.yaml` with every field at its default. It parses to
    /// [`Config::default`]; fields that have no default are commented out.
    pub fn documented_yaml() -> String {
        let Self { stack, tokens, api, snapshots, deletion_protection, .. } = Self::default();
        let memory = (API_MEMORY_MB.start(), API_MEMORY_MB.end());
        let timeout = (API_TIMEOUT_S.start(), API_TIMEOUT_S.end());
        format!(
            r#"# Configuration of Cellar. Every field is optional and shown with its default.

# Name of the CloudFormation stack. Several stacks can live side by side in one account.
stack: {stack}

# AWS region. Without it, the region of the AWS credentials in use.
# region: eu-central-1

# Processor of the functions: x86_64, arm64, or that of the machine that builds (host).
architecture: host

# Which tokens the API accepts.
tokens:
  # The issuer (iss) that a token must carry.
  issuer: {issuer}
  # The audience (aud) that a token must carry.
  audience: {audience}
  # Public keys that verify tokens. List the old and the new one during a rotation.
  # - id: the key's id, the kid in a token's header
  #   public_key: the 32 bytes of the Ed25519 public key in base64url without padding
  keys: []
  # OpenID Connect issuers, such as Auth0, Cognito, Entra ID, Google or Keycloak. Their people see the
  # spreadsheets that are theirs or shared with them.
  # - issuer: the iss of its tokens, letter by letter; it begins with https://
  #   audience: the aud of its tokens, which is what the issuer calls this application
  #   algorithm: RS256 (the default), RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA
  #   keys_url: where its keys are, if its /.well-known/openid-configuration does not say
  #   person_claim: the claim that names a person: sub (the default), email, ...
  #   role: the most that its people may do: owner (the default), editor or viewer
  oidc: []
  # Tokens that were made before this moment are refused, in Unix seconds as `date +%s` prints them: for
  # when tokens were lost and nobody knows which.
  # not_before_s: 1800000000

# Web origins whose pages may call the API from a browser, such as https://sheets.example.com or
# http://localhost:5173. Without any, browsers refuse such calls.
cors_origins: []

# Size of the function that serves the API.
api:
  # Memory in MB, {memory_from} to {memory_to}. The share of the processor grows with it.
  memory_mb: {memory_mb}
  # Seconds after which a request is cut off, {timeout_from} to {timeout_to}.
  timeout_s: {timeout_s}

{snapshots}
{retention}
# Whether the tables refuse to be deleted, even by someone who may delete tables.
deletion_protection: {deletion_protection}

{operation}
{local}"#,
            issuer = tokens.issuer,
            audience = tokens.audience,
            snapshots = documented_snapshots(&snapshots),
            memory_from = memory.0,
            memory_to = memory.1,
            memory_mb = api.memory_mb,
            timeout_from = timeout.0,
            timeout_to = timeout.1,
            timeout_s = api.timeout_s,
            retention = documented_retention(&Self::default()),
            operation = documented_operation(&Self::default()),
            local = documented_local(&Self::default()),
        )
    }
}

fn documented_local(config: &Config) -> String {
    let (stack, audience) = (&config.stack, &config.tokens.audience);
    format!(
        r"# The local cloud (deploy --local).
local:
  # Port on 127.0.0.1.
  port: {port}

# Several stacks of this configuration, each with what differs in it: `synth --stage dev deploy`.
# Maps are merged, anything else takes the place of the value above. Unless it is given, the stack of
# the stage dev is called {stack}-dev, and its tokens are for the audience {audience}-dev.
# stages:
#   dev: {{deletion_protection: false}}
#   prod: {{region: eu-west-1, alarms: {{email: operators@example.com}}}}
",
        port = config.local.port,
    )
}

fn documented_retention(config: &Config) -> String {
    let Config { log_retention_days, keep_segments, epoch, .. } = config;
    let feed = match config.feed {
        FeedScope::Catalog => "catalog",
        FeedScope::Everything => "everything",
    };
    let days = LOG_RETENTION_DAYS.map(|days| days.to_string());
    let (short_days, long_days) = days.split_at(days.len() / 2);
    format!(
        r"# Days that CloudWatch keeps log lines. It accepts only
# {short_days},
# {long_days}.
log_retention_days: {log_retention_days}

# Days after its end from which `synth archive` moves a log segment into the bucket, {archive_from}
# to {archive_to}. Without it, everything stays in the tables.
# archive_after_days: 365

# Newest log segments of each spreadsheet that always stay in the tables, {keep_from} at least.
keep_segments: {keep_segments}

# What is in the feed of `cellar feed`: every change of the `catalog` (creating, naming, sharing, ...), or
# `everything`: that a spreadsheet was edited, too, though not what was written. Everything costs about as much
# again as the edits; `synth cost` says how much. After a change to it, `synth feed repair` indexes what was before.
feed: {feed}

# A URL that the feed is delivered to: every change of the catalog (creating, naming, sharing, ...), signed as Standard
# Webhooks say; `synth webhook secret` prints the secret. With `events: true`, what each change says, too.
# webhook:
#   url: https://example.com/cellar
#   events: false

# How often the tables were restored to a point in time: only `synth restore` raises it. Each epoch has
# tables of its own.
epoch: {epoch}
",
        short_days = short_days.join(", "),
        long_days = long_days.join(", "),
        archive_from = ARCHIVE_AFTER_DAYS.start(),
        archive_to = ARCHIVE_AFTER_DAYS.end(),
        keep_from = KEEP_SEGMENTS.start(),
    )
}

fn documented_operation(config: &Config) -> String {
    let Alarms { requests_per_5_minutes, write_units_per_5_minutes, .. } = config.alarms;
    format!(
        r"# With which key data at rest is encrypted: without one of your own, with keys of AWS, which cost
# nothing.
encryption:
  # A symmetric KMS key in the stack's region, by its ARN, for tables, bucket, queues, log groups and
  # the topic of alarms. It costs $1 a month and its requests, also while nobody uses the stack. Its
  # policy has to let this account use it, and logs.REGION.amazonaws.com and (with `alarms.email`)
  # cloudwatch.amazonaws.com: `synth runbook` shows the statements.
  # kms_key_arn: arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef

# Who is told of alarms, and from when on use is too much. The stack has 10 alarms: the first 10 of
# an account are free, each one more is $0.10 a month.
alarms:
  # An address that is written to, once its owner has confirmed the message that comes first.
  # email: operators@example.com
  # A topic of your own that is told, by its ARN.
  # topic_arn: arn:aws:sns:eu-central-1:123456789012:operators
  # Requests within 5 minutes above which an alarm goes off. 30000 are 100 a second, about $3 a day.
  requests_per_5_minutes: {requests_per_5_minutes}
  # Write units within 5 minutes above which an alarm goes off. 60000 are 200 a second, about $11 a day.
  write_units_per_5_minutes: {write_units_per_5_minutes}

# Whether the stack has a dashboard in CloudWatch. The first 3 of an account are free, each one more is
# $3 a month, whether anybody looks at it or not.
dashboard: {dashboard}

# Whether X-Ray traces calls of the functions: how long each waited, started and ran. One a second is
# traced, and one in twenty beyond that: the first 100,000 a month are free, a million more are $5,
# several times what the calls themselves cost.
tracing: {tracing}

# Tags of every resource that takes tags, such as `cost-center: '42'`: at most {TAGS_MAX}.
tags: {{}}
",
        dashboard = config.dashboard,
        tracing = config.tracing,
    )
}

fn documented_snapshots(snapshots: &Snapshots) -> String {
    let Snapshots { enabled, entries, bytes, segment_entries, segment_bytes, .. } = snapshots;
    format!(
        r"# Snapshots of spreadsheets, from which they open fast, and the log segments between them.
snapshots:
  # Whether edits ask for snapshots and begin new log segments.
  enabled: {enabled}
  # Edits between two snapshots, {entries_from} to {entries_to}.
  entries: {entries}
  # Bytes of edits between two snapshots, {bytes_from} to {bytes_to}.
  bytes: {bytes}
  # Edits of a log segment, {segment_entries_from} to {segment_entries_to}.
  segment_entries: {segment_entries}
  # Bytes of edits of a log segment, {segment_bytes_from} to {segment_bytes_to}.
  segment_bytes: {segment_bytes}
  # Memory of the function that makes snapshots in MB, {memory_from} to {memory_to}.
  memory_mb: {memory_mb}
  # Seconds after which it hands its work over to its next call, {timeout_from} to {timeout_to}.
  timeout_s: {timeout_s}
",
        entries_from = SNAPSHOT_ENTRIES.start(),
        entries_to = SNAPSHOT_ENTRIES.end(),
        bytes_from = SNAPSHOT_BYTES.start(),
        bytes_to = SNAPSHOT_BYTES.end(),
        segment_entries_from = SEGMENT_ENTRIES.start(),
        segment_entries_to = SEGMENT_ENTRIES.end(),
        segment_bytes_from = SEGMENT_BYTES.start(),
        segment_bytes_to = SEGMENT_BYTES.end(),
        memory_from = SNAPSHOT_MEMORY_MB.start(),
        memory_to = SNAPSHOT_MEMORY_MB.end(),
        memory_mb = snapshots.memory_mb,
        timeout_from = SNAPSHOT_TIMEOUT_S.start(),
        timeout_to = SNAPSHOT_TIMEOUT_S.end(),
        timeout_s = snapshots.timeout_s,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_default() {
        let config = Config::parse(&Config::documented_yaml(), "cellar.yaml").unwrap();
        assert_eq!(config, Config::default());
    }

    /// All keys of a value, as they would appear at the start of a line.
    fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            found.push(format!("{key}:"));
            keys(inner, found);
        }
    }

    #[test]
    fn every_field_is_shown_under_a_comment() {
        let example = Config::documented_yaml();
        let lines: Vec<&str> = example.lines().map(str::trim).collect();
        let mut wanted = Vec::new();
        keys(&serde_json::to_value(Config::default()).unwrap(), &mut wanted);
        assert_eq!(wanted.len(), 37);
        for key in wanted {
            let at = lines
                .iter()
                .position(|line| line.trim_start_matches("# ").starts_with(&key))
                .unwrap_or_else(|| panic!("{key} is missing"));
            assert!(lines[at - 1].starts_with('#'), "{key} has no comment");
        }
    }

    #[test]
    fn the_fields_without_a_default_work_when_uncommented() {
        let example = Config::documented_yaml()
            .replace("# region:", "region:")
            .replace("# archive_after_days:", "archive_after_days:")
            .replace("# kms_key_arn:", "kms_key_arn:")
            .replace("# email:", "email:")
            .replace("# topic_arn:", "topic_arn:");
        let config = Config::parse(&example, "cellar.yaml").unwrap();
        assert!(config.region.is_some() && config.encryption.kms_key_arn.is_some());
        assert!(config.alarms.email.is_some() && config.alarms.topic_arn.is_some());
        assert!(config.archive_after_days.is_some());
    }
}
