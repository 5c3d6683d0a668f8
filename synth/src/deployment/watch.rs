//! Selects the alarms that roll back a deployment.

use std::collections::BTreeSet;

use cellar_stacks::constructs::ResourceType;

use crate::aws::Resource;

/// Maximum number of alarms that CloudFormation can monitor during a deployment.
pub(crate) const MAX_WATCHED_ALARMS: usize = 5;

const ALARM: &str = ResourceType::Alarm.name();
/// Substrings of the logical ids of the preferred alarms, in order of preference. The preferred
/// alarms are the first to detect a faulty deployment.
const PREFERRED_PARTS: [&str; 3] = ["Error", "Throttle", "DeadLetter"];

/// Returns the names of the rollback alarms. They are selected from the deployed alarms that the
/// new template keeps.
pub(crate) fn rollback_alarm_names(
    deployed_resources: &[Resource],
    new_template_ids: &BTreeSet<String>,
) -> Vec<String> {
    let mut ranked_alarms = Vec::new();
    for Resource { logical_id, resource_type, physical_id, .. } in deployed_resources {
        if resource_type == ALARM
            && new_template_ids.contains(logical_id)
            && let Some(alarm_name) = physical_id
        {
            ranked_alarms.push((preference_rank(logical_id), logical_id, alarm_name));
        }
    }
    ranked_alarms.sort();
    let watched_alarms = ranked_alarms.into_iter().take(MAX_WATCHED_ALARMS);
    watched_alarms.map(|(_rank, _logical_id, alarm_name)| alarm_name.clone()).collect()
}

/// Returns the rank of an alarm. Alarms with the lowest rank are preferred.
fn preference_rank(logical_id: &str) -> usize {
    PREFERRED_PARTS
        .iter()
        .position(|part| logical_id.contains(part))
        .unwrap_or(PREFERRED_PARTS.len())
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
        assert_eq!(rollback_alarm_names(&deployed, &kept), ["ApiError", "ApiThrottle", "QueueAge"]);
        let many: Vec<Resource> =
            (0..=MAX_WATCHED_ALARMS).map(|at| alarm(&format!("A{at}"), Some("a"))).collect();
        let all: BTreeSet<String> = many.iter().map(|it| it.logical_id.clone()).collect();
        assert_eq!(rollback_alarm_names(&many, &all).len(), MAX_WATCHED_ALARMS);
        assert_eq!(rollback_alarm_names(&many[1..], &all).len(), MAX_WATCHED_ALARMS);
    }
}
