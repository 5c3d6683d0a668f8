//! Reads from a drift-aware change set which resources were changed outside CloudFormation, and how
//! the change set changes them.

use aws_sdk_cloudformation::types::{
    ResourceChange, ResourceChangeDetail, StackResourceDriftStatus,
};

use super::drift::{Drift, PropertyDrift};

/// Returns `None` if the resource was not changed outside CloudFormation. The expected values are
/// those of the new template.
pub(super) fn manual_change(change: &ResourceChange) -> Option<Drift> {
    let deleted = match change.resource_drift_status()? {
        StackResourceDriftStatus::Deleted => true,
        StackResourceDriftStatus::Modified => false,
        _ => return None,
    };
    Some(Drift {
        logical_id: change.logical_resource_id()?.to_owned(),
        resource_type: change.resource_type().unwrap_or_default().to_owned(),
        physical_id: change.physical_resource_id().map(str::to_owned),
        deleted,
        differences: change.details().iter().filter_map(property_drift).collect(),
    })
}

/// Returns `None` if only the template changes the property.
fn property_drift(detail: &ResourceChangeDetail) -> Option<PropertyDrift> {
    let target = detail.target()?;
    let live = target.drift()?;
    let attribute = target.attribute().map(|attribute| attribute.as_str());
    let path = target.path().or(target.name()).or(attribute)?;
    Some(PropertyDrift {
        path: path.to_owned(),
        expected: target.after_value().map(str::to_owned),
        actual: live.actual_value().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use aws_sdk_cloudformation::types::{LiveResourceDrift, ResourceTargetDefinition};

    use super::*;

    fn detail(path: &str, after: Option<&str>, live: Option<&str>) -> ResourceChangeDetail {
        let drift = live.map(|value| LiveResourceDrift::builder().actual_value(value).build());
        let target = ResourceTargetDefinition::builder()
            .path(path)
            .set_after_value(after.map(str::to_owned))
            .set_drift(drift)
            .build();
        ResourceChangeDetail::builder().target(target).build()
    }

    fn change(status: StackResourceDriftStatus) -> ResourceChange {
        ResourceChange::builder()
            .logical_resource_id("ApiFunction")
            .resource_type("AWS::Lambda::Function")
            .resource_drift_status(status)
            .details(detail("/Properties/MemorySize", Some("512"), Some("1024")))
            .details(detail("/Properties/Timeout", None, Some("9")))
            .details(detail("/Properties/Code", Some("new"), None))
            .build()
    }

    #[test]
    fn only_properties_with_a_live_value_were_changed_by_hand() {
        let drift = manual_change(&change(StackResourceDriftStatus::Modified)).unwrap();
        assert_eq!((drift.logical_id.as_str(), drift.deleted), ("ApiFunction", false));
        let difference = |path: &str, expected: Option<&str>, actual: &str| PropertyDrift {
            path: path.to_owned(),
            expected: expected.map(str::to_owned),
            actual: Some(actual.to_owned()),
        };
        assert_eq!(
            drift.differences,
            [
                difference("/Properties/MemorySize", Some("512"), "1024"),
                difference("/Properties/Timeout", None, "9"),
            ]
        );
        assert!(manual_change(&change(StackResourceDriftStatus::Deleted)).unwrap().deleted);
    }

    #[test]
    fn resources_in_sync_or_unknown_are_left_out() {
        use StackResourceDriftStatus::{InSync, NotChecked};
        for status in [InSync, NotChecked] {
            assert_eq!(manual_change(&change(status)), None);
        }
        assert_eq!(manual_change(&ResourceChange::builder().build()), None);
    }
}
