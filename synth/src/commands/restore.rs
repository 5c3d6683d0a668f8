//! `synth restore`: restores the tables to a point in time and imports the restored tables into the
//! stack. The next deployment switches the functions to the restored tables.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use cellar_stacks::Config;
use cellar_stacks::cellar::{
    ARTIFACT_BUCKET, OUTPUT_EVENT_STREAM_TABLE, OUTPUT_TABLES, TABLE_COUNT, table_logical_ids,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::aws_deployment::upload_template;
use super::confirm::confirm;
use super::follow::Follower;
use super::interrupt::run_interruptibly;
use super::observed::deployed_cellar_stack;
use crate::aws::{Aws, Import, RestorableRange, StackState};
use crate::cli::{Output, ProgressStep, RestoreArguments, RestoreTime};
use crate::deployment::{
    DeploymentPhase, RestoreError, StackCondition, StackResource, TableRestore, existed_at,
    restored_table_name, stack_condition,
};
use crate::error::SynthError;
use crate::moment::format_utc;
use crate::project::{ConfigSelection, Project};
use crate::raise_incarnation::raise_incarnation;
use crate::synthesis::synthesize;

const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A large table takes hours.
const TABLE_TIMEOUT: Duration = Duration::from_secs(12 * 3_600);

/// Restores the tables and imports them into the stack. Prints how to switch the functions to the
/// restored tables.
pub(crate) async fn restore_tables(
    config_selection: ConfigSelection<'_>,
    arguments: &RestoreArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let project = Project::find(config_selection)?;
    let restore = Box::pin(restore_and_import(&project, arguments, output, &phase));
    run_interruptibly(&project.config.stack, &phase, restore).await
}

struct Restore<'a> {
    project: &'a Project,
    aws: Aws,
    stack: StackState,
    /// Names of the current tables, in the order of [`table_logical_ids`]. The EventStream table,
    /// which would be the last one, is missing if the stack was deployed by a version without that
    /// table.
    current_tables: Vec<String>,
    /// Number of tables to restore, which are the first ones of `current_tables`.
    restored_count: usize,
    output: &'a Output,
}

async fn restore_and_import(
    project: &Project,
    arguments: &RestoreArguments,
    output: &Output,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let restore = Restore::prepare(project, arguments, output).await?;
    let restore_to_s = restore.choose_time(arguments.to).await?;
    let restored_names = restore.restored_names(restore_to_s);
    let plan = restore.plan_import(&restored_names).await?;
    if !arguments.yes {
        restore.confirm_restore(restored_names.len(), restore_to_s).await?;
    }
    output.print_note(&format!(
        "To resume after an interruption: synth restore --to {}",
        format_utc(restore_to_s)
    ));
    phase.set(DeploymentPhase::Restoring);
    restore.restore_all_tables(&restored_names, restore_to_s).await?;
    if !plan.is_imported {
        restore.import_tables(&plan).await?;
    }
    restore.update_config(plan.incarnation)?;
    restore.print_result(&plan, restore_to_s);
    Ok(())
}

impl<'a> Restore<'a> {
    /// Returns [`SynthError::StackBusy`] if a stack operation is in progress, and
    /// [`SynthError::StackStuck`] if the stack must be repaired first. Returns
    /// [`RestoreError::IncompleteStack`] if the stack outputs lack a table name.
    async fn prepare(
        project: &'a Project,
        arguments: &RestoreArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
        let stack = deployed_cellar_stack(project, &aws).await?;
        let stack_name = &project.config.stack;
        match stack_condition(Some(&stack.status)) {
            StackCondition::Ready => {}
            StackCondition::Stuck => {
                let events = aws.all_events(&stack.id).await?;
                let sources = BTreeMap::new();
                let follower = Follower {
                    aws: &aws,
                    output,
                    stack_name,
                    command: "restore",
                    sources: &sources,
                };
                return Err(follower.stuck_stack_error(&stack, &events));
            }
            _ => {
                let status = stack.status;
                return Err(SynthError::StackBusy { stack: stack_name.clone(), status });
            }
        }
        let current_tables = table_names(&project.config.stack, &stack)?;
        let mut restored_count = current_tables.len();
        if event_stream_table_is_newer(&aws, &stack, arguments.to).await? {
            // The EventStream table is the last one.
            restored_count -= 1;
        }
        Ok(Self { project, aws, stack, current_tables, restored_count, output })
    }

