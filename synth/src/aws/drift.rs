//! Detects drift, which means that resources were changed outside CloudFormation.

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_cloudformation::types::{
    PropertyDifference, StackDriftDetectionStatus, StackResourceDrift, StackResourceDriftStatus,
};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::connect::Aws;
use super::error::AwsError;

const POLL_INTERVAL: Duration = Duration::from_millis(700);
/// Timeout for drift detection, which is slow, because AWS reads each resource from its service.
const DETECTION_TIMEOUT: Duration = Duration::from_secs(900);

const DETECT_DRIFT: &str = "detect drift";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    pub(crate) logical_id: String,
    #[serde(rename = "type")]
    pub(crate) resource_type: String,
    pub(crate) physical_id: Option<String>,
    pub(crate) deleted: bool,
    /// Empty if the resource was deleted.
    pub(crate) differences: Vec<PropertyDrift>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PropertyDrift {
    /// JSON pointer to the property, relative to the resource's properties.
    pub(crate) path: String,
    /// `None` if the template does not set the property.
    pub(crate) expected: Option<String>,
    /// `None` if the resource does not have the property.
    pub(crate) actual: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DriftReport {
    pub(crate) checked: usize,
    /// Types of resources in the stack whose drift AWS cannot detect.
    pub(crate) unchecked: Vec<String>,
    /// Drifted resources, sorted by logical id.
    pub(crate) drifts: Vec<Drift>,
}

impl Aws {
    pub(crate) async fn detect_drift(&self, stack_id: &str) -> Result<DriftReport, AwsError> {
        let result = self.cloudformation.detect_stack_drift().stack_name(stack_id).send().await;
        let started = result.map_err(|error| AwsError::from_sdk(DETECT_DRIFT, &error))?;
        let detection_id = started
            .stack_drift_detection_id
            .ok_or(AwsError::IncompleteReply { missing: "a drift detection" })?;
        self.wait_for_drift_detection(&detection_id).await?;
        let resources = self.list_detected_resources(stack_id).await?;
        Ok(DriftReport::from_resources(&resources))
    }

    async fn list_detected_resources(
        &self,
        stack_id: &str,
    ) -> Result<Vec<StackResourceDrift>, AwsError> {
        let mut resources = Vec::new();
        let mut next_token = None;
        loop {
            let request = self.cloudformation.describe_stack_resource_drifts().stack_name(stack_id);
            let result = request.set_next_token(next_token).send().await;
            let page = result.map_err(|error| AwsError::from_sdk(DETECT_DRIFT, &error))?;
            resources.extend(page.stack_resource_drifts.unwrap_or_default());
            next_token = page.next_token;
            if next_token.is_none() {
                return Ok(resources);
            }
        }
    }

    async fn wait_for_drift_detection(&self, detection_id: &str) -> Result<(), AwsError> {
        let started = Instant::now();
        loop {
            let request = self.cloudformation.describe_stack_drift_detection_status();
            let result = request.stack_drift_detection_id(detection_id).send().await;
            let detection = result.map_err(|error| AwsError::from_sdk(DETECT_DRIFT, &error))?;
            match detection.detection_status {
                Some(StackDriftDetectionStatus::DetectionComplete) => return Ok(()),
                Some(StackDriftDetectionStatus::DetectionFailed) => {
                    let reason = detection.detection_status_reason.unwrap_or_default();
                    return Err(detection_error("DETECTION_FAILED", reason));
                }
                _ => {}
            }
            if started.elapsed() >= DETECTION_TIMEOUT {
                let message = format!("not finished after {} s", DETECTION_TIMEOUT.as_secs());
                return Err(detection_error("DETECTION_IN_PROGRESS", message));
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

fn detection_error(code: &str, message: String) -> AwsError {
    AwsError::Refused { operation: DETECT_DRIFT, code: code.to_owned(), message }
}

fn is_checked(resource: &StackResourceDrift) -> bool {
    use StackResourceDriftStatus::{Deleted, InSync, Modified};
    matches!(resource.stack_resource_drift_status(), Some(Deleted | InSync | Modified))
}

impl DriftReport {
    fn from_resources(resources: &[StackResourceDrift]) -> Self {
        let mut checked_count = 0;
        let mut unchecked_types = BTreeSet::new();
        for resource in resources {
            if is_checked(resource) {
                checked_count += 1;
            } else {
                unchecked_types.extend(resource.resource_type().map(str::to_owned));
            }
        }
        let mut drifts: Vec<Drift> = resources.iter().filter_map(Drift::from_resource).collect();
        drifts.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
        Self { checked: checked_count, unchecked: unchecked_types.into_iter().collect(), drifts }
    }
}

impl Drift {
    /// Returns `None` if the resource has not drifted or was not checked.
    fn from_resource(resource: &StackResourceDrift) -> Option<Self> {
        let deleted = match resource.stack_resource_drift_status()? {
            StackResourceDriftStatus::Deleted => true,
            StackResourceDriftStatus::Modified => false,
            _ => return None,
        };
        let differences = resource.property_differences().iter().map(PropertyDrift::from_sdk);
        Some(Self {
            logical_id: resource.logical_resource_id()?.to_owned(),
            resource_type: resource.resource_type().unwrap_or_default().to_owned(),
            physical_id: resource.physical_resource_id().map(str::to_owned),
            deleted,
            differences: differences.collect(),
        })
    }
}

impl PropertyDrift {
    fn from_sdk(difference: &PropertyDifference) -> Self {
        Self {
            path: difference.property_path().unwrap_or_default().to_owned(),
            expected: present_value(difference.expected_value()),
            actual: present_value(difference.actual_value()),
        }
    }
}

/// CloudFormation reports an unset property as the string `null`.
fn present_value(value: Option<&str>) -> Option<String> {
    value.filter(|value| *value != "null").map(str::to_owned)
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
    fn reports_differing_and_unchecked_resources() {
        use StackResourceDriftStatus::{Deleted, InSync, Modified, NotChecked};
        let found = DriftReport::from_resources(&[
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
