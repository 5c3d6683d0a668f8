//! Where things are: the configuration, found upwards, and the state beside it.

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
use crate::output_file::write_output;

/// The name of the configuration file.
pub(crate) const CONFIG_FILE: &str = "cellar.yaml";

/// The configuration as it was named on the command line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Named<'a> {
    /// `--config`: the file.
    pub(crate) file: Option<&'a Path>,
    /// `--stage`: the stage in it.
    pub(crate) stage: Option<&'a str>,
}

/// A folder with its configuration.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    /// The folder that `.cellar/` is in.
    pub(crate) folder: PathBuf,
    /// The configuration file, whether or not it exists.
    pub(crate) config_file: PathBuf,
    /// The configuration of the stage; defaults if there is no file.
    pub(crate) config: Config,
    /// The stage.
    pub(crate) stage: Option<String>,
}

impl Project {
    /// Reads the configuration named by `--config`, or the nearest one upwards.
    pub(crate) fn find(named: Named<'_>) -> Result<Self, SynthError> {
        let here = env::current_dir().map_err(SynthError::Process)?;
        let project = match named.file {
            Some(path) => {
                let path = here.join(path);
                let text =
                    read(&path)?.ok_or_else(|| SynthError::NoConfig { path: path.clone() })?;
                Self::with(&path, &text)
            }
            None => Self::from_nearest(&here),
        };
        project?.at_stage(named.stage)
    }

    /// The configuration as it is on this machine: a restore is of tables in AWS, here there are only the
    /// first.
    pub(crate) fn at_home(&mut self) {
        self.config.incarnation = Config::default().incarnation;
    }

    /// Edits the configuration file; where that is not safe, says what to add.
    pub(crate) fn edit(
        &self,
        edit: impl FnOnce(&str) -> Option<String>,
        snippet: String,
    ) -> Result<(), SynthError> {
        let path = &self.config_file;
        let fault = |what| move |cause| SynthError::Io { what, path: path.clone(), cause };
        let text = match path.exists() {
            true => fs::read_to_string(path).map_err(fault("read"))?,
            false => String::new(),
        };
        let edited = edit(&text);
        let edited = edited.ok_or_else(|| SynthError::Edit { path: path.clone(), snippet })?;
        write_output(path, true, edited.as_bytes())
    }

    /// Only one of its stages, if it has some.
    fn at_stage(self, stage: Option<&str>) -> Result<Self, SynthError> {
        let file_name = self.config_file.display().to_string();
        let Some(config) = stage_of(&self.config, stage, &file_name)? else { return Ok(self) };
        Ok(Self { config, stage: stage.map(str::to_owned), ..self })
    }

    /// Only the folder: for commands that must work whatever is in the configuration.
    pub(crate) fn find_folder(named: Named<'_>) -> Result<Self, SynthError> {
        match Self::find(named) {
            Err(
                SynthError::Config(_)
                | SynthError::ConfigEncoding { .. }
                | SynthError::Stage { .. },
            ) => {
                let here = env::current_dir().map_err(SynthError::Process)?;
                let nearest = || here.ancestors().find(|folder| folder.join(CONFIG_FILE).exists());
                let folder = match named.file {
                    Some(path) => here.join(path).parent().map(Path::to_owned),
                    None => nearest().map(Path::to_owned),
                };
                let folder = folder.unwrap_or(here);
                let config_file = folder.join(CONFIG_FILE);
                Ok(Self { folder, config_file, config: Config::default(), stage: None })
            }
            found => found,
        }
    }

    fn from_nearest(here: &Path) -> Result<Self, SynthError> {
        for folder in here.ancestors() {
            let path = folder.join(CONFIG_FILE);
            if let Some(text) = read(&path)? {
                owner::check_trusted(&path)?;
                return Self::with(&path, &text);
            }
        }
        let with_state = here.ancestors().find(|folder| folder.join(STATE_FOLDER).is_dir());
        if let Some(folder) = with_state {
            owner::check_trusted(&folder.join(STATE_FOLDER))?;
        }
        let folder = with_state.unwrap_or(here).to_owned();
        let config_file = folder.join(CONFIG_FILE);
        Ok(Self { folder, config_file, config: Config::default(), stage: None })
    }

    fn with(path: &Path, text: &str) -> Result<Self, SynthError> {
        let config = Config::parse(text, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self { folder, config_file: path.to_owned(), config, stage: None })
    }

    /// Has the stack accept tokens that are signed with this key too.
    pub(crate) fn accept(&mut self, public: PublicKey) {
        let key = TokenKey { id: public.id, public_key: public.public_key };
        if !self.config.tokens.keys.contains(&key) {
            self.config.tokens.keys.push(key);
        }
    }

