//! Which of a stack's own alarms take a deployment of it back.

use std::collections::BTreeSet;

use cellar_stacks::constructs::ResourceType;

use crate::aws::Resource;

/// Alarms that CloudFormation watches at most during a deployment.
pub(crate) const MAX_WATCHED_ALARMS: usize = 5;

const ALARM: &str = ResourceType::Alarm.name();
/// What the names of those alarms say that tell of a faulty deployment soonest, in this order.
const SOONEST: [&str; 3] = ["Error", "Throttle", "DeadLetter"];

/// The names of the alarms that are watched: of those that are deployed and stay.
pub(crate) fn watched(deployed: &[Resource], stay: &BTreeSet<String>) -> Vec<String> {
    let rank = |id: &str| SOONEST.iter().position(|word| id.contains(word)).unwrap_or(usize::MAX);
    let mut alarms: Vec<(&str, &str)> = deployed
        .iter()
        .filter(|resource| resource.resource_type == ALARM && stay.contains(&resource.logical_id))
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
    fn those_are_watched_that_tell_soonest_and_stay() {
        let ids = ["QueueAge", "ApiThrottle", "ApiError", "GoneError", "UnmadeError"];
        let mut deployed: Vec<Resource> = ids.iter().map(|id| alarm(id, Some(id))).collect();
        deployed[4].physical_id = None;
        deployed.push(Resource {
            resource_type: "AWS::SQS::Queue".to_owned(),
            ..alarm("Q", Some("q"))
        });
        let stay = ids.iter().filter(|id| **id != "GoneError").map(|id| (*id).to_owned());
        let stay: BTreeSet<String> = stay.chain(["Q".to_owned()]).collect();
        assert_eq!(watched(&deployed, &stay), ["ApiError", "ApiThrottle", "QueueAge"]);
        let many: Vec<Resource> =
            (0..=MAX_WATCHED_ALARMS).map(|at| alarm(&format!("A{at}"), Some("a"))).collect();
        let all: BTreeSet<String> = many.iter().map(|it| it.logical_id.clone()).collect();
        assert_eq!(watched(&many, &all).len(), MAX_WATCHED_ALARMS);
        assert_eq!(watched(&many[1..], &all).len(), MAX_WATCHED_ALARMS);
    }
}
