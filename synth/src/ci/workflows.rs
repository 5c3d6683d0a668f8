//! The workflows of GitHub Actions.

use std::path::Path;

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::Value;

use super::files::{CiFile, RepositoryFiles};
use super::{DEPLOY_ENVIRONMENT, GITHUB_FOLDER, REVISION_FILE};
use crate::difference::marker;
use crate::error::SynthError;
use crate::project::CONFIG_FILE;

/// File name (without extension) and Handlebars template of each workflow.
const WORKFLOWS: [(&str, &str); 2] = [
    ("cellar-diff", include_str!("../../../templates/ci/cellar-diff.yml.hbs")),
    ("cellar-deploy", include_str!("../../../templates/ci/cellar-deploy.yml.hbs")),
];

/// Characters that start a GitHub expression. In inserted text, they are replaced by
/// [`BROKEN_EXPRESSION_START`], so that GitHub does not evaluate the text.
const EXPRESSION_START: &str = "${{";
const BROKEN_EXPRESSION_START: &str = "$ {{";

/// Strings that may need quotes are stored as quoted YAML scalars.
#[derive(Serialize)]
struct WorkflowView {
    diff_name: String,
    deploy_name: String,
    diff_group: String,
    deploy_group: String,
    marker: String,
    config: String,
    stage: Option<String>,
    branch: String,
    environment: &'static str,
    rust_version: &'static str,
    role_file: String,
    /// Repository of Cellar, or `None` in Cellar's own repository.
    cellar: Option<String>,
    revision_file: &'static str,
}

pub(super) fn render_workflows(files: &RepositoryFiles<'_>) -> Result<Vec<CiFile>, SynthError> {
    let view = WorkflowView::new(files);
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let folder = Path::new(GITHUB_FOLDER).join("workflows");
    let mut workflows = Vec::with_capacity(WORKFLOWS.len());
    for (name, template) in WORKFLOWS {
        let path = folder.join(files.file_name(name, "yml"));
        workflows.push(CiFile { path, text: templates.render_template(template, &view)? });
    }
    Ok(workflows)
}

impl WorkflowView {
    fn new(files: &RepositoryFiles<'_>) -> Self {
        let RepositoryFiles { project, root, cellar, branch } = files;
        let stack_name = &project.config.stack;
        let config_path = project.config_file.strip_prefix(root).unwrap_or(Path::new(CONFIG_FILE));
        Self {
            diff_name: yaml_scalar(&format!("Cellar: diff of {stack_name}")),
            deploy_name: yaml_scalar(&format!("Cellar: deploy {stack_name}")),
            diff_group: format!("cellar-diff-{stack_name}"),
            deploy_group: format!("cellar-deploy-{stack_name}"),
            marker: yaml_scalar(&marker(stack_name)),
            config: yaml_scalar(&config_path.to_string_lossy()),
            stage: project.stage.as_deref().map(yaml_scalar),
            branch: yaml_scalar(branch),
            environment: DEPLOY_ENVIRONMENT,
            rust_version: env!("CARGO_PKG_RUST_VERSION"),
            role_file: files.role_path().display().to_string(),
            cellar: cellar.map(|cellar| cellar.repository.to_string()),
            revision_file: REVISION_FILE,
        }
    }
}

/// Quotes text as a YAML scalar by encoding the text as a JSON string, which is valid YAML. If the
/// text contains the start of a GitHub expression, breaks it up, so that GitHub does not evaluate
/// the expression.
fn yaml_scalar(text: &str) -> String {
    Value::from(text.replace(EXPRESSION_START, BROKEN_EXPRESSION_START)).to_string()
}

#[cfg(test)]
mod tests;
