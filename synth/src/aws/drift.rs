//! What was changed by hand, past the stack.

use std::time::Duration;

use aws_sdk_cloudformation::types::{
    PropertyDifference, StackDriftDetectionStatus, StackResourceDrift, StackResourceDriftStatus,
};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{Aws, AwsError};

/// How often it is asked whether AWS has looked at everything.
const POLL: Duration = Duration::from_millis(700);
/// How long that may take: AWS asks each service for each resource.
const PATIENCE: Duration = Duration::from_secs(900);

/// A resource that is not as the stack has made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    /// Its logical id.
    pub(crate) logical_id: String,
    /// Its type, `AWS::…`.
    #[serde(rename = "type")]
    pub(crate) resource_type: String,
    /// Its physical id.
    pub(crate) physical_id: Option<String>,
    /// Whether it is gone.
    pub(crate) deleted: bool,
    /// What differs, if it is there.
    pub(crate) differences: Vec<PropertyDrift>,
}

/// A property with another value than the stack gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PropertyDrift {
    /// Where it is, as a JSON pointer below the resource's properties.
    pub(crate) path: String,
    /// What the stack says; nothing if it says nothing.
    pub(crate) expected: Option<String>,
    /// What it is; nothing if it is not there.
    pub(crate) actual: Option<String>,
}

/// What AWS has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Drifts {
    /// Resources that were looked at.
    pub(crate) checked: usize,
    /// Types that AWS cannot look at, of which there are some.
    pub(crate) unchecked: Vec<String>,
    /// Those that differ, by logical id.
    pub(crate) drifts: Vec<Drift>,
}

impl Aws {
    /// Has AWS look at each resource of a stack.
    ///
    /// # Errors
    /// [`AwsError`].
    pub(crate) async fn drifts(&self, stack_id: &str) -> Result<Drifts, AwsError> {
        let what = "look for drift";
        let begun = self.cloudformation.detect_stack_drift().stack_name(stack_id).send().await;
        let begun = begun.map_err(|error| AwsError::of(what, &error))?;
        let id = begun.stack_drift_detection_id;
        let id = id.ok_or(AwsError::Reply { missing: "a drift detection" })?;
        self.drift_detected(what, &id).await?;
        let (mut all, mut next) = (Vec::new(), None);
        loop {
            let page = self.cloudformation.describe_stack_resource_drifts().stack_name(stack_id);
            let page = page.set_next_token(next).send().await;
            let page = page.map_err(|error| AwsError::of(what, &error))?;
            all.extend(page.stack_resource_drifts.unwrap_or_default());
            next = page.next_token;
            if next.is_none() {
                break;
            }
        }
        Ok(Drifts::of(&all))
    }

    async fn drift_detected(&self, what: &'static str, id: &str) -> Result<(), AwsError> {
        let begun = Instant::now();
        loop {
            let status = self.cloudformation.describe_stack_drift_detection_status();
            let status = status.stack_drift_detection_id(id).send().await;
            let status = status.map_err(|error| AwsError::of(what, &error))?;
            let reason = status.detection_status_reason.unwrap_or_default();
            match status.detection_status {
                Some(StackDriftDetectionStatus::DetectionComplete) => return Ok(()),
                // What could be looked at was.
                Some(StackDriftDetectionStatus::DetectionFailed) => {
                    let code = "DETECTION_FAILED".to_owned();
                    return Err(AwsError::Refused { what, code, message: reason });
                }
                _ if begun.elapsed() >= PATIENCE => {
                    let code = "DETECTION_IN_PROGRESS".to_owned();
                    return Err(AwsError::Refused {
                        what,
                        code,
                        message: "it takes too long".to_owned(),
                    });
                }
                _ => sleep(POLL).await,
            }
        }
    }
}

impl Drifts {
    fn of(resources: &[StackResourceDrift]) -> Self {
        let status =
            |resource: &StackResourceDrift| resource.stack_resource_drift_status().cloned();
        let is_checked = |resource: &&StackResourceDrift| {
            use StackResourceDriftStatus::{Deleted, InSync, Modified};
            matches!(status(resource), Some(Deleted | InSync | Modified))
        };
        let mut unchecked: Vec<String> = resources
            .iter()
            .filter(|resource| !is_checked(resource))
            .filter_map(|resource| resource.resource_type().map(str::to_owned))
            .collect();
        unchecked.sort();
        unchecked.dedup();
        let mut drifts: Vec<Drift> = resources.iter().filter_map(Drift::of).collect();
        drifts.sort_by(|one, other| one.logical_id.cmp(&other.logical_id));
        Self { checked: resources.iter().filter(is_checked).count(), unchecked, drifts }
    }
}

impl Drift {
    /// `None`: it is as it should be, or nobody knows.
    fn of(resource: &StackResourceDrift) -> Option<Self> {
        let deleted = match resource.stack_resource_drift_status()? {
            StackResourceDriftStatus::Deleted => true,
            StackResourceDriftStatus::Modified => false,
            _ => return None,
        };
        Some(Self {
            logical_id: resource.logical_resource_id()?.to_owned(),
            resource_type: resource.resource_type().unwrap_or_default().to_owned(),
            physical_id: resource.physical_resource_id().map(str::to_owned),
            deleted,
            differences: resource.property_differences().iter().map(PropertyDrift::of).collect(),
        })
    }
}

impl PropertyDrift {
    fn of(difference: &PropertyDifference) -> Self {
        // What is not there is told as the text `null`.
        let value = |value: Option<&str>| value.filter(|value| *value != "null").map(str::to_owned);
        Self {
            path: difference.property_path().unwrap_or_default().to_owned(),
            expected: value(difference.expected_value()),
            actual: value(difference.actual_value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(id: &str, status: StackResourceDriftStatus) -> StackResourceDrift {
        let difference = PropertyDifference::builder()
            .property_path("/VisibilityTimeout")
            .expected_value("180")
            .actual_value("null")
            .difference_type(aws_sdk_cloudformation::types::DifferenceType::Remove)
            .build();
        StackResourceDrift::builder()
            .stack_id("s")
            .logical_resource_id(id)
            .resource_type(format!("AWS::X::{id}"))
            .property_differences(difference)
            .stack_resource_drift_status(status)
            .timestamp(aws_sdk_cloudformation::primitives::DateTime::from_secs(0))
            .build()
    }

    #[test]
    fn what_differs_is_told_and_what_nobody_looked_at_too() {
        use StackResourceDriftStatus::{Deleted, InSync, Modified, NotChecked};
        let found = Drifts::of(&[
            resource("Queue", Modified),
            resource("Alarm", Deleted),
            resource("Same", InSync),
            resource("Url", NotChecked),
        ]);
        assert_eq!(
            (found.checked, found.unchecked.as_slice()),
            (3, &["AWS::X::Url".to_owned()][..])
        );
        let ids: Vec<_> =
            found.drifts.iter().map(|it| (it.logical_id.as_str(), it.deleted)).collect();
        assert_eq!(ids, [("Alarm", true), ("Queue", false)]);
        let difference = &found.drifts[1].differences[0];
        assert_eq!(difference.expected.as_deref(), Some("180"));
        assert_eq!(difference.actual, None);
    }
}
