//! `synth init`.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::{env, fs};

use cellar_stacks::Config;
use serde_json::json;

use crate::cli::{InitArguments, Output};
use crate::error::SynthError;
use crate::project::{CONFIG_FILE, Named};

/// Writes or prints a configuration with every field.
pub(crate) fn run(
    config: Named<'_>,
    arguments: &InitArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let text = Config::documented_yaml();
    if arguments.print {
        output.result(&json!({ "yaml": text }), &text);
        return Ok(());
    }
    let here = env::current_dir().map_err(SynthError::Process)?;
    let path = here.join(config.file.unwrap_or(Path::new(CONFIG_FILE)));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!arguments.force);
    let mut file = options.open(&path).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => SynthError::Exists { path: path.clone() },
        _ => SynthError::Io { what: "write", path: path.clone(), cause },
    })?;
    file.write_all(text.as_bytes()).map_err(|cause| SynthError::Io {
        what: "write",
        path: path.clone(),
        cause,
    })?;
    output.result(&json!({ "written": path }), &format!("Wrote {}", path.display()));
    Ok(())
}
