//! Finishes a deployment: saves the profile and prints the summary.

use std::fs;
use std::path::Path;

use cellar::files::FileError;
use cellar::profile::Profile;
use handlebars::Handlebars;
use serde::Serialize;

use crate::cli::Output;
use crate::error::SynthError;
use crate::moment::format_utc;
use crate::project::Project;
use crate::tokens::MintedToken;

const LOCAL_TEMPLATE: &str = include_str!("../../../templates/local-summary.txt.hbs");
const AWS_TEMPLATE: &str = include_str!("../../../templates/aws-summary.txt.hbs");
/// Exists only in a source checkout of Cellar.
const EXAMPLE_FILE: &str = "tests/data/airports.csv";

pub(super) struct LocalSummary<'a> {
    pub(super) url: &'a str,
    pub(super) token: &'a MintedToken,
    pub(super) is_detached: bool,
    pub(super) was_running: bool,
}

pub(super) struct AwsSummary<'a> {
    pub(super) url: &'a str,
    pub(super) stack_id: &'a str,
    /// `None` if the signing key is missing.
    pub(super) token: Option<&'a MintedToken>,
    pub(super) account: &'a str,
    pub(super) region: &'a str,
}

/// Variables of the summary template for a local deployment. With `--json`, they are printed as the
/// result.
#[derive(Serialize)]
struct LocalView<'a> {
    stack: &'a str,
    link: String,
    url: &'a str,
    token: &'a str,
    token_expires: String,
    profile: String,
    state: String,
    example: &'a str,
    /// Whether a spreadsheet of this stack is selected. If so, the stack has data.
    has_spreadsheet: bool,
    detached: bool,
    already: bool,
}

/// Variables of the summary template for a deployment to AWS. With `--json`, they are printed as
/// the result.
#[derive(Serialize)]
struct AwsView<'a> {
    stack: &'a str,
    stack_id: &'a str,
    account: &'a str,
    region: &'a str,
    url: &'a str,
    token: Option<&'a str>,
    token_expires: Option<String>,
    profile: String,
    example: &'a str,
    /// Whether a spreadsheet of this stack is selected. If so, the stack has data.
    has_spreadsheet: bool,
}

/// Renames a malformed profile, so that the deployment can write a new profile.
pub(super) fn move_malformed_profile(project: &Project) -> Result<(), SynthError> {
    match Profile::read(&project.folder) {
        Ok(_) => Ok(()),
        Err(FileError::Malformed { .. }) => {
            let path = Profile::path(&project.folder);
            fs::rename(&path, path.with_extension("json.unreadable"))
                .map_err(|cause| SynthError::Io { operation: "move", path, cause })
        }
        Err(error) => Err(error.into()),
    }
}

/// Saves the profile, and prints the summary of a deployment to this machine.
pub(super) fn finish_local_deployment(
    project: &Project,
    summary: &LocalSummary<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let identity = project.local_state().identity()?;
    let profile = Profile {
        stack: Some(format!("{} (local)", project.config.stack)),
        identity,
        token: Some(summary.token.text.clone()),
        ..Profile::new(summary.url)
    };
    let has_spreadsheet = save_profile(project, profile)?;
    let view = LocalView {
        stack: &project.config.stack,
        link: page_link(summary.url, &summary.token.text),
        url: summary.url,
        token: &summary.token.text,
        token_expires: format_utc(summary.token.expires_s),
        profile: Profile::path(&project.folder).display().to_string(),
        state: project.local_state().path().display().to_string(),
        example: example_file(),
        has_spreadsheet,
        detached: summary.is_detached,
        already: summary.was_running,
    };
    print_summary(LOCAL_TEMPLATE, &view, output)
}

/// Saves the profile, and prints the summary of a deployment to AWS.
pub(super) fn finish_aws_deployment(
    project: &Project,
    summary: &AwsSummary<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let profile = Profile {
        stack: Some(project.config.stack.clone()),
        identity: Some(summary.stack_id.to_owned()),
        token: summary.token.map(|token| token.text.clone()),
        ..Profile::new(summary.url)
    };
    let has_spreadsheet = save_profile(project, profile)?;
    let view = AwsView {
        stack: &project.config.stack,
        stack_id: summary.stack_id,
        account: summary.account,
        region: summary.region,
        url: summary.url,
        token: summary.token.map(|token| token.text.as_str()),
        token_expires: summary.token.map(|token| format_utc(token.expires_s)),
        profile: Profile::path(&project.folder).display().to_string(),
        example: example_file(),
        has_spreadsheet,
    };
    print_summary(AWS_TEMPLATE, &view, output)
}

/// Returns the link that opens the page signed in. The token is in the fragment, which browsers do not
/// send to the server.
pub(super) fn page_link(url: &str, token: &str) -> String {
    format!("{}/#token={token}", url.trim_end_matches('/'))
}

/// If the saved profile is for the same stack, keeps its selected spreadsheet, and its token if the new
/// profile has none. Returns whether a spreadsheet is selected.
fn save_profile(project: &Project, mut profile: Profile) -> Result<bool, SynthError> {
    let saved = Profile::update(&project.folder, |previous| {
        if let Some(previous) = previous.filter(|previous| previous.identity == profile.identity) {
            profile.token = profile.token.or(previous.token);
            profile.link = previous.link;
            profile.spreadsheet = previous.spreadsheet;
            profile.spreadsheet_name = previous.spreadsheet_name;
        }
        Some(profile)
    })?;
    Ok(saved.is_some_and(|profile| profile.spreadsheet.is_some()))
}

fn example_file() -> &'static str {
    if Path::new(EXAMPLE_FILE).exists() { EXAMPLE_FILE } else { "FILE.csv" }
}

fn print_summary(template: &str, view: &impl Serialize, output: &Output) -> Result<(), SynthError> {
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let text = templates.render_template(template, view)?;
    output.print_result(view, &text);
    Ok(())
}
