//! Puts another incarnation into `cellar.yaml`, and leaves everything else as it was written.

use cellar_stacks::Config;

/// The text with the incarnation of the stage, or of all if there are no stages; `None` if it has a form in
/// which that is not safe.
pub(crate) fn raise_incarnation(
    text: &str,
    stage: Option<&str>,
    incarnation: u32,
) -> Option<String> {
    let before = Config::parse(text, "").ok()?;
    let candidates = match stage {
        None => vec![at_top(text, incarnation)],
        Some(stage) => {
            vec![in_block(text, stage, incarnation), in_braces(text, stage, incarnation)]
        }
    };
    let mut candidates = candidates.into_iter().flatten();
    candidates.find(|text| {
        Config::parse(text, "").is_ok_and(|after| only_raised(&before, &after, stage, incarnation))
    })
}

/// Whether nothing but the incarnation of the stage is another.
fn only_raised(before: &Config, after: &Config, stage: Option<&str>, incarnation: u32) -> bool {
    let Some(stage) = stage else {
        return *after == Config { incarnation, ..before.clone() };
    };
    let of = |config: &Config, name: &str| config.stage(name, "").ok().flatten();
    let same = |name: &str| {
        let expected = of(before, name).map(|config| match name == stage {
            true => Config { incarnation, ..config },
            false => config,
        });
        expected.is_some() && expected == of(after, name)
    };
    let base = |config: &Config| Config { stages: Default::default(), ..config.clone() };
    base(before) == base(after)
        && before.stage_names().eq(after.stage_names())
        && before.stage_names().any(|name| name == stage)
        && before.stage_names().all(same)
}

/// The field at the top level: in its place, or at the end.
fn at_top(text: &str, incarnation: u32) -> Option<String> {
    let is_field = |line: &str| line.starts_with("incarnation:");
    Some(match text.lines().any(is_field) {
        true => with_lines(text, |line| match is_field(line) {
            true => vec![format!("incarnation: {incarnation}")],
            false => vec![line.to_owned()],
        }),
        false if text.is_empty() || text.ends_with('\n') => {
            format!("{text}incarnation: {incarnation}\n")
        }
        false => format!("{text}\nincarnation: {incarnation}\n"),
    })
}

/// The field in the lines below the stage's name.
fn in_block(text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let stages = lines.iter().position(|line| line.trim_end() == "stages:")?;
    let head = lines.get(stages + 1..)?.iter().position(|line| name(line) == Some(stage))?;
    let head = stages + 1 + head;
    let outer = indent(lines.get(head)?);
    let below = lines.get(head + 1..)?;
    let inside = |line: &&&str| line.trim().is_empty() || indent(line) > outer;
    let below: Vec<&str> = below.iter().take_while(inside).copied().collect();
    let inner = below.iter().find(|line| !line.trim().is_empty()).map(|line| indent(line));
    let inner = inner.unwrap_or(outer + 2);
    let field = format!("{}incarnation: {incarnation}", " ".repeat(inner));
    let there =
        below.iter().position(|line| indent(line) == inner && name(line) == Some("incarnation"));
    let mut new: Vec<&str> = lines.clone();
    match there {
        Some(at) => *new.get_mut(head + 1 + at)? = &field,
        None => new.insert(head + 1, &field),
    }
    Some(new.join("\n") + "\n")
}

/// The field in `stage: {…}`.
fn in_braces(text: &str, stage: &str, incarnation: u32) -> Option<String> {
    let is_stage = |line: &str| {
        name(line) == Some(stage) && line.trim_end().ends_with('}') && indent(line) > 0
    };
    text.lines().any(is_stage).then(|| {
        with_lines(text, |line| match line.split_once('{').filter(|_| is_stage(line)) {
            Some((head, rest)) if rest.trim() == "}" => {
                vec![format!("{head}{{incarnation: {incarnation}}}")]
            }
            Some((head, rest)) => {
                let rest: Vec<&str> = rest
                    .split(", ")
                    .filter(|part| !part.trim().starts_with("incarnation:"))
                    .collect();
                vec![format!("{head}{{incarnation: {incarnation}, {}", rest.join(", "))]
            }
            None => vec![line.to_owned()],
        })
    })
}

fn with_lines(text: &str, each: impl Fn(&str) -> Vec<String>) -> String {
    let lines: Vec<String> = text.lines().flat_map(each).collect();
    lines.join("\n") + "\n"
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The key of a line.
fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_level_gets_it_in_its_place_or_at_the_end() {
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
    fn a_stage_gets_its_own_and_no_other() {
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
    fn what_cannot_be_edited_safely_is_left_alone() {
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
