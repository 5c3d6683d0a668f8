//! A table with the measurements of Cellar and its alternatives, and the goals.

use serde_json::{Value, json};

/// A measured number. Lower is better for all of them.
pub(crate) struct Row {
    work: &'static str,
    what: &'static str,
    cellar: f64,
    peers: Vec<(&'static str, f64)>,
    at_most: Option<f64>,
}

impl Row {
    pub(crate) fn new(work: &'static str, what: &'static str, cellar: f64) -> Self {
        Self { work, what, cellar, peers: Vec::new(), at_most: None }
    }

    /// Sets the goal.
    pub(crate) fn at_most(mut self, goal: f64) -> Self {
        self.at_most = Some(goal);
        self
    }

    /// Adds the number of another system, if it was measured.
    pub(crate) fn beside(mut self, name: &'static str, measured: Option<f64>) -> Self {
        self.peers.extend(measured.map(|measured| (name, measured)));
        self
    }

    fn met(&self) -> Option<bool> {
        self.at_most.map(|most| self.cellar <= most)
    }

    fn json(&self) -> Value {
        let peers: serde_json::Map<String, Value> =
            self.peers.iter().map(|(name, number)| ((*name).to_owned(), json!(number))).collect();
        json!({
            "work": self.work, "what": self.what, "cellar": self.cellar, "peers": peers,
            "goal_at_most": self.at_most, "met": self.met(),
        })
    }

    fn cells(&self) -> [String; 6] {
        let peer = |(name, of): &(&str, f64)| match of / self.cellar {
            ratio if ratio.is_finite() => format!("{name} {} ({ratio:.1}×)", short(*of)),
            _ => format!("{name} {}", short(*of)),
        };
        let met = self.met().map_or("", |met| if met { "met" } else { "NOT MET" });
        [
            self.work.to_owned(),
            self.what.to_owned(),
            short(self.cellar),
            self.peers.iter().map(peer).collect::<Vec<_>>().join(", "),
            self.at_most.map_or(String::new(), |most| format!("≤ {}", short(most))),
            met.to_owned(),
        ]
    }
}

/// Formats a number with three digits, the precision of a shared machine.
fn short(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 || number.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

const HEADS: [&str; 6] = ["work", "what", "Cellar", "instead, in this run", "goal", ""];

/// Returns the table as text.
pub(crate) fn table(rows: &[Row]) -> String {
    let heads = HEADS.map(str::to_owned);
    let lines: Vec<[String; 6]> =
        std::iter::once(heads).chain(rows.iter().map(Row::cells)).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the table as Markdown.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads = line(&HEADS.map(str::to_owned)) + &line(&HEADS.map(|_| "---".to_owned()));
    heads + &rows.iter().map(|row| line(&row.cells())).collect::<String>()
}

/// Returns the table as JSON.
pub(crate) fn json(rows: &[Row]) -> Value {
    Value::Array(rows.iter().map(Row::json).collect())
}
