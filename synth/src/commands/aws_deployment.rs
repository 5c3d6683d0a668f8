//! Prepares a deployment to AWS: checks the credentials, creates the signing key pair, synthesizes
//! the template, and uploads the bundle and the template.

use std::collections::BTreeMap;

use cellar_stacks::cellar::{ARTIFACT_BUCKET, ARTIFACT_KEY};
use cellar_stacks::difference::Document;
use cellar_stacks::template::SourceLine;
use cellar_stacks::template::Template;

use super::follow::Follower;
use super::summary::move_malformed_profile;
use super::token::ensure_operator_key;
use crate::aws::{
    Artifact, ArtifactBucket, Aws, AwsError, DesiredStack, RollbackAlarms, StackState, UploadResult,
};
use crate::bundle::{self, CheckedBinary, Host};
use crate::cli::{AwsArguments, Output};
use crate::deployment::{STACK_TAG, has_function_urls, is_cellar_stack};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

const STAGE_TAG: &str = "cellar:stage";
const BYTES_PER_KB: usize = 1_024;

pub(super) struct AwsDeployment<'a> {
    pub(super) project: Project,
    pub(super) aws: Aws,
    pub(super) arguments: &'a AwsArguments,
    pub(super) output: &'a Output,
    pub(super) template: NewTemplate,
}

pub(super) struct NewTemplate {
    /// The template as JSON.
    pub(super) text: String,
    pub(super) document: Document,
    /// Source location of each resource definition, by logical id.
    pub(super) sources: BTreeMap<String, SourceLine>,
}

impl NewTemplate {
    fn from_template(template: &Template) -> Self {
        let sources = template
            .resources()
            .filter_map(|(id, resource)| Some((id.to_owned(), resource.source_line?)))
            .collect();
        Self { text: template.to_json(), document: template.into(), sources }
    }
}

/// Returns the BLAKE3 hash of a template's text in hexadecimal.
pub(super) fn template_hash(template_text: &str) -> String {
    blake3::hash(template_text.as_bytes()).to_hex().to_string()
}

impl<'a> AwsDeployment<'a> {
    /// Checks the credentials and the existing stack, creates the signing key pair if no key is
    /// configured, and synthesizes the template.
    ///
    /// # Errors
    ///
    /// Returns [`SynthError::ForeignStack`] if the existing stack with the configured name does not
    /// belong to Cellar.
    pub(super) async fn prepare(
        config_selection: ConfigSelection<'_>,
        mut project: Project,
        arguments: &'a AwsArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        move_malformed_profile(&project)?;
        let step = output.start_step("Check the AWS credentials");
        let connection = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await;
        let aws = step.finish(connection, Aws::account_and_region)?;
        if !has_function_urls(&aws.region) {
            return Err(SynthError::RegionWithoutFunctionUrls { region: aws.region });
        }
        if project.config.tokens.keys.is_empty() {
            let operator_key = ensure_operator_key(&project)?;
            output.print_note(&operator_key.describe(&project));
            // Reload the configuration, which now contains the new key.
            project = Project::find(config_selection)?;
        }
        let step = output.start_step("Synthesize the template");
        let template = NewTemplate::from_template(&synthesize(&project.config)?);
        step.succeed(&format_kilobytes(template.text.len()));
        let deployment = Self { project, aws, arguments, output, template };
        // Check that the existing stack belongs to Cellar before uploading anything.
        deployment.find_cellar_stack(&deployment.project.config.stack).await?;
        Ok(deployment)
    }

    /// Returns the existing stack, or `None` if the stack does not exist.
    ///
    /// # Errors
    /// Returns [`SynthError::ForeignStack`] if the stack does not belong to Cellar.
    pub(super) async fn find_cellar_stack(
        &self,
        stack_name: &str,
    ) -> Result<Option<StackState>, SynthError> {
        let Some(stack) = self.aws.find_stack(stack_name).await? else { return Ok(None) };
        if !is_cellar_stack(stack_name, &stack) {
            return Err(SynthError::ForeignStack {
                stack: stack_name.to_owned(),
                account_and_region: self.aws.account_and_region(),
            });
        }
        Ok(Some(stack))
    }

