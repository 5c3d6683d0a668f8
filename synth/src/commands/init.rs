//! `synth init`.

use std::env;
use std::path::Path;

use cellar_stacks::Config;
use serde_json::json;

use crate::cli::{InitArguments, Output};
use crate::error::SynthError;
use crate::output_file::write_output;
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
    write_output(&path, arguments.force, text.as_bytes())?;
    output.result(&json!({ "written": path }), &format!("Wrote {}", path.display()));
    Ok(())
}
