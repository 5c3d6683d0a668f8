//! Findings of third-party linters in the template, for every option that changes it: none, except
//! findings whose reason is stated in the resource's metadata. Ignored by default, because the
//! linters are installed from a package index; `.ci/run` runs these tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cellar_stacks::config::{Encryption, Webhook};
use cellar_stacks::{Architecture, Config, FeedScope, cellar_stack};
use cellar_tests::python;
use serde_json::{Value, json};

use crate::journey::Project;

const CFN_LINT: &str = "cfn-lint==1.58.0";
const CHECKOV: &str = "checkov==3.3.30";
const VALIDATE: &str = "cloudformation-validate==1.14.0";

/// A template with deliberate faults, which prove that each linter works.
const FAULTY: &str = "faulty.json";

/// Informational rules that are not followed, each with the reason.
const INFORMATION: [(&str, &str); 3] = [
    ("I1022", "a reference in Fn::Join is made by a typed handle; one in a text of Fn::Sub is not"),
    ("I4010", "what the stack is made of and why is in ARCHITECTURE.md and in the runbook"),
    ("I9001", "what a later change would replace is shown, and asked for, by the deployment"),
];
/// Tags are optional, but if a template has tags, every resource must have them.
const NO_TAGS: &str = "I9040";

/// A finding of a linter.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    resource: String,
    rule: String,
    message: String,
}

/// A folder with all templates.
struct Templates {
    folder: tempfile::TempDir,
    all: Vec<(String, Value)>,
}

impl Templates {
    fn write() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut all: Vec<(String, Value)> = variants()
            .into_iter()
            .map(|(name, config, architecture)| {
                let template = cellar_stack(&config, architecture).unwrap();
                (format!("{name}.json"), template.to_value())
            })
            .collect();
        let mut faulty = all[0].1.clone();
        let resources = &mut faulty["Resources"];
        resources["Bucket"]["Properties"]["PublicAccessBlockConfiguration"] =
            json!({ "BlockPublicAcls": false });
        resources["ApiFunction"]["Properties"]["MemorySize"] = json!(1);
        all.push((FAULTY.to_owned(), faulty));
        all.push(("deploy-role.json".to_owned(), deploy_role()));
        for (name, template) in &all {
            fs::write(folder.path().join(name), template.to_string()).unwrap();
        }
        Self { folder, all }
    }

    fn names(&self) -> Vec<&str> {
        self.all.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the metadata of a resource for a linter.
    fn metadata(&self, file: &str, resource: &str, checker: &str) -> &Value {
        let (_, template) = self.all.iter().find(|(name, _)| name == file).unwrap();
        &template["Resources"][resource]["Metadata"][checker]
    }

    /// Returns all suppressed findings of a linter as (file, resource, rule).
    fn skipped(&self, checker: &str) -> BTreeSet<(String, String, String)> {
        let mut skipped = BTreeSet::new();
        for (file, template) in &self.all {
            for (resource, its) in template["Resources"].as_object().unwrap() {
                for skip in its["Metadata"][checker]["skip"].as_array().into_iter().flatten() {
                    assert!(skip["comment"].as_str().unwrap().len() > 20, "{resource}: a reason");
                    let rule = skip["id"].as_str().unwrap().to_owned();
                    skipped.insert((file.clone(), resource.clone(), rule));
                }
            }
        }
        skipped
    }

    /// Runs a linter on the templates. Returns its output.
    fn run(&self, package: &str, arguments: &[&str]) -> Value {
        let python = python::with_package(Path::new(env!("CARGO_TARGET_TMPDIR")), package);
        let output = Command::new(python)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}{errors}"))
    }

    /// Checks that all findings are in the faulty template, and that there is at least one.
    fn check_findings(found: Vec<Finding>, fault: &str) {
        let (faults, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|finding| finding.file == FAULTY);
        assert!(found.is_empty(), "{found:#?}");
        assert!(faults.iter().any(|one| one.rule == fault), "{fault} not found: {faults:#?}");
    }
}

