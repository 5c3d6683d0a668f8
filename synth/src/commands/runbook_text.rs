//! Renders the runbook from `templates/runbook.md.hbs` and a section template per alarm.

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

const RUNBOOK: &str = include_str!("../../../templates/runbook.md.hbs");

/// Pairs an alarm's logical id with its runbook section template.
macro_rules! alarm_section {
    ($id:literal) => {
        ($id, include_str!(concat!("../../../templates/runbook/", $id, ".md.hbs")))
    };
}

/// Section templates by alarm, in runbook order.
const ALARM_SECTIONS: [(&str, &str); 11] = [
    alarm_section!("ApiErrorsAlarm"),
    alarm_section!("ApiThrottlesAlarm"),
    alarm_section!("ApiRequestsAlarm"),
    alarm_section!("EntryWriteUnitsAlarm"),
    alarm_section!("RelayIteratorAgeAlarm"),
    alarm_section!("IndexerIteratorAgeAlarm"),
    alarm_section!("WebhookIteratorAgeAlarm"),
    alarm_section!("ChangeStreamDeadLetterAlarm"),
    alarm_section!("SnapshotErrorsAlarm"),
    alarm_section!("SnapshotQueueAgeAlarm"),
    alarm_section!("SnapshotDeadLetterAlarm"),
];

const ALARM: &str = ResourceType::Alarm.name();

/// Variables of the runbook template.
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

/// Variables of an alarm.
#[derive(Serialize)]
struct AlarmView {
    id: &'static str,
    description: String,
    when: String,
    body: String,
}

/// Renders the runbook of a stack. `names` maps logical ids to physical resource names; if `None`,
/// the commands in the runbook look up each name.
pub(super) fn render(
    config: &Config,
    template: &Template,
    names: Option<BTreeMap<String, String>>,
) -> Result<String, RenderError> {
    let named = names.is_some();
    let names = ResourceNames {
        physical: names.unwrap_or_default(),
        template: template.clone(),
        incarnation: config.incarnation,
    };
    let dashboard = template.resource("Dashboard").map(|_| names.in_sentence("Dashboard"));
    let topic = template.resource("AlarmTopic").map(|_| names.in_sentence("AlarmTopic"));
    let mut templates = Handlebars::new();
    // Disable HTML escaping: the output is Markdown, and all inserted values have been validated.
    templates.register_escape_fn(handlebars::no_escape);
    templates.set_strict_mode(true);
    templates.register_helper("name", Box::new(names));
    let alarms = alarm_views(&templates, template)?;
    let key = config.encryption.key();
    let view = RunbookView {
        stack: &config.stack,
        region: config.region.as_deref(),
        named,
        notified: notified_topics(topic.as_deref(), config),
        dashboard,
        tracing: config.tracing,
        alarm_count: alarm_ids(template).count(),
        alarms,
        when_requests: format!("{} requests", config.alarms.requests_per_5_minutes),
        tables: table_logical_ids(config.incarnation),
        index: feed_table_logical_id(config.incarnation),
        key,
        key_region: key.and_then(|key| key.split(':').nth(3)).unwrap_or("REGION"),
        retention_days: config.log_retention_days,
    };
    templates.render_template(RUNBOOK, &view)
}

/// Renders a section per alarm.
fn alarm_views(
    templates: &Handlebars<'_>,
    template: &Template,
) -> Result<Vec<AlarmView>, RenderError> {
    let mut views = Vec::new();
    for (id, section) in ALARM_SECTIONS {
        let Some(alarm) = template.resource(id) else { continue };
        let body = templates.render_template(section, &())?;
        let description = text_property(alarm, "AlarmDescription");
        let description = description.trim_end_matches(SEE_RUNBOOK).to_owned();
        views.push(AlarmView { id, description, when: alarm_condition(alarm), body });
    }
    Ok(views)
}

/// Describes the SNS topics notified by alarms, or `None` if there are none.
fn notified_topics(topic: Option<&str>, config: &Config) -> Option<String> {
    let mut topics = Vec::new();
    if let Some(topic) = topic {
        topics.push(format!("the topic `{topic}`, which sends email"));
    }
    if let Some(arn) = &config.alarms.topic_arn {
        topics.push(format!("`{arn}`"));
    }
    if topics.is_empty() { None } else { Some(topics.join(" and ")) }
}

/// Returns the logical ids of all template alarms.
fn alarm_ids(template: &Template) -> impl Iterator<Item = &str> {
    let alarms = template.resources().filter(|(_, resource)| resource.resource_type == ALARM);
    alarms.map(|(id, _)| id)
}

