//! `synth restore`: the tables as they were at a moment, beside those that there are, ready for the next
//! deployment.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use cellar_stacks::cellar::{
    ARTIFACT_BUCKET, OUTPUT_EVENT_STREAM_TABLE, OUTPUT_TABLES, TABLES, tables,
};
use cellar_stacks::{Config, Template};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::confirm::confirm;
use super::follow::Follower;
use super::interrupt::{Stage, interruptible};
use super::prepare::upload_template;
use super::template::synthesize;
use super::watched::own_deployed_stack;
use crate::aws::{Aws, Import, Recoverable, StackState};
use crate::cli::{Output, ProgressStep, RestoreArguments, RestoreTime};
use crate::deployment::{Ground, RestoreError, Restoring, ground, restored_name, was_there};
use crate::error::SynthError;
use crate::moment::utc;
use crate::project::{Named, Project};
use crate::raise_incarnation::raise_incarnation;

/// How often it is asked whether a table is there.
const POLL: Duration = Duration::from_secs(5);
/// How long that may take; large tables take hours.
const PATIENCE: Duration = Duration::from_secs(12 * 3_600);

/// Restores the tables, takes them into the stack, and says how they come into use.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &RestoreArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let stage = Cell::new(Stage::Before);
    let project = Project::find(config)?;
    let work = Box::pin(restore(&project, arguments, output, &stage));
    interruptible(&project.config.stack, &stage, work).await
}

/// A restore on its way.
struct Restore<'a> {
    project: &'a Project,
    aws: Aws,
    state: StackState,
    /// The tables that the functions use, in the order of [`tables`]; without the last one if the stack is of a
    /// Cellar that had no streams.
    in_use: Vec<String>,
    /// How many of them are restored, from the first on.
    restored: usize,
    output: &'a Output,
}

async fn restore(
    project: &Project,
    arguments: &RestoreArguments,
    output: &Output,
    stage: &Cell<Stage>,
) -> Result<(), SynthError> {
    let restore = Restore::begin(project, arguments, output).await?;
    let at_s = restore.moment(arguments.to).await?;
    let (stack, names) = (&restore.project.config.stack, restore.names(at_s));
    let decided = restore.decide(&names).await?;
    if !arguments.yes {
        let place = restore.aws.place();
        let question = format!(
            "Restore the {} tables of {stack} in {place} as they were at {}? They are made beside the \
             old ones, which stay in use until `synth deploy`.",
            names.len(),
            utc(at_s)
        );
        confirm("the restore", &question).await?;
    }
    output.note(&format!("If this is interrupted, `synth restore --to {}` goes on.", utc(at_s)));
    stage.set(Stage::Restoring);
    restore.make_tables(&names, at_s).await?;
    if !decided.is_imported {
        restore.import(&decided).await?;
    }
    restore.tell(&decided, at_s)
}

impl<'a> Restore<'a> {
    /// Finds the stack and its tables.
    async fn begin(
        project: &'a Project,
        arguments: &RestoreArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
        let stack = project.config.stack.clone();
        let state = own_deployed_stack(project, &aws).await?;
        if ground(Some(&state.status)) != Ground::Update {
            return Err(SynthError::StackBusy { stack, status: state.status });
        }
        let source = |output: &str| {
            let what = "outputs that name its tables";
            let name = state.outputs.get(output).cloned();
            name.ok_or_else(|| RestoreError::OtherStack { stack: stack.clone(), what })
        };
        let is_there =
            |name: &&str| *name != OUTPUT_EVENT_STREAM_TABLE || state.outputs.contains_key(*name);
        let in_use = OUTPUT_TABLES.into_iter().filter(is_there).map(source);
        let in_use = in_use.collect::<Result<Vec<_>, RestoreError>>()?;
        let is_later = streams_are_later(&aws, &state, arguments.to).await?;
        let restored = in_use.len().saturating_sub(usize::from(is_later));
        Ok(Self { project, aws, state, in_use, restored, output })
    }

    /// The tables that are restored.
    fn sources(&self) -> impl Iterator<Item = &String> + Clone {
        self.in_use.iter().take(self.restored)
    }

