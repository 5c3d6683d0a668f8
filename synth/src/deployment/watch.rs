//! Selects the alarms that roll back a deployment.

use std::collections::BTreeSet;

use cellar_stacks::constructs::ResourceType;

use crate::aws::Resource;

/// Maximum number of alarms that CloudFormation monitors during a deployment.
pub(crate) const MAX_WATCHED_ALARMS: usize = 5;

const ALARM: &str = ResourceType::Alarm.name();
/// Logical id substrings of preferred alarms, in order of preference. These alarms are the first to
/// detect a faulty deployment.
const PREFERRED: [&str; 3] = ["Error", "Throttle", "DeadLetter"];

/// Returns the names of the rollback alarms, selected from the deployed alarms that the new
/// template keeps.
pub(crate) fn rollback_alarms(deployed: &[Resource], kept_ids: &BTreeSet<String>) -> Vec<String> {
    let rank = |id: &str| PREFERRED.iter().position(|part| id.contains(part)).unwrap_or(usize::MAX);
    let mut alarms: Vec<(&str, &str)> = deployed
        .iter()
        .filter(|resource| {
            resource.resource_type == ALARM && kept_ids.contains(&resource.logical_id)
        })
        .filter_map(|resource| {
            Some((resource.logical_id.as_str(), resource.physical_id.as_deref()?))
        })
        .collect();
    alarms.sort_by_key(|(id, _)| (rank(id), *id));
    alarms.into_iter().take(MAX_WATCHED_ALARMS).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(id: &str, physical: Option<&str>) -> Resource {
        Resource {
            logical_id: id.to_owned(),
            resource_type: ALARM.to_owned(),
            physical_id: physical.map(str::to_owned),
            status: "CREATE_COMPLETE".to_owned(),
        }
    }

    #[test]
    fn watches_kept_alarms_in_order_of_preference() {
        let ids = ["QueueAge", "ApiThrottle", "ApiError", "GoneError", "UnmadeError"];
        let mut deployed: Vec<Resource> = ids.iter().map(|id| alarm(id, Some(id))).collect();
        deployed[4].physical_id = None;
        deployed.push(Resource {
            resource_type: "AWS::SQS::Queue".to_owned(),
            ..alarm("Q", Some("q"))
        });
        let kept = ids.iter().filter(|id| **id != "GoneError").map(|id| (*id).to_owned());
        let kept: BTreeSet<String> = kept.chain(["Q".to_owned()]).collect();
        assert_eq!(rollback_alarms(&deployed, &kept), ["ApiError", "ApiThrottle", "QueueAge"]);
        let many: Vec<Resource> =
            (0..=MAX_WATCHED_ALARMS).map(|at| alarm(&format!("A{at}"), Some("a"))).collect();
        let all: BTreeSet<String> = many.iter().map(|it| it.logical_id.clone()).collect();
        assert_eq!(rollback_alarms(&many, &all).len(), MAX_WATCHED_ALARMS);
        assert_eq!(rollback_alarms(&many[1..], &all).len(), MAX_WATCHED_ALARMS);
    }
}
