//! Arguments of `synth webhook`.

use clap::{Args, Subcommand};

use super::watch::LocationArguments;

/// Arguments of `webhook`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth webhook status\n  synth webhook secret\n  synth webhook deliver --local"
)]
pub(crate) struct WebhookArguments {
    #[command(subcommand)]
    pub(crate) command: WebhookCommand,
}

/// Commands of `synth webhook`.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Show how much of the feed the webhook has delivered
    #[command(after_help = "The exit code is 2 if deliveries are pending.\n\nExamples:\n  \
                            synth webhook status\n  synth webhook status --json")]
    Status(WebhookLocation),
    /// Print or rotate the webhook's signing secret
    #[command(
        after_help = "Deliveries are signed according to Standard Webhooks (standardwebhooks.com), which has \
                            libraries for receivers in most languages. The secret is stored only in the \
                            stack's bucket.\n\nExamples:\n  synth webhook secret\n  synth webhook secret \
                            --rotate"
    )]
    Secret(WebhookSecret),
    /// Deliver pending feed items now
    #[command(
        after_help = "The stack retries for 12 hours after a change, and again with every later change. Use \
                            this command for a receiver that was down for longer.\n\nExamples:\n  synth webhook \
                            deliver\n  synth webhook deliver --local"
    )]
    Deliver(WebhookLocation),
}

/// Options that select the stack of the webhook.
#[derive(Debug, Args)]
pub(crate) struct WebhookLocation {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
}

/// Arguments of `webhook secret`.
#[derive(Debug, Args)]
pub(crate) struct WebhookSecret {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
    /// Create a new secret; deliveries are signed with both secrets until the next rotation
    #[arg(long)]
    pub(crate) rotate: bool,
}
