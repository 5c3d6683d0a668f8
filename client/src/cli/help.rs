//! Groups the commands in `--help`, because clap's flat list of thirty commands is hard to read.

use std::fmt::Write as _;

/// A group's heading and command names.
pub type Group = (&'static str, &'static [&'static str]);

/// Replaces clap's command list with one list per group. Commands without a group are not listed.
#[must_use]
pub fn with_groups(command: clap::Command, groups: &[Group]) -> clap::Command {
    let name_lengths = groups.iter().flat_map(|(_, names)| *names).map(|name| name.len());
    let width = name_lengths.max().unwrap_or(0);
    let mut list = String::new();
    for (heading, names) in groups {
        // Writing to a String cannot fail.
        let _ = writeln!(list, "{heading}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {name:<width$}  {about}");
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Global options:\n{{options}}{{after-help}}"
    ))
}

/// Returns the visible commands that are not in exactly one group, and the group members that are
/// not commands. Used by tests.
#[must_use]
pub fn ungrouped(command: &clap::Command, groups: &[Group]) -> Vec<String> {
    let named = || groups.iter().flat_map(|(_, names)| *names);
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let wrong = visible
        .map(clap::Command::get_name)
        .filter(|name| named().filter(|named| *named == name).count() != 1);
    let unknown = named().filter(|name| command.find_subcommand(name).is_none());
    wrong.chain(unknown.copied()).map(str::to_owned).collect()
}
