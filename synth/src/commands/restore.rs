//! `synth restore`: restores the tables to a point in time and imports the restored tables into the
//! stack, for the next deployment to switch the functions over.

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
use super::interrupt::interruptible;
use super::observed::own_deployed_stack;
use crate::aws::{Aws, Import, RestorableRange, StackState};
use crate::cli::{Output, ProgressStep, RestoreArguments, RestoreTime};
use crate::deployment::{
    DeploymentPhase, RestoreError, StackCondition, TableRestore, existed_at, restored_table_name,
    stack_condition,
};
use crate::error::SynthError;
use crate::moment::utc;
use crate::project::{ConfigSelection, Project};
use crate::raise_incarnation::raise_incarnation;
use crate::synthesis::synthesize;

/// Polling interval while tables are being restored.
const POLL: Duration = Duration::from_secs(5);
/// Timeout for restoring a table. Large tables take hours.
const TABLE_TIMEOUT: Duration = Duration::from_secs(12 * 3_600);

/// Restores the tables, imports them into the stack, and prints how to switch the functions over.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &RestoreArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let project = Project::find(config)?;
    let work = Box::pin(restore(&project, arguments, output, &phase));
    interruptible(&project.config.stack, &phase, work).await
}

/// A restore in progress.
struct Restore<'a> {
    project: &'a Project,
    aws: Aws,
    state: StackState,
    /// Current table names, in the order of [`tables`]. The last one, the EventStream table, is
    /// missing if the stack was deployed by a version without that table.
    current_tables: Vec<String>,
    /// Number of tables to restore, counted from the first in the order of [`tables`].
    restored_count: usize,
    output: &'a Output,
}

async fn restore(
    project: &Project,
    arguments: &RestoreArguments,
    output: &Output,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let restore = Restore::prepare(project, arguments, output).await?;
    let at_s = restore.choose_time(arguments.to).await?;
    let names = restore.restored_names(at_s);
    let plan = restore.plan(&names).await?;
    if !arguments.yes {
        restore.confirm(&names, at_s).await?;
    }
    output.note(&format!("To resume after an interruption: synth restore --to {}", utc(at_s)));
    phase.set(DeploymentPhase::Restoring);
    restore.restore_tables(&names, at_s).await?;
    if !plan.is_imported {
        restore.import(&plan).await?;
    }
    restore.update_config(plan.incarnation)?;
    restore.print_result(&plan, at_s);
    Ok(())
}

impl<'a> Restore<'a> {
    /// Finds the stack and its tables.
    ///
    /// # Errors
    /// Returns [`SynthError::StackBusy`] if a stack operation is in progress. Returns
    /// [`RestoreError::IncompleteStack`] if the stack outputs lack a table name.
    async fn prepare(
        project: &'a Project,
        arguments: &RestoreArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
        let stack = &project.config.stack;
        let state = own_deployed_stack(project, &aws).await?;
        if stack_condition(Some(&state.status)) != StackCondition::Ready {
            return Err(SynthError::StackBusy { stack: stack.clone(), status: state.status });
        }
        let mut current_tables = Vec::new();
        for output in OUTPUT_TABLES {
            match state.outputs.get(output) {
                Some(name) => current_tables.push(name.clone()),
                None if output == OUTPUT_EVENT_STREAM_TABLE => {}
                None => {
                    let missing = "outputs that name its tables";
                    let stack = stack.clone();
                    return Err(RestoreError::IncompleteStack { stack, missing }.into());
                }
            }
        }
        let mut restored_count = current_tables.len();
        if event_stream_table_is_newer(&aws, &state, arguments.to).await? {
            restored_count = restored_count.saturating_sub(1);
        }
        Ok(Self { project, aws, state, current_tables, restored_count, output })
    }

    /// Returns the current names of tables to restore.
    fn source_tables(&self) -> impl Iterator<Item = &String> + Clone {
        self.current_tables.iter().take(self.restored_count)
    }

    /// Returns the time to which the tables are restored, in seconds since the Unix epoch.
    ///
    /// # Errors
    /// Returns [`RestoreError::OutOfRange`] if any table cannot be restored to the requested time.
    async fn choose_time(&self, requested: RestoreTime) -> Result<u64, SynthError> {
        if let RestoreTime::At(at_s) = requested
            && self.has_started(at_s).await?
        {
            return Ok(at_s);
        }
        let step = self.output.step("Read the restorable range of the tables");
        let range = self.restorable_range().await;
        let range =
            step.finish(range, |range| format!("{} to {}", utc(range.from_s), utc(range.to_s)))?;
        match requested {
            RestoreTime::Latest => Ok(range.to_s),
            RestoreTime::At(at_s) if (range.from_s..=range.to_s).contains(&at_s) => Ok(at_s),
            RestoreTime::At(at_s) => Err(SynthError::from(RestoreError::OutOfRange {
                at: utc(at_s),
                from: utc(range.from_s),
                to: utc(range.to_s),
            })),
        }
    }

