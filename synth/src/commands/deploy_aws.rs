//! `synth deploy` into AWS: the bundle, a change set, a yes, the events, the smoke test.

use std::path::Path;
use std::time::Duration;

use cellar::Client;
use cellar_runtime::token::KeyPair;
use cellar_stacks::cellar::{ARTIFACT_BUCKET, ARTIFACT_KEY, OUTPUT_API_URL};
use tokio::time::{Instant, sleep};

use super::changes;
use super::confirm::confirm;
use super::follow::{delete_stack, follow};
use super::remember::{self, DeployedToAws};
use super::template::synthesize;
use super::token;
use crate::aws::{Artifact, Aws, AwsError, ChangeSet, StackState, Uploaded, Wanted};
use crate::bundle::{Fit, Host};
use crate::cli::{DeployArguments, Output};
use crate::deployment::{Approval, End, Ground, approval, ground};
use crate::error::SynthError;
use crate::project::Project;
use crate::smoke::{self, Target};
use crate::tokens::{mint_for_operator, read_key};

/// How long a new URL may take until it answers.
const SETTLES: Duration = Duration::from_secs(90);
const SETTLES_POLL: Duration = Duration::from_secs(1);
/// The tag of all resources that says which stack they are of.
const STACK_TAG: &str = "cellar:stack";

/// Deploys into AWS, or into an emulator of it.
pub(crate) async fn run(
    config: Option<&Path>,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let mut project = Project::find(config)?;
    remember::check_profile(&project)?;
    let step = output.step("Ask AWS who deploys");
    let aws = Aws::connect(arguments.endpoint_url.as_deref()).await.map_err(SynthError::from);
    let aws = step.ended(aws, |aws| format!("account {}, {}", aws.account, aws.region))?;
    if project.config.tokens.keys.is_empty() {
        let own = token::ensure_key(&project)?;
        output.note(&own.text(&project));
        project = Project::find(config)?;
    }
    let deployment = Deployment { project, aws, arguments, output };
    let wanted = deployment.upload().await?;
    let state = deployment.change(wanted).await?;
    deployment.finish(&state).await
}

/// A deployment on its way.
struct Deployment<'a> {
    project: Project,
    aws: Aws,
    arguments: &'a DeployArguments,
    output: &'a Output,
}

