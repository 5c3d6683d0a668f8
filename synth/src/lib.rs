//! `synth`: synthesizes the template, builds the bundle, deploys both, checks it, mints tokens.
//!
//! A library so that tests can build the same program; `main.rs` only calls [`cli::main`].

mod aws;
mod bundle;
pub mod cli;
mod commands;
mod cost;
mod deployment;
mod difference;
mod error;
mod git;
mod local_cloud;
mod log_lines;
mod moment;
mod output_file;
mod project;
mod raise_incarnation;
mod smoke;
mod tokens;