    pub(super) fn follower(&self) -> Follower<'_> {
        Follower {
            aws: &self.aws,
            output: self.output,
            stack_name: &self.project.config.stack,
            command: "deploy",
            sources: &self.template.sources,
        }
    }

    pub(super) async fn upload_artifacts(&self) -> Result<DesiredStack, SynthError> {
        let architecture = self.project.config.architecture_or(Host::current().architecture());
        let prebuilt_bundle = self.arguments.bundle.as_deref();
        let binary = bundle::check_or_build(prebuilt_bundle, architecture, self.output)?;
        let bucket = self.ensure_artifact_bucket().await?;
        let bundle_key = self.upload_bundle(binary, &bucket).await?;
        let template_text = self.template.text.clone();
        let template_url = upload_template(&self.aws, self.output, &bucket, template_text).await?;
        Ok(DesiredStack {
            stack_name: self.project.config.stack.clone(),
            is_new: true,
            change_set_name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: vec![
                (ARTIFACT_BUCKET.to_owned(), bucket),
                (ARTIFACT_KEY.to_owned(), bundle_key),
            ],
            tags: self.stack_tags(),
            express: self.arguments.express,
            reverts_drift: false,
            rollback: RollbackAlarms::default(),
        })
    }

    /// If the bucket exists and its settings have drifted, restores the settings. Returns the name
    /// of the bucket.
    async fn ensure_artifact_bucket(&self) -> Result<String, SynthError> {
        let step = self.output.start_step("Check the artifact bucket");
        let result = Box::pin(async {
            let bucket = match &self.arguments.artifact_bucket {
                Some(configured_bucket) => configured_bucket.clone(),
                None => self.aws.default_artifact_bucket().await?,
            };
            let outcome = self.aws.ensure_artifact_bucket(&bucket).await?;
            Ok::<_, AwsError>((bucket, outcome))
        });
        let (bucket, outcome) = step
            .finish(result.await, |(bucket, outcome)| describe_artifact_bucket(bucket, outcome))?;
        if let ArtifactBucket::Existing(settings_repair) = outcome {
            for (setting, error) in settings_repair.failed {
                let note = format!(
                    "The bucket {bucket} has no {setting}, and restoring this setting failed: {error}"
                );
                self.output.print_note(&note);
            }
        }
        Ok(bucket)
    }

    fn stack_tags(&self) -> Vec<(String, String)> {
        let mut tags = vec![(STACK_TAG.to_owned(), self.project.config.stack.clone())];
        if let Some(stage) = &self.project.stage {
            tags.push((STAGE_TAG.to_owned(), stage.clone()));
        }
        tags
    }

    /// If a bundle with the same binary was uploaded before, reuses that bundle.
    async fn upload_bundle(
        &self,
        binary: CheckedBinary,
        bucket: &str,
    ) -> Result<String, SynthError> {
        let key = format!("bundles/{}", binary.bundle_name());
        if self.aws.has_artifact(bucket, &key).await? {
            self.output.print_note(&format!("The bundle {key} is already uploaded."));
            return Ok(key);
        }
        let zip = bundle::pack_with_progress(binary, self.output)?.zip;
        let size_text = format_kilobytes(zip.len());
        let step = self.output.start_step("Upload the bundle");
        let artifact = Artifact { key: key.clone(), bytes: zip };
        let result = self.aws.put_artifact(bucket, artifact).await;
        step.finish(result, |()| size_text)?;
        Ok(key)
    }
}

fn describe_artifact_bucket(bucket: &str, outcome: &ArtifactBucket) -> String {
    match outcome {
        ArtifactBucket::Created => format!("created {bucket}"),
        ArtifactBucket::Existing(repair) if repair.restored.is_empty() => bucket.to_owned(),
        ArtifactBucket::Existing(repair) => {
            format!("{bucket}, restored {}", repair.restored.join(", "))
        }
    }
}

pub(super) async fn upload_template(
    aws: &Aws,
    output: &Output,
    bucket: &str,
    template_text: String,
) -> Result<String, SynthError> {
    let key = format!("templates/{}.json", template_hash(&template_text));
    let url = aws.artifact_url(bucket, &key);
    let size_text = format_kilobytes(template_text.len());
    let step = output.start_step("Upload the template");
    let artifact = Artifact { key, bytes: template_text.into_bytes() };
    let result = aws.upload_unless_present(bucket, artifact).await;
    step.finish(result, |upload| match upload {
        UploadResult::Uploaded => size_text,
        UploadResult::AlreadyUploaded => "already uploaded".to_owned(),
    })?;
    Ok(url)
}

/// Formats a size in KB, rounded up.
pub(super) fn format_kilobytes(byte_length: usize) -> String {
    format!("{} KB", byte_length.div_ceil(BYTES_PER_KB))
}
