//! The functions of a template with their roles.

use std::sync::Arc;

use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::read::statements;
use super::role::Role;
use crate::error::LocalError;
use crate::names::{Names, session_arn, target};

const FUNCTION: &str = "AWS::Lambda::Function";
const ROLE: &str = "AWS::IAM::Role";
/// What of a role is understood here. Anything else could widen or narrow it.
const PROPERTIES: [&str; 7] = [
    "AssumeRolePolicyDocument",
    "Description",
    "MaxSessionDuration",
    "Path",
    "Policies",
    "RoleName",
    "Tags",
];
/// Resources that change what roles may do from outside.
const ATTACHED: [&str; 3] = ["AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::RolePolicy"];

/// A function, and what it may do.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) logical_id: String,
    /// Who it is for the services that it calls.
    pub(super) session_arn: String,
    pub(super) role: Arc<Role>,
}

/// All functions of a template. Those of one role share it.
pub(super) fn all(template: &Template, names: &Names<'_>) -> Result<Vec<Function>, LocalError> {
    if let Some((id, _)) =
        template.resources().find(|(_, one)| ATTACHED.contains(&one.resource_type.as_str()))
    {
        return Err(fault(id, "only inline policies of roles are understood here"));
    }
    let mut all: Vec<Function> = Vec::new();
    for (id, resource) in template.resources() {
        if resource.resource_type != FUNCTION {
            continue;
        }
        let role = resource.properties.get("Role").and_then(target);
        let role = role.ok_or_else(|| fault(id, "its role is not one of this template"))?;
        let session_arn = session_arn(&names.physical(role), &names.physical(id));
        let known = all.iter().find(|one| one.role.logical_id == role);
        let role = match known {
            Some(known) => Arc::clone(&known.role),
            None => Arc::new(read(template, names, role)?),
        };
        all.push(Function { logical_id: id.to_owned(), session_arn, role });
    }
    Ok(all)
}

fn read(template: &Template, names: &Names<'_>, id: &str) -> Result<Role, LocalError> {
    let resource = template.resource(id).filter(|one| one.resource_type == ROLE);
    let properties = resource.ok_or_else(|| fault(id, "it is no role"))?;
    check(id, &properties.properties)?;
    let none = Value::Array(vec![]);
    let policies = properties.properties.get("Policies").unwrap_or(&none);
    let policies = template.resolve(policies, names)?;
    let statements = statements(&policies).map_err(|why| fault(id, &why))?;
    Ok(Role { logical_id: id.to_owned(), statements })
}

fn check(id: &str, properties: &Map<String, Value>) -> Result<(), LocalError> {
    match properties.keys().find(|name| !PROPERTIES.contains(&name.as_str())) {
        Some(unknown) => Err(fault(id, &format!("{unknown} is not understood here"))),
        None => Ok(()),
    }
}

fn fault(id: &str, why: &str) -> LocalError {
    LocalError::Template { logical_id: id.to_owned(), why: why.to_owned() }
}
