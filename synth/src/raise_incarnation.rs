//! Sets the `incarnation` field in the text of `cellar.yaml`, preserving all other text.

use cellar_stacks::Config;

/// Returns `text` with the incarnation (restore counter) set in `stage`, or at the top level if
/// `stage` is `None`.
///
/// Returns `None` if the text cannot be edited safely. An edit is accepted only if nothing but the
/// incarnation changes in the parsed configuration.
pub(crate) fn raise_incarnation(
    text: &str,
    stage: Option<&str>,
    incarnation: u32,
) -> Option<String> {
    let before = Config::parse(text, "").ok()?;
    let candidates = match stage {
        None => vec![set_at_top_level(text, incarnation)],
        Some(stage) => {
            let in_block = set_in_block(text, stage, incarnation);
            vec![in_block, set_in_braces(text, stage, incarnation)].into_iter().flatten().collect()
        }
    };
    candidates.into_iter().find(|edited| {
        Config::parse(edited, "")
            .is_ok_and(|after| differs_only_in_incarnation(&before, &after, stage, incarnation))
    })
}

/// Returns whether `before` and `after` differ only in the incarnation of `stage`, or in the
/// top-level one if `stage` is `None`.
fn differs_only_in_incarnation(
    before: &Config,
    after: &Config,
    stage: Option<&str>,
    incarnation: u32,
) -> bool {
    let Some(stage) = stage else {
        return *after == Config { incarnation, ..before.clone() };
    };
    let without_stages = |config: &Config| Config { stages: Default::default(), ..config.clone() };
    if without_stages(before) != without_stages(after)
        || !before.stage_names().eq(after.stage_names())
        || !before.stage_names().any(|name| name == stage)
    {
        return false;
    }
    before.stage_names().all(|name| {
        let parse_stage = |config: &Config| config.stage(name, "").ok().flatten();
        let Some(mut expected) = parse_stage(before) else { return false };
        if name == stage {
            expected.incarnation = incarnation;
        }
        parse_stage(after) == Some(expected)
    })
}

/// Replaces the top-level `incarnation` field, or appends it if missing.
fn set_at_top_level(text: &str, incarnation: u32) -> String {
    let field = format!("incarnation: {incarnation}");
    let is_field = |line: &str| line.starts_with("incarnation:");
    if text.lines().any(is_field) {
        return map_lines(
            text,
            |line| if is_field(line) { field.clone() } else { line.to_owned() },
        );
    }
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{newline}{field}\n")
}

/// Sets the `incarnation` field of a stage in block style, with its fields indented below the stage
/// name.
fn set_in_block(text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let stages = lines.iter().position(|line| line.trim_end() == "stages:")?;
    let after_stages = lines.get(stages + 1..)?;
    let header = stages + 1 + after_stages.iter().position(|line| key_of(line) == Some(stage))?;
    let header_indent = indent_of(lines.get(header)?);
    let block: Vec<&String> = lines
        .get(header + 1..)?
        .iter()
        .take_while(|line| line.trim().is_empty() || indent_of(line) > header_indent)
        .collect();
    let first_field = block.iter().find(|line| !line.trim().is_empty());
    let field_indent = first_field.map_or(header_indent + 2, |line| indent_of(line));
    let existing = block
        .iter()
        .position(|line| indent_of(line) == field_indent && key_of(line) == Some("incarnation"));
    let field = format!("{}incarnation: {incarnation}", " ".repeat(field_indent));
    match existing {
        Some(index) => *lines.get_mut(header + 1 + index)? = field,
        None => lines.insert(header + 1, field),
    }
    Some(lines.join("\n") + "\n")
}

/// Sets the `incarnation` field of a stage in flow style, `stage: {…}`.
fn set_in_braces(text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let is_stage = |line: &str| {
        key_of(line) == Some(stage) && line.trim_end().ends_with('}') && indent_of(line) > 0
    };
    if !text.lines().any(is_stage) {
        return None;
    }
    Some(map_lines(text, |line| {
        let Some((head, fields)) = line.split_once('{') else { return line.to_owned() };
        if !is_stage(line) {
            return line.to_owned();
        }
        if fields.trim() == "}" {
            return format!("{head}{{incarnation: {incarnation}}}");
        }
        let other_fields: Vec<&str> =
            fields.split(", ").filter(|field| !field.trim().starts_with("incarnation:")).collect();
        format!("{head}{{incarnation: {incarnation}, {}", other_fields.join(", "))
    }))
}

fn map_lines(text: &str, edit: impl Fn(&str) -> String) -> String {
    let lines: Vec<String> = text.lines().map(edit).collect();
    lines.join("\n") + "\n"
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the key of a `key: value` line.
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
                "stages:\n  dev: {stack: d}\n  prod: {stack: p, incarnation: 1, log_retention_days: 7}\n",
                "stages:\n  dev: {stack: d}\n  prod: {incarnation: 2, stack: p, log_retention_days: 7}\n",
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
