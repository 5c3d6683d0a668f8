//! Library of the `synth` command. The command synthesizes the CloudFormation template, builds the
//! Lambda bundle, deploys both, and operates the stack.
//!
//! The code is in a library, so that tests can run the command with custom ports. `main.rs` only
//! calls [`main`].

mod aws;
mod bundle;
mod ci;
mod cli;
mod commands;
mod cost;
mod deployment;
mod difference;
mod dispatch;
mod error;
mod git;
mod local_cloud;
mod log_lines;
mod moment;
mod output_file;
mod project;
mod raise_incarnation;
mod smoke;
mod sources;
mod synthesis;
mod tokens;

pub use dispatch::{command, main, main_with};
