//! `synth drift`: detects resources that were changed outside CloudFormation.

use cellar::text::escape;
use cellar_base::count::count;

use super::observed::deployed_stack;
use crate::aws::{Aws, Drift, DriftReport, PropertyDrift};
use crate::cli::{DriftArguments, Output};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

/// Returns whether any resource has drifted.
pub(crate) async fn show_drift(
    config_selection: ConfigSelection<'_>,
    arguments: &DriftArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let project = Project::find(config_selection)?;
    let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
    let stack = deployed_stack(&project, &aws).await?;
    let step = output.start_step("Detect drift");
    let result = aws.detect_drift(&stack.id).await;
    let report = step.finish(result, |detected| {
        format!("{} checked", count(detected.checked, "resource", "resources"))
    })?;
    output.print_result(&report, &format_drift_report(&project.config.stack, &report));
    let has_drift = !report.drifts.is_empty();
    Ok(has_drift)
}

fn format_drift_report(stack_name: &str, report: &DriftReport) -> String {
    let summary = match report.drifts.len() {
        0 => format!("{stack_name} has no drift: all checked resources are as deployed."),
        1 => format!("1 resource of {stack_name} was changed outside CloudFormation:"),
        drift_count => {
            format!("{drift_count} resources of {stack_name} were changed outside CloudFormation:")
        }
    };
    let mut lines = vec![summary];
    lines.extend(report.drifts.iter().flat_map(resource_lines));
    if !report.drifts.is_empty() {
        lines.push(
            "`synth plan` shows these changes, and `synth deploy --plan` undoes them. Without a plan, a \
             deployment undoes a change only if the template changes the same property. To keep a \
             value, set it in cellar.yaml."
                .to_owned(),
        );
    }
    if !report.unchecked.is_empty() {
        lines.push(format!("AWS cannot check: {}.", escape(&report.unchecked.join(", "))));
    }
    lines.join("\n")
}

fn resource_lines(drift: &Drift) -> Vec<String> {
    let Drift { logical_id, resource_type, physical_id, deleted, differences } = drift;
    let physical_name = match physical_id {
        Some(physical_id) => format!(" {physical_id}"),
        None => String::new(),
    };
    let (sign, suffix) = if *deleted { ('-', " was deleted") } else { ('~', "") };
    let resource = escape(&format!("{logical_id} ({resource_type}{physical_name}){suffix}"));
    let mut lines = vec![format!("  {sign} {resource}")];
    lines.extend(differences.iter().map(property_line));
    lines
}

fn property_line(difference: &PropertyDrift) -> String {
    let path = escape(&difference.path);
    let expected = format_value(difference.expected.as_deref());
    let actual = format_value(difference.actual.as_deref());
    format!("      {path}: {expected} in the stack, actually {actual}")
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
    fn lists_each_changed_property() {
        let none = DriftReport { checked: 3, unchecked: vec![], drifts: vec![] };
        assert_eq!(
            format_drift_report("cellar", &none),
            "cellar has no drift: all checked resources are as deployed."
        );
        let timeout = PropertyDrift {
            path: "/VisibilityTimeout".to_owned(),
            expected: Some("180".to_owned()),
            actual: None,
        };
        let drift = Drift {
            logical_id: "Queue".to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            physical_id: Some("q\u{1b}".to_owned()),
            deleted: false,
            differences: vec![timeout],
        };
        let deleted =
            Drift { deleted: true, differences: vec![], physical_id: None, ..drift.clone() };
        let drifts = DriftReport {
            checked: 2,
            unchecked: vec!["AWS::Lambda::Url".to_owned()],
            drifts: vec![drift, deleted],
        };
        let shown = format_drift_report("cellar", &drifts);
        assert!(
            shown.starts_with("2 resources of cellar were changed outside CloudFormation:\n"),
            "{shown}"
        );
        assert!(
            shown.contains("      /VisibilityTimeout: 180 in the stack, actually not set"),
            "{shown}"
        );
        assert!(shown.contains("  - Queue (AWS::SQS::Queue) was deleted"), "{shown}");
        assert!(shown.ends_with("AWS cannot check: AWS::Lambda::Url."), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }
}
