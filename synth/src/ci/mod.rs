//! Files with which a GitHub repository reviews and deploys a stack: two workflows, the role that
//! deploys, and, outside Cellar's own repository, the commit of Cellar that the workflows build.

mod files;
mod github;
mod pinned_cellar;
mod role;
mod workflows;

pub(crate) use files::{CiFile, RepositoryFiles, has_cellar_workspace, repository_root};
pub(crate) use github::GithubRepository;
pub(crate) use pinned_cellar::PinnedCellar;

/// Directory of the files, relative to the root of the repository.
const GITHUB_FOLDER: &str = ".github";
/// The only place that names the commit of Cellar, relative to the root of the repository. A pull
/// request that changes it is compared with the commit that its base names.
const REVISION_FILE: &str = ".github/cellar-revision";
/// The environment can be configured to require approval. The deploy role trusts only this
/// environment.
pub(crate) const DEPLOY_ENVIRONMENT: &str = "production";