    fn source_tables(&self) -> impl Iterator<Item = &String> + Clone {
        self.current_tables.iter().take(self.restored_count)
    }

    /// Returns the time to which the tables are restored, in seconds since the Unix epoch.
    ///
    /// # Errors
    /// Returns [`RestoreError::OutOfRange`] if any table cannot be restored to the requested time.
    async fn choose_time(&self, requested: RestoreTime) -> Result<u64, SynthError> {
        if let RestoreTime::At(requested_s) = requested
            && self.was_started_earlier(requested_s).await?
        {
            return Ok(requested_s);
        }
        let step = self.output.start_step("Read the restorable range of the tables");
        let result = self.restorable_range().await;
        let range = step.finish(result, |common| {
            format!("{} to {}", format_utc(common.from_s), format_utc(common.to_s))
        })?;
        match requested {
            RestoreTime::Latest => Ok(range.to_s),
            RestoreTime::At(at_s) if (range.from_s..=range.to_s).contains(&at_s) => Ok(at_s),
            RestoreTime::At(at_s) => Err(SynthError::from(RestoreError::OutOfRange {
                at: format_utc(at_s),
                from: format_utc(range.from_s),
                to: format_utc(range.to_s),
            })),
        }
    }

    /// Returns whether an earlier run has started to restore the tables to this time. That restore
    /// can be resumed even if the tables can no longer be restored to this time.
    async fn was_started_earlier(&self, restore_to_s: u64) -> Result<bool, SynthError> {
        let restored_names = self.restored_names(restore_to_s);
        match restored_names.first() {
            Some(first_name) => Ok(self.aws.describe_table(first_name).await?.is_some()),
            None => Ok(false),
        }
    }

    /// Returns the range of times to which all tables can be restored.
    async fn restorable_range(&self) -> Result<RestorableRange, SynthError> {
        let mut common_range = RestorableRange { from_s: 0, to_s: u64::MAX };
        for table in self.source_tables() {
            let Some(table_range) = self.aws.restorable_range(table).await? else {
                return Err(RestoreError::NoRecovery { table: table.clone() }.into());
            };
            common_range.from_s = common_range.from_s.max(table_range.from_s);
            common_range.to_s = common_range.to_s.min(table_range.to_s);
        }
        Ok(common_range)
    }

    fn restored_names(&self, restore_to_s: u64) -> Vec<String> {
        let stack_name = &self.project.config.stack;
        let logical_ids = table_logical_ids(0).into_iter().take(self.restored_count);
        logical_ids
            .map(|logical_id| restored_table_name(stack_name, &logical_id, restore_to_s))
            .collect()
    }

    async fn plan_import(&self, restored_names: &[String]) -> Result<TableRestore, SynthError> {
        let resources = self.aws.stack_resources(&self.stack.id).await?;
        let stack_resources: Vec<StackResource<'_>> = resources
            .iter()
            .map(|resource| StackResource {
                logical_id: &resource.logical_id,
                physical_name: resource.physical_id.as_deref().unwrap_or_default(),
            })
            .collect();
        let configured_incarnation = self.project.config.incarnation;
        Ok(TableRestore::plan(restored_names, configured_incarnation, &stack_resources))
    }

    async fn confirm_restore(
        &self,
        table_count: usize,
        restore_to_s: u64,
    ) -> Result<(), SynthError> {
        let question = format!(
            "Restore the {} tables of {} in {} to {}? The restored tables are added to the stack; \
             the current tables stay in use until `synth deploy`.",
            table_count,
            self.project.config.stack,
            self.aws.account_and_region(),
            format_utc(restore_to_s)
        );
        confirm("the restore", &question).await
    }

