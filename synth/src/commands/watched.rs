//! The stack that a command looks at: on this machine, or in AWS.

use cellar::files::FileError;
use cellar::profile::Profile;
use cellar_stacks::constructs::ResourceType;

use crate::aws::{Aws, Resource, StackState};
use crate::cli::WhereArguments;
use crate::deployment::{Ground, ground, is_ours};
use crate::error::SynthError;
use crate::project::{Named, Project};

/// Where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On this machine.
    Local,
    /// In AWS, or in an emulator of it.
    Aws,
}

/// A stack in AWS.
pub(super) struct Watched {
    /// Its name.
    pub(super) name: String,
    /// Where it is.
    pub(super) aws: Aws,
    /// As it is.
    pub(super) state: StackState,
    /// What it is made of.
    pub(super) resources: Vec<Resource>,
}

impl Place {
    /// As the arguments say, or where was last deployed to from here.
    pub(super) fn of(config: Named<'_>, arguments: &WhereArguments) -> Result<Self, SynthError> {
        if arguments.local {
            return Ok(Self::Local);
        }
        if arguments.aws || arguments.endpoint_url.is_some() {
            return Ok(Self::Aws);
        }
        let project = Project::find_folder(config)?;
        let in_aws = deployed_to(&project)?.is_some();
        Ok(if in_aws { Self::Aws } else { Self::Local })
    }
}

/// The ARN of the stack in AWS that was last deployed from here, if that was in AWS. A profile that
/// cannot be understood, or that another account may write, says nothing.
fn deployed_to(project: &Project) -> Result<Option<String>, SynthError> {
    match Profile::find(&project.folder) {
        Ok(found) => {
            let identity = found.and_then(|(_, profile)| profile.identity);
            Ok(identity.filter(|identity| identity.starts_with("arn:")))
        }
        Err(FileError::Malformed { .. } | FileError::Foreign { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The stack as it is; one that was only ever planned is none.
///
/// # Errors
/// [`SynthError::NoStack`], if there is none, with what to do if it is somewhere else.
pub(super) async fn deployed_stack(project: &Project, aws: &Aws) -> Result<StackState, SynthError> {
    let stack = &project.config.stack;
    let state = aws.stack(stack).await?;
    if let Some(state) = state.filter(|state| ground(Some(&state.status)) != Ground::New) {
        return Ok(state);
    }
    let elsewhere = deployed_to(project)?.and_then(|arn| other(&arn, aws));
    Err(SynthError::NoStack { stack: stack.clone(), place: aws.place(), elsewhere })
}

/// The same, if nobody else made a stack of that name.
///
/// # Errors
/// [`SynthError::ForeignStack`] too.
pub(super) async fn own_deployed_stack(
    project: &Project,
    aws: &Aws,
) -> Result<StackState, SynthError> {
    let state = deployed_stack(project, aws).await?;
    let stack = &project.config.stack;
    if !is_ours(stack, &state) {
        return Err(SynthError::ForeignStack { stack: stack.clone(), place: aws.place() });
    }
    Ok(state)
}

impl Watched {
    /// Finds the stack.
    ///
    /// # Errors
    /// [`SynthError::NoStack`], if there is none.
    pub(super) async fn find(
        config: Named<'_>,
        endpoint_url: Option<&str>,
    ) -> Result<Self, SynthError> {
        let project = Project::find(config)?;
        let name = project.config.stack.clone();
        let aws = Aws::connect(&project.config, endpoint_url).await?;
        let state = deployed_stack(&project, &aws).await?;
        let resources = aws.resources(&state.id).await?;
        Ok(Self { name, aws, state, resources })
    }

    /// The physical name of a resource, once it has one.
    pub(super) fn physical_id(&self, logical_id: &str) -> Option<&str> {
        let resource = self.resources.iter().find(|resource| resource.logical_id == logical_id)?;
        resource.physical_id.as_deref()
    }

    /// Logical ids and physical names of the resources of a type.
    pub(super) fn of_type<'a>(
        &'a self,
        resource_type: ResourceType,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let of_type = self.resources.iter();
        let of_type = of_type.filter(move |it| it.resource_type == resource_type.name());
        of_type.filter_map(|it| Some((it.logical_id.as_str(), it.physical_id.as_deref()?)))
    }
}

/// What to do if what was deployed from here is in another account or region.
fn other(arn: &str, aws: &Aws) -> Option<String> {
    let (region, account) = place(arn)?;
    (region != aws.region || account != aws.account).then(|| {
        format!(
            "what was last deployed from here is in account {account}, {region}: set AWS_PROFILE and \
             AWS_REGION to see it"
        )
    })
}

/// `arn:PARTITION:cloudformation:REGION:ACCOUNT:stack/…`
fn place(arn: &str) -> Option<(&str, &str)> {
    let mut parts = arn.split(':').skip(3);
    Some((parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_says_where_a_stack_is() {
        let arn = "arn:aws:cloudformation:eu-west-1:123456789012:stack/cellar/1f";
        assert_eq!(place(arn), Some(("eu-west-1", "123456789012")));
        assert_eq!(place("arn:aws:cloudformation:eu-west-1"), None);
    }

    #[test]
    fn without_options_the_last_deployment_decides() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cellar.yaml");
        std::fs::write(&file, "").unwrap();
        let place = |local, aws, endpoint_url: Option<&str>| {
            let endpoint_url = endpoint_url.map(str::to_owned);
            let named = Named { file: Some(&file), stage: None };
            Place::of(named, &WhereArguments { local, aws, endpoint_url }).unwrap()
        };
        assert_eq!(place(false, false, None), Place::Local, "nothing was deployed");
        for (identity, expected) in
            [("local-1", Place::Local), ("arn:aws:cloudformation:r:1:stack/c/1", Place::Aws)]
        {
            let identity = Some(identity.to_owned());
            let profile = Profile { identity, ..Profile::new("http://h") };
            profile.save(folder.path()).unwrap();
            assert_eq!(place(false, false, None), expected);
            assert_eq!(place(true, false, None), Place::Local);
            assert_eq!(place(false, true, None), Place::Aws);
            assert_eq!(place(false, false, Some("http://e")), Place::Aws);
        }
        std::fs::write(Profile::path(folder.path()), "{").unwrap();
        assert_eq!(place(false, false, None), Place::Local);
    }
}