    /// Returns whether an earlier run started restoring to this time. If so, the restore can be
    /// resumed even after the time has left the restorable range.
    async fn has_started(&self, at_s: u64) -> Result<bool, SynthError> {
        let names = self.restored_names(at_s);
        let Some(first) = names.first() else { return Ok(false) };
        Ok(self.aws.describe_table(first).await?.is_some())
    }

    /// Returns the time range to which every table can be restored.
    async fn restorable_range(&self) -> Result<RestorableRange, SynthError> {
        let mut common = RestorableRange { from_s: 0, to_s: u64::MAX };
        for table in self.source_tables() {
            let Some(range) = self.aws.restorable_range(table).await? else {
                return Err(RestoreError::NoRecovery { table: table.clone() }.into());
            };
            common.from_s = common.from_s.max(range.from_s);
            common.to_s = common.to_s.min(range.to_s);
        }
        Ok(common)
    }

    /// Returns the names of the restored tables.
    fn restored_names(&self, at_s: u64) -> Vec<String> {
        let ids = self.source_tables().zip(table_logical_ids(0)).map(|(_, id)| id);
        ids.map(|id| restored_table_name(&self.project.config.stack, &id, at_s)).collect()
    }

    async fn plan(&self, names: &[String]) -> Result<TableRestore, SynthError> {
        let resources = self.aws.resources(&self.state.id).await?;
        let ids_and_names: Vec<(&str, &str)> = resources
            .iter()
            .map(|resource| {
                let name = resource.physical_id.as_deref().unwrap_or_default();
                (resource.logical_id.as_str(), name)
            })
            .collect();
        Ok(TableRestore::plan(names, self.project.config.incarnation, &ids_and_names))
    }

    async fn confirm(&self, names: &[String], at_s: u64) -> Result<(), SynthError> {
        let question = format!(
            "Restore the {} tables of {} in {} to {}? They are added beside the current tables, which \
             stay in use until `synth deploy`.",
            names.len(),
            self.project.config.stack,
            self.aws.place(),
            utc(at_s)
        );
        confirm("the restore", &question).await
    }

    /// Starts restoring all tables, and waits for each of them.
    async fn restore_tables(&self, names: &[String], at_s: u64) -> Result<(), SynthError> {
        let key = self.project.config.encryption.key();
        for (source, name) in self.source_tables().zip(names) {
            if self.aws.describe_table(name).await?.is_none() {
                self.aws.restore_table(source, name, at_s, key).await?;
            }
        }
        for (source, name) in self.source_tables().zip(names) {
            let step = self.output.step(&format!("Restore {name}"));
            let restored = self.wait_for_table(source, name, at_s, &step).await;
            step.finish(restored, |()| format!("from {source}"))?;
        }
        Ok(())
    }

    /// Waits until a table is restored.
    ///
    /// # Errors
    /// Returns [`RestoreError::NameTaken`] if the table exists but is not the expected restore.
    /// Returns [`RestoreError::Slow`] after [`TABLE_TIMEOUT`].
    async fn wait_for_table(
        &self,
        source: &str,
        name: &str,
        at_s: u64,
        step: &ProgressStep,
    ) -> Result<(), SynthError> {
        let poll = self.aws.poll_interval(POLL);
        let source_arn = self.aws.table_arn(source);
        let started = Instant::now();
        let mut shown_minutes = 0;
        while started.elapsed() < TABLE_TIMEOUT {
            if let Some(table) = self.aws.describe_table(name).await? {
                let has_other_source =
                    table.source_arn.as_ref().is_some_and(|arn| *arn != source_arn);
                let has_other_time =
                    table.restored_to_s.is_some_and(|restored_to_s| restored_to_s != at_s);
                if has_other_source || has_other_time {
                    let (table, source_table) = (name.to_owned(), source.to_owned());
                    return Err(RestoreError::NameTaken { table, source_table }.into());
                }
                if table.is_active {
                    return Ok(());
                }
            }
            let minutes = started.elapsed().as_secs() / 60;
            if minutes > shown_minutes {
                step.update(&format!("{minutes} minutes so far"));
                shown_minutes = minutes;
            }
            sleep(poll).await;
        }
        Err(RestoreError::Slow { table: name.to_owned() }.into())
    }

