//! The part of a plan about resources that were changed outside CloudFormation.

use cellar::text::escape;

use crate::aws::{Drift, PropertyDrift};

/// Returns `None` if there are no such changes.
pub(super) fn format_manual_changes(drifts: &[Drift]) -> Option<String> {
    if drifts.is_empty() {
        return None;
    }
    let mut lines = vec!["\nChanged by hand since the last deployment".to_owned()];
    for drift in drifts {
        let (sign, suffix) =
            if drift.deleted { ('-', ": deleted, is created again") } else { ('~', "") };
        let resource = escape(&format!("{} ({})", drift.logical_id, drift.resource_type));
        lines.push(format!("  {sign} {resource}{suffix}"));
        lines.extend(drift.differences.iter().map(format_property));
    }
    lines.push(
        "  To keep a value, set it in cellar.yaml. To keep all of them, pass --keep-drift."
            .to_owned(),
    );
    Some(lines.join("\n"))
}

fn format_property(difference: &PropertyDrift) -> String {
    let PropertyDrift { path, expected, actual } = difference;
    let (path, live) = (escape(path), format_value(actual.as_deref()));
    if expected == actual {
        return format!("      {path}: stays {live}, as in the new template");
    }
    format!("      {path}: {live} -> {}", format_value(expected.as_deref()))
}

fn format_value(value: Option<&str>) -> String {
    match value {
        Some(value) => escape(value),
        None => "not set".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_property_is_shown_with_its_live_and_its_new_value() {
        assert_eq!(format_manual_changes(&[]), None);
        let property = |path: &str, actual: Option<&str>, expected: Option<&str>| PropertyDrift {
            path: path.to_owned(),
            expected: expected.map(str::to_owned),
            actual: actual.map(str::to_owned),
        };
        let function = Drift {
            logical_id: "ApiFunction".to_owned(),
            resource_type: "AWS::Lambda::Function".to_owned(),
            physical_id: None,
            deleted: false,
            differences: vec![
                property("/Properties/MemorySize", Some("1024"), Some("512")),
                property("/Properties/Timeout", Some("29"), Some("29")),
                property("/Properties/Tags", Some("\u{1b}[1m"), None),
            ],
        };
        let queue = Drift {
            logical_id: "SnapshotQueue".to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            deleted: true,
            differences: Vec::new(),
            ..function.clone()
        };
        let text = format_manual_changes(&[function, queue]).unwrap();
        let expected = [
            "\nChanged by hand since the last deployment",
            "  ~ ApiFunction (AWS::Lambda::Function)",
            "      /Properties/MemorySize: 1024 -> 512",
            "      /Properties/Timeout: stays 29, as in the new template",
            "      /Properties/Tags: \\u{1b}[1m -> not set",
            "  - SnapshotQueue (AWS::SQS::Queue): deleted, is created again",
            "  To keep a value, set it in cellar.yaml. To keep all of them, pass --keep-drift.",
        ];
        assert_eq!(text, expected.join("\n"));
    }
}
