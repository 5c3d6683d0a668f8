//! Reads a picture back, strictly: a line that a picture never contains fails the test.

use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing {
    /// Labels by the names of boxes.
    pub(crate) nodes: BTreeMap<String, String>,
    /// Titles of groups, and the names of their boxes.
    pub(crate) groups: Vec<(String, Vec<String>)>,
    /// Start, label and end of each arrow.
    pub(crate) arrows: Vec<(String, String, String)>,
    /// Classes by the names of boxes.
    pub(crate) classes: BTreeMap<String, String>,
    pub(crate) coloured_arrows: Vec<usize>,
}

const BRACKETS: [(&str, &str); 7] = [
    ("{{\"", "\"}}"),
    ("[(\"", "\")]"),
    ("[\\\"", "\"/]"),
    ("[[\"", "\"]]"),
    ("([\"", "\"])"),
    (">\"", "\"]"),
    ("[\"", "\"]"),
];
const LINES: [(&str, &str); 3] =
    [(" == \"", "\" ==> "), (" -- \"", "\" --> "), (" -. \"", "\" .-> ")];

impl Drawing {
    pub(crate) fn read(picture: &str) -> Self {
        let mut drawing = Self::default();
        let mut lines = picture.lines();
        assert_eq!(lines.next(), Some("flowchart LR"));
        let mut in_group = false;
        for line in lines {
            let depth = if in_group && line != "  end" { "    " } else { "  " };
            let text = line.strip_prefix(depth).unwrap_or_else(|| panic!("{line}"));
            assert!(!text.starts_with(' ') && !text.contains('`'), "{line}");
            if text == "end" {
                in_group = false;
            } else if in_group {
                drawing.read_node(text, true);
            } else if let Some(title) = text.strip_prefix("subgraph ") {
                let (_, title) = title.split_once('[').unwrap();
                let title = title.strip_prefix('"').and_then(|rest| rest.strip_suffix("\"]"));
                drawing.groups.push((checked(title.unwrap()), Vec::new()));
                in_group = true;
            } else {
                drawing.read_line(text);
            }
        }
        assert!(!in_group);
        drawing
    }

    fn read_node(&mut self, text: &str, in_group: bool) {
        let length = text.find(|one: char| !one.is_ascii_alphanumeric()).unwrap();
        let (name, rest) = text.split_at(length);
        let label = BRACKETS
            .iter()
            .find_map(|(open, close)| rest.strip_prefix(open)?.strip_suffix(close))
            .unwrap_or_else(|| panic!("{text}"));
        if in_group {
            self.groups.last_mut().unwrap().1.push(name.to_owned());
        }
        assert!(self.nodes.insert(name.to_owned(), checked(label)).is_none(), "{name} is repeated");
    }

    fn read_line(&mut self, text: &str) {
        if let Some(assignment) = text.strip_prefix("class ") {
            let (names, class) = assignment.split_once(' ').unwrap();
            for name in names.split(',') {
                assert!(self.nodes.contains_key(name), "{text}");
                let earlier = self.classes.insert(name.to_owned(), class.to_owned());
                assert_eq!(earlier, None, "{text}");
            }
        } else if let Some(style) = text.strip_prefix("linkStyle ") {
            let (indices, _) = style.split_once(" stroke:#").unwrap();
            self.coloured_arrows
                .extend(indices.split(',').map(|index| index.parse::<usize>().unwrap()));
            assert!(self.coloured_arrows.iter().all(|index| *index < self.arrows.len()), "{text}");
        } else if let Some(class) = text.strip_prefix("classDef ") {
            assert!(class.contains(" fill:#") && class.contains(",color:#"), "{text}");
        } else if let Some((from, label, to)) = LINES.iter().find_map(|(start, end)| {
            let (from, rest) = text.split_once(start)?;
            let (label, to) = rest.split_once(end)?;
            Some((from, label, to))
        }) {
            assert!(self.nodes.contains_key(from) && self.nodes.contains_key(to), "{text}");
            self.arrows.push((from.to_owned(), checked(label), to.to_owned()));
        } else {
            assert!(self.arrows.is_empty(), "boxes come before arrows: {text}");
            self.read_node(text, false);
        }
    }

    /// Returns the arrows as `From verbs To`.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.arrows.iter().map(|(from, label, to)| format!("{from} {label} {to}")).collect()
    }
}

/// Checks that a label contains no character with a meaning in Mermaid, and returns it with spaces
/// instead of line breaks.
fn checked(label: &str) -> String {
    let text = label.replace("<br>", " ");
    let mut rest = text.as_str();
    while let Some((plain, code)) = rest.split_once('#') {
        assert_plain(plain);
        let (number, behind) = code.split_once(';').unwrap();
        assert!(
            number.parse::<u32>().is_ok_and(|number| char::from_u32(number).is_some()),
            "{label}"
        );
        rest = behind;
    }
    assert_plain(rest);
    text
}

fn assert_plain(text: &str) {
    let is_plain = |one: char| one.is_alphanumeric() || " ,…".contains(one);
    assert!(text.chars().all(is_plain), "{text}");
}
