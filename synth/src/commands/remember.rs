//! What a deployment leaves for the commands that come after it: the profile, and words.

use std::fs;
use std::path::Path;

use cellar::files::FileError;
use cellar::profile::Profile;
use handlebars::Handlebars;
use serde::Serialize;

use crate::cli::Output;
use crate::error::SynthError;
use crate::moment::utc;
use crate::project::Project;

const SUMMARY: &str = include_str!("../../../templates/local-summary.txt.hbs");
const AWS_SUMMARY: &str = include_str!("../../../templates/aws-summary.txt.hbs");
/// A file to try, in a checkout of Cellar itself.
const EXAMPLE: &str = "tests/data/airports.csv";

/// What was deployed.
pub(crate) struct Deployed<'a> {
    /// The URL of the API.
    pub(crate) url: &'a str,
    /// A token for it.
    pub(crate) token: &'a str,
    /// When the token ends, Unix seconds.
    pub(crate) expires_s: u64,
    /// Whether it runs in the background.
    pub(crate) detached: bool,
    /// Whether it ran before.
    pub(crate) already: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    stack: &'a str,
    url: &'a str,
    token: &'a str,
    token_expires: String,
    profile: String,
    state: String,
    example: &'a str,
    detached: bool,
    already: bool,
}

/// What was deployed into AWS.
pub(crate) struct DeployedToAws<'a> {
    /// The URL of the API, as it is reached from here.
    pub(crate) url: &'a str,
    /// The stack's ARN.
    pub(crate) stack_id: &'a str,
    /// A token for it, and when that ends, Unix seconds.
    pub(crate) token: Option<(&'a str, u64)>,
    /// The account's number.
    pub(crate) account: &'a str,
    /// The region.
    pub(crate) region: &'a str,
}

#[derive(Serialize)]
struct AwsSummary<'a> {
    stack: &'a str,
    stack_id: &'a str,
    account: &'a str,
    region: &'a str,
    url: &'a str,
    token: Option<&'a str>,
    token_expires: Option<String>,
    profile: String,
    example: &'a str,
}

/// Moves a profile aside that cannot be read: a deployment writes a new one.
pub(crate) fn check_profile(project: &Project) -> Result<(), SynthError> {
    let path = Profile::path(&project.folder);
    match Profile::read(&project.folder) {
        Err(FileError::Malformed { .. }) => {
            let aside = path.with_extension("json.unreadable");
            fs::rename(&path, &aside).map_err(|cause| SynthError::Io { what: "move", path, cause })
        }
        read => Ok(read.map(drop)?),
    }
}

/// Writes the profile and says what to do next. The current spreadsheet stays if it is of the same
/// cloud.
pub(crate) fn remember(
    project: &Project,
    deployed: &Deployed<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let identity = project.local_state().identity()?;
    let before = Profile::read(&project.folder)?.filter(|before| before.identity == identity);
    let profile = Profile {
        url: deployed.url.to_owned(),
        stack: Some(format!("{} (local)", project.config.stack)),
        identity,
        token: Some(deployed.token.to_owned()),
        spreadsheet: before.and_then(|before| before.spreadsheet),
    };
    profile.save(&project.folder)?;
    let summary = Summary {
        stack: &project.config.stack,
        url: deployed.url,
        token: deployed.token,
        token_expires: utc(deployed.expires_s),
        profile: Profile::path(&project.folder).display().to_string(),
        state: project.local_state().path().display().to_string(),
        example: example(),
        detached: deployed.detached,
        already: deployed.already,
    };
    tell(SUMMARY, &summary, output)
}

/// The same for a stack in AWS.
pub(crate) fn remember_aws(
    project: &Project,
    deployed: &DeployedToAws<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let identity = Some(deployed.stack_id.to_owned());
    let before = Profile::read(&project.folder)?.filter(|before| before.identity == identity);
    let token = deployed.token.map(|(token, _)| token.to_owned());
    let profile = Profile {
        url: deployed.url.to_owned(),
        stack: Some(project.config.stack.clone()),
        identity,
        // Without a key here, whoever had a token keeps it.
        token: token.or_else(|| before.as_ref().and_then(|before| before.token.clone())),
        spreadsheet: before.and_then(|before| before.spreadsheet),
    };
    profile.save(&project.folder)?;
    let summary = AwsSummary {
        stack: &project.config.stack,
        stack_id: deployed.stack_id,
        account: deployed.account,
        region: deployed.region,
        url: deployed.url,
        token: deployed.token.map(|(token, _)| token),
        token_expires: deployed.token.map(|(_, expires_s)| utc(expires_s)),
        profile: Profile::path(&project.folder).display().to_string(),
        example: example(),
    };
    tell(AWS_SUMMARY, &summary, output)
}

fn example() -> &'static str {
    if Path::new(EXAMPLE).exists() { EXAMPLE } else { "FILE.csv" }
}

fn tell(template: &str, summary: &impl Serialize, output: &Output) -> Result<(), SynthError> {
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let text = templates.render_template(template, summary)?;
    output.result(summary, &text);
    Ok(())
}
