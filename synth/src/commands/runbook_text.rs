//! Renders the runbook from `templates/runbook.md.hbs` and from one section template per alarm.

use std::collections::BTreeMap;

use cellar_stacks::cellar::{SEE_RUNBOOK, TABLE_COUNT, feed_table_logical_id, table_logical_ids};
use cellar_stacks::constructs::ResourceType;
use cellar_stacks::template::Resource;
use cellar_stacks::{Config, Template};
use handlebars::{
    Context, Handlebars, Helper, HelperResult, Output, RenderContext, RenderError,
    RenderErrorReason,
};
use serde::Serialize;
use serde_json::Value;

const RUNBOOK_TEMPLATE: &str = include_str!("../../../templates/runbook.md.hbs");

/// Expands to the logical id of an alarm and the template of its section in the runbook.
macro_rules! alarm_section {
    ($id:literal) => {
        ($id, include_str!(concat!("../../../templates/runbook/", $id, ".md.hbs")))
    };
}

/// Logical id of each alarm, and the template of its section, in the order of the runbook.
const ALARM_SECTIONS: [(&str, &str); 14] = [
    alarm_section!("ApiErrorsAlarm"),
    alarm_section!("ApiThrottlesAlarm"),
    alarm_section!("ApiRequestsAlarm"),
    alarm_section!("EntryWriteUnitsAlarm"),
    alarm_section!("RelayIteratorAgeAlarm"),
    alarm_section!("IndexerIteratorAgeAlarm"),
    alarm_section!("WebhookIteratorAgeAlarm"),
    alarm_section!("RelaySourceAlarm"),
    alarm_section!("IndexerSourceAlarm"),
    alarm_section!("WebhookSourceAlarm"),
    alarm_section!("ChangeStreamDeadLetterAlarm"),
    alarm_section!("SnapshotErrorsAlarm"),
    alarm_section!("SnapshotQueueAgeAlarm"),
    alarm_section!("SnapshotDeadLetterAlarm"),
];

const ALARM: &str = ResourceType::Alarm.name();

#[derive(Serialize)]
struct RunbookView<'a> {
    stack: &'a str,
    region: Option<&'a str>,
    named: bool,
    notified: Option<String>,
    dashboard: Option<String>,
    tracing: bool,
    alarms: Vec<AlarmView>,
    alarm_count: usize,
    when_requests: String,
    tables: [String; TABLE_COUNT],
    index: String,
    key: Option<&'a str>,
    key_region: &'a str,
    retention_days: u32,
}

#[derive(Serialize)]
struct AlarmView {
    id: &'static str,
    description: String,
    when: String,
    body: String,
}

/// `physical_names` contains the physical names of resources by logical id. If it is `None`, the
/// commands in the runbook look up the names.
pub(super) fn render_runbook(
    config: &Config,
    template: &Template,
    physical_names: Option<BTreeMap<String, String>>,
) -> Result<String, RenderError> {
    let has_physical_names = physical_names.is_some();
    let names = ResourceNames {
        physical: physical_names.unwrap_or_default(),
        template: template.clone(),
        incarnation: config.incarnation,
    };
    let dashboard = names.in_sentence_if_present("Dashboard");
    let alarm_topic = names.in_sentence_if_present("AlarmTopic");
    let mut templates = Handlebars::new();
    // Disable HTML escaping, because the output is Markdown. All inserted values have been
    // validated.
    templates.register_escape_fn(handlebars::no_escape);
    templates.set_strict_mode(true);
    templates.register_helper("name", Box::new(names));
    let kms_key = config.encryption.key();
    let view = RunbookView {
        stack: &config.stack,
        region: config.region.as_deref(),
        named: has_physical_names,
        notified: describe_notified_topics(alarm_topic.as_deref(), config),
        dashboard,
        tracing: config.tracing,
        alarms: alarm_views(&templates, template)?,
        alarm_count: alarm_ids(template).count(),
        when_requests: format!("{} requests", config.alarms.requests_per_5_minutes),
        tables: table_logical_ids(config.incarnation),
        index: feed_table_logical_id(config.incarnation),
        key: kms_key,
        key_region: kms_key.and_then(region_of_arn).unwrap_or("REGION"),
        retention_days: config.log_retention_days,
    };
    templates.render_template(RUNBOOK_TEMPLATE, &view)
}

fn region_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(3)
}

fn alarm_views(
    templates: &Handlebars<'_>,
    template: &Template,
) -> Result<Vec<AlarmView>, RenderError> {
    let mut views = Vec::new();
    for (logical_id, section_template) in ALARM_SECTIONS {
        let Some(alarm) = template.resource(logical_id) else { continue };
        let section = templates.render_template(section_template, &())?;
        let alarm_description = string_property(alarm, "AlarmDescription");
        views.push(AlarmView {
            id: logical_id,
            description: alarm_description.trim_end_matches(SEE_RUNBOOK).to_owned(),
            when: describe_condition(alarm),
            body: section,
        });
    }
    Ok(views)
}

