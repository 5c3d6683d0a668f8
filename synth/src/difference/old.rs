//! Reads the old template of a comparison.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use cellar_stacks::Config;
use cellar_stacks::difference::Document;
use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;
use serde::Serialize;

use super::revision::{Revision, read_file_at, read_file_in_folder_at};
use crate::error::SynthError;
use crate::project::{Project, config_of_stage};
use crate::synthesis::synthesize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TemplateSource {
    /// Where the template was read from: `deployed`, `file` or `revision`.
    pub(crate) kind: &'static str,
    /// Name of the stack, file or git revision.
    pub(crate) name: String,
    pub(crate) exists: bool,
}

#[derive(Debug)]
pub(crate) struct OldTemplate {
    pub(crate) source: TemplateSource,
    /// `None` if the template does not exist, in which case everything counts as added.
    pub(crate) document: Option<Document>,
    pub(crate) notes: Vec<String>,
}

impl OldTemplate {
    /// `template_text` is `None` if nothing is deployed.
    pub(crate) fn from_deployed(
        stack_description: &str,
        template_text: Option<&str>,
    ) -> Result<Self, SynthError> {
        Self::parse("deployed", stack_description, template_text)
    }

    /// Reads the template with which the local stack was last started.
    pub(crate) fn from_local_stack(project: &Project) -> Result<Self, SynthError> {
        let template_path = project.local_state().template();
        let template_text = match File::open(&template_path) {
            Ok(file) => Some(read_template(file, &template_path)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(cause) => {
                return Err(SynthError::Io { operation: "read", path: template_path, cause });
            }
        };
        Self::from_deployed(&format!("{} (local)", project.config.stack), template_text.as_deref())
    }

    /// Reads a JSON or YAML template from a file, or from stdin if the path is `-`.
    pub(crate) fn from_file(path: &Path) -> Result<Self, SynthError> {
        if path == Path::new("-") {
            let template_text = read_template(std::io::stdin().lock(), path)?;
            return Self::parse("file", "stdin", Some(&template_text));
        }
        let file = File::open(path).map_err(|cause| read_error(path, cause))?;
        let template_text = read_template(file, path)?;
        Self::parse("file", &path.display().to_string(), Some(&template_text))
    }

    /// For `REV:PATH`, reads the template from git. For `REV`, synthesizes the template from the
    /// configuration at that revision.
    pub(crate) fn from_revision(project: &Project, revision: &str) -> Result<Self, SynthError> {
        match Revision::parse(revision)? {
            Revision::File(revision_and_path) => {
                let template_text = read_file_at(Path::new("."), revision_and_path)?;
                Self::parse("revision", revision_and_path, Some(&template_text))
            }
            Revision::Commit(commit) => Self::synthesize_at(project, commit),
        }
    }

    fn synthesize_at(project: &Project, commit: &str) -> Result<Self, SynthError> {
        let file_name = project.config_file.file_name().unwrap_or_default().to_string_lossy();
        let config_text = read_file_in_folder_at(&project.folder, commit, &file_name)?;
        let mut notes = Vec::new();
        if config_text.is_none() {
            notes.push(format!(
                "{commit} does not contain {file_name}: the old side uses the default configuration"
            ));
        }
        notes.push(format!(
            "both sides are synthesized by this version of Cellar, the old one from {file_name} at \
             {commit}: changes to Cellar itself are not shown; to see these changes, commit the output \
             of `synth template` and compare with {commit}:PATH"
        ));
        let file_at_commit = format!("{commit}:{file_name}");
        let config = Config::parse(&config_text.unwrap_or_default(), &file_at_commit)?;
        // A configuration that was committed before stages were introduced has no stages.
        let stage = if config.stages.is_empty() { None } else { project.stage.as_deref() };
        let old_config = config_of_stage(&config, stage, &file_at_commit)?.unwrap_or(config);
        let document = Some(Document::from(&synthesize(&old_config)?));
        let source = TemplateSource { kind: "revision", name: commit.to_owned(), exists: true };
        Ok(Self { source, document, notes })
    }

    fn parse(
        kind: &'static str,
        name: &str,
        template_text: Option<&str>,
    ) -> Result<Self, SynthError> {
        let document = template_text
            .map(Document::read)
            .transpose()
            .map_err(|cause| SynthError::Template { name: name.to_owned(), cause })?;
        let source = TemplateSource { kind, name: name.to_owned(), exists: document.is_some() };
        Ok(Self { source, document, notes: Vec::new() })
    }
}

/// Stops one byte after the size limit, so that [`Document::read`] can reject a template that is
/// too large.
fn read_template(source: impl Read, path: &Path) -> Result<String, SynthError> {
    let read_limit = u64::try_from(TEMPLATE_BYTES_MAX + 1).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    source.take(read_limit).read_to_end(&mut bytes).map_err(|cause| read_error(path, cause))?;
    if bytes.len() > TEMPLATE_BYTES_MAX {
        // The last character may be incomplete. Ignore invalid UTF-8, so that the error reports the
        // length instead.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| {
        let cause = std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
        read_error(path, cause)
    })
}

fn read_error(path: &Path, cause: std::io::Error) -> SynthError {
    SynthError::Io { operation: "read", path: path.to_owned(), cause }
}
