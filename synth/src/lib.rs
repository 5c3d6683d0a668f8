//! `synth`: synthesizes the template, deploys it, checks it, mints tokens.
//!
//! A library so that tests can build the same program; `main.rs` only calls [`cli::main`].

pub mod cli;
mod commands;
mod difference;
mod error;
mod local_cloud;
mod project;
mod smoke;
mod tokens;