    /// The moment, which all tables can be restored to; Unix seconds.
    async fn moment(&self, to: RestoreTime) -> Result<u64, SynthError> {
        if let RestoreTime::At(at_s) = to {
            // What was begun goes on, however long ago that was.
            if let Some(first) = self.names(at_s).first()
                && self.aws.restored_table(first).await?.is_some()
            {
                return Ok(at_s);
            }
        }
        let step = self.output.step("Look how far back the tables can be restored");
        let window = self.window().await;
        let window =
            step.ended(window, |window| format!("{} to {}", utc(window.from_s), utc(window.to_s)))?;
        match to {
            RestoreTime::Latest => Ok(window.to_s),
            RestoreTime::At(at_s) if (window.from_s..=window.to_s).contains(&at_s) => Ok(at_s),
            RestoreTime::At(at_s) => Err(SynthError::from(RestoreError::OutOfRange {
                at: utc(at_s),
                from: utc(window.from_s),
                to: utc(window.to_s),
            })),
        }
    }

    /// From when to when all of them can be.
    async fn window(&self) -> Result<Recoverable, SynthError> {
        let mut window = Recoverable { from_s: 0, to_s: u64::MAX };
        for table in self.sources() {
            let recoverable = self.aws.recoverable(table).await?;
            let recoverable =
                recoverable.ok_or_else(|| RestoreError::NoRecovery { table: table.clone() })?;
            window.from_s = window.from_s.max(recoverable.from_s);
            window.to_s = window.to_s.min(recoverable.to_s);
        }
        Ok(window)
    }

    /// The names of the tables as they were at a moment.
    fn names(&self, at_s: u64) -> Vec<String> {
        let ids = self.sources().zip(tables(0)).map(|(_, id)| id);
        ids.map(|id| restored_name(&self.project.config.stack, &id, at_s)).collect()
    }

    async fn decide(&self, names: &[String]) -> Result<Restoring, SynthError> {
        let resources = self.aws.resources(&self.state.id).await?;
        let named = resources.iter().map(|resource| {
            (resource.logical_id.as_str(), resource.physical_id.as_deref().unwrap_or_default())
        });
        let named: Vec<_> = named.collect();
        Ok(Restoring::decide(names, self.project.config.incarnation, &named))
    }

    /// Has DynamoDB make the tables, all at the same time, and waits for them.
    async fn make_tables(&self, names: &[String], at_s: u64) -> Result<(), SynthError> {
        let key = self.project.config.encryption.key();
        for (source, name) in self.sources().zip(names) {
            if self.aws.restored_table(name).await?.is_none() {
                self.aws.restore_table(source, name, at_s, key).await?;
            }
        }
        for (source, name) in self.sources().zip(names) {
            let step = self.output.step(&format!("Restore {name}"));
            let restored = self.wait_for(source, name, at_s, &step).await;
            step.ended(restored, |()| format!("from {source}"))?;
        }
        Ok(())
    }

    async fn wait_for(
        &self,
        source: &str,
        name: &str,
        at_s: u64,
        step: &ProgressStep,
    ) -> Result<(), SynthError> {
        let poll = self.aws.poll_interval(POLL);
        let (begun, mut said) = (Instant::now(), 0);
        while begun.elapsed() < PATIENCE {
            let table = self.aws.restored_table(name).await?;
            if let Some(table) = &table {
                let source_arn = self.aws.table_arn(source);
                let is_other = table.source_arn.as_ref().is_some_and(|arn| *arn != source_arn)
                    || table.at_s.is_some_and(|restored_s| restored_s != at_s);
                if is_other {
                    let (table, source_table) = (name.to_owned(), source.to_owned());
                    return Err(RestoreError::NameTaken { table, source_table }.into());
                }
            }
            if table.is_some_and(|table| table.is_active) {
                return Ok(());
            }
            let minutes = begun.elapsed().as_secs() / 60;
            if minutes > said {
                step.does(&format!("{minutes} minutes so far"));
                said = minutes;
            }
            sleep(poll).await;
        }
        Err(RestoreError::Slow { table: name.to_owned() }.into())
    }

