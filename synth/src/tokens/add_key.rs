//! Adds a public key to the text of `cellar.yaml`. All other text, including comments, is
//! preserved.
//!
//! An edit is accepted only if the edited text parses to the old configuration plus the new key.

use cellar_runtime::settings::PublicKey;
use cellar_stacks::Config;
use cellar_stacks::config::TokenKey;

/// Returns `None` if the text cannot be edited safely.
pub(crate) fn add_public_key(config_text: &str, key: &PublicKey) -> Option<String> {
    let mut expected_config = Config::parse(config_text, "").ok()?;
    expected_config
        .tokens
        .keys
        .push(TokenKey { id: key.id.clone(), public_key: key.public_key.clone() });
    let edited_texts = [
        append_item(config_text, key),
        add_list(config_text, key),
        append_section(config_text, key),
    ];
    let is_safe_edit = |edited_text: &String| {
        Config::parse(edited_text, "").is_ok_and(|edited_config| edited_config == expected_config)
    };
    edited_texts.into_iter().flatten().find(is_safe_edit)
}

fn format_item(indent: &str, key: &PublicKey) -> String {
    format!("{indent}- id: {}\n{indent}  public_key: {}\n", quote(&key.id), quote(&key.public_key))
}

/// Quote the value, because it may start with a dash or look like a number.
fn quote(text: &str) -> String {
    format!("\"{text}\"")
}

fn append_item(config_text: &str, key: &PublicKey) -> Option<String> {
    let lines: Vec<&str> = config_text.split_inclusive('\n').collect();
    let keys_index = lines.iter().position(|line| line.trim() == "keys:")?;
    let mut lines_below_keys = lines.iter().enumerate().skip(keys_index + 1);
    let (_, first_item) = lines_below_keys.find(|(_, line)| is_list_item(line))?;
    let item_indent = indent_of(first_item);
    let is_in_list = |line: &str| {
        indent_of(line) > item_indent || (indent_of(line) == item_indent && is_list_item(line))
    };
    let list_end_index = match lines_below_keys.find(|(_, line)| !is_in_list(line)) {
        Some((index, _)) => index,
        None => lines.len(),
    };
    insert_before(&lines, list_end_index, &format_item(&" ".repeat(item_indent), key))
}

fn is_list_item(line: &str) -> bool {
    line.trim_start().starts_with("- ")
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn add_list(config_text: &str, key: &PublicKey) -> Option<String> {
    let keys_list = format!("  keys:\n{}", format_item("    ", key));
    let lines: Vec<&str> = config_text.split_inclusive('\n').collect();
    if let Some(empty_list_index) = lines.iter().position(|line| line.trim() == "keys: []") {
        let mut other_lines = lines;
        other_lines.remove(empty_list_index);
        return insert_before(&other_lines, empty_list_index, &keys_list);
    }
    let tokens_index = lines.iter().position(|line| line.trim_end() == "tokens:")?;
    insert_before(&lines, tokens_index + 1, &keys_list)
}

fn append_section(config_text: &str, key: &PublicKey) -> Option<String> {
    let lines: Vec<&str> = config_text.split_inclusive('\n').collect();
    let section = format!("tokens:\n  keys:\n{}", format_item("    ", key));
    insert_before(&lines, lines.len(), &section)
}

fn insert_before(lines: &[&str], index: usize, insertion: &str) -> Option<String> {
    let (before, after) = lines.split_at_checked(index)?;
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
    fn adds_keys_to_all_usual_forms_and_keeps_comments() {
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
    fn adds_a_key_to_the_documented_configuration() {
        let text = add_public_key(&Config::documented_yaml(), &key("D")).unwrap();
        assert_eq!(Config::parse(&text, "").unwrap().tokens.keys.len(), 1);
    }

    #[test]
    fn rejects_unsupported_forms() {
        assert_eq!(add_public_key("{tokens: {issuer: me}}\n", &key("D")), None);
        assert_eq!(add_public_key("tokens: {issuer: me}\n", &key("D")), None);
    }
}
