//! Sets the `incarnation` field in the text of `cellar.yaml`. All other text is preserved.

use cellar_stacks::Config;

const INDENT_WIDTH: usize = 2;

/// Sets the incarnation of `stage`, or the top-level incarnation if `stage` is `None`.
///
/// Returns `None` if the text cannot be edited safely. An edit is accepted only if nothing but the
/// incarnation changes in the parsed configuration.
pub(crate) fn raise_incarnation(
    config_text: &str,
    stage: Option<&str>,
    incarnation: u32,
) -> Option<String> {
    let old_config = Config::parse(config_text, "").ok()?;
    let is_safe_edit = |edited_text: &String| match Config::parse(edited_text, "") {
        Ok(new_config) => differs_only_in_incarnation(&old_config, &new_config, stage, incarnation),
        Err(_) => false,
    };
    match stage {
        None => Some(set_at_top_level(config_text, incarnation)).filter(is_safe_edit),
        Some(stage) => set_in_block(config_text, stage, incarnation)
            .filter(is_safe_edit)
            .or_else(|| set_in_braces(config_text, stage, incarnation).filter(is_safe_edit)),
    }
}

fn differs_only_in_incarnation(
    old_config: &Config,
    new_config: &Config,
    stage: Option<&str>,
    incarnation: u32,
) -> bool {
    let Some(stage) = stage else {
        return *new_config == Config { incarnation, ..old_config.clone() };
    };
    let without_stages = |config: &Config| Config { stages: Default::default(), ..config.clone() };
    if without_stages(old_config) != without_stages(new_config)
        || !old_config.stage_names().eq(new_config.stage_names())
        || !old_config.stage_names().any(|name| name == stage)
    {
        return false;
    }
    for name in old_config.stage_names() {
        let Some(mut expected_config) = stage_config(old_config, name) else { return false };
        if name == stage {
            expected_config.incarnation = incarnation;
        }
        if stage_config(new_config, name) != Some(expected_config) {
            return false;
        }
    }
    true
}

fn stage_config(config: &Config, stage: &str) -> Option<Config> {
    config.stage(stage, "").ok().flatten()
}

/// Replaces the top-level `incarnation` field, or appends the field if it is missing.
fn set_at_top_level(config_text: &str, incarnation: u32) -> String {
    let new_field = format!("incarnation: {incarnation}");
    let is_incarnation = |line: &str| line.starts_with("incarnation:");
    if !config_text.lines().any(is_incarnation) {
        let newline = if config_text.is_empty() || config_text.ends_with('\n') { "" } else { "\n" };
        return format!("{config_text}{newline}{new_field}\n");
    }
    map_lines(
        config_text,
        |line| {
            if is_incarnation(line) { new_field.clone() } else { line.to_owned() }
        },
    )
}

/// Sets the `incarnation` field of a stage that is written in block style, with the fields indented
/// below the stage name.
fn set_in_block(config_text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let mut lines: Vec<String> = config_text.lines().map(str::to_owned).collect();
    let stages_index = lines.iter().position(|line| line.trim_end() == "stages:")?;
    let mut lines_below_stages = lines.iter().enumerate().skip(stages_index + 1);
    let (header_index, header) =
        lines_below_stages.find(|(_, line)| key_of(line) == Some(stage))?;
    let header_indent = indent_of(header);
    let mut fields = lines_below_stages
        .filter(|(_, line)| !line.trim().is_empty())
        .take_while(|(_, line)| indent_of(line) > header_indent)
        .peekable();
    let field_indent = match fields.peek() {
        Some((_, first_field)) => indent_of(first_field),
        None => header_indent + INDENT_WIDTH,
    };
    let existing_field = fields
        .find(|(_, line)| indent_of(line) == field_indent && key_of(line) == Some("incarnation"));
    let existing_index = existing_field.map(|(index, _)| index);
    let new_field = format!("{}incarnation: {incarnation}", " ".repeat(field_indent));
    match existing_index {
        Some(index) => *lines.get_mut(index)? = new_field,
        None => lines.insert(header_index + 1, new_field),
    }
    Some(lines.join("\n") + "\n")
}

/// Sets the `incarnation` field of a stage that is written in flow style, `stage: {…}`.
fn set_in_braces(config_text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let is_stage = |line: &str| {
        key_of(line) == Some(stage) && line.trim_end().ends_with('}') && indent_of(line) > 0
    };
    if !config_text.lines().any(is_stage) {
        return None;
    }
    Some(map_lines(config_text, |line| match line.split_once('{') {
        Some((head, fields)) if is_stage(line) => {
            format!("{head}{{{}", set_first_field(fields, incarnation))
        }
        _ => line.to_owned(),
    }))
}

fn set_first_field(fields: &str, incarnation: u32) -> String {
    if fields.trim() == "}" {
        return format!("incarnation: {incarnation}}}");
    }
    let is_incarnation = |field: &str| field.trim().starts_with("incarnation:");
    let other_fields: Vec<&str> =
        fields.split(", ").filter(|field| !is_incarnation(field)).collect();
    format!("incarnation: {incarnation}, {}", other_fields.join(", "))
}

fn map_lines(config_text: &str, edit: impl Fn(&str) -> String) -> String {
    let lines: Vec<String> = config_text.lines().map(edit).collect();
    lines.join("\n") + "\n"
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    Some(key.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_or_appends_the_top_level_field() {
        for (before, after) in [
            ("", "incarnation: 1\n"),
            ("stack: a", "stack: a\nincarnation: 1\n"),
            ("stack: a # mine\n", "stack: a # mine\nincarnation: 1\n"),
            ("incarnation: 0\nstack: a\n", "incarnation: 1\nstack: a\n"),
        ] {
            assert_eq!(raise_incarnation(before, None, 1).as_deref(), Some(after), "{before}");
        }
        let documented = Config::documented_yaml();
        let raised = raise_incarnation(&documented, None, 7).unwrap();
        assert_eq!(Config::parse(&raised, "").unwrap().incarnation, 7);
        assert_eq!(raised.lines().count(), documented.lines().count());
    }

    #[test]
    fn changes_only_the_selected_stage() {
        for (before, after) in [
            ("stages:\n  dev:\n  prod:\n", "stages:\n  dev:\n  prod:\n    incarnation: 2\n"),
            (
                "stages:\n  prod:\n      stack: p # the one\n      incarnation: 1\n  dev: {}\n",
                "stages:\n  prod:\n      stack: p # the one\n      incarnation: 2\n  dev: {}\n",
            ),
            (
                "stages:\n  dev: {stack: d}\n  prod: {stack: p, incarnation: 1, log_retention: 7d}\n",
                "stages:\n  dev: {stack: d}\n  prod: {incarnation: 2, stack: p, log_retention: 7d}\n",
            ),
            ("stages:\n  prod: {}\n", "stages:\n  prod: {incarnation: 2}\n"),
        ] {
            assert_eq!(
                raise_incarnation(before, Some("prod"), 2).as_deref(),
                Some(after),
                "{before}"
            );
        }
    }

    #[test]
    fn rejects_text_that_cannot_be_edited_safely() {
        for (text, stage) in [
            ("stages:\n  prod: &p {stack: a,\n    incarnation: 1}\n", Some("prod")),
            ("stages:\n  dev: {}\n", Some("prod")),
            ("{stack: a}\n", None),
            ("stack: [\n", None),
        ] {
            assert_eq!(raise_incarnation(text, stage, 2), None, "{text}");
        }
    }
}
