//! `synth token create` and `synth token init`.

use cellar_runtime::settings::PublicKey;
use serde_json::json;

use crate::cli::{Output, TokenArguments, TokenCommand, TokenCreateArguments};
use crate::error::SynthError;
use crate::project::{Named, Project};
use crate::tokens::{Grant, add_public_key, mint, read_key, read_or_make_key};

/// Subject of a token that is created without one.
const OPERATOR: &str = "operator";

/// Creates a token, or the key pair that signs tokens.
pub(crate) fn run(
    config: Named<'_>,
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
    let (token, expires) = mint(&read_key(&path)?, &project.config, grant)?;
    output.result(&json!({ "token": token, "expires_s": expires }), &token);
    Ok(())
}

/// The key of the operator, and what was there of it before.
pub(super) struct OwnKey {
    public: PublicKey,
    existed: bool,
    listed: bool,
}

/// Makes the key if there is none, and puts its public half into the configuration if it is not
/// there: a run that got half-way is finished by the next.
pub(super) fn ensure_key(project: &Project) -> Result<OwnKey, SynthError> {
    let key_file = project.operator_key();
    let existed = key_file.exists();
    let public = read_or_make_key(&key_file)?.public();
    let listed = project.config.tokens.keys.iter().any(|key| key.id == public.id);
    if !listed {
        list(project, &public)?;
    }
    Ok(OwnKey { public, existed, listed })
}

impl OwnKey {
    /// Where both halves of it are, for people.
    pub(super) fn text(&self, project: &Project) -> String {
        format!(
            "{} a key pair.\n  private  {} (keep it: whoever has it can make any token)\n  \
             public   {}, as {}",
            if self.existed { "There is" } else { "Made" },
            project.operator_key().display(),
            project.config_file.display(),
            self.public.id
        )
    }
}

fn init(project: &Project, output: &Output) -> Result<(), SynthError> {
    let own = ensure_key(project)?;
    let result = json!({
        "private_key": project.operator_key(),
        "config": project.config_file,
        "key": { "id": own.public.id, "public_key": own.public.public_key },
        "existed": own.existed,
        "listed_before": own.listed,
    });
    let next = "Deploy to make the stack accept it; then `synth token create --subject NAME`.";
    output.result(&result, &format!("{}\n\n{next}", own.text(project)));
    Ok(())
}

fn list(project: &Project, public: &PublicKey) -> Result<(), SynthError> {
    let snippet = format!(
        "tokens:\n  keys:\n    - id: \"{}\"\n      public_key: \"{}\"",
        public.id, public.public_key
    );
    project.edit(|text| add_public_key(text, public), snippet)
}
