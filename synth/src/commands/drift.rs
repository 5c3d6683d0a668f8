//! `synth drift`: what was changed by hand, past the stack.

use cellar::table::escape;

use super::watched::deployed_stack;
use crate::aws::{Aws, Drift, Drifts, PropertyDrift};
use crate::cli::{DriftArguments, Output};
use crate::error::SynthError;
use crate::project::{Named, Project};

/// Shows what differs, and says whether something does.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DriftArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let project = Project::find(config)?;
    let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
    let stack = &project.config.stack;
    let state = deployed_stack(&project, &aws).await?;
    let step = output.step("Have AWS look at each resource");
    let found = aws.drifts(&state.id).await.map_err(SynthError::from);
    let found = step.ended(found, |found| format!("{} looked at", found.checked))?;
    output.result(&found, &text(stack, &found));
    Ok(!found.drifts.is_empty())
}

fn text(stack: &str, found: &Drifts) -> String {
    let mut lines = match found.drifts.len() {
        0 => vec![format!("{stack} is as it was deployed.")],
        1 => vec![format!("1 resource of {stack} was changed by hand:")],
        many => vec![format!("{many} resources of {stack} were changed by hand:")],
    };
    lines.extend(found.drifts.iter().flat_map(of_resource));
    if !found.drifts.is_empty() {
        lines.push(
            "What the template says comes back once that property changes in it; put the others back by \
             hand, or write them into cellar.yaml."
                .to_owned(),
        );
    }
    if !found.unchecked.is_empty() {
        lines.push(format!("AWS cannot look at: {}.", escape(&found.unchecked.join(", "))));
    }
    lines.join("\n")
}

fn of_resource(drift: &Drift) -> Vec<String> {
    let Drift { logical_id, resource_type, physical_id, deleted, differences } = drift;
    let name = physical_id.as_ref().map_or_else(String::new, |id| format!(" {id}"));
    let (sign, fate) = if *deleted { ('-', " is gone") } else { ('~', "") };
    let head = escape(&format!("{logical_id} ({resource_type}{name}){fate}"));
    let value = |value: &Option<String>| match value {
        Some(value) => escape(value),
        None => "nothing".to_owned(),
    };
    let properties = differences.iter().map(|it: &PropertyDrift| {
        let (path, expected, actual) = (escape(&it.path), value(&it.expected), value(&it.actual));
        format!("      {path}: {expected} by the stack, is {actual}")
    });
    [format!("  {sign} {head}")].into_iter().chain(properties).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_told_property_by_property() {
        let none = Drifts { checked: 3, unchecked: vec![], drifts: vec![] };
        assert_eq!(text("cellar", &none), "cellar is as it was deployed.");
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
        let gone = Drift { deleted: true, differences: vec![], physical_id: None, ..drift.clone() };
        let drifts = Drifts {
            checked: 2,
            unchecked: vec!["AWS::Lambda::Url".to_owned()],
            drifts: vec![drift, gone],
        };
        let shown = text("cellar", &drifts);
        assert!(shown.starts_with("2 resources of cellar were changed by hand:\n"), "{shown}");
        assert!(
            shown.contains("      /VisibilityTimeout: 180 by the stack, is nothing"),
            "{shown}"
        );
        assert!(shown.contains("  - Queue (AWS::SQS::Queue) is gone"), "{shown}");
        assert!(shown.ends_with("AWS cannot look at: AWS::Lambda::Url."), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }
}
