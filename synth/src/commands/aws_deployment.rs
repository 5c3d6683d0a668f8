//! Prepares an AWS deployment: checks credentials, creates the signing key pair, synthesizes the
//! template, and uploads bundle and template.

use std::collections::BTreeMap;

use cellar_stacks::cellar::{ARTIFACT_BUCKET, ARTIFACT_KEY};
use cellar_stacks::difference::Document;
use cellar_stacks::template::SourceLine;
use cellar_stacks::template::Template;

use super::follow::Follower;
use super::summary::move_malformed_profile;
use super::token::ensure_operator_key;
use crate::aws::{
    Artifact, ArtifactBucket, Aws, RollbackAlarms, StackState, UploadResult, WantedStack,
};
use crate::bundle::{self, CheckedBinary, Host};
use crate::cli::{AwsArguments, Output};
use crate::deployment::{STACK_TAG, is_cellar_stack};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

/// Tag key for the stage name.
const STAGE_TAG: &str = "cellar:stage";

/// An AWS deployment in preparation or in progress.
pub(super) struct AwsDeployment<'a> {
    pub(super) project: Project,
    /// Clients for the target account and region.
    pub(super) aws: Aws,
    /// Deployment options.
    pub(super) arguments: &'a AwsArguments,
    /// Printer for progress and results.
    pub(super) output: &'a Output,
    /// The new template.
    pub(super) template: DeployedTemplate,
}

/// A template to deploy.
pub(super) struct DeployedTemplate {
    /// The template as JSON.
    pub(super) text: String,
    /// Parsed template, for comparisons.
    pub(super) document: Document,
    /// Source location of each resource definition, by logical id.
    pub(super) sources: BTreeMap<String, SourceLine>,
}

impl DeployedTemplate {
    fn new(template: &Template) -> Self {
        let sources = template
            .resources()
            .filter_map(|(id, resource)| Some((id.to_owned(), resource.source_line?)))
            .collect();
        Self { text: template.to_json(), document: template.into(), sources }
    }

