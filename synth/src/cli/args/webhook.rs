//! Arguments of `synth webhook`.

use clap::{Args, Subcommand};

use super::WhereArguments;

/// Arguments of `webhook`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth webhook status\n  synth webhook secret\n  synth webhook deliver --local"
)]
pub(crate) struct WebhookArguments {
    #[command(subcommand)]
    pub(crate) command: WebhookCommand,
}

/// What to do with the webhook.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Say how far it has come
    #[command(
        after_help = "The exit code is 2 if there is something that was not delivered.\n\nExamples:\n  \
                            synth webhook status\n  synth webhook status --json"
    )]
    Status(WebhookPlace),
    /// Print the secret that the receiver checks signatures with
    #[command(
        after_help = "Deliveries are signed as Standard Webhooks say (standardwebhooks.com), so that there is \
                            a library for the receiver in most languages. The secret is in the stack's bucket \
                            and nowhere else.\n\nExamples:\n  synth webhook secret\n  synth webhook secret \
                            --rotate"
    )]
    Secret(WebhookSecret),
    /// Deliver now what was not delivered
    #[command(
        after_help = "The stack does that by itself, for 12 hours from a change on and with every change: this \
                            is for a receiver that was away for longer.\n\nExamples:\n  synth webhook \
                            deliver\n  synth webhook deliver --local"
    )]
    Deliver(WebhookPlace),
}

/// Whose webhook.
#[derive(Debug, Args)]
pub(crate) struct WebhookPlace {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
}

/// Whose secret, and whether to make a new one.
#[derive(Debug, Args)]
pub(crate) struct WebhookSecret {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
    /// Make a new one. The one before it signs as well until the next time, so that the receiver can change
    #[arg(long)]
    pub(crate) rotate: bool,
}
