//! Command-line interface of `synth`: parses arguments and prints progress and results.

mod args;
mod output;
mod resource_list;

pub(crate) use args::{
    ArchitectureArgument, Arguments, AwsArguments, BundleArguments, CiCommand, CiInitArguments,
    Command, CostArguments, DeployArguments, DestroyArguments, DiffArguments, DiffFormat,
    DriftArguments, FailOn, FeedCommand, FeedLocation, FeedRebuild, Format, FunctionArgument,
    InitArguments, LocalCloudArguments, LocationArguments, LogsArguments, OffloadArguments,
    PlanArguments, PurgeArguments, ReprocessArguments, RestoreArguments, RestoreTime,
    RunbookArguments, SmokeArguments, SmokeFormat, StatusArguments, TemplateArguments,
    TokenArguments, TokenCommand, TokenCreateArguments, WebhookCommand, WebhookLocation,
    WebhookSecret,
};
pub(crate) use output::{Output, ProgressStep};
pub(crate) use resource_list::ResourceList;
