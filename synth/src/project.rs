//! A project, which consists of the nearest configuration file and the `.cellar/` directory next to
//! that file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cellar::files::STATE_FOLDER;
use cellar::owner;
use cellar_local::StateFolder;
use cellar_runtime::settings::PublicKey;
use cellar_stacks::Config;
use cellar_stacks::config::TokenKey;

use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};

pub(crate) const CONFIG_FILE: &str = "cellar.yaml";

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ConfigSelection<'a> {
    pub(crate) file: Option<&'a Path>,
    pub(crate) stage: Option<&'a str>,
}

#[derive(Debug, Clone)]
pub(crate) struct Project {
    /// The directory that contains `.cellar/`.
    pub(crate) folder: PathBuf,
    /// The file may not exist.
    pub(crate) config_file: PathBuf,
    /// If the configuration file does not exist, all fields have their defaults.
    pub(crate) config: Config,
    /// `None` if the configuration has no stages.
    pub(crate) stage: Option<String>,
}

impl Project {
    /// The configuration file is the one given with `--config`, or the nearest one in the current
    /// directory and its parents.
    ///
    /// # Errors
    ///
    /// Returns [`SynthError`] if the `--config` file does not exist, or if the nearest file is
    /// invalid or is writable by another user.
    pub(crate) fn find(selection: ConfigSelection<'_>) -> Result<Self, SynthError> {
        let current_folder = env::current_dir().map_err(SynthError::Process)?;
        let project = match selection.file {
            Some(file) => {
                let path = current_folder.join(file);
                let Some(text) = read_if_exists(&path)? else {
                    return Err(SynthError::NoConfig { path });
                };
                Self::parse(&path, &text)?
            }
            None => Self::from_nearest(&current_folder)?,
        };
        project.select_stage(selection.stage)
    }

    /// Like [`Self::find`], but uses the default configuration if the configuration is invalid.
    pub(crate) fn find_or_use_defaults(selection: ConfigSelection<'_>) -> Result<Self, SynthError> {
        match Self::find(selection) {
            Err(
                SynthError::Config(_)
                | SynthError::ConfigEncoding { .. }
                | SynthError::Stage { .. },
            ) => Ok(Self::with_defaults(config_folder(selection)?)),
            valid_project_or_other_error => valid_project_or_other_error,
        }
    }

    fn from_nearest(current_folder: &Path) -> Result<Self, SynthError> {
        for folder in current_folder.ancestors() {
            let path = folder.join(CONFIG_FILE);
            if let Some(text) = read_if_exists(&path)? {
                owner::check_trusted(&path)?;
                return Self::parse(&path, &text);
            }
        }
        let has_state_folder = |folder: &Path| folder.join(STATE_FOLDER).is_dir();
        match nearest_folder_with(current_folder, has_state_folder) {
            Some(folder) => {
                owner::check_trusted(&folder.join(STATE_FOLDER))?;
                Ok(Self::with_defaults(folder))
            }
            None => Ok(Self::with_defaults(current_folder.to_owned())),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, SynthError> {
        let config = Config::parse(text, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self { folder, config_file: path.to_owned(), config, stage: None })
    }

    fn with_defaults(folder: PathBuf) -> Self {
        let config_file = folder.join(CONFIG_FILE);
        Self { folder, config_file, config: Config::default(), stage: None }
    }

    fn select_stage(self, stage: Option<&str>) -> Result<Self, SynthError> {
        let file_name = self.config_file.display().to_string();
        match config_of_stage(&self.config, stage, &file_name)? {
            Some(config) => Ok(Self { config, stage: stage.map(str::to_owned), ..self }),
            None => Ok(self),
        }
    }

    /// A local stack always uses the first incarnation, because only tables in AWS can be restored.
    pub(crate) fn use_local_incarnation(&mut self) {
        self.config.incarnation = Config::default().incarnation;
    }

    /// Adds a key that verifies tokens, unless the key is already configured.
    pub(crate) fn add_token_key(&mut self, public: PublicKey) {
        let key = TokenKey { id: public.id, public_key: public.public_key };
        if !self.config.tokens.keys.contains(&key) {
            self.config.tokens.keys.push(key);
        }
    }

    /// If `edit` returns `None`, returns an error that asks the user to add `snippet` to the file.
    pub(crate) fn edit_config(
        &self,
        edit: impl FnOnce(&str) -> Option<String>,
        snippet: String,
    ) -> Result<(), SynthError> {
        let path = &self.config_file;
        let text = read_if_exists(path)?.unwrap_or_default();
        let Some(edited) = edit(&text) else {
            return Err(SynthError::Edit { path: path.clone(), snippet });
        };
        write_output(path, IfExists::Replace, edited.as_bytes())
    }

    pub(crate) fn local_state(&self) -> StateFolder {
        StateFolder::new(self.folder.join(STATE_FOLDER).join("local"))
    }

    pub(crate) fn local_log(&self) -> PathBuf {
        self.local_state().path().join("cloud.log")
    }

    pub(crate) fn local_key(&self) -> PathBuf {
        self.local_state().path().join("token-key.pem")
    }

    /// Returns the path of the operator's private key for stacks in AWS.
    pub(crate) fn operator_key(&self) -> PathBuf {
        self.folder.join(STATE_FOLDER).join("token-key.pem")
    }
}

/// Returns `None` if the configuration has no stages and no stage is requested.
///
/// # Errors
///
/// Returns [`SynthError::Stage`] if the requested stage does not exist. Also returns
/// [`SynthError::Stage`] if the configuration has stages and no stage is requested.
pub(crate) fn config_of_stage(
    config: &Config,
    stage: Option<&str>,
    file_name: &str,
) -> Result<Option<Config>, SynthError> {
    if stage.is_none() && config.stages.is_empty() {
        return Ok(None);
    }
    if let Some(stage) = stage
        && let Some(stage_config) = config.stage(stage, file_name)?
    {
        return Ok(Some(stage_config));
    }
    Err(SynthError::Stage {
        requested: stage.map(str::to_owned),
        available: config.stage_names().map(str::to_owned).collect(),
    })
}

/// Returns the directory of the selected configuration file, or the current directory if there is no
/// configuration file.
fn config_folder(selection: ConfigSelection<'_>) -> Result<PathBuf, SynthError> {
    let current_folder = env::current_dir().map_err(SynthError::Process)?;
    let folder = match selection.file {
        Some(file) => current_folder.join(file).parent().map(Path::to_owned),
        None => nearest_folder_with(&current_folder, |folder| folder.join(CONFIG_FILE).exists()),
    };
    Ok(folder.unwrap_or(current_folder))
}

/// The search begins at `start` and continues with its parents.
fn nearest_folder_with(start: &Path, matches: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    start.ancestors().find(|folder| matches(folder)).map(Path::to_owned)
}

fn read_if_exists(path: &Path) -> Result<Option<String>, SynthError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(SynthError::ConfigEncoding { path: path.to_owned() })
        }
        Err(cause) => Err(SynthError::Io { operation: "read", path: path.to_owned(), cause }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_the_nearest_configuration() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stack: books\n").unwrap();
        let project = Project::from_nearest(&deep).unwrap();
        assert_eq!(project.config.stack, "books");
        assert_eq!(project.folder, root.path());
    }

