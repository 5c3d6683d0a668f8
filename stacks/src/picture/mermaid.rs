//! Writes a picture as a Mermaid flowchart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cellar_base::count::count;

use super::PictureError;
use super::label::escaped_name;
use super::limits::{ARROWS_MAX, PARTS_SHOWN_MAX, PICTURE_BYTES_MAX};
use super::marks::{Mark, MarkedArrow, MarkedNode, MarkedScene};
use super::nodes::{Group, NodeId, NodeKind};
use super::verb::Verb;

const LINE_BREAK: &str = "<br>";

pub(super) fn write(scene: &MarkedScene) -> Result<String, PictureError> {
    let arrows = scene.arrows.len();
    if arrows > ARROWS_MAX {
        return Err(PictureError::TooManyArrows { arrows });
    }
    let names: BTreeMap<&NodeId, String> = scene
        .nodes
        .keys()
        .enumerate()
        .map(|(index, node_id)| (node_id, mermaid_name(node_id, index)))
        .collect();
    let mut page = Page { text: "flowchart LR\n".to_owned(), names };
    page.add_nodes(scene, None, "  ");
    for group in Group::ALL {
        page.add_group(scene, group);
    }
    page.add_arrows(scene);
    page.add_classes(scene);
    let bytes = page.text.len();
    if bytes > PICTURE_BYTES_MAX {
        return Err(PictureError::TooLong { bytes });
    }
    Ok(page.text)
}

/// Keywords of Mermaid, such as `end`, start with a lower-case letter. Names of resources usually
/// start with an upper-case letter; a name that does not is replaced by a number.
fn mermaid_name(node_id: &NodeId, index: usize) -> String {
    match node_id {
        NodeId::Resource(logical_id) if is_plain(logical_id) => logical_id.clone(),
        _ => format!("node{index}"),
    }
}

fn is_plain(logical_id: &str) -> bool {
    logical_id.starts_with(|first: char| first.is_ascii_uppercase())
        && logical_id.chars().all(|character| character.is_ascii_alphanumeric())
}

struct Page<'a> {
    text: String,
    /// The names of boxes in the text.
    names: BTreeMap<&'a NodeId, String>,
}

impl Page<'_> {
    fn add_line(&mut self, line: &str) {
        // Writing to a `String` never fails.
        let _ = writeln!(self.text, "{line}");
    }

    fn name(&self, node_id: &NodeId) -> &str {
        self.names.get(node_id).map_or("", String::as_str)
    }

    fn add_nodes(&mut self, scene: &MarkedScene, group: Option<Group>, indent: &str) {
        for (node_id, node) in scene.nodes.iter().filter(|(_, node)| node.kind.group() == group) {
            let (open, close) = node.kind.brackets();
            let label = label(node_id, node);
            let line = format!("{indent}{}{open}\"{label}\"{close}", self.name(node_id));
            self.add_line(&line);
        }
    }

    fn add_group(&mut self, scene: &MarkedScene, group: Group) {
        if scene.nodes.values().any(|node| node.kind.group() == Some(group)) {
            self.add_line(&format!("  subgraph {}[\"{}\"]", group.name(), group.title()));
            self.add_nodes(scene, Some(group), "    ");
            self.add_line("  end");
        }
    }

    fn add_arrows(&mut self, scene: &MarkedScene) {
        let mut indices_by_mark: BTreeMap<Mark, Vec<String>> = BTreeMap::new();
        for (index, ((from, to), arrow)) in scene.arrows.iter().enumerate() {
            let ends = [from, to].map(|node_id| scene.nodes.get(node_id)?.mark);
            let (start, end) = arrow_line(&arrow.verbs);
            let label = arrow_label(arrow, ends);
            let (from, to) = (self.name(from), self.name(to));
            let line = format!("  {from} {start} \"{label}\" {end} {to}");
            self.add_line(&line);
            if let Some(mark) = arrow.mark {
                indices_by_mark.entry(mark).or_default().push(index.to_string());
            }
        }
        for (mark, indices) in indices_by_mark {
            let (_, stroke) = colours(mark);
            self.add_line(&format!("  linkStyle {} stroke:{stroke}", indices.join(",")));
        }
    }

    fn add_classes(&mut self, scene: &MarkedScene) {
        for mark in Mark::ALL {
            let names: Vec<&str> = scene
                .nodes
                .iter()
                .filter(|(_, node)| node.colour() == Some(mark))
                .map(|(node_id, _)| self.name(node_id))
                .collect();
            if names.is_empty() {
                continue;
            }
            let class = class_name(mark);
            let assignment = format!("  class {} {class}", names.join(","));
            let (fill, stroke) = colours(mark);
            self.add_line(&format!(
                "  classDef {class} fill:{fill},stroke:{stroke},color:#1f2328,stroke-width:2px{}",
                dashes(mark)
            ));
            self.add_line(&assignment);
        }
    }
}

