//! `synth token create` and `synth token init`: create tokens, and the key pair that signs tokens.

use cellar_runtime::settings::PublicKey;
use serde_json::json;

use crate::cli::{Output, TokenArguments, TokenCommand, TokenCreateArguments};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::tokens::{
    Grant, add_public_key, mint, read_key, read_local_key, read_operator_key, read_or_create_key,
};

const OPERATOR: &str = "operator";

pub(crate) fn run_token_command(
    config_selection: ConfigSelection<'_>,
    arguments: &TokenArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config_selection)?;
    match &arguments.command {
        TokenCommand::Init => initialize_keys(&project, output),
        TokenCommand::Create(arguments) => create_token(&project, arguments, output),
    }
}

fn create_token(
    project: &Project,
    arguments: &TokenCreateArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let key_pair = if let Some(key_file) = &arguments.key {
        read_key(key_file)?
    } else if arguments.local {
        read_local_key(project)?
    } else {
        read_operator_key(project)?
    };
    let (spreadsheets, role) = arguments.scope();
    let subject = arguments.subject.clone().unwrap_or_else(|| OPERATOR.to_owned());
    let grant = Grant { subject, spreadsheets, role, lifetime: arguments.expires_in };
    let token = mint(&key_pair, &project.config, grant)?;
    let result = json!({ "token": token.text, "expires_s": token.expires_s });
    output.print_result(&result, &token.text);
    Ok(())
}

pub(super) struct OperatorKey {
    public_key: PublicKey,
    existed: bool,
    was_listed: bool,
}

/// Keeps existing keys, so that an interrupted run can be repeated.
pub(super) fn ensure_operator_key(project: &Project) -> Result<OperatorKey, SynthError> {
    let key_file = project.operator_key();
    let existed = key_file.exists();
    let public_key = read_or_create_key(&key_file)?.public();
    let was_listed = project.config.tokens.keys.iter().any(|key| key.id == public_key.id);
    if !was_listed {
        add_to_config(project, &public_key)?;
    }
    Ok(OperatorKey { public_key, existed, was_listed })
}

impl OperatorKey {
    pub(super) fn describe(&self, project: &Project) -> String {
        format!(
            "{} signing key pair.\n  private  {} (keep it secret: it can sign any token)\n  \
             public   {}, key id {}",
            if self.existed { "Using the existing" } else { "Created a" },
            project.operator_key().display(),
            project.config_file.display(),
            self.public_key.id
        )
    }
}

fn initialize_keys(project: &Project, output: &Output) -> Result<(), SynthError> {
    let key = ensure_operator_key(project)?;
    let result = json!({
        "private_key": project.operator_key(),
        "config": project.config_file,
        "key": { "id": key.public_key.id, "public_key": key.public_key.public_key },
        "existed": key.existed,
        "listed_before": key.was_listed,
    });
    let next_step = "Next: deploy, so that the stack accepts the key; then run `synth token create --subject NAME`.";
    output.print_result(&result, &format!("{}\n\n{next_step}", key.describe(project)));
    Ok(())
}

fn add_to_config(project: &Project, public_key: &PublicKey) -> Result<(), SynthError> {
    let snippet = format!(
        "tokens:\n  keys:\n    - id: \"{}\"\n      public_key: \"{}\"",
        public_key.id, public_key.public_key
    );
    project.edit_config(|config_text| add_public_key(config_text, public_key), snippet)
}
