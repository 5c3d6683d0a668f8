//! Rules of alarms, the dashboard and tags.

use cellar_stacks::constructs::ResourceType;
use cellar_stacks::{Config, Template};
use serde_json::{Value, json};

use super::{Echo, resources_of, template_of, with_everything};

/// Number of free alarms of an account.
const FREE_ALARMS: usize = 10;

/// Returns metric and resource of each alarm.
fn watched(template: &Template) -> Vec<(String, String)> {
    let alarms = resources_of(template, "AWS::CloudWatch::Alarm");
    let of_alarm = |id: &str| {
        let alarm = template.resolved_properties(id, &Echo).unwrap().unwrap();
        let dimension = &alarm["Dimensions"][0]["Value"];
        let (metric, dimension) = (alarm["MetricName"].as_str(), dimension.as_str());
        (metric.unwrap().to_owned(), dimension.unwrap().to_owned())
    };
    alarms.map(|(id, _)| of_alarm(id)).collect()
}

#[test]
fn the_alarms_are_free_and_complete() {
    for config in [Config::default(), with_everything()] {
        let template = template_of(&config);
        let mut watched = watched(&template);
        // A stack with a webhook has one more alarm, which is not free.
        watched.retain(|(_, of)| config.webhook.is_none() || of != "<WebhookFunction>");
        assert!(watched.len() <= FREE_ALARMS, "{}", watched.len());
        watched.sort();
        let wanted = [
            // Errors and throttling of relay, indexer and snapshot function increase the age.
            ("ApproximateAgeOfOldestMessage", "<SnapshotQueue.QueueName>"),
            ("ApproximateNumberOfMessagesVisible", "<ChangeStreamDeadLetters.QueueName>"),
            ("ApproximateNumberOfMessagesVisible", "<SnapshotDeadLetters.QueueName>"),
            ("ConsumedWriteCapacityUnits", "<EntryTable>"),
            ("Errors", "<SnapshotFunction>"),
            ("IteratorAge", "<IndexerFunction>"),
            ("IteratorAge", "<RelayFunction>"),
            ("Throttles", "<ApiFunction>"),
            // 5xx responses, including those of failed invocations.
            ("Url5xxCount", "<ApiFunction>"),
            ("UrlRequestCount", "<ApiFunction>"),
        ];
        assert_eq!(watched, wanted.map(|(metric, of)| (metric.to_owned(), of.to_owned())));
        for (id, alarm) in resources_of(&template, "AWS::CloudWatch::Alarm") {
            let properties = &alarm.properties;
            // One metric each, because alarms are billed by metric.
            assert!(!properties.contains_key("Metrics"), "{id}");
            assert_eq!(properties["TreatMissingData"], "notBreaching", "{id}: idle is fine");
        }
    }
}

#[test]
fn a_failing_webhook_receiver_triggers_an_alarm() {
    let of_webhook = |config: &Config| {
        let watched = watched(&template_of(config)).into_iter();
        watched.filter(|(_, of)| of == "<WebhookFunction>").map(|(metric, _)| metric).collect()
    };
    let alarms: Vec<String> = of_webhook(&with_everything());
    assert_eq!(alarms, ["IteratorAge"]);
    assert_eq!(of_webhook(&Config::default()), Vec::<String>::new());
}

#[test]
fn usage_alarms_have_the_configured_thresholds() {
    let mut config = Config::default();
    config.alarms.requests_per_5_minutes = 77;
    config.alarms.write_units_per_5_minutes = 88;
    let template = template_of(&config);
    let threshold = |id: &str| template.resource(id).unwrap().properties["Threshold"].clone();
    assert_eq!(threshold("ApiRequestsAlarm"), 77);
    assert_eq!(threshold("EntryWriteUnitsAlarm"), 88);
}

#[test]
fn alarms_notify_the_configured_recipients() {
    let own = "arn:aws:sns:eu-central-1:123456789012:operators".to_owned();
    let mut config = Config::default();
    let actions = |config: &Config| {
        let template = template_of(config);
        let alarms = resources_of(&template, "AWS::CloudWatch::Alarm");
        let mut told: Vec<_> = alarms
            .map(|(_, alarm)| {
                let told = |name: &str| alarm.properties.get(name).cloned();
                assert_eq!(told("AlarmActions"), told("OKActions"));
                told("AlarmActions")
            })
            .collect();
        told.dedup();
        assert_eq!(told.len(), 1, "all the same");
        told.remove(0)
    };
    assert_eq!(actions(&config), None);
    config.alarms.email = Some("operators@example.com".to_owned());
    assert_eq!(actions(&config), Some(json!([{"Ref": "AlarmTopic"}])));
    config.alarms.topic_arn = Some(own.clone());
    assert_eq!(actions(&config), Some(json!([{"Ref": "AlarmTopic"}, own])));
    let template = template_of(&config);
    let topic = &template.resource("AlarmTopic").unwrap().properties;
    let endpoint = json!([{"Endpoint": "operators@example.com", "Protocol": "email"}]);
    assert_eq!(topic["Subscription"], endpoint);
}