fn label(node_id: &NodeId, node: &MarkedNode) -> String {
    let mut lines = vec![match (node_id, &node.kind) {
        (_, NodeKind::Alarms(alarms)) => count(*alarms, "alarm", "alarms"),
        (NodeId::Resource(name) | NodeId::Outside(name), _) => escaped_name(name),
        (NodeId::Alarms, _) => String::new(),
    }];
    if let NodeKind::Other(type_name) = &node.kind {
        lines.push(escaped_name(type_name));
    }
    lines.extend(node.mark.map(|mark| mark.text().to_owned()));
    for (logical_id, mark) in node.parts.iter().take(PARTS_SHOWN_MAX) {
        lines.push(format!("{} {}", escaped_name(logical_id), mark.text()));
    }
    let hidden_parts = node.parts.len().saturating_sub(PARTS_SHOWN_MAX);
    if hidden_parts > 0 {
        lines.push(format!("and {hidden_parts} more"));
    }
    lines.join(LINE_BREAK)
}

/// Returns the text before and after the label of an arrow: thick for a start, dotted if nothing is
/// written.
fn arrow_line(verbs: &BTreeSet<Verb>) -> (&'static str, &'static str) {
    if verbs.contains(&Verb::Starts) {
        ("==", "==>")
    } else if verbs.iter().all(|verb| matches!(verb, Verb::Reads | Verb::RefersTo)) {
        ("-.", ".->")
    } else {
        ("--", "-->")
    }
}

/// The word of an arrow is omitted if it follows from that of one of its boxes.
fn arrow_label(arrow: &MarkedArrow, ends: [Option<Mark>; 2]) -> String {
    let verbs: Vec<&str> = arrow.verbs.iter().map(|verb| verb.text()).collect();
    let verbs = verbs.join(", ");
    match arrow.mark {
        Some(mark) if !ends.into_iter().flatten().any(Mark::exists_on_one_side) => {
            format!("{verbs}{LINE_BREAK}{}", mark.text())
        }
        _ => verbs,
    }
}

const fn class_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Added => "added",
        Mark::Changed => "changed",
        Mark::MayBeReplaced => "mayBeReplaced",
        Mark::Replaced => "replaced",
        Mark::Removed => "removed",
        Mark::Deleted => "deleted",
    }
}

/// Returns the colours of the area and of the line. Each is readable on light and dark pages.
const fn colours(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::Added => ("#dafbe1", "#1a7f37"),
        Mark::Changed => ("#fff8c5", "#9a6700"),
        Mark::MayBeReplaced | Mark::Replaced => ("#ffe2cc", "#bc4c00"),
        Mark::Removed | Mark::Deleted => ("#ffebe9", "#cf222e"),
    }
}

const fn dashes(mark: Mark) -> &'static str {
    match mark {
        Mark::MayBeReplaced | Mark::Removed | Mark::Deleted => ",stroke-dasharray:6 4",
        Mark::Added | Mark::Changed | Mark::Replaced => "",
    }
}
