//! Runs every command of `docs/tutorial.md` and compares its output with the page.

use std::fs;
use std::path::Path;

use crate::journey::{Project, Run};

const TUTORIAL: &str = include_str!("../../docs/tutorial.md");
/// Working directory in the page.
const FOLDER_IN_PAGE: &str = "/home/ann/cellar";
/// The imported file.
const FILE: &str = "tests/data/airports.csv";

/// A command of the page and the output below it.
struct Step<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

/// Returns the steps of the `console` blocks of the page.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command, output: Vec::new() }),
                None => steps.last_mut().unwrap().output.push(line),
            }
        }
    }
    steps
}

/// Runs a command of the page. Local stacks listen on a free port.
fn run(project: &Project, command: &str, ids: &Ids) -> Run {
    let command = command.replacen("cargo run -p synth --", "synth", 1);
    let words: Vec<String> = command.split_whitespace().map(|word| ids.actual(word)).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.contains(&"deploy") {
        words.extend(["--port", "0"]);
    }
    match words[0] {
        "synth" => project.synth(&words[1..]),
        "cellar" => project.cellar(&words[1..]),
        other => panic!("the tutorial runs {other}"),
    }
}

/// The spreadsheet ids of the page, with the ids of this run, in the order in which they first
/// occur.
#[derive(Default)]
struct Ids {
    pairs: Vec<(String, String)>,
}

impl Ids {
    fn actual(&self, word: &str) -> String {
        let pair = self.pairs.iter().find(|(in_page, _)| in_page == word);
        pair.map_or_else(|| word.to_owned(), |(_, actual)| actual.clone())
    }

    /// Records the ids of a line of the page and of the corresponding output.
    fn learn(&mut self, in_page: &str, actual: &str) {
        for (in_page, actual) in uuids(in_page).into_iter().zip(uuids(actual)) {
            let known = self.pairs.iter().find(|(known, _)| *known == in_page);
            match known {
                Some((_, known_actual)) => assert_eq!(*known_actual, actual, "{in_page}"),
                None => self.pairs.push((in_page, actual)),
            }
        }
    }
}

/// Returns the UUIDs in a line.
fn uuids(line: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let words = line.split(|c| !is_part(c)).map(|word| word.trim_matches('-'));
    words.filter(|word| uuid::Uuid::try_parse(word).is_ok()).map(str::to_owned).collect()
}

/// Replaces everything that differs from run to run: ids, tokens, times, durations and ports.
fn normalize(line: &str, folder: &str) -> String {
    let line = line.replace(folder, FOLDER_IN_PAGE);
    // The id of a share link is random.
    let line = match line.split_once("cellar links revoke ") {
        Some((before, _)) => format!("{before}cellar links revoke LINK"),
        None => line,
    };
    let words = line.split(' ').map(normalize_word);
    let text = words.collect::<Vec<_>>().join(" ");
    let Some((before, "s")) = text.rsplit_once(' ') else { return text };
    match before.rsplit_once(' ') {
        Some((before, seconds)) if seconds.parse::<f64>().is_ok() => format!("{before} SECONDS s"),
        _ => text,
    }
}

fn normalize_word(word: &str) -> String {
    if word.starts_with("eyJ") || word.starts_with("cellar-link.") {
        return "TOKEN".to_owned();
    }
    if let Some((before, _)) = word.split_once("#token=") {
        return format!("{}#token=TOKEN", normalize_word(before));
    }
    // The secret of a share link is random.
    if let Some((before, _)) = word.split_once("?link=") {
        return format!("{}?link=SECRET", normalize_word(before));
    }
    let mut word = word.to_owned();
    for id in uuids(&word) {
        word = word.replace(&id, "ID");
    }
    if let Some((before, port_and_rest)) = word.split_once("127.0.0.1:") {
        let rest = port_and_rest.trim_start_matches(|c: char| c.is_ascii_digit());
        word = format!("{before}127.0.0.1:PORT{rest}");
    }
    // A date, a time, or both.
    let is_date_or_time = word.matches('-').count() == 2 || word.matches(':').count() == 2;
    if is_date_or_time && word.starts_with(|c: char| c.is_ascii_digit()) {
        let time = word.trim_end_matches(|c: char| c != 'Z' && !c.is_ascii_digit());
        return word.replacen(time, "TIME", 1);
    }
    word
}

#[test]
fn every_command_of_the_tutorial_prints_what_the_page_shows() {
    let project = Project::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/airports.csv");
    fs::create_dir_all(project.path("tests/data")).unwrap();
    fs::copy(data, project.path(FILE)).unwrap();
    let folder = project.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let mut ids = Ids::default();
    let steps = steps(TUTORIAL);
    assert!(steps.len() > 10);
    let mut differences = Vec::new();
    for step in steps {
        let run = run(&project, step.command, &ids);
        assert_eq!(run.code, 0, "{}: {run:?}", step.command);
        // A deployment prints its steps to stderr, which the page does not show.
        let stderr = if step.command.contains(" deploy ") { "" } else { &run.stderr };
        let printed = format!("{}{stderr}", run.stdout);
        let printed: Vec<&str> = printed.trim().lines().collect();
        for (in_page, actual) in step.output.iter().zip(&printed) {
            ids.learn(in_page, actual);
        }
        let normalized = |lines: &[&str]| -> Vec<String> {
            lines.iter().map(|line| normalize(line, &folder)).collect()
        };
        if normalized(&printed) != normalized(&step.output) {
            differences.push(format!("$ {}\n{}", step.command, printed.join("\n")));
        }
    }
    assert!(
        differences.is_empty(),
        "docs/tutorial.md differs. These commands now print:\n{}",
        differences.join("\n")
    );
}
