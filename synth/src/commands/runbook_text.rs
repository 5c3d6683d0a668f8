//! The text of the runbook: `templates/runbook.md.hbs`, and a part for each alarm of the template.

use std::collections::BTreeMap;

use cellar_stacks::cellar::{SEE_RUNBOOK, TABLES, feed_table, tables};
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

/// The part of an alarm, which is a template too.
macro_rules! part {
    ($id:literal) => {
        ($id, include_str!(concat!("../../../templates/runbook/", $id, ".md.hbs")))
    };
}

/// What each alarm means, by its logical id, in the order of the runbook.
const ALARMS: [(&str, &str); 11] = [
    part!("ApiErrorsAlarm"),
    part!("ApiThrottlesAlarm"),
    part!("ApiRequestsAlarm"),
    part!("EntryWriteUnitsAlarm"),
    part!("RelayIteratorAgeAlarm"),
    part!("IndexerIteratorAgeAlarm"),
    part!("WebhookIteratorAgeAlarm"),
    part!("ChangeStreamDeadLetterAlarm"),
    part!("SnapshotErrorsAlarm"),
    part!("SnapshotQueueAgeAlarm"),
    part!("SnapshotDeadLetterAlarm"),
];

const ALARM: &str = ResourceType::Alarm.name();

#[derive(Serialize)]
struct Runbook<'a> {
    stack: &'a str,
    region: Option<&'a str>,
    named: bool,
    notified: Option<String>,
    dashboard: Option<String>,
    tracing: bool,
    alarms: Vec<AlarmPart>,
    alarm_count: usize,
    when_requests: String,
    tables: [String; TABLES],
    index: String,
    key: Option<&'a str>,
    key_region: &'a str,
    retention_days: u32,
}

#[derive(Serialize)]
struct AlarmPart {
    id: &'static str,
    description: String,
    when: String,
    body: String,
}

/// The runbook of a stack; its names are looked up by the commands themselves if none are given.
pub(super) fn render(
    config: &Config,
    template: &Template,
    names: Option<BTreeMap<String, String>>,
) -> Result<String, RenderError> {
    let named = names.is_some();
    let of = names.unwrap_or_default();
    let names = Names { of, template: template.clone(), incarnation: config.incarnation };
    let dashboard = template.resource("Dashboard").map(|_| names.plain("Dashboard"));
    let topic = template.resource("AlarmTopic").map(|_| names.plain("AlarmTopic"));
    let mut templates = Handlebars::new();
    // It is no HTML; what is put in has been checked.
    templates.register_escape_fn(handlebars::no_escape);
    templates.set_strict_mode(true);
    templates.register_helper("name", Box::new(names));
    let mut alarms = Vec::new();
    for (id, part) in ALARMS {
        let Some(alarm) = template.resource(id) else { continue };
        let body = templates.render_template(part, &())?;
        let description = text_of(alarm, "AlarmDescription");
        let description = description.trim_end_matches(SEE_RUNBOOK).to_owned();
        alarms.push(AlarmPart { id, description, when: when(alarm), body });
    }
    let notified = [topic.map(|topic| format!("the topic `{topic}`, which sends email")), {
        let own = config.alarms.topic_arn.as_ref();
        own.map(|arn| format!("`{arn}`"))
    }];
    let notified: Vec<String> = notified.into_iter().flatten().collect();
    let key = config.encryption.key();
    let runbook = Runbook {
        stack: &config.stack,
        region: config.region.as_deref(),
        named,
        notified: (!notified.is_empty()).then(|| notified.join(" and ")),
        dashboard,
        tracing: config.tracing,
        alarm_count: alarms_of(template).count(),
        alarms,
        when_requests: format!("{} requests", config.alarms.requests_per_5_minutes),
        tables: tables(config.incarnation),
        index: feed_table(config.incarnation),
        key,
        key_region: key.and_then(|key| key.split(':').nth(3)).unwrap_or("REGION"),
        retention_days: config.log_retention_days,
    };
    templates.render_template(RUNBOOK, &runbook)
}

fn alarms_of(template: &Template) -> impl Iterator<Item = &str> {
    let alarms = template.resources().filter(|(_, resource)| resource.resource_type == ALARM);
    alarms.map(|(id, _)| id)
}

