//! `synth init`: writes a `cellar.yaml` that lists every field and its default. Only the
//! architecture is that of this machine.

use std::env;
use std::path::Path;

use cellar_stacks::Config;
use serde_json::json;

use crate::bundle::Host;
use crate::cli::{InitArguments, Output};
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{CONFIG_FILE, ConfigSelection};

pub(crate) fn write_config(
    config_selection: ConfigSelection<'_>,
    arguments: &InitArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let documented_yaml = Config::documented_yaml_for(Host::current().architecture());
    if arguments.print {
        output.print_result(&json!({ "yaml": documented_yaml }), &documented_yaml);
        return Ok(());
    }
    let current_folder = env::current_dir().map_err(SynthError::Process)?;
    let path = current_folder.join(config_selection.file.unwrap_or(Path::new(CONFIG_FILE)));
    let if_exists = if arguments.force { IfExists::Replace } else { IfExists::Fail };
    write_output(&path, if_exists, documented_yaml.as_bytes())?;
    output.print_result(&json!({ "written": path }), &format!("Wrote {}", path.display()));
    Ok(())
}
