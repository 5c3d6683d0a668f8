//! `synth init`: writes a `cellar.yaml` that lists every field and its default.

use std::env;
use std::path::Path;

use cellar_stacks::Config;
use serde_json::json;

use crate::cli::{InitArguments, Output};
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{CONFIG_FILE, ConfigSelection};

/// Writes the configuration file. With `--print`, prints it instead.
pub(crate) fn run(
    config: ConfigSelection<'_>,
    arguments: &InitArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let text = Config::documented_yaml();
    if arguments.print {
        output.print_result(&json!({ "yaml": text }), &text);
        return Ok(());
    }
    let here = env::current_dir().map_err(SynthError::Process)?;
    let path = here.join(config.file.unwrap_or(Path::new(CONFIG_FILE)));
    write_output(&path, arguments.force, text.as_bytes())?;
    output.print_result(&json!({ "written": path }), &format!("Wrote {}", path.display()));
    Ok(())
}