    /// Takes the tables into the stack, where nothing uses them yet.
    async fn import(&self, decided: &Restoring) -> Result<(), SynthError> {
        let stack = self.project.config.stack.clone();
        let other = |what| RestoreError::OtherStack { stack: stack.clone(), what };
        let config = Config { incarnation: decided.incarnation, ..self.project.config.clone() };
        let wanted: Template = synthesize(&config)?;
        let deployed = self.aws.template(&self.state.id).await?;
        let template = decided.import_template(&deployed, &wanted.to_value());
        let template = template.ok_or_else(|| other("template that can be read"))?;
        let bucket = self.state.parameters.get(ARTIFACT_BUCKET);
        let bucket = bucket.ok_or_else(|| other("bucket of bundles"))?;
        let template_url = upload_template(&self.aws, self.output, bucket, template).await?;
        let import = Import {
            stack: stack.clone(),
            name: format!("cellar-{}", uuid::Uuid::new_v4()),
            template_url,
            parameters: self.state.parameters.keys().cloned().collect(),
            tables: decided.tables.clone(),
        };
        let change_set = self.aws.create_import(&import).await?;
        let made_in = BTreeMap::new();
        let (aws, output) = (&self.aws, self.output);
        let follower =
            Follower { aws, output, stack: &stack, command: "restore", made_in: &made_in };
        follower.execute(&change_set.id, &change_set.stack_id).await.map(drop)
    }

    /// Puts the incarnation into the configuration, and says what comes next.
    fn tell(&self, decided: &Restoring, at_s: u64) -> Result<(), SynthError> {
        let (project, incarnation) = (self.project, decided.incarnation);
        let stage = project.stage.as_deref();
        if project.config.incarnation != incarnation {
            let snippet = match stage {
                None => format!("incarnation: {incarnation}"),
                Some(stage) => format!("stages:\n  {stage}:\n    incarnation: {incarnation}"),
            };
            project.edit(|text| raise_incarnation(text, stage, incarnation), snippet)?;
        }
        let staged = stage.map_or_else(String::new, |stage| format!(" --stage {stage}"));
        let leaving = decided.leaving.iter().map(|id| format!(" --allow-data-loss {id}"));
        let deploy = format!("synth{staged} deploy{}", leaving.collect::<String>());
        let made = match decided.tables.len() {
            TABLES => "",
            _ => {
                "There was no EventStream table at that moment: the deployment makes an empty one. "
            }
        };
        let names: Vec<&str> = decided.tables.iter().map(|(_, name)| name.as_str()).collect();
        let text = format!(
            "The tables as they were at {at} are in the stack {stack}, and nothing uses them yet:\n  {}\n\
             {file} has `incarnation: {incarnation}` now: commit it, and look at `synth{staged} diff`. Then\n  \
             {deploy}\nmakes the functions use them. What was edited after {at} is not in them; clients \
             load anew by themselves. {made}The old tables stay in the account, as they are at that moment, \
             and cost their storage: {}.\nAfterwards, `synth{staged} reprocess --dry-run` looks for snapshots \
             that have to be made again, and `synth{staged} feed repair` makes the feed and the lists of \
             spreadsheets anew.",
            names.join("\n  "),
            self.in_use.join(", "),
            at = utc(at_s),
            stack = project.config.stack,
            file = project.config_file.display(),
        );
        let result = json!({
            "stack": project.config.stack,
            "at": utc(at_s),
            "incarnation": incarnation,
            "tables": names,
            "old_tables": self.in_use,
            "deploy": deploy,
        });
        self.output.result(&result, &text);
        Ok(())
    }
}

/// Whether the stack has a EventStream table that was not there at the moment.
async fn streams_are_later(
    aws: &Aws,
    state: &StackState,
    to: RestoreTime,
) -> Result<bool, SynthError> {
    let (Some(table), RestoreTime::At(at_s)) = (state.outputs.get(OUTPUT_EVENT_STREAM_TABLE), to)
    else {
        return Ok(false);
    };
    let made_s = aws.restored_table(table).await?.and_then(|table| table.made_s);
    Ok(made_s.is_some_and(|made_s| !was_there(made_s, at_s)))
}
