//! Imports existing tables into a stack.

use aws_sdk_cloudformation::types::{Capability, ChangeSetType, Parameter, ResourceToImport};
use cellar_stacks::constructs::ResourceType;

use super::change_set::ChangeSet;
use super::connect::Aws;
use super::error::AwsError;

/// Tables to import into a stack, and the template for the import.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// Name of the stack.
    pub(crate) stack: String,
    /// Name of the change set.
    pub(crate) change_set_name: String,
    /// URL of the deployed template plus the imported tables.
    pub(crate) template_url: String,
    /// Names of the stack parameters, whose values stay unchanged.
    pub(crate) parameters: Vec<String>,
    /// Logical id and name of each table.
    pub(crate) tables: Vec<(String, String)>,
}

impl Aws {
    /// Creates a change set that imports tables, and waits until it is ready to execute.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails. The stack is then unchanged, and the change
    /// set is deleted.
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
            .change_set_name(&import.change_set_name)
            .change_set_type(ChangeSetType::Import)
            .template_url(&import.template_url)
            .set_parameters(Some(parameters.collect()))
            .set_resources_to_import(Some(tables))
            .capabilities(Capability::CapabilityIam)
            .send()
            .await;
        let created =
            created.map_err(|error| AwsError::from_sdk("create the import change set", &error))?;
        let id = created.id.ok_or(AwsError::Reply { missing: "a change set" })?;
        let error = match self.wait_for_change_set(&id, &import.stack).await {
            Ok(Some(change_set)) => return Ok(change_set),
            Ok(None) => AwsError::Reply { missing: "changes to import" },
            Err(error) => error,
        };
        // Ignore deletion errors: the first error is the root cause.
        let _ = self.discard_change_set(&id, &import.stack, false).await;
        Err(error)
    }
}
