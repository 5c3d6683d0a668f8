//! What comes before any change of a stack in AWS: who deploys, the bundle and the template in their
//! bucket.

use std::collections::BTreeMap;

use cellar_stacks::cellar::{ARTIFACT_BUCKET, ARTIFACT_KEY};
use cellar_stacks::template::Place;

use super::remember;
use super::template::synthesize;
use super::token;
use crate::aws::{Artifact, Aws, Found, Uploaded, Wanted, Watch};
use crate::bundle::{Fit, Host};
use crate::cli::{AwsArguments, Output};
use crate::deployment::STACK_TAG;
use crate::error::SynthError;
use crate::project::{Named, Project};

/// The tag that says which stage it is.
const STAGE_TAG: &str = "cellar:stage";

/// A deployment on its way.
pub(super) struct Deployment<'a> {
    /// The folder and its configuration.
    pub(super) project: Project,
    /// Where to.
    pub(super) aws: Aws,
    /// How.
    pub(super) arguments: &'a AwsArguments,
    /// Who is told.
    pub(super) output: &'a Output,
    /// The new template.
    pub(super) template: Template,
}

/// A template as it is deployed.
pub(super) struct Template {
    /// JSON.
    pub(super) text: String,
    /// The same to be compared.
    pub(super) document: cellar_stacks::difference::Document,
    /// Where in the source each resource was made, by its logical id.
    pub(super) made_in: BTreeMap<String, Place>,
}

impl Template {
    /// BLAKE3 of a template's text, hexadecimal: its name.
    pub(super) fn hash(text: &str) -> String {
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

impl<'a> Deployment<'a> {
    /// Finds out who deploys what; makes the key that signs tokens if there is none.
    pub(super) async fn begin(
        config: Named<'_>,
        mut project: Project,
        arguments: &'a AwsArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        remember::check_profile(&project)?;
        let step = output.step("Ask AWS who deploys");
        let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref())
            .await
            .map_err(SynthError::from);
        let aws = step.ended(aws, Aws::place)?;
        if project.config.tokens.keys.is_empty() {
            let own = token::ensure_key(&project)?;
            output.note(&own.text(&project));
            // The key is in the file now.
            project = Project::find(config)?;
        }
        let step = output.step("Synthesize the template");
        let template = synthesize(&project.config)?;
        let (text, document) = (template.to_json(), (&template).into());
        step.done(&format!("{} KB", text.len().div_ceil(1_024)));
        let made_in = template.resources();
        let made_in = made_in.filter_map(|(id, resource)| Some((id.to_owned(), resource.made_in?)));
        let template = Template { text, document, made_in: made_in.collect() };
        let deployment = Self { project, aws, arguments, output, template };
        // Before anything is uploaded for it.
        deployment.own_stack(&deployment.project.config.stack).await?;
        Ok(deployment)
    }

    /// Brings the bundle and the template to where CloudFormation finds them.
    pub(super) async fn upload(&self) -> Result<Wanted, SynthError> {
        let architecture = self.project.config.architecture_or(Host::this().architecture());
        let fit = Fit::make(self.arguments.bundle.as_deref(), architecture, self.output)?;
        let named = self.arguments.artifact_bucket.clone();
        let bucket = named.unwrap_or_else(|| self.aws.artifact_bucket_name());
        self.find_bucket(&bucket).await?;
        let bundle_key = self.upload_bundle(fit, &bucket).await?;
        let template = self.template.text.clone();
        let template_url = upload_template(&self.aws, self.output, &bucket, template).await?;
        let stack = self.project.config.stack.clone();
        Ok(Wanted {
            is_new: true,
            name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: vec![
                (ARTIFACT_BUCKET.to_owned(), bucket),
                (ARTIFACT_KEY.to_owned(), bundle_key),
            ],
            tags: self.tags(),
            stack,
            express: self.arguments.express,
            watch: Watch::default(),
        })
    }

    /// Finds the bucket of the bundles, or makes it.
    async fn find_bucket(&self, bucket: &str) -> Result<(), SynthError> {
        let step = self.output.step("Find the bucket of the bundles");
        let found = Box::pin(self.aws.ensure_artifact_bucket(bucket)).await;
        let found = step.ended(found.map_err(SynthError::from), |found| match found {
            Found::Made => format!("made {bucket}"),
            Found::Before(put_back) if !put_back.done.is_empty() => {
                format!("{bucket}, put back {}", put_back.done.join(", "))
            }
            Found::Before(_) => bucket.to_owned(),
        })?;
        if let Found::Before(put_back) = found {
            for (setting, error) in put_back.failed {
                let lost = format!("The bucket {bucket} is without {setting}");
                self.output.note(&format!("{lost}, and it could not be put back: {error}"));
            }
        }
        Ok(())
    }

    /// Tags of the stack, which CloudFormation gives to all its resources.
    fn tags(&self) -> Vec<(String, String)> {
        let stack = (STACK_TAG.to_owned(), self.project.config.stack.clone());
        let stage = self.project.stage.clone().map(|stage| (STAGE_TAG.to_owned(), stage));
        [stack].into_iter().chain(stage).collect()
    }

    /// Brings the bundle into the bucket, unless one of the same binary is there; gives its key.
    async fn upload_bundle(&self, fit: Fit, bucket: &str) -> Result<String, SynthError> {
        let key = format!("bundles/{}", fit.name());
        if self.aws.has_artifact(bucket, &key).await? {
            self.output.note(&format!("The bundle {key} is there."));
            return Ok(key);
        }
        let artifact = Artifact { key: key.clone(), bytes: fit.pack_as_step(self.output)?.zip };
        let step = self.output.step("Upload the bundle");
        let kb = artifact.bytes.len().div_ceil(1_024);
        let put = self.aws.put_artifact(bucket, artifact).await.map_err(SynthError::from);
        step.ended(put, |()| format!("{kb} KB"))?;
        Ok(key)
    }
}

/// Brings a template into the bucket, under the name of its hash; gives where it is.
pub(super) async fn upload_template(
    aws: &Aws,
    output: &Output,
    bucket: &str,
    template: String,
) -> Result<String, SynthError> {
    let key = format!("templates/{}.json", Template::hash(&template));
    let (url, kb) = (aws.artifact_url(bucket, &key), template.len().div_ceil(1_024));
    let step = output.step("Upload the template");
    let uploaded = aws.upload(bucket, Artifact { key, bytes: template.into_bytes() }).await;
    let describe = |uploaded: &Uploaded| match uploaded {
        Uploaded::Now => format!("{kb} KB"),
        Uploaded::Before => "it was there".to_owned(),
    };
    step.ended(uploaded.map_err(SynthError::from), describe)?;
    Ok(url)
}