    /// Returns the BLAKE3 hash of the template text, in hexadecimal.
    pub(super) fn hash(text: &str) -> String {
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

impl<'a> AwsDeployment<'a> {
    /// Prepares a deployment: checks the credentials and the existing stack, creates the signing
    /// key pair if no key is configured, and synthesizes the template.
    ///
    /// # Errors
    /// Returns [`SynthError::ForeignStack`] if the existing stack with the configured name does not
    /// belong to Cellar.
    pub(super) async fn prepare(
        config: ConfigSelection<'_>,
        mut project: Project,
        arguments: &'a AwsArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        move_malformed_profile(&project)?;
        let step = output.step("Check the AWS credentials");
        let connected = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await;
        let aws = step.finish(connected.map_err(SynthError::from), Aws::place)?;
        if project.config.tokens.keys.is_empty() {
            let key = ensure_operator_key(&project)?;
            output.note(&key.text(&project));
            // Reload the configuration, which now contains the new key.
            project = Project::find(config)?;
        }
        let step = output.step("Synthesize the template");
        let template = DeployedTemplate::new(&synthesize(&project.config)?);
        step.succeed(&kilobytes(template.text.len()));
        let deployment = Self { project, aws, arguments, output, template };
        // Check the stack owner before uploading anything.
        deployment.own_stack(&deployment.project.config.stack).await?;
        Ok(deployment)
    }

    /// Returns the existing stack, or `None` if the stack does not exist.
    ///
    /// # Errors
    /// Returns [`SynthError::ForeignStack`] if the stack does not belong to Cellar.
    pub(super) async fn own_stack(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let state = self.aws.stack(stack).await?;
        match &state {
            Some(found) if !is_cellar_stack(stack, found) => {
                Err(SynthError::ForeignStack { stack: stack.to_owned(), place: self.aws.place() })
            }
            _ => Ok(state),
        }
    }

    /// Returns a follower that reports stack events during an operation.
    pub(super) fn follower(&self) -> Follower<'_> {
        Follower {
            aws: &self.aws,
            output: self.output,
            stack: &self.project.config.stack,
            command: "deploy",
            sources: &self.template.sources,
        }
    }

    /// Uploads bundle and template, and returns the desired stack state that refers to them.
    pub(super) async fn upload(&self) -> Result<WantedStack, SynthError> {
        let architecture = self.project.config.architecture_or(Host::this().architecture());
        let prebuilt = self.arguments.bundle.as_deref();
        let binary = bundle::check_or_build(prebuilt, architecture, self.output)?;
        let bucket = match &self.arguments.artifact_bucket {
            Some(name) => name.clone(),
            None => self.aws.artifact_bucket_name(),
        };
        self.ensure_bucket(&bucket).await?;
        let bundle_key = self.upload_bundle(binary, &bucket).await?;
        let template = self.template.text.clone();
        let template_url = upload_template(&self.aws, self.output, &bucket, template).await?;
        Ok(WantedStack {
            stack: self.project.config.stack.clone(),
            is_new: true,
            change_set_name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: vec![
                (ARTIFACT_BUCKET.to_owned(), bucket),
                (ARTIFACT_KEY.to_owned(), bundle_key),
            ],
            tags: self.tags(),
            express: self.arguments.express,
            rollback: RollbackAlarms::default(),
        })
    }

    /// Creates the artifact bucket, or restores drifted settings if the bucket exists.
    async fn ensure_bucket(&self, bucket: &str) -> Result<(), SynthError> {
        let step = self.output.step("Check the artifact bucket");
        let found = Box::pin(self.aws.ensure_artifact_bucket(bucket)).await;
        let found = step.finish(found.map_err(SynthError::from), |found| match found {
            ArtifactBucket::Created => format!("created {bucket}"),
            ArtifactBucket::Existing(repair) if repair.restored.is_empty() => bucket.to_owned(),
            ArtifactBucket::Existing(repair) => {
                format!("{bucket}, restored {}", repair.restored.join(", "))
            }
        })?;
        if let ArtifactBucket::Existing(repair) = found {
            for (setting, error) in repair.failed {
                let note = format!(
                    "The bucket {bucket} has no {setting}, and restoring this setting failed: {error}"
                );
                self.output.note(&note);
            }
        }
        Ok(())
    }

    /// Returns the stack tags, which CloudFormation propagates to all resources.
    fn tags(&self) -> Vec<(String, String)> {
        let mut tags = vec![(STACK_TAG.to_owned(), self.project.config.stack.clone())];
        if let Some(stage) = &self.project.stage {
            tags.push((STAGE_TAG.to_owned(), stage.clone()));
        }
        tags
    }

    /// Uploads the bundle and returns its key. Reuses an existing bundle with the same binary.
    async fn upload_bundle(
        &self,
        binary: CheckedBinary,
        bucket: &str,
    ) -> Result<String, SynthError> {
        let key = format!("bundles/{}", binary.bundle_name());
        if self.aws.has_artifact(bucket, &key).await? {
            self.output.note(&format!("The bundle {key} is already uploaded."));
            return Ok(key);
        }
        let zip = bundle::pack_with_progress(binary, self.output)?.zip;
        let size = kilobytes(zip.len());
        let step = self.output.step("Upload the bundle");
        let artifact = Artifact { key: key.clone(), bytes: zip };
        let uploaded = self.aws.put_artifact(bucket, artifact).await.map_err(SynthError::from);
        step.finish(uploaded, |()| size)?;
        Ok(key)
    }
}

/// Uploads a template under a content-addressed name and returns its URL.
pub(super) async fn upload_template(
    aws: &Aws,
    output: &Output,
    bucket: &str,
    template: String,
) -> Result<String, SynthError> {
    let key = format!("templates/{}.json", DeployedTemplate::hash(&template));
    let url = aws.artifact_url(bucket, &key);
    let size = kilobytes(template.len());
    let step = output.step("Upload the template");
    let uploaded = aws.upload(bucket, Artifact { key, bytes: template.into_bytes() }).await;
    step.finish(uploaded.map_err(SynthError::from), |uploaded| match uploaded {
        UploadResult::Uploaded => size,
        UploadResult::AlreadyUploaded => "already uploaded".to_owned(),
    })?;
    Ok(url)
}

fn kilobytes(bytes: usize) -> String {
    format!("{} KB", bytes.div_ceil(1_024))
}
