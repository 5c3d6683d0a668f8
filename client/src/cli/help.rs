//! Groups the commands in `--help`. Clap's own flat list of about thirty commands is hard to read.

use std::fmt::Write as _;

/// Heading of a group and the names of its commands.
pub type Group = (&'static str, &'static [&'static str]);

/// Replaces clap's list of commands with one list per group. Commands that belong to no group are
/// omitted.
#[must_use]
pub fn group_commands(command: clap::Command, groups: &[Group]) -> clap::Command {
    let name_lengths = groups.iter().flat_map(|(_, names)| *names).map(|name| name.len());
    let name_width = name_lengths.max().unwrap_or(0);
    let mut command_list = String::new();
    for (heading, names) in groups {
        // Writing to a `String` cannot fail.
        let _ = writeln!(command_list, "{heading}:");
        for name in *names {
            let subcommand = command.find_subcommand(name);
            let about = subcommand.and_then(clap::Command::get_about).cloned().unwrap_or_default();
            let _ = writeln!(command_list, "  {name:<name_width$}  {about}");
        }
        command_list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{command_list}Global options:\n{{options}}{{after-help}}"
    ))
}

/// Returns the visible commands that do not belong to exactly one group, and the names in groups
/// that are not commands. Used by tests.
#[must_use]
pub fn misplaced_commands(command: &clap::Command, groups: &[Group]) -> Vec<String> {
    let grouped_names: Vec<&str> =
        groups.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let visible_commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let command_names: Vec<&str> = visible_commands.map(clap::Command::get_name).collect();
    let is_in_one_group = |name: &str| {
        grouped_names.iter().filter(|grouped_name| **grouped_name == name).count() == 1
    };
    let not_in_one_group = command_names.iter().filter(|name| !is_in_one_group(name));
    let not_commands = grouped_names.iter().filter(|name| command.find_subcommand(name).is_none());
    not_in_one_group.chain(not_commands).map(|name| (*name).to_owned()).collect()
}
