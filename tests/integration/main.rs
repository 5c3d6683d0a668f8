//! Tests across crates: one binary, with one module per subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod api_description;
mod aws_deployment;
mod aws_faults;
mod aws_restore;
mod aws_upgrade;
mod aws_watch;
mod bad_requests;
mod blobs;
mod bodies;
mod bootstrap;
mod buckets;
mod budgets;
mod bundle;
mod catalog;
mod catalog_commands;
mod cell_history;
mod client_examples;
mod client_reader;
mod commands;
mod compare_command;
mod contract;
mod convergence;
mod cost;
mod customer_repository;
mod diff_commands;
mod edit_commands;
mod edit_grid;
mod emulator;
mod feed;
mod feed_commands;
mod fork_commands;
mod forks;
mod formulas;
mod full_disk;
mod golden;
mod http_examples;
mod import_commands;
mod imports;
mod incarnations;
mod jobs_contract;
mod journey;
mod kills;
mod large_entries;
mod live;
mod load;
mod login_commands;
mod lost_replies;
mod lost_texts;
mod moved_stacks;
mod names;
mod newcomer;
mod newcomer_undo;
mod offload_command;
mod oidc;
mod page;
mod party;
mod pokes;
mod presence;
mod purge_command;
mod relay;
mod replicache;
mod reply_sizes;
mod reprocess;
mod retention;
mod retention_contract;
mod reversals;
mod right_spreadsheet;
mod roles;
mod roll;
mod routes;
mod search;
mod snapshot_reads;
mod snapshots;
mod spills;
mod stale_values;
mod strangers;
mod streams;
mod sync;
mod tables_access;
mod template_linters;
mod tenants;
mod times;
mod tokens;
mod trace;
mod tutorial;
mod watch_command;
mod webhook;
mod writers;
