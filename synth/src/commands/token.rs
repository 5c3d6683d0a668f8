//! `synth token create` and `synth token init`: create tokens and the key pair that signs them.

use cellar_runtime::settings::PublicKey;
use serde_json::json;

use crate::cli::{Output, TokenArguments, TokenCommand, TokenCreateArguments};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::tokens::{Grant, add_public_key, mint, read_key, read_or_create_key};

/// Default token subject.
const OPERATOR: &str = "operator";

/// Creates a token, or creates the key pair that signs tokens.
pub(crate) fn run(
    config: ConfigSelection<'_>,
    arguments: &TokenArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    match &arguments.command {
        TokenCommand::Init => init(&project, output),
        TokenCommand::Create(arguments) => create(&project, arguments, output),
    }
}

fn create(
    project: &Project,
    arguments: &TokenCreateArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let path = match (&arguments.key, arguments.local) {
        (Some(path), _) => path.clone(),
        (None, true) => project.local_key(),
        (None, false) => project.operator_key(),
    };
    let (spreadsheets, role) = arguments.scope();
    let subject = arguments.subject.clone().unwrap_or_else(|| OPERATOR.to_owned());
    let grant = Grant { subject, spreadsheets, role, lifetime: arguments.expires_in };
    let (token, expires_s) = mint(&read_key(&path)?, &project.config, grant)?;
    output.print_result(&json!({ "token": token, "expires_s": expires_s }), &token);
    Ok(())
}

/// The operator's key pair.
pub(super) struct OperatorKey {
    public: PublicKey,
    /// Whether the private key file already existed.
    existed: bool,
    /// Whether the configuration already listed the public key.
    was_listed: bool,
}

/// Creates the operator's key pair and adds its public key to the configuration. Idempotent:
/// existing keys are kept, so that an interrupted run can be repeated.
pub(super) fn ensure_operator_key(project: &Project) -> Result<OperatorKey, SynthError> {
    let key_file = project.operator_key();
    let existed = key_file.exists();
    let public = read_or_create_key(&key_file)?.public();
    let was_listed = project.config.tokens.keys.iter().any(|key| key.id == public.id);
    if !was_listed {
        add_to_config(project, &public)?;
    }
    Ok(OperatorKey { public, existed, was_listed })
}

impl OperatorKey {
    /// Describes where the private and the public key are stored.
    pub(super) fn text(&self, project: &Project) -> String {
        format!(
            "{} signing key pair.\n  private  {} (keep it secret: it can sign any token)\n  \
             public   {}, key id {}",
            if self.existed { "Using the existing" } else { "Created a" },
            project.operator_key().display(),
            project.config_file.display(),
            self.public.id
        )
    }
}

fn init(project: &Project, output: &Output) -> Result<(), SynthError> {
    let key = ensure_operator_key(project)?;
    let result = json!({
        "private_key": project.operator_key(),
        "config": project.config_file,
        "key": { "id": key.public.id, "public_key": key.public.public_key },
        "existed": key.existed,
        "listed_before": key.was_listed,
    });
    let next = "Next: deploy, so that the stack accepts the key; then run `synth token create --subject NAME`.";
    output.print_result(&result, &format!("{}\n\n{next}", key.text(project)));
    Ok(())
}

fn add_to_config(project: &Project, public: &PublicKey) -> Result<(), SynthError> {
    let snippet = format!(
        "tokens:\n  keys:\n    - id: \"{}\"\n      public_key: \"{}\"",
        public.id, public.public_key
    );
    project.edit_config(|text| add_public_key(text, public), snippet)
}
