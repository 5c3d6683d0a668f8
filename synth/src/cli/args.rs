//! The arguments of `synth`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_core::access::Role;
use cellar_core::identity::LogId;
use cellar_stacks::config::limits::{ARCHIVE_AFTER_DAYS, KEEP_SEGMENTS};
use clap::builder::RangedI64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Synthesizes Cellar's CloudFormation template and runs it.
#[derive(Debug, Parser)]
#[command(
    name = "synth",
    version,
    after_help = "Examples:\n  synth deploy --local            run Cellar on this machine\n  \
                  synth deploy --local --detach   … and go on in the background\n  \
                  synth template --format yaml    look at what would be deployed\n\n\
                  Exit codes: 0 fine, 1 error, 64 wrong usage."
)]
pub(super) struct Arguments {
    /// Configuration file [default: the nearest cellar.yaml upwards]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print JSON for programs: results on stdout, errors on stderr
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write a cellar.yaml with every field and its default
    Init(InitArguments),
    /// Print the CloudFormation template
    Template(TemplateArguments),
    /// Write what each alarm means and what to run, with this stack's names
    Runbook(RunbookArguments),
    /// Build, check and pack the binary that the functions run
    Bundle(BundleArguments),
    /// Deploy the stack
    Deploy(DeployArguments),
    /// Show what runs
    #[command(after_help = "Examples:\n  synth status\n  synth --json status | jq .running.url")]
    Status,
    /// Check a running stack from outside, through its URL
    Smoke(SmokeArguments),
    /// Make tokens, and the key that signs them
    Token(TokenArguments),
    /// Move old log segments from the tables into the bucket, where they can still be read
    Archive(ArchiveArguments),
    /// Find snapshots that were not made and bodies that would be lost, and mend them
    Reprocess(ReprocessArguments),
    /// End the stack; its data stays unless told otherwise
    Destroy(DestroyArguments),
    /// Run the local cloud in this process (used by deploy --local --detach)
    #[command(hide = true)]
    LocalCloud(LocalCloudArguments),
}

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth init\n  synth init --print | less")]
pub(crate) struct InitArguments {
    /// Print it instead of writing the file
    #[arg(long)]
    pub(crate) print: bool,
    /// Overwrite a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// How a template is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As it is deployed
    Json,
    /// For people
    Yaml,
}

/// Arguments of `template`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth template > template.json\n  \
                        synth template --format yaml -o template.yaml")]
pub(crate) struct TemplateArguments {
    /// JSON as it is deployed, or YAML for people
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: Format,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `runbook`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth runbook -o RUNBOOK.md\n  \
                        aws cloudformation describe-stack-resources --stack-name cellar > names.json\n  \
                        synth runbook --resources names.json -o RUNBOOK.md\n\n\
                        Without --resources, the commands in it look each name up.")]
pub(crate) struct RunbookArguments {
    /// Write to a file instead of stdout
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What `aws cloudformation describe-stack-resources` printed of the deployed stack
    #[arg(long, value_name = "FILE")]
    pub(crate) resources: Option<PathBuf>,
}

/// Arguments of `bundle`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth bundle\n  \
                        synth bundle --architecture arm64 -o bundle.zip\n  \
                        synth bundle --bundle target/lambda/bootstrap\n\n\
                        The same binary makes the same file on every machine, and its name holds the \
                        hash of the binary. Lambda can run it, or it is refused: its processor, its \
                        libraries and the GLIBC that it needs are checked.")]
pub(crate) struct BundleArguments {
    /// Write to this file, or under its own name into this folder [default: the working folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Processor of the functions [default: architecture of the configuration, or the host's]
    #[arg(long, value_enum)]
    pub(crate) architecture: Option<ArchitectureArgument>,
    /// Check and pack what was built elsewhere: a `bootstrap`, or a zip with it
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
}

/// The processor of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchitectureArgument {
    /// Intel and AMD
    #[value(name = "x86_64")]
    X86_64,
    /// Graviton; cheaper for the same work
    #[value(name = "arm64")]
    Arm64,
    /// That of this machine
    Host,
}

