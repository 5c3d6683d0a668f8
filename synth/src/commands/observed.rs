//! Finds the deployed stack that a command operates on.

use cellar::files::FileError;
use cellar::profile::Profile;
use cellar_stacks::constructs::ResourceType;

use crate::aws::{Aws, Resource, StackState};
use crate::cli::LocationArguments;
use crate::deployment::{StackCondition, is_cellar_stack, stack_condition};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StackLocation {
    Local,
    Aws,
}

pub(super) struct ObservedStack {
    pub(super) name: String,
    pub(super) aws: Aws,
    pub(super) state: StackState,
    pub(super) resources: Vec<Resource>,
    /// `deletion_protection` of the configuration.
    pub(super) deletion_protection: bool,
}

impl StackLocation {
    /// The default is the target of the last deployment.
    pub(super) fn selected_by(
        config_selection: ConfigSelection<'_>,
        arguments: &LocationArguments,
    ) -> Result<Self, SynthError> {
        if arguments.local {
            return Ok(Self::Local);
        }
        if arguments.aws || arguments.endpoint_url.is_some() {
            return Ok(Self::Aws);
        }
        let project = Project::find_or_use_defaults(config_selection)?;
        let was_deployed_to_aws = last_deployed_arn(&project)?.is_some();
        Ok(if was_deployed_to_aws { Self::Aws } else { Self::Local })
    }
}

/// Returns `None` if the last deployment was not to AWS. Ignores a profile that is malformed or
/// writable by another user.
fn last_deployed_arn(project: &Project) -> Result<Option<String>, SynthError> {
    match Profile::find(&project.folder) {
        Ok(found) => {
            let identity = found.and_then(|(_, profile)| profile.identity);
            Ok(identity.filter(|identity| identity.starts_with("arn:")))
        }
        Err(FileError::Malformed { .. } | FileError::Foreign { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns [`SynthError::NoStack`] if the stack does not exist or consists only of change sets.
pub(super) async fn deployed_stack(project: &Project, aws: &Aws) -> Result<StackState, SynthError> {
    let stack_name = &project.config.stack;
    if let Some(stack) = aws.find_stack(stack_name).await?
        && stack_condition(Some(&stack.status)) != StackCondition::Missing
    {
        return Ok(stack);
    }
    let elsewhere = last_deployed_arn(project)?.and_then(|arn| advice_if_elsewhere(&arn, aws));
    Err(SynthError::NoStack {
        stack: stack_name.clone(),
        account_and_region: aws.account_and_region(),
        elsewhere,
    })
}

pub(super) async fn deployed_cellar_stack(
    project: &Project,
    aws: &Aws,
) -> Result<StackState, SynthError> {
    let stack = deployed_stack(project, aws).await?;
    let stack_name = &project.config.stack;
    if !is_cellar_stack(stack_name, &stack) {
        return Err(SynthError::ForeignStack {
            stack: stack_name.clone(),
            account_and_region: aws.account_and_region(),
        });
    }
    Ok(stack)
}

impl ObservedStack {
    pub(super) async fn find(
        config_selection: ConfigSelection<'_>,
        endpoint_url: Option<&str>,
    ) -> Result<Self, SynthError> {
        let project = Project::find(config_selection)?;
        let name = project.config.stack.clone();
        let aws = Aws::connect(&project.config, endpoint_url).await?;
        let state = deployed_stack(&project, &aws).await?;
        let resources = aws.stack_resources(&state.id).await?;
        let deletion_protection = project.config.deletion_protection;
        Ok(Self { name, aws, state, resources, deletion_protection })
    }

    /// Returns `None` if the stack does not contain the resource or has not created it.
    pub(super) fn physical_id(&self, logical_id: &str) -> Option<&str> {
        let resource = self.resources.iter().find(|resource| resource.logical_id == logical_id)?;
        resource.physical_id.as_deref()
    }

    pub(super) fn ids_of_type<'a>(
        &'a self,
        resource_type: ResourceType,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        self.resources
            .iter()
            .filter(move |resource| resource.resource_type == resource_type.name())
            .filter_map(|resource| {
                Some((resource.logical_id.as_str(), resource.physical_id.as_deref()?))
            })
    }
}

fn advice_if_elsewhere(arn: &str, aws: &Aws) -> Option<String> {
    let (region, account) = region_and_account(arn)?;
    if region == aws.region && account == aws.account {
        return None;
    }
    Some(format!(
        "the last deployment from here went to account {account}, {region}: set AWS_PROFILE and \
         AWS_REGION to use it"
    ))
}

fn region_and_account(arn: &str) -> Option<(&str, &str)> {
    let mut parts = arn.split(':').skip(3);
    Some((parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_contains_region_and_account() {
        let arn = "arn:aws:cloudformation:eu-west-1:123456789012:stack/cellar/1f";
        assert_eq!(region_and_account(arn), Some(("eu-west-1", "123456789012")));
        assert_eq!(region_and_account("arn:aws:cloudformation:eu-west-1"), None);
    }

    #[test]
    fn the_default_location_is_the_last_deployment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cellar.yaml");
        std::fs::write(&file, "").unwrap();
        let location = |local, aws, endpoint_url: Option<&str>| {
            let endpoint_url = endpoint_url.map(str::to_owned);
            let selection = ConfigSelection { file: Some(&file), stage: None };
            StackLocation::selected_by(selection, &LocationArguments { local, aws, endpoint_url })
                .unwrap()
        };
        assert_eq!(location(false, false, None), StackLocation::Local, "nothing was deployed");
        for (identity, expected) in [
            ("local-1", StackLocation::Local),
            ("arn:aws:cloudformation:r:1:stack/c/1", StackLocation::Aws),
        ] {
            let identity = Some(identity.to_owned());
            let profile = Profile { identity, ..Profile::new("http://h") };
            profile.save(folder.path()).unwrap();
            assert_eq!(location(false, false, None), expected);
            assert_eq!(location(true, false, None), StackLocation::Local);
            assert_eq!(location(false, true, None), StackLocation::Aws);
            assert_eq!(location(false, false, Some("http://e")), StackLocation::Aws);
        }
        std::fs::write(Profile::path(folder.path()), "{").unwrap();
        assert_eq!(location(false, false, None), StackLocation::Local);
    }
}