    async fn restore_all_tables(
        &self,
        restored_names: &[String],
        restore_to_s: u64,
    ) -> Result<(), SynthError> {
        let kms_key = self.project.config.encryption.key();
        for (source, restored_name) in self.source_tables().zip(restored_names) {
            if self.aws.describe_table(restored_name).await?.is_none() {
                self.aws.restore_table(source, restored_name, restore_to_s, kms_key).await?;
            }
        }
        for (source, restored_name) in self.source_tables().zip(restored_names) {
            let step = self.output.start_step(&format!("Restore {restored_name}"));
            let result = self.wait_for_table(source, restored_name, restore_to_s, &step).await;
            step.finish(result, |()| format!("from {source}"))?;
        }
        Ok(())
    }

    /// Returns [`RestoreError::NameTaken`] if the table exists but is not the expected restore.
    /// Returns [`RestoreError::Slow`] if the restore takes longer than [`TABLE_TIMEOUT`].
    async fn wait_for_table(
        &self,
        source_name: &str,
        restored_name: &str,
        restore_to_s: u64,
        step: &ProgressStep,
    ) -> Result<(), SynthError> {
        let poll_interval = self.aws.poll_interval(POLL_INTERVAL);
        let source_arn = self.aws.table_arn(source_name);
        let started = Instant::now();
        let mut shown_minutes = 0;
        while started.elapsed() < TABLE_TIMEOUT {
            if let Some(table) = self.aws.describe_table(restored_name).await? {
                if !table.may_be_restored_from(&source_arn, restore_to_s) {
                    return Err(SynthError::from(RestoreError::NameTaken {
                        table: restored_name.to_owned(),
                        source_table: source_name.to_owned(),
                    }));
                }
                if table.is_active() {
                    return Ok(());
                }
            }
            let elapsed_minutes = started.elapsed().as_secs() / 60;
            if elapsed_minutes > shown_minutes {
                step.update(&format!("{elapsed_minutes} minutes so far"));
                shown_minutes = elapsed_minutes;
            }
            sleep(poll_interval).await;
        }
        Err(RestoreError::Slow { table: restored_name.to_owned() }.into())
    }

    /// The functions continue to use the current tables.
    async fn import_tables(&self, plan: &TableRestore) -> Result<(), SynthError> {
        let stack_name = &self.project.config.stack;
        let incomplete_stack =
            |missing| RestoreError::IncompleteStack { stack: stack_name.clone(), missing };
        let new_config = Config { incarnation: plan.incarnation, ..self.project.config.clone() };
        let new_template = synthesize(&new_config)?.to_value();
        let deployed_template = self.aws.deployed_template(&self.stack.id).await?;
        let import_template = plan
            .import_template(&deployed_template, &new_template)
            .ok_or_else(|| incomplete_stack("readable template"))?;
        let bucket = self
            .stack
            .parameters
            .get(ARTIFACT_BUCKET)
            .ok_or_else(|| incomplete_stack("artifact bucket"))?;
        let template_url = upload_template(&self.aws, self.output, bucket, import_template).await?;
        let import = Import {
            stack_name: stack_name.clone(),
            change_set_name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: self.stack.parameters.keys().cloned().collect(),
            tables: plan.tables.clone(),
        };
        let change_set = self.aws.create_import_change_set(&import).await?;
        let follower = Follower {
            aws: &self.aws,
            output: self.output,
            stack_name,
            command: "restore",
            sources: &BTreeMap::new(),
        };
        follower.execute_change_set(&change_set.id, &change_set.stack_id).await?;
        Ok(())
    }

    fn update_config(&self, incarnation: u32) -> Result<(), SynthError> {
        if self.project.config.incarnation == incarnation {
            return Ok(());
        }
        let stage = self.project.stage.as_deref();
        let snippet = match stage {
            None => format!("incarnation: {incarnation}"),
            Some(stage) => format!("stages:\n  {stage}:\n    incarnation: {incarnation}"),
        };
        let raise = |config_text: &str| raise_incarnation(config_text, stage, incarnation);
        self.project.edit_config(raise, snippet)
    }

