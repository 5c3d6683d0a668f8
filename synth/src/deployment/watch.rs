//! Selects the alarms that roll back a deployment.

use std::collections::BTreeSet;

use cellar_stacks::constructs::ResourceType;

use crate::aws::Resource;

/// Maximum number of alarms that CloudFormation can monitor during a deployment.
pub(crate) const MAX_WATCHED_ALARMS: usize = 5;

const ALARM: &str = ResourceType::Alarm.name();
/// Substrings of the logical ids of the alarms that a faulty deployment sets off, the fastest alarms
/// first. Alarms of dead letters are not among them: a dead letter stays in its queue for up to 14
/// days, and its alarm would roll back every deployment until then.
const WATCHED_PARTS: [&str; 3] = ["Error", "Throttle", "Age"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RollbackAlarmNames {
    pub(crate) watched: Vec<String>,
    /// CloudFormation would roll back the deployment at once if it watched these alarms.
    pub(crate) active: Vec<String>,
}

impl RollbackAlarmNames {
    /// Selects the alarms to watch from `candidates`, which are sorted by preference.
    pub(crate) fn select(candidates: Vec<String>, active_names: &BTreeSet<String>) -> Self {
        let (active, mut watched): (Vec<String>, Vec<String>) =
            candidates.into_iter().partition(|name| active_names.contains(name));
        watched.truncate(MAX_WATCHED_ALARMS);
        Self { watched, active }
    }
}

/// Returns the names of the deployed alarms that can roll back a deployment, the preferred ones
/// first. Alarms that the new template removes are not among them.
pub(crate) fn rollback_alarm_candidates(
    deployed_resources: &[Resource],
    new_template_ids: &BTreeSet<String>,
) -> Vec<String> {
    let mut ranked_alarms = Vec::new();
    for Resource { logical_id, resource_type, physical_id, .. } in deployed_resources {
        if resource_type == ALARM
            && new_template_ids.contains(logical_id)
            && let Some(alarm_name) = physical_id
            && let Some(rank) = preference_rank(logical_id)
        {
            ranked_alarms.push((rank, logical_id, alarm_name));
        }
    }
    ranked_alarms.sort();
    ranked_alarms.into_iter().map(|(_rank, _logical_id, alarm_name)| alarm_name.clone()).collect()
}

/// Returns the rank of an alarm, or `None` for alarms that are not watched. The lowest rank is
/// preferred.
fn preference_rank(logical_id: &str) -> Option<usize> {
    WATCHED_PARTS.iter().position(|part| logical_id.contains(part))
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
    fn candidates_are_kept_alarms_in_order_of_preference() {
        let ids = ["QueueAge", "ApiThrottle", "ApiError", "GoneError", "UnmadeError", "DeadLetter"];
        let mut deployed: Vec<Resource> = ids.iter().map(|id| alarm(id, Some(id))).collect();
        deployed[4].physical_id = None;
        deployed.push(Resource {
            resource_type: "AWS::SQS::Queue".to_owned(),
            ..alarm("QError", Some("q"))
        });
        let kept = ids.iter().filter(|id| **id != "GoneError").map(|id| (*id).to_owned());
        let kept: BTreeSet<String> = kept.chain(["QError".to_owned()]).collect();
        assert_eq!(
            rollback_alarm_candidates(&deployed, &kept),
            ["ApiError", "ApiThrottle", "QueueAge"]
        );
    }

    #[test]
    fn watches_at_most_five_inactive_alarms() {
        let names =
            |count: usize| -> Vec<String> { (0..count).map(|at| format!("A{at}")).collect() };
        let none = BTreeSet::new();
        let selected = RollbackAlarmNames::select(names(MAX_WATCHED_ALARMS), &none);
        assert_eq!(selected.watched, names(MAX_WATCHED_ALARMS));
        let selected = RollbackAlarmNames::select(names(MAX_WATCHED_ALARMS + 1), &none);
        assert_eq!(selected.watched, names(MAX_WATCHED_ALARMS));
        let active = BTreeSet::from(["A0".to_owned(), "Other".to_owned()]);
        let selected = RollbackAlarmNames::select(names(MAX_WATCHED_ALARMS + 1), &active);
        assert_eq!(selected.watched, names(MAX_WATCHED_ALARMS + 1)[1..]);
        assert_eq!(selected.active, ["A0"]);
    }
}
