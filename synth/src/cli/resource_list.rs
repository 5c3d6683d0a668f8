//! What happens to the resources of a stack: a list that moves on a terminal, lines elsewhere.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cellar::table::to_json;
use console::style;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use super::output::{Output, ProgressMode, note, object};
use crate::deployment::{Line, Mark};

/// How long nothing is said before something is.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How often the list moves.
const TICK: Duration = Duration::from_millis(100);

/// Tells what happens to resources.
pub(crate) struct ResourceList {
    progress: ProgressMode,
    begun: Instant,
    said: Instant,
    bars: MultiProgress,
    /// Those on their way, by logical id: only where the list moves.
    underway: HashMap<String, ProgressBar>,
}

impl ResourceList {
    /// A list without anything in it.
    pub(super) fn new(output: Output) -> Self {
        let now = Instant::now();
        let (progress, bars) = (output.progress(), MultiProgress::new());
        Self { progress, begun: now, said: now, bars, underway: HashMap::new() }
    }

    /// Tells what happened to a resource.
    pub(crate) fn tell(&mut self, line: &Line) {
        self.said = Instant::now();
        match self.progress {
            ProgressMode::Live => self.show(line),
            ProgressMode::Plain => note(&text(line)),
            ProgressMode::Json | ProgressMode::Quiet => note(&json_of(line)),
        }
    }

    /// Says that it goes on, where nothing was said for long.
    pub(crate) fn beat(&mut self, done: usize) {
        if self.said.elapsed() < HEARTBEAT {
            return;
        }
        self.said = Instant::now();
        let elapsed_s = self.begun.elapsed().as_secs();
        match self.progress {
            ProgressMode::Live => {}
            ProgressMode::Plain => {
                let elapsed = humantime::format_duration(Duration::from_secs(elapsed_s));
                note(&format!("  … {elapsed}, {done} resources done"));
            }
            ProgressMode::Json | ProgressMode::Quiet => {
                object(&json!({ "kind": "heartbeat", "elapsed_s": elapsed_s, "done": done }));
            }
        }
    }

    fn show(&mut self, line: &Line) {
        let ended = self.underway.remove(&line.logical_id);
        if let Some(bar) = &ended {
            bar.finish_and_clear();
        }
        if line.mark == Mark::Begun {
            let bar = self.bars.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(what(line));
            bar.enable_steady_tick(TICK);
            self.underway.insert(line.logical_id.clone(), bar);
        } else {
            self.bars.suspend(|| note(&text(line)));
        }
    }
}

impl Drop for ResourceList {
    fn drop(&mut self) {
        self.underway.values().for_each(ProgressBar::finish_and_clear);
    }
}

fn what(line: &Line) -> String {
    let status = line.status.to_lowercase().replace('_', " ");
    format!("{} {status} ({})", line.logical_id, line.resource_type)
}

fn text(line: &Line) -> String {
    let mark = match line.mark {
        Mark::Begun => style("·").dim(),
        Mark::Done => style("✓").green(),
        Mark::Failed => style("✗").red(),
    };
    let took = line
        .took_ms
        .map(|took_ms| format!(" ({:.1} s)", Duration::from_millis(took_ms).as_secs_f64()));
    let reason = line.reason.as_deref().filter(|_| line.mark == Mark::Failed);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let mark = mark.for_stderr();
    format!("  {mark} {}{}{reason}", what(line), took.unwrap_or_default())
}

fn json_of(line: &Line) -> String {
    #[derive(Serialize)]
    struct Tagged<'a> {
        kind: &'static str,
        #[serde(flatten)]
        line: &'a Line,
    }
    to_json(&Tagged { kind: "resource", line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mark: Mark, status: &str, took_ms: Option<u64>, reason: Option<&str>) -> Line {
        Line {
            mark,
            logical_id: "Queue".to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            status: status.to_owned(),
            took_ms,
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_line_says_how_long_it_took_and_why_it_failed() {
        let begun = text(&line(Mark::Begun, "CREATE_IN_PROGRESS", None, Some("Initiated")));
        assert!(begun.ends_with("Queue create in progress (AWS::SQS::Queue)"), "{begun}");
        let done = text(&line(Mark::Done, "CREATE_COMPLETE", Some(1_500), None));
        assert!(done.ends_with("Queue create complete (AWS::SQS::Queue) (1.5 s)"), "{done}");
        let failed = text(&line(Mark::Failed, "CREATE_FAILED", Some(0), Some("no")));
        assert!(failed.ends_with("(0.0 s): no"), "{failed}");
        let json = json_of(&line(Mark::Failed, "CREATE_FAILED", Some(0), Some("no")));
        assert!(
            json.starts_with(r#"{"kind":"resource","mark":"failed","logical_id":"Queue""#),
            "{json}"
        );
    }

    #[test]
    fn what_ended_is_no_longer_underway() {
        let mut list = ResourceList::new(Output::new(true).with_progress(None));
        list.progress = ProgressMode::Live;
        list.tell(&line(Mark::Begun, "CREATE_IN_PROGRESS", None, None));
        assert_eq!(list.underway.len(), 1);
        list.tell(&line(Mark::Begun, "UPDATE_IN_PROGRESS", None, None));
        assert_eq!(list.underway.len(), 1);
        list.tell(&line(Mark::Done, "CREATE_COMPLETE", None, None));
        assert!(list.underway.is_empty());
    }
}
