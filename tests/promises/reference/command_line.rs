//! Generates `docs/reference/cellar.md` and `synth.md` from the definitions that clap parses with.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::{assert_page, push_row, push_table_head};

#[test]
fn the_page_of_cellar_is_up_to_date() {
    assert_page("cellar.md", "command_line.rs", &page(cellar::cli::command()));
}

#[test]
fn the_page_of_synth_is_up_to_date() {
    assert_page("synth.md", "command_line.rs", &page(synth::command()));
}

fn page(mut root: Command) -> String {
    root.build();
    let mut text = format!("# {}\n\n{}\n", root.get_name(), about(&root));
    let globals: Vec<&Arg> = root.get_arguments().filter(|argument| is_shown(argument)).collect();
    push_arguments(&mut text, "Global options", &globals);
    push_after_help(&mut text, &root);
    for command in root.get_subcommands() {
        push_command(&mut text, command);
    }
    text
}

/// Appends a section for `command`, or for its subcommands if it has any.
fn push_command(text: &mut String, command: &Command) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    if !command.has_subcommands() || !command.is_subcommand_required_set() {
        push_section(text, command);
    }
    for subcommand in command.get_subcommands() {
        push_command(text, subcommand);
    }
}

fn push_section(text: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    writeln!(text, "\n## {name}\n\n{}", about(command)).unwrap();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    writeln!(text, "\n```text\n{}\n```", usage.trim()).unwrap();
    let own = command.get_arguments().filter(|argument| is_shown(argument));
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = own
        .filter(|argument| !argument.is_global_set())
        .partition(|argument| argument.is_positional());
    push_arguments(text, "Arguments", &positional);
    push_arguments(text, "Options", &options);
    push_after_help(text, command);
}

/// Omits the help and version options, which are the same for all commands.
fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    about.map(ToString::to_string).unwrap_or_default()
}

fn push_arguments(text: &mut String, heading: &str, arguments: &[&Arg]) {
    if arguments.is_empty() {
        return;
    }
    text.push('\n');
    push_table_head(text, &[heading, "Description"]);
    for argument in arguments {
        push_row(text, &[&format!("`{}`", invocation(argument)), &description(argument)]);
    }
}

/// Returns the syntax of an argument, such as `-s, --spreadsheet <ID>`.
fn invocation(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let values = if takes_value { values.join(" ") } else { String::new() };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let switches: Vec<String> = short.into_iter().chain(long).collect();
    format!("{} {values}", switches.join(", ")).trim().to_owned()
}

/// Returns the help of an argument with its default, environment variable and possible values.
fn description(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    if let Some(variable) = argument.get_env() {
        write!(text, " [env: {}]", variable.to_string_lossy()).unwrap();
    }
    let defaults = argument.get_default_values();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        write!(text, " [default: {}]", defaults.join(", ")).unwrap();
    }
    let values = argument.get_possible_values();
    if !values.is_empty() && argument.get_action().takes_values() {
        let shown = values.iter().filter(|value| !value.is_hide_set());
        let values: Vec<String> = shown
            .map(|value| match value.get_help() {
                Some(help) => format!("`{}` ({help})", value.get_name()),
                None => format!("`{}`", value.get_name()),
            })
            .collect();
        write!(text, " Values: {}.", values.join(", ")).unwrap();
    }
    text.replace('<', "&lt;")
}

fn push_after_help(text: &mut String, command: &Command) {
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        writeln!(text, "\n```text\n{}\n```", after.to_string().trim_end()).unwrap();
    }
}
