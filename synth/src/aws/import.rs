//! Takes what is there already into a stack: a change set that imports.

use aws_sdk_cloudformation::types::{Capability, ChangeSetType, Parameter, ResourceToImport};
use cellar_stacks::constructs::ResourceType;

use super::{Aws, AwsError, ChangeSet};

/// What is to be taken into a stack.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The stack's name.
    pub(crate) stack: String,
    /// The change set's name.
    pub(crate) name: String,
    /// Where the template is: the stack's own, and nothing but what is imported in addition.
    pub(crate) template_url: String,
    /// The names of the stack's parameters, whose values stay.
    pub(crate) parameters: Vec<String>,
    /// Logical ids and names of the tables.
    pub(crate) tables: Vec<(String, String)>,
}

impl Aws {
    /// Makes a change set that imports tables.
    ///
    /// # Errors
    /// [`AwsError`]; nothing of the stack was changed, and no change set is left behind.
    pub(crate) async fn create_import(&self, import: &Import) -> Result<ChangeSet, AwsError> {
        let parameters = import
            .parameters
            .iter()
            .map(|name| Parameter::builder().parameter_key(name).use_previous_value(true).build());
        let mut tables = Vec::with_capacity(import.tables.len());
        for (logical_id, name) in &import.tables {
            let table = ResourceToImport::builder()
                .resource_type(ResourceType::Table.name())
                .logical_resource_id(logical_id)
                .resource_identifier("TableName", name)
                .build();
            tables.push(table);
        }
        let created = self
            .cloudformation
            .create_change_set()
            .stack_name(&import.stack)
            .change_set_name(&import.name)
            .change_set_type(ChangeSetType::Import)
            .template_url(&import.template_url)
            .set_parameters(Some(parameters.collect()))
            .set_resources_to_import(Some(tables))
            .capabilities(Capability::CapabilityIam)
            .send()
            .await;
        let created =
            created.map_err(|error| AwsError::of("make the change set that imports", &error))?;
        let id = created.id.ok_or(AwsError::Reply { missing: "a change set" })?;
        match self.made(&id, &import.stack).await {
            Ok(Some(change_set)) => Ok(change_set),
            made => {
                // Why it failed matters more than that it could not be deleted, too.
                let _ = self.discard_change_set(&id, &import.stack, false).await;
                made.and(Err(AwsError::Reply { missing: "anything to import" }))
            }
        }
    }
}
