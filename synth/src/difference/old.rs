//! The old side of a comparison, wherever it comes from.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use cellar_stacks::Config;
use cellar_stacks::difference::Document;
use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;

use super::Against;
use super::revision::{self, Revision};
use crate::commands::template::synthesize;
use crate::error::SynthError;
use crate::project::{Project, stage_of};

/// A template that is compared with, and what is to be said of it.
#[derive(Debug)]
pub(crate) struct Old {
    /// Its name.
    pub(crate) against: Against,
    /// The template; `None` if there is none, so that everything is added.
    pub(crate) document: Option<Document>,
    /// What to bear in mind when reading the difference.
    pub(crate) notes: Vec<String>,
}

impl Old {
    /// What is deployed: the text of its template as whoever runs it gives it, or `None` if nothing
    /// is deployed. `name` says where, for people.
    pub(crate) fn deployed(name: &str, text: Option<&str>) -> Result<Self, SynthError> {
        Self::of_text("deployed", name, text)
    }

    /// What the local cloud was last started with.
    pub(crate) fn local(project: &Project) -> Result<Self, SynthError> {
        let path = project.local_state().template();
        let text = match File::open(&path) {
            Ok(file) => Some(text_of(file, &path)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(cause) => return Err(SynthError::Io { what: "read", path, cause }),
        };
        Self::deployed(&format!("{} (local)", project.config.stack), text.as_deref())
    }

    /// A file with a template in JSON or YAML; `-` is stdin.
    pub(crate) fn file(path: &Path) -> Result<Self, SynthError> {
        let (name, text) = if path == Path::new("-") {
            ("stdin".to_owned(), text_of(std::io::stdin().lock(), path)?)
        } else {
            let fault = |cause| SynthError::Io { what: "read", path: path.to_owned(), cause };
            (path.display().to_string(), text_of(File::open(path).map_err(fault)?, path)?)
        };
        Self::of_text("file", &name, Some(&text))
    }

    /// A revision of git: a template at `REV:PATH`, or what this program makes of the configuration
    /// that was at `REV`.
    pub(crate) fn revision(project: &Project, text: &str) -> Result<Self, SynthError> {
        match Revision::parse(text)? {
            Revision::File(object) => {
                let template = revision::read(Path::new("."), object)?;
                Self::of_text("revision", object, Some(&template))
            }
            Revision::Commit(commit) => Self::configuration(project, commit),
        }
    }

    fn configuration(project: &Project, commit: &str) -> Result<Self, SynthError> {
        let name = project.config_file.file_name().unwrap_or_default().to_string_lossy();
        let text = revision::read_beside(&project.folder, commit, &name)?;
        let mut notes = Vec::new();
        if text.is_none() {
            notes.push(format!("{commit} has no {name}: its side has every default"));
        }
        notes.push(format!(
            "both sides are synthesized by this version of Cellar, that of {commit} from its {name}: \
             what Cellar itself does otherwise since then does not show; commit the output of `synth \
             template` and compare with {commit}:PATH to see that too"
        ));
        let file_name = format!("{commit}:{name}");
        let config = Config::parse(text.as_deref().unwrap_or_default(), &file_name)?;
        let stage = project.stage.as_deref().filter(|_| !config.stages.is_empty());
        let config = stage_of(&config, stage, &file_name)?.unwrap_or(config);
        let document = Some(Document::from(&synthesize(&config)?));
        let against = Against { kind: "revision", name: commit.to_owned(), exists: true };
        Ok(Self { against, document, notes })
    }

    fn of_text(kind: &'static str, name: &str, text: Option<&str>) -> Result<Self, SynthError> {
        let unreadable = |cause| SynthError::Template { name: name.to_owned(), cause };
        let document = text.map(Document::read).transpose().map_err(unreadable)?;
        let against = Against { kind, name: name.to_owned(), exists: document.is_some() };
        Ok(Self { against, document, notes: Vec::new() })
    }
}

/// A text, of which no more is read than is looked at.
fn text_of(source: impl Read, path: &Path) -> Result<String, SynthError> {
    let fault = |cause| SynthError::Io { what: "read", path: path.to_owned(), cause };
    let bytes_max = u64::try_from(TEMPLATE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    source.take(bytes_max).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() > TEMPLATE_BYTES_MAX {
        // A letter that is cut at the bound is not what is wrong with it.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let no_text = |_| fault(std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"));
    String::from_utf8(bytes).map_err(no_text)
}
