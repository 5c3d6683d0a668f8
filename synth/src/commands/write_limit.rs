//! Removes the write limit of the Entry table once the configuration has none. DynamoDB removes a
//! limit if it is set to -1, which the schema of CloudFormation rejects, and AWS does not document
//! whether CloudFormation removes the limit together with the property.

use cellar_stacks::cellar::OUTPUT_ENTRY_TABLE;

use super::aws_deployment::AwsDeployment;
use crate::aws::{AwsError, StackState};

impl AwsDeployment<'_> {
    /// A failure is only reported as a note, because the stack is already deployed. The next
    /// deployment tries again.
    pub(super) async fn remove_stale_write_limit(&self, stack: &StackState) {
        if self.project.config.limits.write_units_per_second.is_some() {
            return;
        }
        let Some(table) = stack.outputs.get(OUTPUT_ENTRY_TABLE) else { return };
        match self.remove_write_limit(table).await {
            Ok(None) => {}
            Ok(Some(limit)) => self.output.print_note(&format!(
                "Removed the limit of {limit} write units per second from the table {table}."
            )),
            Err(error) => self.output.print_note(&format!(
                "The table {table} may still limit its write throughput: {error}. To try again, {} and \
                 run `synth deploy`.",
                error.remedy()
            )),
        }
    }

    /// Returns the removed limit, or `None` if the table had none.
    async fn remove_write_limit(&self, table: &str) -> Result<Option<u64>, AwsError> {
        let Some(description) = self.aws.describe_table(table).await? else { return Ok(None) };
        if description.max_write_units.is_some() {
            self.aws.remove_write_limit(table).await?;
        }
        Ok(description.max_write_units)
    }
}
