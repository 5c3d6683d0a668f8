//! `synth token` and `synth token init`.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::cli::{MintArguments, Output, TokenArguments, TokenCommand};
use crate::error::SynthError;
use crate::project::Project;
use crate::tokens::{Grant, add_public_key, mint, read_key, write_new_key};

/// Mints a token, or makes the key that signs them.
pub(crate) fn run(
    config: Option<&Path>,
    arguments: &TokenArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    match arguments.command {
        Some(TokenCommand::Init) => init(&project, output),
        None => print_token(&project, &arguments.mint, output),
    }
}

fn print_token(
    project: &Project,
    arguments: &MintArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let path = match (&arguments.key, arguments.local) {
        (Some(path), _) => path.clone(),
        (None, true) => project.local_key(),
        (None, false) => project.operator_key(),
    };
    let grant = Grant {
        subject: arguments.sub.clone(),
        spreadsheets: arguments.spreadsheet.clone(),
        role: arguments.role,
        lifetime: arguments.expires,
    };
    let (token, expires) = mint(&read_key(&path)?, &project.config, grant)?;
    output.result(&json!({ "token": token, "expires": expires }), &token);
    Ok(())
}

fn init(project: &Project, output: &Output) -> Result<(), SynthError> {
    let key_file = project.operator_key();
    let pair = write_new_key(&key_file)?;
    let public = pair.public();
    let path = &project.config_file;
    let text = if path.exists() {
        fs::read_to_string(path).map_err(|source| SynthError::Io {
            what: "read",
            path: path.clone(),
            source,
        })?
    } else {
        String::new()
    };
    let edited = add_public_key(&text, &public).ok_or_else(|| SynthError::Edit {
        path: path.clone(),
        snippet: format!(
            "tokens:\n  keys:\n    - id: \"{}\"\n      public_key: \"{}\"",
            public.id, public.public_key
        ),
    })?;
    fs::write(path, edited).map_err(|source| SynthError::Io {
        what: "write",
        path: path.clone(),
        source,
    })?;
    let result = json!({
        "private_key": key_file,
        "config": path,
        "key": { "id": public.id, "public_key": public.public_key },
    });
    let text = format!(
        "Made a key pair.\n  private  {} (keep it: whoever has it can make any token)\n  \
         public   {}, as {}\n\nDeploy to make the stack accept it; then `synth token --sub NAME`.",
        key_file.display(),
        path.display(),
        public.id
    );
    output.result(&result, &text);
    Ok(())
}