/// Returns `None` if there are no topics.
fn describe_notified_topics(alarm_topic: Option<&str>, config: &Config) -> Option<String> {
    let mut topics = Vec::new();
    if let Some(alarm_topic) = alarm_topic {
        topics.push(format!("the topic `{alarm_topic}`, which sends email"));
    }
    if let Some(topic_arn) = &config.alarms.topic_arn {
        topics.push(format!("`{topic_arn}`"));
    }
    if topics.is_empty() { None } else { Some(topics.join(" and ")) }
}

fn alarm_ids(template: &Template) -> impl Iterator<Item = &str> {
    let alarms = template.resources().filter(|(_, resource)| resource.resource_type == ALARM);
    alarms.map(|(id, _)| id)
}

fn string_property(alarm: &Resource, property: &str) -> String {
    alarm.properties.get(property).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn describe_condition(alarm: &Resource) -> String {
    let metrics = alarm.properties.get("Metrics").and_then(Value::as_array);
    let expression = |metric: &Value| Some(metric.get("Expression")?.as_str()?.to_owned());
    if let Some(expression) = metrics.and_then(|metrics| metrics.iter().find_map(expression)) {
        return format!("`{expression}` is 1 for the sums of a day");
    }
    let number_property = |name: &str| alarm.properties.get(name).and_then(Value::as_u64);
    let threshold = number_property("Threshold").unwrap_or_default();
    let period_minutes = number_property("Period").unwrap_or_default() / 60;
    let repetition = match number_property("EvaluationPeriods") {
        Some(periods @ 2..) => format!(", {periods} times in a row"),
        _ => String::new(),
    };
    format!(
        "`{}` ({}) is above {threshold} within {period_minutes} minutes{repetition}",
        string_property(alarm, "MetricName"),
        string_property(alarm, "Statistic").to_lowercase(),
    )
}

/// Template helper `{{name "LogicalId"}}`, which inserts the name of a resource. Rendering fails if
/// the stack does not contain the resource.
struct ResourceNames {
    /// Empty if the commands in the runbook look up the names.
    physical: BTreeMap<String, String>,
    template: Template,
    incarnation: u32,
}

impl ResourceNames {
    /// If the physical name is unknown, returns a shell expression that looks up the name.
    fn in_command(&self, logical_id: &str) -> String {
        match self.physical.get(logical_id) {
            Some(name) => name.clone(),
            None => format!("\"$(name {logical_id})\""),
        }
    }

    /// The logical id of a table contains the incarnation, and any other logical id is returned
    /// unchanged.
    fn current_id(&self, logical_id: &str) -> String {
        let current_table_ids = table_ids(self.incarnation);
        for (first_id, current_id) in table_ids(0).into_iter().zip(current_table_ids) {
            if first_id == logical_id {
                return current_id;
            }
        }
        logical_id.to_owned()
    }

    /// Like [`Self::in_sentence`], but returns `None` if the stack does not contain the resource.
    fn in_sentence_if_present(&self, logical_id: &str) -> Option<String> {
        self.template.resource(logical_id)?;
        Some(self.in_sentence(logical_id))
    }

    /// Returns the name of a resource for use in prose: its physical name or, if that name is
    /// unknown, its logical id.
    fn in_sentence(&self, logical_id: &str) -> String {
        self.physical.get(logical_id).cloned().unwrap_or_else(|| logical_id.to_owned())
    }
}

fn table_ids(incarnation: u32) -> Vec<String> {
    let mut table_ids = Vec::from(table_logical_ids(incarnation));
    table_ids.push(feed_table_logical_id(incarnation));
    table_ids
}

impl handlebars::HelperDef for ResourceNames {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        _: &'rc Context,
        _: &mut RenderContext<'reg, 'rc>,
        output: &mut dyn Output,
    ) -> HelperResult {
        let id_parameter = helper.param(0).and_then(|parameter| parameter.value().as_str());
        let logical_id = &self.current_id(id_parameter.unwrap_or_default());
        if self.template.resource(logical_id).is_none() {
            let message = format!("the stack has no resource `{logical_id}`");
            return Err(RenderErrorReason::Other(message).into());
        }
        let is_in_sentence = helper.hash_get("plain").is_some();
        let name =
            if is_in_sentence { self.in_sentence(logical_id) } else { self.in_command(logical_id) };
        output.write(&name)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::{env, fs};

    use cellar_stacks::{Architecture, cellar_stack};

    use cellar_stacks::config::Webhook;

    use super::*;

    fn template_of(config: &Config) -> Template {
        cellar_stack(config, Architecture::X86_64).unwrap()
    }

    fn render(config: &Config, names: Option<BTreeMap<String, String>>) -> String {
        render_runbook(config, &template_of(config), names).unwrap()
    }

    fn full_config() -> Config {
        let mut config = Config { dashboard: true, tracing: true, ..Config::default() };
        config.stack = "books".to_owned();
        config.region = Some("eu-central-1".to_owned());
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        config.alarms.email = Some("operators@example.com".to_owned());
        let url = "https://hooks.example.com/cellar".to_owned();
        config.webhook = Some(Webhook { url, payloads: true });
        config.alarms.event_sources = true;
        config
    }

    #[test]
    fn every_alarm_has_a_section() {
        let config = full_config();
        let template = template_of(&config);
        let sections: BTreeSet<_> = ALARM_SECTIONS.map(|(id, _)| id).into();
        assert_eq!(sections, alarm_ids(&template).collect());
        let text = render(&config, None);
        for (id, section) in ALARM_SECTIONS {
            assert!(text.contains(&format!("### {id}\n")), "{id}");
            for expected in ["**Meaning:**", "**Investigate", "gnore it"] {
                assert!(section.contains(expected), "{id}: {expected}");
            }
            assert!(section.contains("**Fix:**") || section.contains("and fix:**"), "{id}");
        }
    }

    #[test]
    fn the_committed_runbook_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/runbook.md");
        let now = render(&Config::default(), None);
        if env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&path, &now).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == now,
            "the runbook differs from tests/snapshots/runbook.md; if that is intended: \
             UPDATE_SNAPSHOTS=1 cargo test -p synth runbook"
        );
    }

    #[test]
    fn commands_look_up_names_or_contain_them() {
        let config = Config::default();
        let text = render(&config, None);
        assert!(text.contains("aws logs tail \"$(name ApiLogGroup)\""), "{text}");
        assert!(text.contains("\nname() {\n"));
        let template = template_of(&config);
        let names = template.resources().map(|(id, _)| (id.to_owned(), format!("its-{id}")));
        let text = render(&config, Some(names.collect()));
        assert!(text.contains("aws logs tail its-ApiLogGroup"), "{text}");
        assert!(!text.contains("$(name "), "{text}");
    }

    #[test]
    fn restored_tables_have_their_current_ids() {
        let text = render(&Config { incarnation: 2, ..Config::default() }, None);
        assert!(text.contains("Value=\"$(name EntryTableIncarnation2)\""), "{text}");
        assert!(text.contains("--allow-data-loss SegmentTableIncarnation2 "), "{text}");
        assert!(!text.contains("EntryTable)") && !text.contains("SegmentTable "), "{text}");
    }

    #[test]
    fn the_runbook_depends_on_the_configuration() {
        let text = render(&Config::default(), None);
        assert!(
            text.contains("No notifications are configured")
                && text.contains("logs.REGION.amazonaws")
        );
        assert!(text.contains("above 30000 within 5 minutes"), "{text}");
        let config = full_config();
        let text = render(&config, None);
        for expected in [
            "Fires when `IF(FILL(writes, 0) > 10000 AND FILL(invocations, 0) == 0, 1, 0)` is 1 for",
            "# Runbook of books\n",
            "export AWS_REGION=eu-central-1\n",
            "Alarms notify the topic `AlarmTopic`",
            "The dashboard is `Dashboard`",
            "logs.eu-central-1.amazonaws.com",
            "log-group:books-*",
            config.encryption.key().unwrap(),
        ] {
            assert!(text.contains(expected), "{expected}");
        }
        assert!(!text.contains("this stack has none"), "{text}");
    }

    #[test]
    fn links_point_to_existing_headings() {
        let text = render(&full_config(), None);
        let headings: BTreeSet<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .map(|heading| heading.to_lowercase().replace(' ', "-").replace(',', ""))
            .collect();
        let mut links = 0;
        for link in text.split("](#").skip(1) {
            let target = link.split(')').next().unwrap();
            assert!(headings.contains(target), "{target}: {headings:?}");
            links += 1;
        }
        assert!(links > 10);
    }

    #[test]
    fn an_unknown_id_is_an_error() {
        let template = template_of(&Config::default());
        let mut templates = Handlebars::new();
        let names = ResourceNames { physical: BTreeMap::new(), template, incarnation: 0 };
        templates.register_helper("name", Box::new(names));
        let error = templates.render_template("{{name \"Buckett\"}}", &()).unwrap_err();
        assert!(error.to_string().contains("no resource `Buckett`"), "{error}");
    }
}
