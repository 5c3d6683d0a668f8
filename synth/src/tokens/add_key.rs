//! Puts a public key into `cellar.yaml` without touching anything else in it.
//!
//! Comments are worth keeping, so lines are inserted rather than the file rewritten; the result
//! counts only if it reads as the old configuration with one more key.

use cellar_runtime::settings::PublicKey;
use cellar_stacks::Config;
use cellar_stacks::config::TokenKey;

/// The text with the key added; `None` if it has a form in which that is not safe.
pub(crate) fn add_public_key(text: &str, key: &PublicKey) -> Option<String> {
    let mut expected = Config::parse(text, "").ok()?;
    expected.tokens.keys.push(TokenKey { id: key.id.clone(), public_key: key.public_key.clone() });
    let candidates = [with_item(text, key), with_list(text, key), with_section(text, key)];
    candidates
        .into_iter()
        .flatten()
        .find(|candidate| Config::parse(candidate, "").is_ok_and(|config| config == expected))
}

fn item(indent: &str, key: &PublicKey) -> String {
    format!(
        "{indent}- id: {}\n{indent}  public_key: {}\n",
        quoted(&key.id),
        quoted(&key.public_key)
    )
}

/// Keys may begin with a dash, or look like a number.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// A `keys:` with items: one more at its end.
fn with_item(text: &str, key: &PublicKey) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let keys = lines.iter().position(|line| line.trim() == "keys:")?;
    let is_item = |line: &&str| line.trim_start().starts_with("- ");
    let first = lines.get(keys + 1..)?.iter().position(is_item)? + keys + 1;
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let indent = indent_of(lines.get(first)?);
    let rest = lines.get(first + 1..)?;
    let inside =
        |line: &&str| indent_of(line) > indent || (indent_of(line) == indent && is_item(line));
    let count = rest.iter().take_while(|line| inside(line)).count();
    insert_before(&lines, first + 1 + count, &item(&" ".repeat(indent), key))
}

/// A `keys: []`, or no `keys` in a `tokens:` section: a list.
fn with_list(text: &str, key: &PublicKey) -> Option<String> {
    let list = format!("  keys:\n{}", item("    ", key));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if let Some(empty) = lines.iter().position(|line| line.trim() == "keys: []") {
        let without: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != empty)
            .map(|(_, line)| *line)
            .collect();
        return insert_before(&without, empty, &list);
    }
    let tokens = lines.iter().position(|line| line.trim_end() == "tokens:")?;
    insert_before(&lines, tokens + 1, &list)
}

/// No `tokens` at all: a section at the end.
fn with_section(text: &str, key: &PublicKey) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let section = format!("tokens:\n  keys:\n{}", item("    ", key));
    insert_before(&lines, lines.len(), &section)
}

fn insert_before(lines: &[&str], at: usize, insertion: &str) -> Option<String> {
    let (before, after) = lines.split_at_checked(at)?;
    let before = before.concat();
    let newline = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    Some([before.as_str(), newline, insertion, &after.concat()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(letter: &str) -> PublicKey {
        PublicKey { id: format!("-{letter}"), public_key: letter.repeat(42) + "A" }
    }

    #[test]
    fn a_key_goes_into_every_usual_form_and_comments_stay() {
        for text in [
            "",
            "# mine\nstack: books",
            "stack: books # here\ntokens:\n  issuer: me # there\n\nregion: eu-west-1\n",
            "tokens:\n  keys: []\n  issuer: me\n# end\n",
            "tokens:\n  # two of them\n  keys:\n    # first\n    - id: a\n      public_key: \
             CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA\n  issuer: me\nstack: books\n",
            "tokens:\n  keys:\n  - id: a\n    public_key: \
             CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA\nstack: books\n",
        ] {
            let before = Config::parse(text, "").unwrap();
            let once = add_public_key(text, &key("D")).unwrap_or_else(|| panic!("{text}"));
            let twice = add_public_key(&once, &key("E")).unwrap();
            let after = Config::parse(&twice, "").unwrap();
            assert_eq!(after.tokens.keys.len(), before.tokens.keys.len() + 2);
            let comments = |text: &str| text.matches('#').count();
            assert_eq!(comments(&twice), comments(text));
        }
    }

    #[test]
    fn the_documented_configuration_takes_a_key() {
        let text = add_public_key(&Config::documented_yaml(), &key("D")).unwrap();
        assert_eq!(Config::parse(&text, "").unwrap().tokens.keys.len(), 1);
    }

    #[test]
    fn a_form_that_is_not_understood_is_left_alone() {
        assert_eq!(add_public_key("{tokens: {issuer: me}}\n", &key("D")), None);
        assert_eq!(add_public_key("tokens: {issuer: me}\n", &key("D")), None);
    }
}
