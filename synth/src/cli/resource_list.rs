//! Prints the resource events of a deployment. On a terminal, the lines are updated in place;
//! otherwise, each event is printed as a line.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cellar::text::to_json;
use console::style;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;

use super::output::{Output, ProgressMode, SPINNER_TICK, print_line, print_object};
use crate::deployment::{EventLine, EventMark};

/// Maximum time without output.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) struct ResourceList {
    progress: ProgressMode,
    started: Instant,
    last_printed: Instant,
    spinners: MultiProgress,
    /// Spinners for the resources in progress, by logical id. Used only in live mode.
    spinners_in_progress: HashMap<String, ProgressBar>,
}

impl ResourceList {
    pub(crate) fn new(output: Output) -> Self {
        let now = Instant::now();
        Self {
            progress: output.progress(),
            started: now,
            last_printed: now,
            spinners: MultiProgress::new(),
            spinners_in_progress: HashMap::new(),
        }
    }

    pub(crate) fn print_event(&mut self, event: &EventLine) {
        self.last_printed = Instant::now();
        match self.progress {
            ProgressMode::Live => self.show_live(event),
            ProgressMode::Plain => print_line(&format_event(event)),
            ProgressMode::Json | ProgressMode::Quiet => print_line(&event_to_json(event)),
        }
    }

    /// Prints the elapsed time and the number of finished resources if nothing was printed for
    /// [`HEARTBEAT_INTERVAL`].
    pub(crate) fn print_heartbeat(&mut self, finished_count: usize) {
        if self.last_printed.elapsed() < HEARTBEAT_INTERVAL {
            return;
        }
        self.last_printed = Instant::now();
        let elapsed_s = self.started.elapsed().as_secs();
        match self.progress {
            ProgressMode::Live => {}
            ProgressMode::Plain => {
                let elapsed = humantime::format_duration(Duration::from_secs(elapsed_s));
                print_line(&format!("  … {elapsed}, {finished_count} resources done"));
            }
            ProgressMode::Json | ProgressMode::Quiet => {
                print_object(&json!({
                    "kind": "heartbeat", "elapsed_s": elapsed_s, "done": finished_count,
                }));
            }
        }
    }

    fn show_live(&mut self, event: &EventLine) {
        if let Some(spinner) = self.spinners_in_progress.remove(&event.logical_id) {
            spinner.finish_and_clear();
        }
        if event.mark != EventMark::Started {
            self.spinners.suspend(|| print_line(&format_event(event)));
            return;
        }
        let spinner = self.spinners.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.set_message(resource_status(event));
        spinner.enable_steady_tick(SPINNER_TICK);
        self.spinners_in_progress.insert(event.logical_id.clone(), spinner);
    }
}

impl Drop for ResourceList {
    fn drop(&mut self) {
        self.spinners_in_progress.values().for_each(ProgressBar::finish_and_clear);
    }
}

fn resource_status(event: &EventLine) -> String {
    let status = event.status.to_lowercase().replace('_', " ");
    format!("{} {status} ({})", event.logical_id, event.resource_type)
}

fn format_event(event: &EventLine) -> String {
    let mark = match event.mark {
        EventMark::Started => style("·").dim(),
        EventMark::Done => style("✓").green(),
        EventMark::Failed => style("✗").red(),
    };
    let mut line = format!("  {} {}", mark.for_stderr(), resource_status(event));
    if let Some(took_ms) = event.took_ms {
        line.push_str(&format!(" ({:.1} s)", Duration::from_millis(took_ms).as_secs_f64()));
    }
    if event.mark == EventMark::Failed
        && let Some(reason) = &event.reason
    {
        line.push_str(&format!(": {reason}"));
    }
    line
}

fn event_to_json(event: &EventLine) -> String {
    #[derive(Serialize)]
    struct Tagged<'a> {
        kind: &'static str,
        #[serde(flatten)]
        event: &'a EventLine,
    }
    to_json(&Tagged { kind: "resource", event })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(
        mark: EventMark,
        status: &str,
        took_ms: Option<u64>,
        reason: Option<&str>,
    ) -> EventLine {
        EventLine {
            mark,
            logical_id: "Queue".to_owned(),
            resource_type: "AWS::SQS::Queue".to_owned(),
            status: status.to_owned(),
            took_ms,
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_line_contains_duration_and_failure_reason() {
        let started =
            format_event(&event(EventMark::Started, "CREATE_IN_PROGRESS", None, Some("Initiated")));
        assert!(started.ends_with("Queue create in progress (AWS::SQS::Queue)"), "{started}");
        let done = format_event(&event(EventMark::Done, "CREATE_COMPLETE", Some(1_500), None));
        assert!(done.ends_with("Queue create complete (AWS::SQS::Queue) (1.5 s)"), "{done}");
        let failed = format_event(&event(EventMark::Failed, "CREATE_FAILED", Some(0), Some("no")));
        assert!(failed.ends_with("(0.0 s): no"), "{failed}");
        let json = event_to_json(&event(EventMark::Failed, "CREATE_FAILED", Some(0), Some("no")));
        assert!(
            json.starts_with(r#"{"kind":"resource","mark":"failed","logical_id":"Queue""#),
            "{json}"
        );
    }

    #[test]
    fn an_ended_resource_is_not_in_progress() {
        let mut list = ResourceList::new(Output::new(true).with_progress(None));
        list.progress = ProgressMode::Live;
        list.print_event(&event(EventMark::Started, "CREATE_IN_PROGRESS", None, None));
        assert_eq!(list.spinners_in_progress.len(), 1);
        list.print_event(&event(EventMark::Started, "UPDATE_IN_PROGRESS", None, None));
        assert_eq!(list.spinners_in_progress.len(), 1);
        list.print_event(&event(EventMark::Done, "CREATE_COMPLETE", None, None));
        assert!(list.spinners_in_progress.is_empty());
    }
}
