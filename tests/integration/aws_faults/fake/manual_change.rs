//! A change of a resource outside CloudFormation, as a drift-aware change set describes it.

use super::reply::element;

/// A property that was changed outside CloudFormation.
#[derive(Clone, Debug)]
pub(crate) struct ManualChange {
    pub(crate) logical_id: &'static str,
    pub(crate) resource_type: &'static str,
    pub(crate) property: &'static str,
    pub(crate) live: &'static str,
    /// Value in the template.
    pub(crate) wanted: &'static str,
}

impl ManualChange {
    /// Values are only described on request.
    pub(super) fn describe(&self, has_values: bool) -> String {
        let path = format!("/Properties/{}", self.property);
        let mut target = element("Attribute", "Properties") + &element("Name", self.property);
        target += &element("AttributeChangeType", "Modify");
        if has_values {
            let drift = element("PreviousValue", self.wanted) + &element("ActualValue", self.live);
            target += &element("Path", &path);
            target += &element("BeforeValue", self.live);
            target += &element("BeforeValueFrom", "ACTUAL_STATE");
            target += &element("AfterValue", self.wanted);
            target += &element("AfterValueFrom", "TEMPLATE");
            target += &format!("<Drift>{drift}</Drift>");
        }
        element("Action", "Modify")
            + &element("LogicalResourceId", self.logical_id)
            + &element("ResourceType", self.resource_type)
            + &element("Replacement", "False")
            + &element("ResourceDriftStatus", "MODIFIED")
            + &format!("<Details><member><Target>{target}</Target></member></Details>")
    }
}

/// Returns an entry of the list of changes.
pub(super) fn resource_change(change: &str) -> String {
    format!("<member><Type>Resource</Type><ResourceChange>{change}</ResourceChange></member>")
}