/// Arguments of `deploy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth deploy                      into the account that AWS_PROFILE names\n  \
                        synth deploy --yes                without asking, as a pipeline does\n  \
                        synth deploy --local --detach     on this machine\n  \
                        synth deploy --local --port 9000\n  \
                        synth deploy --endpoint-url http://127.0.0.1:4566"
)]
pub(crate) struct DeployArguments {
    /// Run the stack on this machine, on 127.0.0.1, with its data under .cellar/
    #[arg(long)]
    pub(crate) local: bool,
    /// Go on in the background; see `synth status` and `synth destroy --local`
    #[arg(long, requires = "local")]
    pub(crate) detach: bool,
    /// Port on 127.0.0.1, 0 for any that is free [default: local.port of the configuration]
    #[arg(long, requires = "local")]
    pub(crate) port: Option<u16>,
    /// Do not run the smoke test
    #[arg(long)]
    pub(crate) no_smoke: bool,
    /// Deploy into an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
    /// The functions, built and zipped before
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub(crate) bundle: Option<PathBuf>,
    /// Bucket for bundles and templates [default: one of Cellar's in this account and region]
    #[arg(long, value_name = "NAME", conflicts_with = "local")]
    pub(crate) artifact_bucket: Option<String>,
    /// Let this resource be replaced or taken out though it holds data; may be given several times
    #[arg(long, value_name = "LOGICAL_ID", conflicts_with = "local")]
    pub(crate) allow_loss: Vec<String>,
    /// Do not ask
    #[arg(long, short, conflicts_with = "local")]
    pub(crate) yes: bool,
}

/// Arguments of `smoke`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth smoke\n  \
                        synth smoke --url https://… --token \"$CELLAR_TOKEN\"")]
pub(crate) struct SmokeArguments {
    /// URL of the API [default: that of the last deployment]
    #[arg(long, env = "CELLAR_URL")]
    pub(crate) url: Option<String>,
    /// Token with the role editor for all spreadsheets [default: that of the last deployment]
    #[arg(long, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
}

/// Arguments of `destroy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth destroy                     deletes the stack in AWS, keeps its data\n  \
                        synth destroy --delete-data       and its data, for ever\n  \
                        synth destroy --local\n  \
                        synth destroy --local --delete-data --yes"
)]
pub(crate) struct DestroyArguments {
    /// The stack that runs on this machine
    #[arg(long)]
    pub(crate) local: bool,
    /// Delete its data too, for ever
    #[arg(long)]
    pub(crate) delete_data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Destroy the stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
}

/// Arguments of `archive`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth archive --local --dry-run\n  \
                        synth archive --local --archive-after-days 365\n  \
                        synth archive --local --archive-after-days 30 --keep-segments 4 --yes\n\n\
                        It may be interrupted and repeated at any time, also while others edit. \
                        Positions of archived segments can be read and edited on as before.")]
pub(crate) struct ArchiveArguments {
    /// The stack that runs on this machine, or the data that it left
    #[arg(long)]
    pub(crate) local: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Days after its end from which a segment is archived [default: archive_after_days of the
    /// configuration; without it, everything is kept]
    #[arg(long, value_name = "N", value_parser = days_parser())]
    pub(crate) archive_after_days: Option<u32>,
    /// Newest segments of each spreadsheet that stay [default: keep_segments of the configuration]
    #[arg(long, value_name = "N", value_parser = segments_parser())]
    pub(crate) keep_segments: Option<u32>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `reprocess`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth reprocess --local --dry-run\n  \
                        synth reprocess --local --since 2026-11-01 --yes\n  \
                        synth reprocess --local --rebuild --log ID\n\n\
                        It may be interrupted and repeated at any time, also while others edit: a \
                        job that comes twice is done once. --rebuild makes every snapshot of a \
                        spreadsheet anew from its log, though everything below sheets/ in the bucket \
                        be lost; until it is done, new snapshots wait for it.")]
pub(crate) struct ReprocessArguments {
    /// The stack that runs on this machine, or the data that it left
    #[arg(long)]
    pub(crate) local: bool,
    /// One spreadsheet [default: all]
    #[arg(long, value_name = "ID", visible_alias = "spreadsheet")]
    pub(crate) log: Option<LogId>,
    /// Entries from then on, such as 2026-11-01 or 2026-11-01T08:00:00Z [default: all]
    #[arg(long, value_name = "DATE", value_parser = parse_since)]
    pub(crate) since: Option<u64>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Make every snapshot of the spreadsheet anew, from its first entry on
    #[arg(long, requires = "log", conflicts_with = "since")]
    pub(crate) rebuild: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  synth token init\n  \
                  synth token --sub alice --role editor --expires 30d\n  \
                  synth token --local --sub bob --role viewer --spreadsheet ID"
)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: Option<TokenCommand>,
    #[command(flatten)]
    pub(crate) mint: MintArguments,
}

/// What to do about keys.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a key pair: the private half stays here, the public half goes into cellar.yaml
    #[command(after_help = "Examples:\n  synth token init\n\nRun again, it finishes what was \
                            interrupted; a key that exists is kept.")]
    Init,
}