    /// Imports the restored tables into the stack, while the functions continue to use the current
    /// tables.
    async fn import(&self, plan: &TableRestore) -> Result<(), SynthError> {
        let stack = &self.project.config.stack;
        let incomplete = |missing| RestoreError::IncompleteStack { stack: stack.clone(), missing };
        let config = Config { incarnation: plan.incarnation, ..self.project.config.clone() };
        let wanted = synthesize(&config)?.to_value();
        let deployed = self.aws.template(&self.state.id).await?;
        let template = plan
            .import_template(&deployed, &wanted)
            .ok_or_else(|| incomplete("readable template"))?;
        let bucket = self
            .state
            .parameters
            .get(ARTIFACT_BUCKET)
            .ok_or_else(|| incomplete("artifact bucket"))?;
        let template_url = upload_template(&self.aws, self.output, bucket, template).await?;
        let import = Import {
            stack: stack.clone(),
            change_set_name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: self.state.parameters.keys().cloned().collect(),
            tables: plan.tables.clone(),
        };
        let change_set = self.aws.create_import(&import).await?;
        let (aws, output, sources) = (&self.aws, self.output, BTreeMap::new());
        let follower = Follower { aws, output, stack, command: "restore", sources: &sources };
        follower.execute(&change_set.id, &change_set.stack_id).await.map(drop)
    }

    /// Writes the new incarnation to the configuration file.
    fn update_config(&self, incarnation: u32) -> Result<(), SynthError> {
        if self.project.config.incarnation == incarnation {
            return Ok(());
        }
        let stage = self.project.stage.as_deref();
        let snippet = match stage {
            None => format!("incarnation: {incarnation}"),
            Some(stage) => format!("stages:\n  {stage}:\n    incarnation: {incarnation}"),
        };
        self.project.edit_config(|text| raise_incarnation(text, stage, incarnation), snippet)
    }

    /// Prints the restored tables, and the commands that switch the functions over.
    fn print_result(&self, plan: &TableRestore, at_s: u64) {
        let project = self.project;
        let stage_option = match &project.stage {
            Some(stage) => format!(" --stage {stage}"),
            None => String::new(),
        };
        let loss_options: String =
            plan.removed_ids.iter().map(|id| format!(" --allow-data-loss {id}")).collect();
        let deploy = format!("synth{stage_option} deploy{loss_options}");
        let stream_note = if plan.tables.len() == TABLE_COUNT {
            ""
        } else {
            "The EventStream table did not exist at that time: the deployment creates an empty one.\n"
        };
        let names: Vec<&str> = plan.tables.iter().map(|(_, name)| name.as_str()).collect();
        let text = format!(
            "The tables were restored to {at} and added to stack {stack}. The functions do not use them \
             yet:\n  {names}\n{file} now contains `incarnation: {incarnation}`. Commit this change, check \
             `synth{stage_option} diff`, and switch the functions to the restored tables:\n  {deploy}\n\
             Edits after {at} are not in the restored tables; clients reload automatically. \
             {stream_note}The current tables stay in the account with all edits until the deployment, \
             and their storage costs money: {current}.\nAfter the deployment, find snapshots to rebuild with \
             `synth{stage_option} reprocess --dry-run`, and update the feed and the spreadsheet lists with \
             `synth{stage_option} feed repair`.",
            at = utc(at_s),
            stack = project.config.stack,
            names = names.join("\n  "),
            file = project.config_file.display(),
            incarnation = plan.incarnation,
            current = self.current_tables.join(", "),
        );
        let result = json!({
            "stack": project.config.stack,
            "at": utc(at_s),
            "incarnation": plan.incarnation,
            "tables": names,
            "old_tables": self.current_tables,
            "deploy": deploy,
        });
        self.output.print_result(&result, &text);
    }
}

/// Returns whether the EventStream table of the stack was created after the requested time.
async fn event_stream_table_is_newer(
    aws: &Aws,
    state: &StackState,
    requested: RestoreTime,
) -> Result<bool, SynthError> {
    let Some(table) = state.outputs.get(OUTPUT_EVENT_STREAM_TABLE) else { return Ok(false) };
    let RestoreTime::At(at_s) = requested else { return Ok(false) };
    let created_s = aws.describe_table(table).await?.and_then(|table| table.created_s);
    Ok(created_s.is_some_and(|created_s| !existed_at(created_s, at_s)))
}