    fn print_result(&self, plan: &TableRestore, restore_to_s: u64) {
        let deploy_command = self.deploy_command(plan);
        let table_names: Vec<&str> =
            plan.tables.iter().map(|table| table.table_name.as_str()).collect();
        let result = json!({
            "stack": self.project.config.stack,
            "at": format_utc(restore_to_s),
            "incarnation": plan.incarnation,
            "tables": table_names,
            "old_tables": self.current_tables,
            "deploy": deploy_command,
        });
        let text = self.result_text(plan, &table_names, &deploy_command, restore_to_s);
        self.output.print_result(&result, &text);
    }

    fn result_text(
        &self,
        plan: &TableRestore,
        table_names: &[&str],
        deploy_command: &str,
        restore_to_s: u64,
    ) -> String {
        let event_stream_note = if plan.tables.len() == TABLE_COUNT {
            ""
        } else {
            "The EventStream table did not exist at that time: the deployment creates an empty one.\n"
        };
        format!(
            "The tables were restored to {time} and added to stack {stack}. The functions do not use them \
             yet:\n  {names}\n{file} now contains `incarnation: {incarnation}`. Commit this change, check \
             `synth{stage_option} diff`, and switch the functions to the restored tables:\n  \
             {deploy_command}\n\
             Edits after {time} are not in the restored tables; clients reload automatically. \
             {event_stream_note}The current tables stay in the account with all edits until the deployment, \
             and their storage costs money: {current}.\nAfter the deployment, find snapshots to rebuild with \
             `synth{stage_option} reprocess --dry-run`, and update the feed and the spreadsheet lists with \
             `synth{stage_option} feed repair`.",
            time = format_utc(restore_to_s),
            stack = self.project.config.stack,
            names = table_names.join("\n  "),
            file = self.project.config_file.display(),
            incarnation = plan.incarnation,
            stage_option = self.stage_option(),
            current = self.current_tables.join(", "),
        )
    }

    /// Returns the option that selects the stage in a command, with a leading space.
    fn stage_option(&self) -> String {
        match &self.project.stage {
            Some(stage) => format!(" --stage {stage}"),
            None => String::new(),
        }
    }

    fn deploy_command(&self, plan: &TableRestore) -> String {
        let mut command = format!("synth{} deploy", self.stage_option());
        for removed_id in &plan.removed_ids {
            command.push_str(&format!(" --allow-data-loss {removed_id}"));
        }
        command
    }
}

/// Returns the names of the current tables, in the order of [`table_logical_ids`]. The EventStream
/// table, which would be the last one, is missing if the stack was deployed by a version without
/// that table.
///
/// # Errors
/// Returns [`RestoreError::IncompleteStack`] if the stack outputs lack the name of any other table.
fn table_names(stack_name: &str, stack: &StackState) -> Result<Vec<String>, RestoreError> {
    let mut table_names = Vec::new();
    for output_name in OUTPUT_TABLES {
        match stack.outputs.get(output_name) {
            Some(table_name) => table_names.push(table_name.clone()),
            None if output_name == OUTPUT_EVENT_STREAM_TABLE => {}
            None => {
                return Err(RestoreError::IncompleteStack {
                    stack: stack_name.to_owned(),
                    missing: "outputs that name its tables",
                });
            }
        }
    }
    Ok(table_names)
}

async fn event_stream_table_is_newer(
    aws: &Aws,
    stack: &StackState,
    requested: RestoreTime,
) -> Result<bool, SynthError> {
    let Some(table_name) = stack.outputs.get(OUTPUT_EVENT_STREAM_TABLE) else { return Ok(false) };
    let RestoreTime::At(restore_to_s) = requested else { return Ok(false) };
    let created_s = aws.describe_table(table_name).await?.and_then(|table| table.created_s);
    Ok(created_s.is_some_and(|created_s| !existed_at(created_s, restore_to_s)))
}