/// Arguments of minting.
#[derive(Debug, Args)]
pub(crate) struct MintArguments {
    /// Whose token it is: the author in the history
    #[arg(long, value_name = "NAME", default_value = "operator")]
    pub(crate) sub: String,
    /// A spreadsheet that it covers, again for more [default: all]
    #[arg(long, short, value_name = "ID")]
    pub(crate) spreadsheet: Vec<LogId>,
    /// What it allows there
    #[arg(long, value_parser = parse_role, default_value = "editor",
          value_name = "viewer|editor|owner")]
    pub(crate) role: Role,
    /// How long it is valid, such as 30d or 12h
    #[arg(long, value_parser = parse_lifetime, default_value = "30d", value_name = "DURATION")]
    pub(crate) expires: Duration,
    /// Sign it for the local cloud
    #[arg(long)]
    pub(crate) local: bool,
    /// Private key file [default: .cellar/token-key.pem]
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub(crate) key: Option<PathBuf>,
}

/// Arguments of the hidden command that runs a local cloud.
#[derive(Debug, Args)]
pub(crate) struct LocalCloudArguments {
    /// State folder
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// Stack name
    #[arg(long)]
    pub(crate) stack: String,
    /// Port
    #[arg(long)]
    pub(crate) port: u16,
}

fn days_parser() -> RangedI64ValueParser<u32> {
    within(&ARCHIVE_AFTER_DAYS)
}

fn segments_parser() -> RangedI64ValueParser<u32> {
    within(&KEEP_SEGMENTS)
}

fn within(range: &RangeInclusive<u32>) -> RangedI64ValueParser<u32> {
    let (from, to) = (i64::from(*range.start()), i64::from(*range.end()));
    RangedI64ValueParser::new().range(from..=to)
}

fn parse_role(text: &str) -> Result<Role, String> {
    match text {
        "viewer" => Ok(Role::Viewer),
        "editor" => Ok(Role::Editor),
        "owner" => Ok(Role::Owner),
        _ => Err("the roles are viewer, editor and owner".to_owned()),
    }
}

/// Tokens cannot be taken back one by one: a year is the longest.
const MAX_LIFETIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if lifetime.as_secs() == 0 || lifetime > MAX_LIFETIME {
        return Err("a token is valid for 1 second to 366 days".to_owned());
    }
    Ok(lifetime)
}

/// Unix seconds of a day, or of a moment.
fn parse_since(text: &str) -> Result<u64, String> {
    let is_day = !text.contains(['T', 't', ' ']);
    let moment = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let moment = humantime::parse_rfc3339_weak(&moment)
        .map_err(|_| "write a day as 2026-11-01, a moment as 2026-11-01T08:00:00Z".to_owned())?;
    if moment > SystemTime::now() {
        return Err("it is in the future".to_owned());
    }
    Ok(moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn dates_are_days_or_moments_that_were() {
        assert_eq!(parse_since("1970-01-02"), Ok(86_400));
        for text in ["2026-11-01T08:00:00Z", "2026-11-01 08:00:00"] {
            assert_eq!(parse_since(text), Ok(1_793_520_000), "{text}");
        }
        for bad in ["", "yesterday", "2026-11", "2026-13-01", "2026-11-01T8", "9999-01-01"] {
            assert!(parse_since(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lifetimes_end_at_their_limits() {
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_lifetime("366d"), Ok(MAX_LIFETIME));
        for bad in ["0s", "366d 1s", "soon", "", "-1d"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }
}