/// Returns the template of the role that deploys, as `synth ci init` writes it.
fn deploy_role() -> Value {
    let pin = format!("octocat/cellar@{}", "0".repeat(40));
    let run = Project::new().synth(&["--json", "ci", "init", "--print", "--cellar", &pin]);
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    let files = printed["files"].as_array().unwrap();
    let role = files.iter().find(|file| file["path"] == ".github/cellar-deploy-role.yaml").unwrap();
    serde_yaml::from_str(role["text"].as_str().unwrap()).unwrap()
}

/// Returns every option that changes resources, alone and combined.
fn variants() -> Vec<(&'static str, Config, Architecture)> {
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config
    };
    let everything = |config: &mut Config| {
        for change in [
            own_key,
            told,
            event_sources,
            write_limit,
            origins,
            dashboard,
            tracing,
            tags,
            issuers,
            webhook,
            feed,
        ] {
            change(config);
        }
    };
    vec![
        ("default", Config::default(), Architecture::X86_64),
        ("arm64", Config::default(), Architecture::Arm64),
        ("own-key", with(own_key), Architecture::X86_64),
        ("told", with(told), Architecture::X86_64),
        ("origins", with(origins), Architecture::X86_64),
        ("dashboard", with(dashboard), Architecture::X86_64),
        ("tracing", with(tracing), Architecture::X86_64),
        ("tags", with(tags), Architecture::X86_64),
        ("webhook", with(webhook), Architecture::X86_64),
        ("feed", with(feed), Architecture::X86_64),
        ("unprotected", with(|config| config.deletion_protection = false), Architecture::X86_64),
        ("event-sources", with(event_sources), Architecture::X86_64),
        ("write-limit", with(write_limit), Architecture::X86_64),
        ("no-snapshots", with(|config| config.snapshots.enabled = false), Architecture::X86_64),
        ("everything", with(everything), Architecture::Arm64),
    ]
}

fn own_key(config: &mut Config) {
    let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
    config.encryption = Encryption { kms_key_arn: Some(key.to_owned()) };
}

fn told(config: &mut Config) {
    config.alarms.email = Some("operators@example.com".to_owned());
    let topic = "arn:aws:sns:eu-central-1:123456789012:operators";
    config.alarms.topic_arn = Some(topic.to_owned());
}

fn event_sources(config: &mut Config) {
    config.alarms.event_sources = true;
}

fn write_limit(config: &mut Config) {
    config.limits.write_units_per_second = Some(400);
}

fn origins(config: &mut Config) {
    config.cors_origins = vec!["https://sheets.example.com".to_owned()];
}

fn dashboard(config: &mut Config) {
    config.dashboard = true;
}

fn issuers(config: &mut Config) {
    let issuer = serde_json::json!({"issuer": "https://login.example.com", "audience": "cellar"});
    config.tokens.oidc = vec![serde_json::from_value(issuer).unwrap()];
    config.tokens.not_before_s = Some(1_800_000_000);
}

fn webhook(config: &mut Config) {
    let url = "https://hooks.example.com/cellar".to_owned();
    config.webhook = Some(Webhook { url, payloads: true });
}

fn feed(config: &mut Config) {
    config.feed = FeedScope::Everything;
}

fn tracing(config: &mut Config) {
    config.tracing = true;
}

fn tags(config: &mut Config) {
    config.tags = [("team".to_owned(), "books".to_owned())].into();
}

fn has_tags(file: &str) -> bool {
    ["tags.json", "everything.json"].contains(&file)
}

fn is_information(file: &str, rule: &str) -> bool {
    INFORMATION.iter().any(|(id, _)| *id == rule) || (rule == NO_TAGS && !has_tags(file))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "installs cfn-lint"]