fn text_of(alarm: &Resource, property: &str) -> String {
    alarm.properties.get(property).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// From when on an alarm is off, as the template says it.
fn when(alarm: &Resource) -> String {
    let number = |property: &str| alarm.properties.get(property).and_then(Value::as_u64);
    let (above, periods) = (number("Threshold"), number("EvaluationPeriods"));
    let minutes = number("Period").unwrap_or_default() / 60;
    let often = match periods {
        Some(periods @ 2..) => format!(", {periods} times one after the other"),
        _ => String::new(),
    };
    format!(
        "`{}` ({}) is above {} within {minutes} minutes{often}",
        text_of(alarm, "MetricName"),
        text_of(alarm, "Statistic").to_lowercase(),
        above.unwrap_or_default()
    )
}

/// `{{name "LogicalId"}}`: how a command names a resource. An id that the template does not have is
/// a fault of the runbook.
struct Names {
    of: BTreeMap<String, String>,
    template: Template,
    incarnation: u32,
}

impl Names {
    /// The name for a command: the name itself, or what looks it up.
    fn word(&self, logical_id: &str) -> String {
        match self.of.get(logical_id) {
            Some(name) => name.clone(),
            None => format!("\"$(name {logical_id})\""),
        }
    }

    /// The logical id of a table that was restored is another.
    fn at_incarnation(&self, logical_id: &str) -> String {
        let all = |incarnation| tables(incarnation).into_iter().chain([feed_table(incarnation)]);
        let mut restored = all(0).zip(all(self.incarnation));
        let found = restored.find(|(first, _)| first == logical_id);
        found.map_or_else(|| logical_id.to_owned(), |(_, now)| now)
    }

    /// The name for a sentence.
    fn plain(&self, logical_id: &str) -> String {
        self.of.get(logical_id).map_or_else(|| logical_id.to_owned(), Clone::clone)
    }
}

impl handlebars::HelperDef for Names {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        _: &'rc Context,
        _: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let id = helper.param(0).and_then(|id| id.value().as_str()).unwrap_or_default();
        let id = &self.at_incarnation(id);
        if self.template.resource(id).is_none() {
            let why = format!("the stack has no resource `{id}`");
            return Err(RenderErrorReason::Other(why).into());
        }
        let in_sentence = helper.hash_get("plain").is_some();
        let name = if in_sentence { self.plain(id) } else { self.word(id) };
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

    fn runbook(config: &Config, names: Option<BTreeMap<String, String>>) -> String {
        render(config, &template_of(config), names).unwrap()
    }

    fn everything() -> Config {
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
    fn every_alarm_has_its_part_and_every_part_its_alarm() {
        let config = everything();
        let template = template_of(&config);
        let parts: BTreeSet<_> = ALARMS.map(|(id, _)| id).into();
        assert_eq!(parts, alarms_of(&template).collect());
        let text = runbook(&config, None);
        for (id, part) in ALARMS {
            assert!(text.contains(&format!("### {id}\n")), "{id}");
            for said in ["**Meaning:**", "**Investigate", "gnore it"] {
                assert!(part.contains(said), "{id}: {said}");
            }
            assert!(part.contains("**Fix:**") || part.contains("and fix:**"), "{id}");
        }
    }

    #[test]
    fn the_committed_runbook_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/runbook.md");
        let now = runbook(&Config::default(), None);
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
    fn names_are_looked_up_or_written_out() {
        let config = Config::default();
        let text = runbook(&config, None);
        assert!(text.contains("aws logs tail \"$(name ApiLogGroup)\""), "{text}");
        assert!(text.contains("\nname() {\n"));
        let template = template_of(&config);
        let names = template.resources().map(|(id, _)| (id.to_owned(), format!("its-{id}")));
        let text = runbook(&config, Some(names.collect()));
        assert!(text.contains("aws logs tail its-ApiLogGroup"), "{text}");
        assert!(!text.contains("$(name "), "{text}");
    }

    #[test]
    fn tables_that_were_restored_are_named_as_they_are() {
        let text = runbook(&Config { incarnation: 2, ..Config::default() }, None);
        assert!(text.contains("Value=\"$(name EntryTableIncarnation2)\""), "{text}");
        assert!(text.contains("--allow-data-loss SegmentTableIncarnation2 "), "{text}");
        assert!(!text.contains("EntryTable)") && !text.contains("SegmentTable "), "{text}");
    }

    #[test]
    fn the_runbook_follows_the_configuration() {
        let text = runbook(&Config::default(), None);
        assert!(
            text.contains("No notifications are configured")
                && text.contains("logs.REGION.amazonaws")
        );
        assert!(text.contains("above 30000 within 5 minutes"), "{text}");
        let config = everything();
        let text = runbook(&config, None);
        for said in [
            "# Runbook of books\n",
            "export AWS_REGION=eu-central-1\n",
            "Alarms notify the topic `AlarmTopic`",
            "The dashboard is `Dashboard`",
            "logs.eu-central-1.amazonaws.com",
            "log-group:books-*",
            config.encryption.key().unwrap(),
        ] {
            assert!(text.contains(said), "{said}");
        }
        assert!(!text.contains("this stack has none"), "{text}");
    }

    #[test]
    fn links_lead_to_headings() {
        let text = runbook(&everything(), None);
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
    fn a_name_that_the_stack_does_not_have_is_a_fault() {
        let template = template_of(&Config::default());
        let mut templates = Handlebars::new();
        let names = Names { of: BTreeMap::new(), template, incarnation: 0 };
        templates.register_helper("name", Box::new(names));
        let error = templates.render_template("{{name \"Buckett\"}}", &()).unwrap_err();
        assert!(error.to_string().contains("no resource `Buckett`"), "{error}");
    }
}