    #[test]
    fn uses_defaults_and_the_nearest_state_folder_without_a_configuration() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(Project::from_nearest(&deep).unwrap().folder, deep);
        fs::create_dir_all(root.path().join(STATE_FOLDER)).unwrap();
        let project = Project::from_nearest(&deep).unwrap();
        assert_eq!((project.folder.as_path(), project.config), (root.path(), Config::default()));
    }

    #[test]
    fn a_configuration_writable_by_others_is_used_only_if_it_is_named() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let file = root.path().join(CONFIG_FILE);
        fs::write(&file, "stack: theirs\n").unwrap();
        let open = |path: &Path| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        };
        open(&file);
        let refused = Project::from_nearest(&deep).unwrap_err();
        assert!(matches!(refused, SynthError::Stranger(_)), "{refused}");
        let named = ConfigSelection { file: Some(&file), stage: None };
        assert_eq!(Project::find(named).unwrap().config.stack, "theirs");
        fs::remove_file(&file).unwrap();
        fs::create_dir(root.path().join(STATE_FOLDER)).unwrap();
        assert!(Project::from_nearest(&deep).is_ok());
        open(&root.path().join(STATE_FOLDER));
        let refused = Project::from_nearest(&deep).unwrap_err();
        assert!(matches!(refused, SynthError::Stranger(_)), "{refused}");
    }

    #[test]
    fn an_invalid_configuration_is_not_skipped() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stak: books\n").unwrap();
        let error = Project::from_nearest(root.path()).unwrap_err().to_string();
        assert!(error.contains("did you mean `stack`"), "{error}");
    }

    #[test]
    fn selects_one_stage_of_a_configuration() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stack: books\nstages: {dev: , prod: }\n")
            .unwrap();
        let at = |stage| Project::from_nearest(root.path()).unwrap().select_stage(stage);
        let dev = at(Some("dev")).unwrap();
        assert_eq!((dev.config.stack.as_str(), dev.stage.as_deref()), ("books-dev", Some("dev")));
        for (asked, expected) in [(None, "none is selected"), (Some("test"), "no stage `test`")] {
            let error = at(asked).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            let SynthError::Stage { available, .. } = error else { panic!("{error}") };
            assert_eq!(available, ["dev", "prod"]);
        }
        fs::write(root.path().join(CONFIG_FILE), "stack: books\n").unwrap();
        assert_eq!(at(None).unwrap().stage, None);
        assert!(at(Some("dev")).is_err());
    }
}
