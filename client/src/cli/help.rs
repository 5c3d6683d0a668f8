//! Groups the commands in `--help`, because clap's flat list of thirty commands is hard to read.

use std::fmt::Write as _;

/// A group's heading and command names.
pub type Group = (&'static str, &'static [&'static str]);

/// Replaces clap's command list with one list per group. Commands without a group are not listed.
#[must_use]
pub fn with_groups(command: clap::Command, groups: &[Group]) -> clap::Command {
    let name_lengths = groups.iter().flat_map(|(_, names)| *names).map(|name| name.len());
    let name_width = name_lengths.max().unwrap_or(0);
    let mut command_list = String::new();
    for (heading, names) in groups {
        // Writing to a String cannot fail.
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

/// Returns the visible commands that are not in exactly one group, and the group members that do
/// not exist as commands. Used by tests.
#[must_use]
pub fn ungrouped(command: &clap::Command, groups: &[Group]) -> Vec<String> {
    let grouped_names: Vec<&str> =
        groups.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut misplaced_names = Vec::new();
    for visible_command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = visible_command.get_name();
        let group_count =
            grouped_names.iter().filter(|grouped_name| **grouped_name == name).count();
        if group_count != 1 {
            misplaced_names.push(name.to_owned());
        }
    }
    for name in grouped_names {
        if command.find_subcommand(name).is_none() {
            misplaced_names.push(name.to_owned());
        }
    }
    misplaced_names
}
