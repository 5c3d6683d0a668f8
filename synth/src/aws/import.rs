//! Imports existing tables into a stack.

use aws_sdk_cloudformation::operation::create_change_set::builders::CreateChangeSetFluentBuilder;
use aws_sdk_cloudformation::types::{Capability, ChangeSetType, Parameter, ResourceToImport};
use cellar_stacks::constructs::ResourceType;

use super::change_set::{ChangeSet, RollbackAlarms};
use super::connect::Aws;
use super::error::AwsError;

#[derive(Debug, Clone)]
pub(crate) struct Import {
    pub(crate) stack_name: String,
    pub(crate) change_set_name: String,
    /// URL of a template that consists of the deployed template and the imported tables.
    pub(crate) template_url: String,
    /// Names of the stack parameters. The import does not change their values.
    pub(crate) parameters: Vec<String>,
    pub(crate) tables: Vec<ImportedTable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportedTable {
    pub(crate) logical_id: String,
    pub(crate) table_name: String,
}

impl Aws {
    /// Creates a change set that imports tables, and waits until it is ready to execute.
    ///
    /// # Errors
    /// Returns [`AwsError`] if a request to AWS fails. The stack is then unchanged, and the change
    /// set is deleted.
    pub(crate) async fn create_import_change_set(
        &self,
        import: &Import,
    ) -> Result<ChangeSet, AwsError> {
        let result = self.import_request(import).send().await;
        let output =
            result.map_err(|error| AwsError::from_sdk("create the import change set", &error))?;
        let id = output.id.ok_or(AwsError::IncompleteReply { missing: "a change set" })?;
        let result = match self.wait_for_change_set(&id, &import.stack_name, false).await {
            Ok(Some(change_set)) => Ok(change_set),
            Ok(None) => Err(AwsError::IncompleteReply { missing: "changes to import" }),
            Err(error) => Err(error),
        };
        if result.is_err() {
            // Ignore deletion errors, because the first error is the root cause.
            let _ = self.delete_change_set(&id).await;
        }
        result
    }

    fn import_request(&self, import: &Import) -> CreateChangeSetFluentBuilder {
        let mut parameters = Vec::with_capacity(import.parameters.len());
        for name in &import.parameters {
            parameters
                .push(Parameter::builder().parameter_key(name).use_previous_value(true).build());
        }
        let mut tables = Vec::with_capacity(import.tables.len());
        for ImportedTable { logical_id, table_name } in &import.tables {
            let table = ResourceToImport::builder()
                .resource_type(ResourceType::Table.name())
                .logical_resource_id(logical_id)
                .resource_identifier("TableName", table_name)
                .build();
            tables.push(table);
        }
        self.cloudformation
            .create_change_set()
            .stack_name(&import.stack_name)
            .change_set_name(&import.change_set_name)
            .change_set_type(ChangeSetType::Import)
            .template_url(&import.template_url)
            .set_parameters(Some(parameters))
            .set_resources_to_import(Some(tables))
            .rollback_configuration(RollbackAlarms::default().to_configuration())
            .capabilities(Capability::CapabilityIam)
    }
}