impl Deployment<'_> {
    /// Brings the template and the bundle to where CloudFormation finds them.
    async fn upload(&self) -> Result<Wanted, SynthError> {
        let step = self.output.step("Synthesize the template");
        let template = synthesize(&self.project.config)?.to_json();
        step.done(&format!("{} KB", template.len().div_ceil(1_024)));
        let architecture = self.project.config.architecture_or(Host::this().architecture());
        let fit = Fit::make(self.arguments.bundle.as_deref(), architecture, self.output)?;
        let named = self.arguments.artifact_bucket.clone();
        let bucket = named.unwrap_or_else(|| self.aws.artifact_bucket_name());
        let step = self.output.step("Find the bucket of the bundles");
        let made = self.aws.ensure_artifact_bucket(&bucket).await.map_err(SynthError::from);
        step.ended(made, |made| format!("{}{bucket}", if *made { "made " } else { "" }))?;
        let bundle_key = self.upload_bundle(fit, &bucket).await?;
        let template_url = self.upload_template(template, &bucket).await?;
        let stack = self.project.config.stack.clone();
        Ok(Wanted {
            is_new: true,
            name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: vec![
                (ARTIFACT_BUCKET.to_owned(), bucket),
                (ARTIFACT_KEY.to_owned(), bundle_key),
            ],
            tags: vec![(STACK_TAG.to_owned(), stack.clone())],
            stack,
        })
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

    /// Brings the template into the bucket; gives where it is.
    async fn upload_template(&self, template: String, bucket: &str) -> Result<String, SynthError> {
        let bytes = template.into_bytes();
        let key = format!("templates/{}.json", blake3::hash(&bytes).to_hex());
        let (url, kb) = (self.aws.artifact_url(bucket, &key), bytes.len().div_ceil(1_024));
        let step = self.output.step("Upload the template");
        let uploaded = self.aws.upload(bucket, Artifact { key, bytes }).await;
        let describe = |uploaded: &Uploaded| match uploaded {
            Uploaded::Now => format!("{kb} KB"),
            Uploaded::Before => "it was there".to_owned(),
        };
        step.ended(uploaded.map_err(SynthError::from), describe)?;
        Ok(url)
    }

    /// Changes the stack, if there is something to change and nobody is against it.
    async fn change(&self, wanted: Wanted) -> Result<StackState, SynthError> {
        let stack = wanted.stack.clone();
        let before = self.ground(&stack).await?;
        let wanted = Wanted { is_new: before.is_none(), ..wanted };
        let step = self.output.step("Look what changes");
        let change_set = self.aws.create_change_set(&wanted).await.map_err(SynthError::from);
        let describe = |set: &Option<ChangeSet>| match set {
            Some(set) => format!("{} resources", set.changes.len()),
            None => "nothing".to_owned(),
        };
        let Some(change_set) = step.ended(change_set, describe)? else {
            return before
                .ok_or_else(|| AwsError::Reply { missing: "what a new stack has" }.into());
        };
        changes::show(&change_set.changes, self.output);
        if let Err(refused) = self.approve(&change_set) {
            self.aws.delete_change_set(&change_set.id).await?;
            return Err(refused);
        }
        self.execute(&change_set).await
    }

    /// The stack as it is, if it is there; whatever is in the way is taken out of it or told.
    async fn ground(&self, stack: &str) -> Result<Option<StackState>, SynthError> {
        let state = self.aws.stack(stack).await?;
        let status = state.as_ref().map(|state| state.status.clone());
        let told = |status: Option<String>| status.unwrap_or_default();
        match ground(status.as_deref()) {
            Ground::New => Ok(None),
            Ground::Update => Ok(state),
            Ground::Busy => {
                Err(SynthError::StackBusy { stack: stack.to_owned(), status: told(status) })
            }
            Ground::Stuck => {
                Err(SynthError::StackStuck { stack: stack.to_owned(), status: told(status) })
            }
            Ground::NeverMade => {
                let Some(state) = state else { return Ok(None) };
                self.output.note("The stack was never made whole: what is left of it is deleted.");
                delete_stack(&self.aws, &state, self.output).await.map(|()| None)
            }
        }
    }

    fn approve(&self, change_set: &ChangeSet) -> Result<(), SynthError> {
        match approval(&change_set.changes, &self.arguments.allow_loss) {
            Approval::Refused(ids) => Err(SynthError::DataWouldBeLost { ids: ids.join(", ") }),
            Approval::Ask(ids) if !self.arguments.yes => {
                let question = format!(
                    "{} of these changes need a yes, since they say who may do what or make \
                     something anew ({}). Deploy?",
                    ids.len(),
                    some_of(&ids)
                );
                confirm("the deployment", &question)
            }
            Approval::Ask(_) | Approval::Free => Ok(()),
        }
    }

    async fn execute(&self, change_set: &ChangeSet) -> Result<StackState, SynthError> {
        let (aws, token) = (&self.aws, uuid::Uuid::new_v4().to_string());
        let begin = Box::pin(aws.execute_change_set(change_set, &token));
        follow(aws, &change_set.stack_id, begin, End::Done, self.output).await
    }

    /// Checks what was deployed, remembers how to reach it, and says what to do next.
    async fn finish(&self, state: &StackState) -> Result<(), SynthError> {
        let url = state.outputs.get(OUTPUT_API_URL);
        let url = url.ok_or(SynthError::NoOutput { output: OUTPUT_API_URL })?;
        let url = self.aws.reached_url(url);
        let pair = self.own_key()?;
        let token = pair.as_ref().map(|pair| mint_for_operator(pair, &self.project.config));
        let token = token.transpose()?;
        match (&pair, &token) {
            (Some(pair), Some((token, _))) if !self.arguments.no_smoke => {
                self.smoke(&url, token, pair).await?;
            }
            (None, _) => self.output.note(
                "The smoke test needs a private key of this stack, and there is none here: \
                 `synth smoke --token TOKEN` runs it.",
            ),
            _ => {}
        }
        let deployed = DeployedToAws {
            url: &url,
            stack_id: &state.id,
            token: token.as_ref().map(|(token, expires_s)| (token.as_str(), *expires_s)),
            account: &self.aws.account,
            region: &self.aws.region,
        };
        remember::remember_aws(&self.project, &deployed, self.output)
    }

    /// The operator's key, if the stack knows it.
    fn own_key(&self) -> Result<Option<KeyPair>, SynthError> {
        let path = self.project.operator_key();
        if !path.exists() {
            return Ok(None);
        }
        let pair = read_key(&path)?;
        let public = pair.public();
        let known = self.project.config.tokens.keys.iter().any(|key| key.id == public.id);
        Ok(known.then_some(pair))
    }

    async fn smoke(&self, url: &str, token: &str, pair: &KeyPair) -> Result<(), SynthError> {
        let step = self.output.step("Wait until the URL answers");
        let client = Client::new(url, None)?;
        let begun = Instant::now();
        while begun.elapsed() < SETTLES && !client.health().await.is_ok_and(|health| health.ok) {
            sleep(SETTLES_POLL).await;
        }
        step.done(url);
        let signer = Some((pair, &self.project.config));
        smoke::step(&Target { url, token, signer }, self.output).await
    }
}

/// Some names of many, for a question.
fn some_of(ids: &[String]) -> String {
    const SOME: usize = 5;
    let some: Vec<&str> = ids.iter().take(SOME).map(String::as_str).collect();
    let more = if ids.len() > SOME { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}