    /// The state of the local cloud.
    pub(crate) fn local_state(&self) -> StateFolder {
        StateFolder::new(self.folder.join(STATE_FOLDER).join("local"))
    }

    /// What the local cloud in the background says.
    pub(crate) fn local_log(&self) -> PathBuf {
        self.local_state().path().join("cloud.log")
    }

    /// The private key of the local cloud.
    pub(crate) fn local_key(&self) -> PathBuf {
        self.local_state().path().join("token-key.pem")
    }

    /// The operator's private key for stacks in AWS.
    pub(crate) fn operator_key(&self) -> PathBuf {
        self.folder.join(STATE_FOLDER).join("token-key.pem")
    }
}

/// The configuration of a stage; `None` if there are no stages and none is asked for.
pub(crate) fn stage_of(
    config: &Config,
    stage: Option<&str>,
    file_name: &str,
) -> Result<Option<Config>, SynthError> {
    let found = match stage {
        None if config.stages.is_empty() => return Ok(None),
        None => None,
        Some(name) => config.stage(name, file_name)?,
    };
    found.map(Some).ok_or_else(|| SynthError::Stage {
        asked: stage.map(str::to_owned),
        known: config.stage_names().map(str::to_owned).collect(),
    })
}

/// What is wrong with the stage that was asked for.
pub(crate) fn stage_fault(asked: Option<&str>) -> String {
    match asked {
        Some(name) => format!("the configuration has no stage `{name}`"),
        None => "the configuration has stages: say which stage is meant".to_owned(),
    }
}

/// What to do about it.
pub(crate) fn stage_help(known: &[String]) -> String {
    match known {
        [] => "it has none: leave out --stage (and CELLAR_STAGE)".to_owned(),
        known => format!("pass --stage (or set CELLAR_STAGE): {}", known.join(", ")),
    }
}

fn read(path: &Path) -> Result<Option<String>, SynthError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(SynthError::ConfigEncoding { path: path.to_owned() })
        }
        Err(cause) => Err(SynthError::Io { what: "read", path: path.to_owned(), cause }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_configuration_upwards_is_used() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stack: books\n").unwrap();
        let project = Project::from_nearest(&deep).unwrap();
        assert_eq!(project.config.stack, "books");
        assert_eq!(project.folder, root.path());
    }

    #[test]
    fn without_one_the_defaults_hold_and_the_state_stays_where_it_is() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(Project::from_nearest(&deep).unwrap().folder, deep);
        fs::create_dir_all(root.path().join(STATE_FOLDER)).unwrap();
        let project = Project::from_nearest(&deep).unwrap();
        assert_eq!((project.folder.as_path(), project.config), (root.path(), Config::default()));
    }

    #[test]
    fn what_others_may_have_written_is_used_only_if_it_is_named() {
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
        let named = Named { file: Some(&file), stage: None };
        assert_eq!(Project::find(named).unwrap().config.stack, "theirs");
        fs::remove_file(&file).unwrap();
        fs::create_dir(root.path().join(STATE_FOLDER)).unwrap();
        assert!(Project::from_nearest(&deep).is_ok());
        open(&root.path().join(STATE_FOLDER));
        let refused = Project::from_nearest(&deep).unwrap_err();
        assert!(matches!(refused, SynthError::Stranger(_)), "{refused}");
    }

    #[test]
    fn a_configuration_that_is_wrong_is_not_skipped() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stak: books\n").unwrap();
        let error = Project::from_nearest(root.path()).unwrap_err().to_string();
        assert!(error.contains("did you mean `stack`"), "{error}");
    }

    #[test]
    fn a_file_with_stages_is_read_with_one_of_them() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(CONFIG_FILE), "stack: books\nstages: {dev: , prod: }\n")
            .unwrap();
        let at = |stage| Project::from_nearest(root.path()).unwrap().at_stage(stage);
        let dev = at(Some("dev")).unwrap();
        assert_eq!((dev.config.stack.as_str(), dev.stage.as_deref()), ("books-dev", Some("dev")));
        for (asked, expected) in [(None, "say which stage"), (Some("test"), "no stage `test`")] {
            let error = at(asked).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            let SynthError::Stage { known, .. } = error else { panic!("{error}") };
            assert_eq!(known, ["dev", "prod"]);
        }
        fs::write(root.path().join(CONFIG_FILE), "stack: books\n").unwrap();
        assert_eq!(at(None).unwrap().stage, None);
        assert!(at(Some("dev")).is_err());
    }
}
