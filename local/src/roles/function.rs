//! Reads a template's functions and their roles.

use std::sync::Arc;

use cellar_stacks::template::Template;
use serde_json::{Map, Value};

use super::read::read_statements;
use super::role::Role;
use crate::error::LocalError;
use crate::names::{Names, referenced_id, session_arn};

const FUNCTION: &str = "AWS::Lambda::Function";
const ROLE: &str = "AWS::IAM::Role";
/// Supported properties of a role. All other properties are rejected, because they could change the
/// role's permissions.
const SUPPORTED_PROPERTIES: [&str; 7] = [
    "AssumeRolePolicyDocument",
    "Description",
    "MaxSessionDuration",
    "Path",
    "Policies",
    "RoleName",
    "Tags",
];
/// Resource types that are rejected, because they would change a role's permissions without being
/// part of the role.
const POLICY_RESOURCES: [&str; 3] =
    ["AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::RolePolicy"];

#[derive(Debug)]
pub(super) struct Function {
    pub(super) logical_id: String,
    /// ARN of the assumed-role session in which the function calls AWS services.
    pub(super) session_arn: String,
    pub(super) role: Arc<Role>,
}

/// Functions with the same role share one [`Role`].
pub(super) fn read_functions(
    template: &Template,
    names: &Names<'_>,
) -> Result<Vec<Function>, LocalError> {
    for (logical_id, resource) in template.resources() {
        if POLICY_RESOURCES.contains(&resource.resource_type.as_str()) {
            return Err(template_error(logical_id, "only inline policies of roles are supported"));
        }
    }
    let mut functions: Vec<Function> = Vec::new();
    for (logical_id, resource) in template.resources() {
        if resource.resource_type != FUNCTION {
            continue;
        }
        let Some(role_id) = resource.properties.get("Role").and_then(referenced_id) else {
            return Err(template_error(
                logical_id,
                "Role does not refer to a role in this template",
            ));
        };
        let session_arn =
            session_arn(&names.physical_name(role_id), &names.physical_name(logical_id));
        let function_with_same_role =
            functions.iter().find(|function| function.role.logical_id == role_id);
        let role = match function_with_same_role {
            Some(function) => Arc::clone(&function.role),
            None => Arc::new(read_role(template, names, role_id)?),
        };
        functions.push(Function { logical_id: logical_id.to_owned(), session_arn, role });
    }
    Ok(functions)
}

fn read_role(template: &Template, names: &Names<'_>, role_id: &str) -> Result<Role, LocalError> {
    let properties = match template.resource(role_id) {
        Some(resource) if resource.resource_type == ROLE => &resource.properties,
        _ => return Err(template_error(role_id, "the resource is not a role")),
    };
    check_properties(role_id, properties)?;
    let statements = match properties.get("Policies") {
        Some(policies) => read_statements(&template.resolve(policies, names)?)
            .map_err(|why| template_error(role_id, &why))?,
        None => Vec::new(),
    };
    Ok(Role { logical_id: role_id.to_owned(), statements })
}

fn check_properties(role_id: &str, properties: &Map<String, Value>) -> Result<(), LocalError> {
    for name in properties.keys() {
        if !SUPPORTED_PROPERTIES.contains(&name.as_str()) {
            return Err(template_error(role_id, &format!("{name} is not supported")));
        }
    }
    Ok(())
}

fn template_error(logical_id: &str, why: &str) -> LocalError {
    LocalError::Template { logical_id: logical_id.to_owned(), why: why.to_owned() }
}
