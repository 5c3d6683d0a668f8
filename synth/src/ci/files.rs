//! All files of a repository, and where they are.

use std::path::{Path, PathBuf};

use super::github::GithubRepository;
use super::pinned_cellar::PinnedCellar;
use super::role::DeployRole;
use super::workflows::render_workflows;
use super::{GITHUB_FOLDER, REVISION_FILE};
use crate::error::SynthError;
use crate::project::Project;

/// A crate of Cellar's workspace that is part of every revision.
const WORKSPACE_MEMBER: &str = "synth/Cargo.toml";
const WORKSPACE_MEMBER_NAME: &str = "name = \"synth\"";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CiFile {
    /// Path relative to the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The repository that gets the files.
pub(crate) struct RepositoryFiles<'a> {
    pub(crate) project: &'a Project,
    pub(crate) root: &'a Path,
    /// `None` in Cellar's own repository, whose workflows build what they check out.
    pub(crate) cellar: Option<&'a PinnedCellar>,
    /// Branch that is deployed.
    pub(crate) branch: &'a str,
}

impl RepositoryFiles<'_> {
    pub(crate) fn render(&self) -> Result<Vec<CiFile>, SynthError> {
        let mut files = render_workflows(self)?;
        if let Some(cellar) = self.cellar {
            let text = format!("{}\n", cellar.revision);
            files.push(CiFile { path: REVISION_FILE.into(), text });
        }
        let repository = GithubRepository::of_origin(self.root);
        let role = self.deploy_role(repository.as_ref());
        files.push(CiFile { path: self.role_path(), text: role.to_yaml(&self.role_path()) });
        Ok(files)
    }

    pub(crate) fn deploy_role<'role>(
        &'role self,
        repository: Option<&'role GithubRepository>,
    ) -> DeployRole<'role> {
        DeployRole {
            stack_name: &self.project.config.stack,
            kms_key_arn: self.project.config.encryption.key(),
            region: self.project.config.region.as_deref(),
            repository,
        }
    }

    /// Relative to the root of the repository.
    pub(crate) fn role_path(&self) -> PathBuf {
        Path::new(GITHUB_FOLDER).join(self.file_name("cellar-deploy-role", "yaml"))
    }

    /// Each stage has its own files.
    pub(super) fn file_name(&self, name: &str, extension: &str) -> String {
        match &self.project.stage {
            Some(stage) => format!("{name}-{stage}.{extension}"),
            None => format!("{name}.{extension}"),
        }
    }
}

/// Returns `folder` itself if it is in no repository.
pub(crate) fn repository_root(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

/// Returns whether a repository contains Cellar's workspace.
pub(crate) fn has_cellar_workspace(root: &Path) -> bool {
    let manifest = std::fs::read_to_string(root.join(WORKSPACE_MEMBER)).unwrap_or_default();
    manifest.lines().any(|line| line.trim_end() == WORKSPACE_MEMBER_NAME)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_workspace_of_cellar_is_recognized() {
        let root = tempfile::tempdir().unwrap();
        assert!(!has_cellar_workspace(root.path()));
        fs::create_dir(root.path().join("synth")).unwrap();
        for (manifest, expected) in
            [("[package]\nname = \"synth-pop\"\n", false), ("[package]\nname = \"synth\"\n", true)]
        {
            fs::write(root.path().join(WORKSPACE_MEMBER), manifest).unwrap();
            assert_eq!(has_cellar_workspace(root.path()), expected);
        }
        assert!(has_cellar_workspace(&crate::sources::source_folder()));
    }
}