fn text_property(alarm: &Resource, property: &str) -> String {
    alarm.properties.get(property).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Describes the condition under which an alarm fires.
fn alarm_condition(alarm: &Resource) -> String {
    let number = |property: &str| alarm.properties.get(property).and_then(Value::as_u64);
    let threshold = number("Threshold").unwrap_or_default();
    let minutes = number("Period").unwrap_or_default() / 60;
    let repetition = match number("EvaluationPeriods") {
        Some(periods @ 2..) => format!(", {periods} times in a row"),
        _ => String::new(),
    };
    format!(
        "`{}` ({}) is above {threshold} within {minutes} minutes{repetition}",
        text_property(alarm, "MetricName"),
        text_property(alarm, "Statistic").to_lowercase(),
    )
}

/// Template helper `{{name "LogicalId"}}`, which inserts a resource name. Rendering fails if the
/// stack lacks the resource.
struct ResourceNames {
    /// Physical names by logical id; empty if the commands in the runbook look up the names.
    physical: BTreeMap<String, String>,
    template: Template,
    incarnation: u32,
}

impl ResourceNames {
    /// Returns the resource name for a shell command, or a shell expression that looks up an
    /// unknown physical name.
    fn in_command(&self, logical_id: &str) -> String {
        match self.physical.get(logical_id) {
            Some(name) => name.clone(),
            None => format!("\"$(name {logical_id})\""),
        }
    }

    /// Returns a resource's logical id in the current incarnation (restore counter). Only table ids
    /// depend on the incarnation.
    fn current_id(&self, logical_id: &str) -> String {
        let table_ids = |incarnation| {
            table_logical_ids(incarnation).into_iter().chain([feed_table_logical_id(incarnation)])
        };
        for (first_id, current_id) in table_ids(0).zip(table_ids(self.incarnation)) {
            if first_id == logical_id {
                return current_id;
            }
        }
        logical_id.to_owned()
    }

    /// Returns the resource name for prose: the physical name or, if unknown, the logical id.
    fn in_sentence(&self, logical_id: &str) -> String {
        self.physical.get(logical_id).cloned().unwrap_or_else(|| logical_id.to_owned())
    }
}

impl handlebars::HelperDef for ResourceNames {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        _: &'rc Context,
        _: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let id = helper.param(0).and_then(|id| id.value().as_str()).unwrap_or_default();
        let id = &self.current_id(id);
        if self.template.resource(id).is_none() {
            let why = format!("the stack has no resource `{id}`");
            return Err(RenderErrorReason::Other(why).into());
        }
        let is_plain = helper.hash_get("plain").is_some();
        let name = if is_plain { self.in_sentence(id) } else { self.in_command(id) };
        out.write(&name)?;
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

    fn render_runbook(config: &Config, names: Option<BTreeMap<String, String>>) -> String {
        render(config, &template_of(config), names).unwrap()
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
        config
    }

    #[test]
    fn every_alarm_has_a_section() {
        let config = full_config();
        let template = template_of(&config);
        let sections: BTreeSet<_> = ALARM_SECTIONS.map(|(id, _)| id).into();
        assert_eq!(sections, alarm_ids(&template).collect());
        let text = render_runbook(&config, None);
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
        let now = render_runbook(&Config::default(), None);
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
        let text = render_runbook(&config, None);
        assert!(text.contains("aws logs tail \"$(name ApiLogGroup)\""), "{text}");
        assert!(text.contains("\nname() {\n"));
        let template = template_of(&config);
        let names = template.resources().map(|(id, _)| (id.to_owned(), format!("its-{id}")));
        let text = render_runbook(&config, Some(names.collect()));
        assert!(text.contains("aws logs tail its-ApiLogGroup"), "{text}");
        assert!(!text.contains("$(name "), "{text}");
    }

    #[test]
    fn restored_tables_have_their_current_ids() {
        let text = render_runbook(&Config { incarnation: 2, ..Config::default() }, None);
        assert!(text.contains("Value=\"$(name EntryTableIncarnation2)\""), "{text}");
        assert!(text.contains("--allow-data-loss SegmentTableIncarnation2 "), "{text}");
        assert!(!text.contains("EntryTable)") && !text.contains("SegmentTable "), "{text}");
    }

    #[test]
    fn the_runbook_depends_on_the_configuration() {
        let text = render_runbook(&Config::default(), None);
        assert!(
            text.contains("No notifications are configured")
                && text.contains("logs.REGION.amazonaws")
        );
        assert!(text.contains("above 30000 within 5 minutes"), "{text}");
        let config = full_config();
        let text = render_runbook(&config, None);
        for expected in [
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
        let text = render_runbook(&full_config(), None);
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