#[test]
fn the_dashboard_is_optional_and_complete() {
    assert!(template_of(&Config::default()).resource("Dashboard").is_none());
    let template = template_of(&with_everything());
    let dashboard = template.resolved_properties("Dashboard", &Echo).unwrap().unwrap();
    let body: Value = serde_json::from_str(dashboard["DashboardBody"].as_str().unwrap()).unwrap();
    let mut seen = Vec::new();
    for widget in body["widgets"].as_array().unwrap() {
        assert_eq!(widget["properties"]["region"], "<AWS::Region>");
        for line in widget["properties"]["metrics"].as_array().unwrap() {
            seen.push((line[1].as_str().unwrap().to_owned(), line[3].as_str().unwrap().to_owned()));
        }
    }
    // The dashboard shows every metric with an alarm, and every function, queue and table.
    for alarmed in watched(&template) {
        assert!(seen.contains(&alarmed), "{alarmed:?}");
    }
    for (id, resource) in template.resources() {
        let name = match resource.resource_type.as_str() {
            "AWS::Lambda::Function" | "AWS::DynamoDB::Table" => format!("<{id}>"),
            "AWS::SQS::Queue" => format!("<{id}.QueueName>"),
            _ => continue,
        };
        assert!(seen.iter().any(|(_, of)| *of == name), "{id}");
    }
}

#[test]
fn all_taggable_resources_have_the_tags() {
    let config = Config {
        tags: [("team".to_owned(), "books".to_owned()), ("a".to_owned(), String::new())].into(),
        ..with_everything()
    };
    let template = template_of(&config);
    for (id, resource) in template.resources() {
        let resource_type = ResourceType::from_name(&resource.resource_type).unwrap();
        let wanted = json!([{"Key": "a", "Value": ""}, {"Key": "team", "Value": "books"}]);
        let wanted = resource_type.is_taggable().then_some(&wanted);
        assert_eq!(resource.properties.get("Tags"), wanted, "{id}");
    }
    let plain = template_of(&Config::default());
    assert!(plain.resources().all(|(_, resource)| !resource.properties.contains_key("Tags")));
}

/// Drift detection compares only the properties that the template sets.
#[test]
fn every_event_source_is_enabled_explicitly() {
    let template = template_of(&with_everything());
    let sources: Vec<_> = resources_of(&template, "AWS::Lambda::EventSourceMapping").collect();
    assert!(sources.len() >= 4);
    for (id, source) in sources {
        assert_eq!(source.properties["Enabled"], true, "{id}");
    }
}

/// Returns the expression, the function and the table of each alarm on an event source.
fn unread(config: &Config) -> Vec<[String; 3]> {
    let template = template_of(config);
    let mut found = Vec::new();
    for (id, _) in resources_of(&template, "AWS::CloudWatch::Alarm") {
        let alarm = template.resolved_properties(id, &Echo).unwrap().unwrap();
        let Some(metrics) = alarm.get("Metrics") else { continue };
        assert_eq!(
            (&alarm["Threshold"], &alarm["TreatMissingData"]),
            (&json!(0), &json!("notBreaching"))
        );
        let stat = |at: usize, name: &str| {
            let metric = &metrics[at]["MetricStat"];
            assert_eq!(
                (&metric["Period"], &metric["Stat"]),
                (&json!(86_400), &json!("Sum")),
                "{id}"
            );
            assert_eq!(metric["Metric"]["MetricName"], name, "{id}");
            assert_eq!(metrics[at]["ReturnData"], false, "{id}");
            metric["Metric"]["Dimensions"][0]["Value"].as_str().unwrap().to_owned()
        };
        assert_eq!(metrics[0]["ReturnData"], true, "{id}");
        let expression = metrics[0]["Expression"].as_str().unwrap().to_owned();
        found.push([expression, stat(1, "Invocations"), stat(2, "ConsumedWriteCapacityUnits")]);
    }
    found.sort();
    found
}

#[test]
fn alarms_on_event_sources_exist_only_if_configured() {
    let when = |write_units: u32| {
        format!("IF(FILL(writes, 0) > {write_units} AND FILL(invocations, 0) == 0, 1, 0)")
    };
    let alarm = |write_units, function: &str, table: &str| {
        [when(write_units), format!("<{function}>"), format!("<{table}>")]
    };
    let relay = alarm(10_000, "RelayFunction", "EntryTable");
    let indexer = alarm(10, "IndexerFunction", "EventStreamTable");
    let webhook = alarm(10, "WebhookFunction", "FeedTable");
    let mut config = Config::default();
    assert_eq!(unread(&config), Vec::<[String; 3]>::new(), "they are not free");
    config.alarms.event_sources = true;
    assert_eq!(unread(&config), [indexer.clone(), relay.clone()]);
    config.webhook = with_everything().webhook;
    assert_eq!(unread(&config), [indexer.clone(), webhook, relay]);
    // Without automatic snapshots, a day without the relay is normal.
    config.webhook = None;
    config.snapshots.enabled = false;
    assert_eq!(unread(&config), [indexer]);
}