fn cfn_lint_finds_nothing() {
    let templates = Templates::write();
    let main = "import sys, cfnlint.runner; sys.exit(cfnlint.runner.main())";
    let arguments = ["-c", main, "--include-checks", "I", "--format", "json", "--"];
    let found = templates.run(CFN_LINT, &[&arguments, templates.names().as_slice()].concat());
    let findings = found.as_array().unwrap().iter().map(|found| Finding {
        file: text(&found["Filename"]),
        resource: text(&found["Location"]["Path"][1]),
        rule: text(&found["Rule"]["Id"]),
        message: text(&found["Message"]),
    });
    let findings = findings.filter(|found| !is_information(&found.file, &found.rule)).collect();
    Templates::check_findings(findings, "E3034");
}

#[test]
#[ignore = "installs checkov"]
fn checkov_finds_nothing() {
    let templates = Templates::write();
    // Without these flags, the linter would check for updates and send results.
    let arguments = [
        "-m",
        "checkov.main",
        "--framework",
        "cloudformation",
        "--skip-download",
        "--skip-results-upload",
        "--output",
        "json",
        "--compact",
        "--directory",
        ".",
    ];
    let found = templates.run(CHECKOV, &arguments);
    assert_eq!(found["summary"]["parsing_errors"], 0, "{}", found["summary"]);
    let of = |kind: &str| -> Vec<Finding> {
        let found = found["results"][kind].as_array().unwrap().iter();
        found
            .map(|found| Finding {
                file: text(&found["file_path"]).trim_start_matches('/').to_owned(),
                resource: text(&found["resource"]).rsplit('.').next().unwrap().to_owned(),
                rule: text(&found["check_id"]),
                message: text(&found["check_name"]),
            })
            .collect()
    };
    let names: BTreeSet<_> = templates.names().into_iter().map(str::to_owned).collect();
    let seen: BTreeSet<_> = of("passed_checks").into_iter().map(|one| one.file).collect();
    assert_eq!(seen, names, "each template was read");
    // Every suppressed finding must still exist, so that no obsolete suppression remains.
    let skipped = of("skipped_checks").into_iter();
    let skipped: BTreeSet<_> = skipped.map(|one| (one.file, one.resource, one.rule)).collect();
    assert_eq!(templates.skipped("checkov"), skipped);
    Templates::check_findings(of("failed_checks"), "CKV_AWS_53");
}

/// Prints the findings as JSON.
const VALIDATE_SCRIPT: &str = r#"
import json, sys
from cloudformation_validate import CompositeEngine
engine = CompositeEngine()
found = []
for path in sys.argv[1:]:
    report = engine.validate_template(path)
    assert report.status.name == "OK", (path, report.status)
    for one in report.diagnostics:
        resource = one.entity.logical_id if one.entity else ""
        found.append([path, resource, one.rule_id, one.message])
print(json.dumps(found))
"#;

#[test]
#[ignore = "installs cloudformation-validate"]
fn cloudformation_validate_finds_nothing() {
    let templates = Templates::write();
    let arguments = ["-c", VALIDATE_SCRIPT];
    let found = templates.run(VALIDATE, &[&arguments, templates.names().as_slice()].concat());
    let findings = found.as_array().unwrap().iter().map(|found| Finding {
        file: text(&found[0]),
        resource: text(&found[1]),
        rule: text(&found[2]),
        message: text(&found[3]),
    });
    let findings = findings.filter(|found| !is_information(&found.file, &found.rule));
    let mut skipped = templates.skipped("cloudformation-validate");
    let own_rules = |found: &Finding| {
        // This linter uses the rule names of cfn-lint.
        let ignored = templates.metadata(&found.file, &found.resource, "cfn-lint");
        let ignored = ignored["config"]["ignore_checks"].as_array();
        ignored.is_some_and(|ignored| ignored.contains(&json!(found.rule)))
    };
    let mut left = Vec::new();
    for found in findings.filter(|found| !own_rules(found)) {
        let skip = (found.file.clone(), found.resource.clone(), found.rule.clone());
        if !skipped.remove(&skip) {
            left.push(found);
        }
    }
    assert!(skipped.is_empty(), "suppressions without a finding: {skipped:?}");
    Templates::check_findings(left, "F3034");
}
